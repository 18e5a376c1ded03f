//! What ends when a password changes, a user signs out everywhere, is banned or deleted, or an account goes to the owner of its
//! address.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use reqwest::Method;
use selvedge_auth::AuthConfig;
use serde_json::json;

use crate::app::{PASSWORD, Session, TestApp};
use crate::identity_provider::IdentityProvider;
use crate::mfa::{ENABLED, compute_code};
use crate::oauth_server;
use crate::passkeys::Authenticator;
use crate::pkce::{VERIFIER, code_of, exchange_code, with_challenge};

fn with_everything(config: &mut AuthConfig) {
    config.webauthn.passkeys_enabled = true;
    config.oauth_server.enabled = true;
    config.oauth_server.allow_dynamic_registration = true;
}

/// Opens the link of a mail that was requested with a PKCE challenge; returns the code that waits for its exchange.
async fn waiting_code(app: &TestApp, email: &str) -> String {
    let asked = app
        .post("/otp", with_challenge(json!({"email": email})))
        .send()
        .await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let opened = app.get(&app.mail_to(email).link).send().await;
    code_of(&opened)
}

/// Sends an administrator's request about a user.
async fn administer(app: &TestApp, method: Method, user: &Session, body: serde_json::Value) {
    let path = format!("/admin/users/{}", user.user["id"].as_str().unwrap());
    let done = app.call(method, &path).json(&body).admin().send().await;
    assert_eq!(done.status, 200, "{}", done.body);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_060_a_softly_deleted_user_has_no_way_in() {
    let app = TestApp::start_with(with_everything).await;
    let ana = app.user("ana@example.com").await;
    let mut key = Authenticator::new();
    assert_eq!(app.register(&ana, &mut key).await.status, 200);
    let code = waiting_code(&app, "ana@example.com").await;
    let client = oauth_server::register(&app, "none").await;
    let client_code = oauth_server::consent(&app, &client, &ana, "email").await;

    administer(&app, Method::DELETE, &ana, json!({"should_soft_delete": true})).await;

    let options = app.sign_in_options(&mut key).await;
    let by_passkey = app.complete_sign_in(&options).await;
    assert_eq!(by_passkey.error(), (400, "webauthn_verification_failed"));
    let by_code = exchange_code(&app, &code, VERIFIER).await;
    assert_eq!(by_code.error(), (404, "flow_state_not_found"));
    let by_client = oauth_server::exchange_code(&app, &client, &client_code).await;
    assert_eq!(by_client.body["error"], "invalid_grant");
    let user = app.get("/user").bearer(&ana.access_token).send().await;
    assert_eq!(user.error(), (403, "session_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_060_a_session_of_a_deleted_user_is_of_no_use_even_if_its_row_is_left() {
    let app = TestApp::start().await;
    let ana = app.user("ana@example.com").await;
    // As older versions and other programs may have left it.
    app.sql("update auth.users set deleted_at = now()", &[]).await;

    let user = app.get("/user").bearer(&ana.access_token).send().await;
    let refreshed = app.refresh(&ana.refresh_token).await;
    let again = app.sign_in("ana@example.com", PASSWORD).await;

    assert_eq!(user.error(), (403, "user_not_found"));
    assert_eq!(refreshed.error(), (400, "refresh_token_not_found"));
    assert_eq!(again.error(), (403, "user_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_054_what_was_begun_before_a_new_password_ends_with_it() {
    let app = TestApp::start_with(with_everything).await;
    app.user("ana@example.com").await;
    let thief = app.sign_in("ana@example.com", PASSWORD).await.session();
    let code = waiting_code(&app, "ana@example.com").await;
    let client = oauth_server::register(&app, "none").await;
    let client_code = oauth_server::consent(&app, &client, &thief, "email").await;
    let owner = app.sign_in("ana@example.com", PASSWORD).await.session();
    let mail = app
        .post("/recover", json!({"email": "ana@example.com"}))
        .send()
        .await;
    assert_eq!(mail.status, 200, "{}", mail.body);
    let link = app.mail_to("ana@example.com").link;

    let changed = app
        .put("/user", json!({"password": "a better one"}))
        .bearer(&owner.access_token)
        .send()
        .await;

    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_eq!(
        exchange_code(&app, &code, VERIFIER).await.error(),
        (404, "flow_state_not_found")
    );
    let by_client = oauth_server::exchange_code(&app, &client, &client_code).await;
    assert_eq!(by_client.body["error"], "invalid_grant");
    assert!(app.get(&link).send().await.in_fragment("error_code").is_some());
    let user = app.get("/user").bearer(&thief.access_token).send().await;
    assert_eq!(user.error(), (403, "session_not_found"));
    let user = app.get("/user").bearer(&owner.access_token).send().await;
    assert_eq!(user.status, 200, "the session that has changed it");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_014_a_global_sign_out_ends_what_was_begun_in_the_sessions() {
    let app = TestApp::start_with(with_everything).await;
    let ana = app.user("ana@example.com").await;
    let code = waiting_code(&app, "ana@example.com").await;
    let client = oauth_server::register(&app, "none").await;
    let client_code = oauth_server::consent(&app, &client, &ana, "email").await;

    let signed_out = app
        .post("/logout?scope=global", json!({}))
        .bearer(&ana.access_token)
        .send()
        .await;

    assert_eq!(signed_out.status, 204);
    assert_eq!(
        exchange_code(&app, &code, VERIFIER).await.error(),
        (404, "flow_state_not_found")
    );
    let by_client = oauth_server::exchange_code(&app, &client, &client_code).await;
    assert_eq!(by_client.body["error"], "invalid_grant");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_064_a_ban_ends_sessions_and_codes_for_good() {
    let app = TestApp::start_with(with_everything).await;
    let ana = app.user("ana@example.com").await;
    let code = waiting_code(&app, "ana@example.com").await;

    administer(&app, Method::PUT, &ana, json!({"ban_duration": "1h"})).await;
    administer(&app, Method::PUT, &ana, json!({"ban_duration": "none"})).await;

    let user = app.get("/user").bearer(&ana.access_token).send().await;
    assert_eq!(user.error(), (403, "session_not_found"));
    assert_eq!(
        exchange_code(&app, &code, VERIFIER).await.error(),
        (404, "flow_state_not_found")
    );
    app.sign_in("ana@example.com", PASSWORD).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_060_a_sign_in_at_the_moment_of_a_deletion_leaves_no_session() {
    let app = TestApp::start_with(with_everything).await;
    for round in 0..4 {
        let email = format!("ana{round}@example.com");
        let ana = app.user(&email).await;

        let deletion = administer(&app, Method::DELETE, &ana, json!({"should_soft_delete": true}));
        let sign_ins = futures_util::future::join_all((0..3).map(|_| app.sign_in(&email, PASSWORD)));
        futures_util::join!(deletion, sign_ins);

        let left = "select count(*) from auth.sessions s join auth.users u on u.id = s.user_id where u.deleted_at is not null";
        assert_eq!(app.count(left).await, 0, "round {round}");
    }
}

/// Every way that is open to whoever calls, and what was obtained before: none leads to a session of the account.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_114_no_way_to_sign_in_is_open_to_a_deleted_or_banned_user() {
    for (method, body) in [
        (Method::DELETE, json!({"should_soft_delete": true})),
        (Method::PUT, json!({"ban_duration": "24h"})),
    ] {
        let provider = IdentityProvider::start();
        let app = TestApp::start_with(|config| {
            with_everything(config);
            config.insecure_providers = true;
            config.external = vec![provider.config("google")];
        })
        .await;
        const EMAIL: &str = "ana@example.com";
        let ana = app.user(EMAIL).await;
        // The provider's user has the same address, which it has verified.
        let by_provider = json!({"provider": "google", "id_token": provider.id_token(|_| {})});
        let sign_in = || app.post("/token?grant_type=id_token", by_provider.clone()).send();
        assert_eq!(sign_in().await.session().user_id(), ana.user_id());
        let mut key = Authenticator::new();
        assert_eq!(app.register(&ana, &mut key).await.status, 200);
        let code = waiting_code(&app, EMAIL).await;
        let client = oauth_server::register(&app, "none").await;
        let client_code = oauth_server::consent(&app, &client, &ana, "email").await;
        app.post("/otp", json!({"email": EMAIL})).send().await;
        let mail = app.mail_to(EMAIL);

        administer(&app, method, &ana, body.clone()).await;

        let by_code = json!({"type": "email", "email": EMAIL, "token": mail.code});
        let options = app.sign_in_options(&mut key).await;
        let attempts = [
            app.sign_in(EMAIL, PASSWORD).await,
            app.refresh(&ana.refresh_token).await,
            exchange_code(&app, &code, VERIFIER).await,
            oauth_server::exchange_code(&app, &client, &client_code).await,
            app.post("/verify", by_code).send().await,
            app.get(&mail.link).send().await,
            app.complete_sign_in(&options).await,
            sign_in().await,
        ];
        app.post("/otp", json!({"email": EMAIL})).send().await;
        let again = app.get(&app.mail_to(EMAIL).link).send().await;

        let of_ana = "select count(*) from auth.sessions where user_id = $1";
        let sessions: i64 = app.sql(of_ana, &[&ana.user_id()]).await[0].get(0);
        assert_eq!(sessions, 0, "{body}: {attempts:?} {again:?}");
    }
}

/// The files in a folder, and in those below it, that may hold SQL.
fn list_sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "sql");
        if path.is_dir() {
            list_sources(&path, found);
        } else if is_source {
            found.push(path);
        }
    }
}

/// What belongs to a session and ends with it is one list (`_selvedge.end_sessions`, `store/user_access.rs`): a `delete` elsewhere
/// would leave what a thief has begun in the session.
#[test]
fn auth_114_no_other_crate_deletes_sessions_or_what_belongs_to_them() {
    // Each ends one session, which its owner or an operator has chosen, or is the list itself.
    const ALLOWED: [(&str, usize); 4] = [
        ("crates/console/src/auth/sessions.rs", 1),
        ("crates/console/src/session/member_lookup.rs", 1),
        ("sql/platform/0110_console_member_sessions.sql", 1),
        ("sql/platform/0161_end_sessions.sql", 6),
    ];
    const TABLES: [&str; 7] = [
        "sessions",
        "refresh_tokens",
        "mfa_amr_claims",
        "one_time_tokens",
        "flow_state",
        "oauth_authorizations",
        "webauthn_challenges",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = Vec::new();
    list_sources(&root.join("sql/platform"), &mut sources);
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let entry = entry.unwrap();
        for folder in ["src", "sql"].map(|name| entry.path().join(name)) {
            if entry.file_name() != "auth" && folder.is_dir() {
                list_sources(&folder, &mut sources);
            }
        }
    }
    assert!(sources.len() > 500, "{}", sources.len());
    let mut found = BTreeMap::new();
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ").replace(['"', '\\'], "");
        let ends = |table: &str| {
            let statements = ["delete from", "delete from only", "truncate", "truncate table"];
            let count = |statement: &str| text.matches(&format!("{statement} auth.{table}")).count();
            statements.map(count).iter().sum::<usize>()
        };
        let count: usize = TABLES.map(ends).iter().sum();
        if count > 0 {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, count);
        }
    }
    let allowed = ALLOWED.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(found, BTreeMap::from(allowed));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_060_nothing_lifts_a_deletion() {
    let app = TestApp::start_with(with_everything).await;
    let ana = app.user("ana@example.com").await;
    administer(&app, Method::DELETE, &ana, json!({"should_soft_delete": true})).await;

    for duration in ["1s", "none"] {
        administer(&app, Method::PUT, &ana, json!({"ban_duration": duration})).await;
    }

    // Realtime knows by this row that tokens of the user count no longer.
    let ended = "select count(*) from _selvedge.selvedge_ended_users where until is null";
    assert_eq!(app.count(ended).await, 1);
    // An administrator who creates the user anew, for rows that name the id, creates a user who has not ended. Older tokens name the former
    // one, also after a ban of the new one.
    administer(&app, Method::DELETE, &ana, json!({})).await;
    let body = json!({"id": ana.user_id(), "email": "ana@example.com"});
    assert_eq!(app.admin_create(body).await.status, 200);
    let renewed =
        "select count(*) from _selvedge.selvedge_ended_users where until is null and renewed_at is not null";
    let banned = "select count(*) from _selvedge.selvedge_ended_users where until is not null and renewed_at is not null";
    for (duration, counts) in [("1h", (0, 1)), ("none", (1, 0))] {
        administer(&app, Method::PUT, &ana, json!({"ban_duration": duration})).await;
        assert_eq!((app.count(renewed).await, app.count(banned).await), counts);
    }
    // A second deletion ends the new user, too.
    administer(&app, Method::DELETE, &ana, json!({})).await;
    let gone =
        "select count(*) from _selvedge.selvedge_ended_users where until is null and renewed_at is null";
    assert_eq!(app.count(gone).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_114_a_sign_out_of_others_ends_what_they_have_begun() {
    let app = TestApp::start_with(with_everything).await;
    let ana = app.user("ana@example.com").await;
    let thief = app.sign_in("ana@example.com", PASSWORD).await.session();
    let code = waiting_code(&app, "ana@example.com").await;
    let client = oauth_server::register(&app, "none").await;
    let client_code = oauth_server::consent(&app, &client, &thief, "email").await;

    let signed_out = app
        .post("/logout?scope=others", json!({}))
        .bearer(&ana.access_token)
        .send()
        .await;

    assert_eq!(signed_out.status, 204);
    let by_code = exchange_code(&app, &code, VERIFIER).await;
    assert_eq!(by_code.error(), (404, "flow_state_not_found"));
    let by_client = oauth_server::exchange_code(&app, &client, &client_code).await;
    assert_eq!(by_client.body["error"], "invalid_grant");
    let still = app.get("/user").bearer(&ana.access_token).send().await;
    assert_eq!(still.status, 200, "{}", still.body);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_114_the_first_factor_ends_codes_that_wait_for_their_exchange() {
    let app = TestApp::start_with(|config| config.mfa.totp = ENABLED).await;
    let ana = app.user("ana@example.com").await;
    let code = waiting_code(&app, "ana@example.com").await;

    let enrolled = app.enroll(&ana, json!({"factor_type": "totp"})).await;
    let secret = enrolled.body["totp"]["secret"].as_str().unwrap();
    let id = enrolled.body["id"].as_str().unwrap();
    app.verify_with_code(&ana, id, &compute_code(secret, 0))
        .await
        .session();

    let by_code = exchange_code(&app, &code, VERIFIER).await;
    assert_eq!(by_code.error(), (404, "flow_state_not_found"));
}
