//! Walks the second table of `docs/auth-access.md`: which way in opens a session of an account, and of which, by what has become of
//! the account since its owner has set up that way.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::app::{PASSWORD, Response, Session, TestApp};
use crate::identity_provider::IdentityProvider;
use crate::oauth_server::{self, consent};
use crate::passkeys::Authenticator;
use crate::pkce::{VERIFIER, code_of, exchange_code, with_challenge};
use crate::providers::in_fragment;
use crate::saml::{SERVICE, post_response};
use crate::saml_provider::{Assertion, write_response};
use crate::web3::{Wallet, sign_in_with_ethereum};

const DOCUMENT: &str = include_str!("../../../../docs/auth-access.md");
const TOKEN_ENDPOINT: &str = include_str!("../../src/api/token.rs");
const HEADING: &str = "| way in | deleted | banned | unconfirmed | claimed | SSO |";
/// The code of every text message.
const CODE: &str = "123456";

/// The columns of the table, and how the account of `$1` gets there.
const STATES: [(&str, &str); 5] = [
    (
        "deleted",
        "update auth.users set deleted_at = now() where id = $1",
    ),
    (
        "banned",
        "update auth.users set banned_until = now() + interval '1 day' where id = $1",
    ),
    ("unconfirmed", NEVER_CONFIRMED),
    ("claimed", CLAIMED),
    ("SSO", "update auth.users set is_sso_user = true where id = $1"),
];
const NEVER_CONFIRMED: &str = "with proofs as (update auth.identities \
       set identity_data = identity_data || '{\"email_verified\": false}' where user_id = $1) \
     update auth.users set email_confirmed_at = null, phone_confirmed_at = null, last_sign_in_at = null, \
       email = coalesce(nullif(email, ''), id || '@example.com') where id = $1";
const CLAIMED: &str = "with proofs as (update auth.identities \
       set identity_data = identity_data || '{\"email_verified\": false}' where user_id = $1) \
     update auth.users set email_confirmed_at = null, phone_confirmed_at = null, last_sign_in_at = now(), \
       email = coalesce(nullif(email, ''), id || '@example.com') where id = $1";

/// The rows of the document: way in, then a cell for each state.
fn read_table() -> BTreeMap<String, Vec<String>> {
    let (_, rows) = DOCUMENT.split_once(HEADING).expect("the table is there");
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let mut cells = line
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned());
        (cells.next().unwrap(), cells.collect())
    })
    .collect()
}

/// The server and the providers that all rows of the table use.
struct World {
    app: TestApp,
    db: Client,
    provider: IdentityProvider,
}

/// An account whose owner has set up every way in, and is signed in.
struct Owner {
    session: Session,
    email: String,
    phone: String,
}

impl World {
    async fn start(phones: usize) -> Self {
        let provider = IdentityProvider::start();
        let configs = vec![provider.config("google")];
        let app = TestApp::start_with(|config| {
            config.insecure_providers = true;
            config.external = configs;
            config.phone.enabled = true;
            config.phone.autoconfirm = false;
            config.phone.max_frequency = std::time::Duration::ZERO;
            let numbers = (0..phones).flat_map(|number| [phone_of(number), new_phone_of(number)]);
            config.phone.test_otp = numbers.map(|number| (number, CODE.to_owned())).collect();
            config.webauthn.passkeys_enabled = true;
            config.oauth_server.enabled = true;
            config.oauth_server.allow_dynamic_registration = true;
            config.web3.ethereum = true;
            config.saml = Some(crate::saml::config());
        })
        .await;
        crate::saml::add_provider(&app, json!(["sso.example"])).await;
        let db = app.superuser().await;
        Self { app, db, provider }
    }

