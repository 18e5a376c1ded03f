//! Steps of `account_sequences` with what a person carries: phones and passkeys.

use serde_json::json;

use crate::account_sequences::World;
use crate::account_steps::{Outcome, Step};
use crate::app::{Response, Session};
use crate::passkeys::Authenticator;

/// The code that is sent to every number. Only the number's owner presents it.
pub(crate) const CODE: &str = "123456";

/// The number of a person in the sequence with this tag, `<seed>x<attempt>`.
pub(crate) fn number_of(tag: &str, owner: usize) -> String {
    format!("1{}{owner}", tag.replace('x', ""))
}

impl World<'_> {
    pub(crate) fn number(&self, owner: usize) -> String {
        number_of(&self.tag, owner)
    }

    pub(crate) async fn use_device(&self, step: Step) -> Outcome {
        match step {
            Step::AddPasskey { by } => {
                if let Some(session) = self.newest_session(by) {
                    self.add_passkey(by, session).await;
                }
                Outcome::default()
            }
            Step::SignInByPasskey { by } => self.sign_in_by_passkey(by).await,
            Step::SignUpByPhone { by, number } => {
                let body = json!({"phone": self.number(number), "password": self.password(by)});
                let asked = self.app.post("/signup", body).send().await;
                match by == number && asked.status == 200 {
                    true => self.present_code(by, "sms").await,
                    false => Outcome::default(),
                }
            }
            Step::SignInByPhone { by } => {
                let asked = self
                    .app
                    .post("/otp", json!({"phone": self.number(by)}))
                    .send()
                    .await;
                match asked.status {
                    200 => self.present_code(by, "sms").await,
                    _ => Outcome::default(),
                }
            }
            Step::SignInByPhonePassword { by, number } => {
                let body = json!({"phone": self.number(number), "password": self.password(by)});
                let response = self.app.post("/token?grant_type=password", body).send().await;
                Outcome::of_session(by, &response)
            }
            Step::ChangePhone { by, number } => {
                let Some(session) = self.newest_session(by) else {
                    return Outcome::default();
                };
                let body = json!({"phone": self.number(number)});
                let asked = self.put_user(session, body).await;
                match by == number && asked.body["new_phone"] == self.number(number).as_str() {
                    true => self.present_code(by, "phone_change").await,
                    false => Outcome::default(),
                }
            }
            _ => Outcome::default(),
        }
    }

    async fn put_user(&self, session: &Session, body: serde_json::Value) -> Response {
        let call = self.app.put("/user", body).bearer(&session.access_token);
        call.send().await
    }

    /// Presents the code that was sent to a person's own number.
    async fn present_code(&self, by: usize, kind: &str) -> Outcome {
        let body = json!({"type": kind, "phone": self.number(by), "token": CODE});
        Outcome::of_session(by, &self.app.post("/verify", body).send().await)
    }

    async fn add_passkey(&self, by: usize, session: &Session) {
        let options = self
            .app
            .signed_in_post(session, "/passkeys/registration/options", json!({}))
            .await;
        if options.status != 200 {
            return;
        }
        let mut key = Authenticator::new();
        let credential = key.create(&options.body["options"]);
        let body = json!({"challenge_id": options.body["challenge_id"], "credential": credential});
        let path = "/passkeys/registration/verify";
        if self.app.signed_in_post(session, path, body).await.status == 200 {
            self.passkeys[by].borrow_mut().push(key);
        }
    }

    async fn sign_in_by_passkey(&self, by: usize) -> Outcome {
        let key = self.passkeys[by].borrow_mut().pop();
        let Some(mut key) = key else {
            return Outcome::default();
        };
        let body = self.app.sign_in_options(&mut key).await;
        let response = self.app.complete_sign_in(&body).await;
        self.passkeys[by].borrow_mut().push(key);
        Outcome::of_session(by, &response)
    }
}
