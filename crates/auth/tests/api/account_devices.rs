//! Steps of `account_sequences` with what a person carries: phones, passkeys and second factors.

use std::cell::Cell;

use serde_json::json;

use crate::account_sequences::{ATTEMPTS, World};
use crate::account_steps::{Factor, Outcome, PEOPLE, Step};
use crate::app::{Response, Session};
use crate::mfa::compute_code;
use crate::passkeys::Authenticator;

/// The code that is sent to every number. Only the number's owner presents it.
const CODE: &str = "123456";

/// The number of a person in the sequence with this tag, `<seed>x<attempt>`.
fn number_of(tag: &str, owner: usize) -> String {
    format!("1{}{owner}", tag.replace('x', ""))
}

/// The code of every number of these sequences.
pub(crate) fn list_test_codes(seeds: &[u64]) -> Vec<(String, String)> {
    let mut codes = Vec::new();
    for seed in seeds {
        for (attempt, owner) in
            (0..ATTEMPTS).flat_map(|attempt| (0..PEOPLE).map(move |owner| (attempt, owner)))
        {
            codes.push((number_of(&format!("{seed}x{attempt}"), owner), CODE.to_owned()));
        }
    }
    codes
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

    pub(crate) async fn add_factor(&self, by: usize, session: &Session) -> Outcome {
        let body = json!({"factor_type": "totp", "friendly_name": format!("{}", self.factors[by].len())});
        let enrolled = self.app.enroll(session, body).await;
        let (Some(id), Some(secret)) = (
            enrolled.body["id"].as_str().map(str::to_owned),
            enrolled.body["totp"]["secret"].as_str().map(str::to_owned),
        ) else {
            return Outcome::default();
        };
        let factor = Factor {
            id,
            secret,
            // The server accepts the code before the present one, so that two more can follow at once.
            next_step: Cell::new(-1),
        };
        let mut outcome = Outcome::of_session(by, &self.answer(session, &factor).await);
        outcome.factor = Some((by, factor));
        outcome
    }

    pub(crate) async fn answer(&self, session: &Session, factor: &Factor) -> Response {
        let step = factor.next_step.get();
        factor.next_step.set((step + 1).min(1));
        let path = format!("/factors/{}/challenge", factor.id);
        let challenge = self
            .app
            .post(&path, json!({}))
            .bearer(&session.access_token)
            .send()
            .await;
        let body = json!({"challenge_id": challenge.body["id"], "code": compute_code(&factor.secret, step)});
        let path = format!("/factors/{}/verify", factor.id);
        self.app
            .post(&path, body)
            .bearer(&session.access_token)
            .send()
            .await
    }
}