    async fn create_owner(&self, number: usize) -> Owner {
        let (email, phone) = (format!("owner{number}@example.com"), phone_of(number));
        let body = json!({
            "email": email, "phone": phone, "password": PASSWORD, "email_confirm": true, "phone_confirm": true,
        });
        let created = self.app.admin_create(body).await;
        assert_eq!(created.status, 200, "{}", created.body);
        let session = self.app.sign_in(&email, PASSWORD).await.session();
        Owner {
            session,
            email,
            phone,
        }
    }

    async fn change(&self, user: Uuid, sql: &str) {
        assert_eq!(self.db.execute(sql, &[&user]).await.unwrap(), 1);
    }

    async fn post(&self, path: &str, body: Value) -> Response {
        self.app.post(path, body).send().await
    }

    /// The user whose session a response holds.
    fn signed_in_user(&self, response: &Response) -> Option<Uuid> {
        let in_body = response.body["access_token"].as_str().map(str::to_owned);
        let token = in_body.or_else(|| in_fragment(response, "access_token"))?;
        let claims = self.app.keys.verify(&token).unwrap();
        Some(claims.subject().unwrap().parse().unwrap())
    }

    fn id_token(&self, subject: &str, email: &str, is_verified: bool) -> Value {
        let token = self.provider.id_token(|claims| {
            claims["sub"] = json!(subject);
            claims["email"] = json!(email);
            claims["email_verified"] = json!(is_verified);
        });
        json!({"provider": "google", "id_token": token})
    }

    /// Sets up a way in, changes the account, and tries it.
    async fn enter(&self, way: &str, number: usize, state: &str) -> (Uuid, Response) {
        match way {
            "wallet: `POST /token`, `web3`" => return self.enter_by_wallet(number, state).await,
            "SAML: `POST /sso/saml/acs`" => return self.enter_by_saml(number, state).await,
            "link of an invitation that was sent before: `POST /verify`" => {
                return self.enter_by_invitation(number, state).await;
            }
            _ => {}
        }
        let owner = self.create_owner(number).await;
        let user = owner.session.user_id();
        let response = if way.contains("of a change") {
            self.enter_by_change(way, &owner, (number, state)).await
        } else if way.contains("mail") {
            self.enter_by_mail(way, &owner, state).await
        } else if way.contains("provider") {
            self.enter_by_provider(way, &owner, state).await
        } else if way.contains("OAuth client") {
            self.enter_as_client(way, &owner, state).await
        } else {
            self.enter_by_secret(way, &owner, state).await
        };
        (user, response)
    }

    async fn enter_by_secret(&self, way: &str, owner: &Owner, state: &str) -> Response {
        let (app, user) = (&self.app, owner.session.user_id());
        let by_number = json!({"phone": owner.phone, "password": PASSWORD});
        match way {
            "password and address: `POST /token`, `password`" => {
                self.change(user, state).await;
                app.sign_in(&owner.email, PASSWORD).await
            }
            "password and number: `POST /token`, `password`" => {
                self.change(user, state).await;
                self.post("/token?grant_type=password", by_number).await
            }
            "sign-up again: `POST /signup`" => {
                self.change(user, state).await;
                app.sign_up(&owner.email, PASSWORD).await
            }
            "session: `POST /token`, `refresh_token`" => {
                self.change(user, state).await;
                app.refresh(&owner.session.refresh_token).await
            }
            "code of a text message that was asked for before: `POST /verify`" => {
                let asked = self.post("/otp", json!({"phone": owner.phone})).await;
                assert_eq!(asked.status, 200, "{}", asked.body);
                self.change(user, state).await;
                self.verify_number(owner).await
            }
            "code of a text message that is asked for now: `POST /verify`" => {
                self.change(user, state).await;
                self.post("/otp", json!({"phone": owner.phone})).await;
                self.verify_number(owner).await
            }
            "link of an administrator that was made before: `POST /verify`" => {
                let body = json!({"type": "recovery", "email": owner.email});
                let made = app.post("/admin/generate_link", body).admin().send().await.body;
                self.change(user, state).await;
                let body = json!({"type": "recovery", "token_hash": made["hashed_token"]});
                self.post("/verify", body).await
            }
            "passkey: `POST /passkeys/authentication/verify`" => {
                let mut key = Authenticator::new();
                assert_eq!(app.register(&owner.session, &mut key).await.status, 200);
                self.change(user, state).await;
                let options = app.sign_in_options(&mut key).await;
                app.complete_sign_in(&options).await
            }
            other => panic!("{other}: no such way in"),
        }
    }

