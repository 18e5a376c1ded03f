//! Two requests at once: what one has decided holds when the other has changed the account meanwhile, and none of them fails
//! because they lock the same rows. Source: Auth contract §13.

use futures_util::future::join;
use serde_json::{Value, json};

use crate::app::{PASSWORD, Response, Session, TestApp};
use crate::identity_provider::IdentityProvider;
use crate::oauth_server::{consent, exchange_code, open_authorization, register};
use crate::passkeys::Authenticator;
use crate::providers::{in_fragment, read_query_param, return_from_provider};

const OWNER: &str = "owner@corp.example";
/// What happens to the account while a request waits for the user's row.
const ENDINGS: [(&str, &str); 2] = [
    ("delete from auth.sessions", "session_not_found"),
    (
        "update auth.users set banned_until = now() + interval '1 day'",
        "user_banned",
    ),
];

/// Sends a request while the user's row is locked, changes the account by `sql` once the request waits, and returns its response.
async fn overtake(app: &TestApp, call: crate::app::Call, sql: &str) -> Response {
    let mut client = app.superuser().await;
    let transaction = client.transaction().await.unwrap();
    transaction
        .execute("select from auth.users for update", &[])
        .await
        .unwrap();
    let waiting = actix_web::rt::spawn(call.send());
    app.eventually(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        |rows| rows[0].get::<_, i64>(0) > 0,
    )
    .await;
    transaction.batch_execute(sql).await.unwrap();
    transaction.commit().await.unwrap();
    waiting.await.unwrap()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_032_with_autoconfirm_an_account_is_confirmed_as_it_is_when_its_row_is_locked() {
    let app = TestApp::autoconfirm().await;
    for change in [
        "encrypted_password = 'of its owner'",
        "email = 'moved@corp.example'",
        "email_confirmed_at = now()",
        "banned_until = now() + interval '1 day'",
    ] {
        app.sql("delete from auth.users", &[]).await;
        app.admin_create(json!({"email": OWNER, "password": PASSWORD}))
            .await;
        let sign_up = app.post("/signup", json!({"email": OWNER, "password": PASSWORD}));

        let refused = overtake(&app, sign_up, &format!("update auth.users set {change}")).await;

        assert_eq!(refused.error(), (422, "user_already_exists"), "{change}");
        let sessions = "select count(*) from auth.sessions";
        assert_eq!(app.count(sessions).await, 0, "{change}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_a_consent_is_decided_on_the_locked_caller() {
    let app = crate::oauth_server::start_app(None).await;
    let client = register(&app, "none").await;
    for (sql, code) in ENDINGS {
        app.sql("delete from auth.users", &[]).await;
        let user = app.user(OWNER).await;
        let path = open_authorization(&app, &client, &user, "email").await;
        let approve = app.post(&format!("{path}/consent"), json!({"action": "approve"}));

        let decided = overtake(&app, approve.bearer(&user.access_token), sql).await;

        assert_eq!(decided.error(), (403, code));
        let approved = "select count(*) from auth.oauth_authorizations where status <> 'pending'";
        assert_eq!(app.count(approved).await, 0, "{sql}");
        assert_eq!(
            app.count("select count(*) from auth.oauth_consents").await,
            0,
            "{sql}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_an_authorization_is_opened_by_the_locked_caller() {
    let app = crate::oauth_server::start_app(None).await;
    let client = register(&app, "none").await;
    for (sql, code) in ENDINGS {
        app.sql("delete from auth.users", &[]).await;
        let user = app.user(OWNER).await;
        // An earlier consent would approve the next request without a question.
        consent(&app, &client, &user, "email").await;
        let other = app.sign_in(OWNER, PASSWORD).await.session();
        let path = open_authorization_only(&app, &client).await;

        let opened = overtake(&app, app.get(&path).bearer(&other.access_token), sql).await;

        assert_eq!(opened.error(), (403, code));
        let untouched =
            "select count(*) from auth.oauth_authorizations where status = 'pending' and user_id is null";
        assert_eq!(app.count(untouched).await, 1, "{sql}");
        app.sql("delete from auth.oauth_authorizations", &[]).await;
    }
}

/// Begins an authorization that nobody opens; returns the path of its endpoints.
async fn open_authorization_only(app: &TestApp, client: &Value) -> String {
    let started = crate::oauth_server::begin_authorization(app, client, "email").await;
    let id = read_query_param(started.header("location"), "authorization_id");
    format!("/oauth/authorizations/{id}")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_107_a_credential_that_is_registered_does_not_replace_one_that_was_verified_meanwhile() {
    let app = crate::passkeys::start_app().await;
    let thief = app.user(OWNER).await;
    let body = json!({"factor_type": "webauthn", "friendly_name": "key"});
    let enrolled = app.signed_in_post(&thief, "/factors", body).await;
    let id = enrolled.body["id"].as_str().unwrap().to_owned();
    let site = json!({"webauthn": {"rpId": "site.example", "rpOrigins": ["https://site.example"]}});
    let path = format!("/factors/{id}/challenge");
    let challenge = app.signed_in_post(&thief, &path, site).await;
    let options = &challenge.body["webauthn"]["credential_options"]["publicKey"];
    let credential = Authenticator::new().create(options);
    let body = json!({
        "challenge_id": challenge.body["id"],
        "webauthn": {"type": "create", "credential_response": credential, "rpId": "site.example"},
    });
    let call = app
        .post(&format!("/factors/{id}/verify"), body)
        .bearer(&thief.access_token);

    let own = "update auth.mfa_factors set status = 'verified', web_authn_credential = '{\"own\": 1}'";
    let verified = overtake(&app, call, own).await;

    assert_eq!(verified.error(), (422, "mfa_verification_failed"));
    let kept = "select count(*) from auth.mfa_factors where web_authn_credential = '{\"own\": 1}'";
    assert_eq!(app.count(kept).await, 1);
    let raised = "select count(*) from auth.sessions where aal = 'aal2'";
    assert_eq!(app.count(raised).await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_a_passkey_is_removed_and_renamed_by_the_locked_caller() {
    let app = crate::passkeys::start_app().await;
    let factor = "insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret) \
                  select gen_random_uuid(), id, '', 'totp', 'verified', now(), now(), '' from auth.users";
    for (sql, code) in [ENDINGS[0], ENDINGS[1], (factor, "insufficient_aal")] {
        for method in [reqwest::Method::DELETE, reqwest::Method::PATCH] {
            app.sql("delete from auth.users", &[]).await;
            let user = app.user(OWNER).await;
            let passkey = app.register(&user, &mut Authenticator::new()).await.body;
            let path = format!("/passkeys/{}", passkey["id"].as_str().unwrap());
            let call = app
                .call(method, &path)
                .json(&json!({"friendly_name": "a thief's"}));

            let refused = overtake(&app, call.bearer(&user.access_token), sql).await;

            assert_eq!(refused.error(), (403, code));
            let kept = "select count(*) from auth.webauthn_credentials where friendly_name is distinct from 'a thief''s'";
            assert_eq!(app.count(kept).await, 1, "{sql}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_an_administrator_contests_no_account_that_its_owner_proves_meanwhile() {
    let app = TestApp::start().await;
    for body in [
        json!({"email": "corrected@corp.example"}),
        json!({"password": "another password"}),
    ] {
        app.sql("delete from auth.users", &[]).await;
        app.sign_up(OWNER, PASSWORD).await;
        let rows = app.sql("select id::text from auth.users", &[]).await;
        let path = format!("/admin/users/{}", rows[0].get::<_, String>(0));
        let call = app.put(&path, body.clone()).admin();

        let proven = "update auth.users set email_confirmed_at = now(), last_sign_in_at = now()";
        let changed = overtake(&app, call, proven).await;

        assert_eq!(changed.status, 200, "{}", changed.body);
        let doubted = "select (select count(*) from _selvedge.selvedge_contested_accounts) \
                       + (select count(*) from _selvedge.selvedge_vouched_passwords)";
        assert_eq!(app.count(doubted).await, 0, "{body}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_059_an_administrator_changes_no_account_that_is_deleted_meanwhile() {
    let app = TestApp::start().await;
    app.sign_up(OWNER, PASSWORD).await;
    let rows = app.sql("select id::text from auth.users", &[]).await;
    let path = format!("/admin/users/{}", rows[0].get::<_, String>(0));
    let call = app.put(&path, json!({"email": "corrected@corp.example"})).admin();

    let changed = overtake(&app, call, "delete from auth.users").await;

    assert_eq!(changed.error(), (404, "user_not_found"));
}

/// Changes the password of a session's user.
fn change_password(app: &TestApp, session: &Session, round: usize) -> impl Future<Output = Response> {
    let body = json!({"password": format!("password number {round}")});
    app.put("/user", body).bearer(&session.access_token).send()
}

/// What went wrong: the error code of a response, or of a redirect.
fn fault(response: &Response) -> Option<String> {
    let in_redirect = in_fragment(response, "error_code").unwrap_or_default();
    let is_fault = response.status >= 500 || in_redirect == "unexpected_failure";
    is_fault.then(|| format!("{} {} {in_redirect}", response.status, response.body))
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_114_callbacks_and_new_passwords_at_once_do_not_fail() {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.external = vec![provider.config("google")];
    })
    .await;
    provider.set_claims(json!({"email": OWNER}));
    let mut faults = Vec::new();
    for round in 0..12 {
        app.sql("delete from auth.users", &[]).await;
        let owner = app.user(OWNER).await;
        let sign_in = app.get("/authorize?provider=google").send().await;
        let sign_in = read_query_param(sign_in.header("location"), "state");
        let link = app
            .get("/user/identities/authorize?provider=google&skip_http_redirect=true")
            .bearer(&owner.access_token)
            .send()
            .await;
        let link = read_query_param(link.body["url"].as_str().unwrap(), "state");
        let (callbacks, changed) = join(
            join(
                return_from_provider(&app, &sign_in),
                return_from_provider(&app, &link),
            ),
            change_password(&app, &owner, round),
        )
        .await;
        faults.extend(
            [&callbacks.0, &callbacks.1, &changed]
                .into_iter()
                .filter_map(fault),
        );
    }
    assert!(faults.is_empty(), "{faults:?}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_114_clients_and_new_passwords_at_once_do_not_fail() {
    let app = crate::oauth_server::start_app(None).await;
    let client = register(&app, "none").await;
    let mut faults = Vec::new();
    for round in 0..8 {
        app.sql("delete from auth.users", &[]).await;
        let owner = app.user(OWNER).await;
        let code = consent(&app, &client, &owner, "email").await;
        let other = app.sign_in(OWNER, PASSWORD).await.session();
        let path = open_authorization(&app, &client, &other, "email profile").await;
        let approve = app.post(&format!("{path}/consent"), json!({"action": "approve"}));
        let (clients, (changed, refreshed)) = join(
            join(
                exchange_code(&app, &client, &code),
                approve.bearer(&other.access_token).send(),
            ),
            join(
                change_password(&app, &owner, round),
                app.refresh(&other.refresh_token),
            ),
        )
        .await;
        let responses = [&clients.0, &clients.1, &changed, &refreshed];
        faults.extend(responses.into_iter().filter_map(fault));
    }
    assert!(faults.is_empty(), "{faults:?}");
}
