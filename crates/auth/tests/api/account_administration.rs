//! Steps of `account_sequences` that are not requests of a person: what administrators and providers of single sign-on do, and
//! rows of older versions.

use reqwest::Method;
use serde_json::{Value, json};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::account_sequences::World;
use crate::account_steps::{Outcome, Step};
use crate::app::Session;
use crate::providers::in_fragment;
use crate::saml::{SERVICE, post_response};
use crate::saml_provider::{Assertion, write_response};

/// $1 the user's id, $2 an address, $3 the tag of the sequence.
const OLD_ROWS: [&str; 3] = [
    // An account in use whose address nobody has proven.
    "update auth.users u set email = $2::text, email_confirmed_at = null \
     where id::text = $1::text and not is_sso_user and $3::text <> '' \
     and not exists (select from auth.users other where other.email = $2::text and not other.is_sso_user)",
    // The identity of a phone number that claims an address by the metadata of its sign-up.
    "insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at) \
     select $1::text, id, jsonb_build_object('sub', $1::text, 'email', $2::text, 'email_verified', true), 'phone', now(), now() \
     from auth.users where id::text = $1::text and $3::text <> '' on conflict do nothing",
    // An identity whose provider names somebody else's address by now.
    "update auth.identities set identity_data = identity_data || jsonb_build_object('email', $2::text, 'email_verified', false) \
     where user_id::text = $1::text and provider in ('google', 'keycloak') and $3::text <> ''",
];

impl World<'_> {
    /// What administrators do; a link that they make goes to the owner of the address.
    pub(crate) async fn administer(&self, step: Step) -> Outcome {
        let mut outcome = Outcome::default();
        match step {
            Step::Ban { address, is_lifted } => {
                if let Some(id) = self.find_account(address).await {
                    let duration = if is_lifted { "none" } else { "24h" };
                    let body = json!({"ban_duration": duration});
                    self.app
                        .put(&format!("/admin/users/{id}"), body)
                        .admin()
                        .send()
                        .await;
                }
            }
            Step::Delete { address, is_soft } => {
                if let Some(id) = self.find_account(address).await {
                    let call = self.app.call(Method::DELETE, &format!("/admin/users/{id}"));
                    call.json(&json!({"should_soft_delete": is_soft}))
                        .admin()
                        .send()
                        .await;
                }
                outcome.deleted = Some(address);
            }
            Step::Invite { address } => {
                let body = json!({"email": self.address(address)});
                self.app.post("/invite", body).admin().send().await;
                outcome.awaited.push((address, "invite"));
            }
            // A link that confirms a sign-up goes to a person who has signed up.
            Step::GenerateLink { address, kind: 2 } if !self.awaited[address].contains("signup") => {}
            Step::GenerateLink { address, kind } => {
                let kind = ["magiclink", "recovery", "signup"][kind];
                let body =
                    json!({"type": kind, "email": self.address(address), "password": self.password(address)});
                let made = self.app.post("/admin/generate_link", body).admin().send().await;
                if made.status == 200 {
                    let body = json!({"type": made.body["verification_type"], "token_hash": made.body["hashed_token"]});
                    outcome = Outcome::of_session(address, &self.app.post("/verify", body).send().await);
                }
            }
            Step::AdminCreate {
                address,
                is_confirmed,
            } => {
                let (email, password) = (self.address(address), self.password(address));
                let body = json!({"email": email, "password": password, "email_confirm": is_confirmed});
                self.app.admin_create(body).await;
            }
            Step::AdminPassword { address } => {
                if let Some(id) = self.find_account(address).await {
                    self.update_account(&id, json!({"password": self.password(address)}))
                        .await;
                }
            }
            Step::AdminAddress { from, to } => {
                if let Some(id) = self.find_unconfirmed(from).await {
                    self.update_account(&id, json!({"email": self.address(to)})).await;
                    outcome.deleted = Some(from);
                }
            }
            _ => {}
        }
        outcome
    }

    async fn update_account(&self, id: &str, body: Value) {
        let path = format!("/admin/users/{id}");
        self.app.put(&path, body).admin().send().await;
    }

    /// The id of the account that has an address and has not confirmed it.
    async fn find_unconfirmed(&self, owner: usize) -> Option<String> {
        let sql = "select id::text from auth.users where email = $1 and email_confirmed_at is null and not is_sso_user";
        let rows = self.database.query(sql, &[&self.address(owner)]).await.unwrap();
        rows.first().map(|row| row.get(0))
    }

    /// A sign-in by a provider of single sign-on, which says whatever its user wants.
    pub(crate) async fn sign_in_by_sso(&self, by: usize, address: usize) -> Outcome {
        let response = write_response(&Assertion {
            service: SERVICE,
            request: None,
            assertion_id: &format!("_{}", uuid::Uuid::new_v4()),
            name_id: &format!("{}-{by}", self.tag),
            email: &self.address(address),
        });
        let response = post_response(self.app, &response, "").await;
        let read = |name: &str| in_fragment(&response, name).unwrap_or_default();
        let mut outcome = Outcome::default();
        if !read("access_token").is_empty() {
            let session = Session {
                access_token: read("access_token"),
                refresh_token: read("refresh_token"),
                user: Value::Null,
            };
            outcome.sessions.push((by, session));
        }
        outcome
    }

    /// Changes the account of the person's newest session as older versions, and the original, would have left it.
    pub(crate) async fn write_old_row(&self, by: usize, address: usize, kind: usize) {
        let Some(session) = self.newest_session(by) else {
            return;
        };
        let claims = self.app.keys.verify(&session.access_token).unwrap();
        let subject = claims.subject().unwrap().to_owned();
        let sql = OLD_ROWS[kind];
        let params: [&(dyn ToSql + Sync); 3] = [&subject, &self.address(address), &self.tag];
        let written = self.database.execute(sql, &params).await;
        // Another step may take the address at the same time.
        let is_taken = |error: &tokio_postgres::Error| error.code() == Some(&SqlState::UNIQUE_VIOLATION);
        assert!(written.as_ref().err().is_none_or(is_taken), "{written:?}");
    }
}