    async fn verify_number(&self, owner: &Owner) -> Response {
        let body = json!({"type": "sms", "phone": owner.phone, "token": CODE});
        self.post("/verify", body).await
    }

    /// The owner has asked for a change of address or number, and answers it.
    async fn enter_by_change(&self, way: &str, owner: &Owner, (number, state): (usize, &str)) -> Response {
        let (email, phone) = (format!("new{number}@example.com"), new_phone_of(number));
        let is_number = way.contains("number");
        let body = match is_number {
            true => json!({"phone": phone}),
            false => json!({"email": email}),
        };
        let token = &owner.session.access_token;
        let asked = self.app.put("/user", body).bearer(token).send().await;
        assert_eq!(asked.status, 200, "{}", asked.body);
        self.change(owner.session.user_id(), state).await;
        if is_number {
            let body = json!({"type": "phone_change", "phone": phone, "token": CODE});
            return self.post("/verify", body).await;
        }
        // Both addresses answer, unless the account only claims the present one.
        let answered = self.answer_change(&owner.email).await;
        match answered.body["access_token"].is_string() {
            true => answered,
            false => self.answer_change(&email).await,
        }
    }

    async fn answer_change(&self, address: &str) -> Response {
        let mail = self.app.mail_to(address);
        let body = json!({"type": "email_change", "token_hash": mail.param("token")});
        self.post("/verify", body).await
    }

    async fn enter_by_invitation(&self, number: usize, state: &str) -> (Uuid, Response) {
        let email = format!("guest{number}@example.com");
        let invited = self
            .app
            .post("/invite", json!({"email": email}))
            .admin()
            .send()
            .await;
        assert_eq!(invited.status, 200, "{}", invited.body);
        let user = invited.body["id"].as_str().unwrap().parse().unwrap();
        self.change(user, state).await;
        let body = json!({"type": "invite", "token_hash": self.app.mail_to(&email).param("token")});
        (user, self.post("/verify", body).await)
    }

    async fn enter_by_mail(&self, way: &str, owner: &Owner, state: &str) -> Response {
        let (app, email, user) = (&self.app, &owner.email, owner.session.user_id());
        let asked_now = way.contains("asked for now");
        let body = json!({"email": email});
        let (path, body) = match way {
            _ if way.contains("recovery") => ("/recover", body),
            _ if way.contains("PKCE") => ("/otp", with_challenge(body)),
            _ => ("/otp", body),
        };
        if asked_now {
            self.change(user, state).await;
        }
        let asked = self.post(path, body).await;
        assert!(asked_now || asked.status == 200, "{}", asked.body);
        let mails = app.inbox.list_mails();
        if asked_now && !mails.iter().any(|mail| mail.to[0].address == *email) {
            return self.post("/verify", json!({})).await;
        }
        let mail = app.mail_to(email);
        let opened_before = match way.contains("PKCE") {
            true => code_of(&app.get(&mail.link).send().await),
            false => String::new(),
        };
        if !asked_now {
            self.change(user, state).await;
        }
        match way {
            _ if way.contains("PKCE") => exchange_code(app, &opened_before, VERIFIER).await,
            _ if way.contains("`GET /verify`") => app.get(&mail.link).send().await,
            _ if way.starts_with("code") => {
                let body = json!({"type": "email", "email": email, "token": mail.code});
                self.post("/verify", body).await
            }
            _ => {
                let body = json!({"type": mail.param("type"), "token_hash": mail.param("token")});
                self.post("/verify", body).await
            }
        }
    }

