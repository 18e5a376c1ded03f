//! Steps of `account_sequences` that are not requests of a person: what administrators and providers of single sign-on do, and
//! rows of older versions.

use reqwest::Method;
use serde_json::{Value, json};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::account_sequences::World;
use crate::account_steps::{Outcome, Step};
use crate::app::{Response, Session};
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
            Step::GenerateLink { address, kind } => {
                let kind = ["magiclink", "recovery"][kind];
                return self.open_made_link(kind, (address, address)).await;
            }
            Step::SignUpByServer { by, address } => {
                return self.open_made_link("signup", (by, address)).await;
            }
            // Who waits for the mail of their sign-up asks for help, and who finds the address registered without a password.
            Step::AdminConfirm { address } => {
                if let Some(id) = self.find_unconfirmed(address).await
                    && (self.awaited[address].contains("signup") || !self.has_password(&id).await)
                {
                    self.update_account(&id, json!({"email_confirm": true})).await;
                }
            }
            Step::AdminNumber { address, is_at_once } => self.give_number(address, is_at_once).await,
            // To the same address it would be a confirmation that nobody has asked for: the administrator answers for the account.
            Step::AdminMove { from, to } if from != to => {
                if let Some(id) = self.find_unconfirmed(from).await {
                    let body = json!({"email": self.address(to), "email_confirm": true});
                    self.update_account(&id, body).await;
                    outcome.deleted = Some(from);
                }
            }
            Step::AdminGuest {
                by,
                address,
                is_confirmed,
            } => return self.give_guest_address(by, address, is_confirmed).await,
            Step::SsoDomain { is_given } => {
                self.give_domain(is_given).await;
                outcome.has_domain = Some(is_given);
            }
            Step::AdminCreate {
                address,
                is_confirmed,
            } => {
                let (email, password) = (self.address(address), self.password(address));
                let body = json!({"email": email, "password": password, "email_confirm": is_confirmed});
                self.app.admin_create(body).await;
            }
            Step::AdminPassword {
                address,
                is_confirmed,
            } => {
                if let Some(id) = self.find_account_of(address).await {
                    let body = json!({"password": self.password(address), "email_confirm": is_confirmed});
                    self.update_account(&id, body).await;
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

    /// The id of the account of an address, unless somebody uses it who only claims the address.
    async fn find_account_of(&self, owner: usize) -> Option<String> {
        const SQL: &str = "select id::text from auth.users where email = $1 and not is_sso_user and (email_confirmed_at is not null \
                   or last_sign_in_at is null and phone_confirmed_at is null)";
        let rows = self.project.query(SQL, &[&self.address(owner)]).await;
        rows.first().map(|row| row.get(0))
    }

    /// Makes a link that `by` has asked for. It goes to the owner of the address, who opens what they have asked for themselves.
    async fn open_made_link(&self, kind: &str, (by, address): (usize, usize)) -> Outcome {
        let body = json!({"type": kind, "email": self.address(address), "password": self.password(by)});
        let made = self.app.post("/admin/generate_link", body).admin().send().await;
        if made.status != 200 || by != address {
            return Outcome::default();
        }
        let body = json!({"type": made.body["verification_type"], "token_hash": made.body["hashed_token"]});
        Outcome::of_session(address, &self.app.post("/verify", body).send().await)
    }

    /// Gives the account of a person's newest session an address, if it has none confirmed. Its owner opens the mail where they have
    /// asked for it.
    async fn give_guest_address(&self, by: usize, address: usize, is_confirmed: bool) -> Outcome {
        let mut outcome = Outcome::default();
        let Some(session) = self.newest_session(by) else {
            return outcome;
        };
        let claims = self.app.keys.verify(&session.access_token).unwrap();
        let id = claims.subject().unwrap().to_owned();
        const FREE: &str = "select from auth.users where id::text = $1 and email_confirmed_at is null and not is_sso_user \
                            and deleted_at is null";
        if self.project.query(FREE, &[&id]).await.is_empty() {
            return outcome;
        }
        let body = json!({"email": self.address(address), "email_confirm": is_confirmed});
        let given = self.update_account(&id, body).await;
        if given.body["new_email"] == self.address(address).as_str() && by == address {
            outcome = self.open_newest(by, "email_change").await;
        }
        outcome
    }

    /// Gives an account that nobody has proven the number of its address's owner.
    async fn give_number(&self, address: usize, is_at_once: bool) {
        let Some(id) = self.find_unconfirmed(address).await else {
            return;
        };
        let mut body = json!({"phone": self.number(address)});
        if is_at_once {
            body["phone_confirm"] = json!(true);
        }
        let given = self.update_account(&id, body).await;
        if given.status == 200 && !is_at_once {
            self.update_account(&id, json!({"phone_confirm": true})).await;
        }
    }

    async fn give_domain(&self, is_given: bool) {
        const GIVE: &str = "insert into auth.sso_domains (id, sso_provider_id, domain, created_at) \
                            select gen_random_uuid(), id, $1, now() from auth.sso_providers on conflict do nothing";
        const TAKE: &str = "delete from auth.sso_domains where domain = $1";
        let sql = if is_given { GIVE } else { TAKE };
        self.project.query(sql, &[&self.domain()]).await;
    }

    async fn update_account(&self, id: &str, body: Value) -> Response {
        let path = format!("/admin/users/{id}");
        self.app.put(&path, body).admin().send().await
    }

    /// The id of the account that has an address, has not confirmed it, and that nobody has used.
    async fn find_unconfirmed(&self, owner: usize) -> Option<String> {
        const SQL: &str = "select id::text from auth.users where email = $1 and email_confirmed_at is null and not is_sso_user \
                   and last_sign_in_at is null and phone_confirmed_at is null";
        let rows = self.project.query(SQL, &[&self.address(owner)]).await;
        rows.first().map(|row| row.get(0))
    }

    async fn has_password(&self, id: &str) -> bool {
        const SQL: &str = "select from auth.users where id::text = $1 and encrypted_password <> ''";
        !self.project.query(SQL, &[&id]).await.is_empty()
    }

    /// A sign-in by a provider of single sign-on, which says whatever its user wants.
    pub(crate) async fn sign_in_by_sso(&self, by: usize, address: usize, name: usize) -> Outcome {
        // While the provider has the domain, it names each user's own address only.
        let address = if self.has_domain { by } else { address };
        let response = write_response(&Assertion {
            service: SERVICE,
            request: None,
            assertion_id: &format!("_{}", uuid::Uuid::new_v4()),
            name_id: &format!("{}-{by}-{name}", self.tag),
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
        let written = self.project.database.execute(sql, &params).await;
        // Another step may take the address at the same time.
        let is_taken = |error: &tokio_postgres::Error| error.code() == Some(&SqlState::UNIQUE_VIOLATION);
        assert!(written.as_ref().err().is_none_or(is_taken), "{written:?}");
    }
}