    async fn enter_by_provider(&self, way: &str, owner: &Owner, state: &str) -> Response {
        let subject = owner.session.user_id().to_string();
        let by_token = |is_verified| self.id_token(&subject, &owner.email, is_verified);
        let linked = self.post("/token?grant_type=id_token", by_token(true)).await;
        assert_eq!(linked.session().user_id(), owner.session.user_id());
        self.change(owner.session.user_id(), state).await;
        if way.contains("`id_token`") {
            let body = by_token(!way.contains("not verified"));
            return self.post("/token?grant_type=id_token", body).await;
        }
        self.provider
            .set_claims(json!({"sub": subject, "email": owner.email, "email_verified": true}));
        crate::providers::sign_in(&self.app).await
    }

    async fn enter_as_client(&self, way: &str, owner: &Owner, state: &str) -> Response {
        let app = &self.app;
        let client = oauth_server::register(app, "none").await;
        let code = consent(app, &client, &owner.session, "email").await;
        if way.contains("`authorization_code`") {
            self.change(owner.session.user_id(), state).await;
            return oauth_server::exchange_code(app, &client, &code).await;
        }
        let tokens = oauth_server::exchange_code(app, &client, &code).await.body;
        self.change(owner.session.user_id(), state).await;
        let pairs = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
            ("client_id", client["client_id"].as_str().unwrap()),
        ];
        oauth_server::token(app, None, &pairs).await
    }

    async fn enter_by_wallet(&self, number: usize, state: &str) -> (Uuid, Response) {
        let wallet = Wallet::new(number as u64 + 1);
        let session = sign_in_with_ethereum(&self.app, &wallet).await.session();
        self.change(session.user_id(), state).await;
        let again = sign_in_with_ethereum(&self.app, &wallet).await;
        (session.user_id(), again)
    }

    async fn enter_by_saml(&self, number: usize, state: &str) -> (Uuid, Response) {
        let sign_in = async || {
            let response = write_response(&Assertion {
                service: SERVICE,
                request: None,
                assertion_id: &format!("_{}", Uuid::new_v4()),
                name_id: &number.to_string(),
                email: &format!("user{number}@sso.example"),
            });
            post_response(&self.app, &response, "").await
        };
        let user = self.signed_in_user(&sign_in().await).expect("a first sign-in");
        self.change(user, state).await;
        (user, sign_in().await)
    }
}

fn phone_of(number: usize) -> String {
    format!("1555{number:07}")
}

/// The number that an owner changes to.
fn new_phone_of(number: usize) -> String {
    format!("1556{number:07}")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn every_way_in_opens_the_sessions_that_the_table_says() {
    let table = read_table();
    let (_, grants) = TOKEN_ENDPOINT.split_once("check_rate_limit(limited)").unwrap();
    let grants: Vec<&str> = grants
        .lines()
        .filter_map(|line| line.strip_prefix("        \"")?.split_once("\" =>"))
        .map(|(grant, _)| grant)
        .collect();
    assert_eq!(grants.len(), 5, "{grants:?}");
    for grant in grants {
        let row = format!("`POST /token`, `{grant}`");
        let has_row = table.keys().any(|way| way.contains(&row));
        assert!(has_row, "no row for {row}");
    }
    let world = World::start(table.len() * STATES.len()).await;
    let mut differences = Vec::new();
    for (row, (way, cells)) in table.iter().enumerate() {
        assert_eq!(cells.len(), STATES.len(), "{way}");
        for (column, ((state, sql), cell)) in STATES.iter().zip(cells).enumerate() {
            let (user, response) = world.enter(way, row * STATES.len() + column, sql).await;
            let found = match world.signed_in_user(&response) {
                Some(other) if other != user => "another",
                Some(_) => "yes",
                None => "no",
            };
            if found != cell {
                differences.push(format!("{way}, {state}: {cell}, got {found}, {response:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
