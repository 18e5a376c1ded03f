//! Hooks: functions in the project's database, and signed HTTP requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::SecretString;
use selvedge_auth::{AuthConfig, HookConfig, HooksConfig};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::app::{PASSWORD, Session, TestApp};
use crate::http_receiver::{Received, Receiver};

/// Two keys, as during a rotation: `new-secret` and `old-secret` in base64.
const SECRETS: &str = "v1,whsec_bmV3LXNlY3JldA==|v1,whsec_b2xkLXNlY3JldA==";

/// Configures a hook as a function in the schema `public`.
pub(crate) fn database_hook(name: &str) -> Option<HookConfig> {
    Some(HookConfig::parse(&format!("pg-functions://postgres/public/{name}"), None).unwrap())
}

/// Configures a hook as a call to the receiver, signed with both keys of [`SECRETS`].
fn http_hook(receiver: &Receiver) -> Option<HookConfig> {
    let secrets = SecretString::from(SECRETS);
    Some(HookConfig::parse(&format!("{}/hook", receiver.url), Some(&secrets)).unwrap())
}

/// Starts the service with autoconfirm and these hooks.
async fn start_app(hooks: impl FnOnce(&mut HooksConfig)) -> TestApp {
    TestApp::start_with(|config: &mut AuthConfig| {
        config.email.autoconfirm = true;
        hooks(&mut config.hooks);
    })
    .await
}

/// Creates a PL/pgSQL function that Auth may execute.
pub(crate) async fn create_function(app: &TestApp, name: &str, body: &str) {
    app.migrate(&format!(
        "create or replace function public.{name}(event jsonb) returns jsonb language plpgsql as $hook$ {body} $hook$; \
         grant usage on schema public to supabase_auth_admin; \
         grant execute on function public.{name} to supabase_auth_admin; \
         revoke execute on function public.{name} from anon, authenticated, public;"
    ))
    .await;
}

/// Verifies the session's access token and returns its claims.
fn verify_claims(app: &TestApp, session: &Session) -> Value {
    serde_json::from_str(app.keys.verify(&session.access_token).unwrap().json()).unwrap()
}

/// Whether the request has a valid signature of this key.
fn is_signed(request: &Received, key: &str) -> bool {
    let (id, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(format!("{id}.{timestamp}.{}", request.body).as_bytes());
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    request
        .header("webhook-signature")
        .split(' ')
        .any(|signature| signature == expected)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_079_a_database_hook_changes_the_claims() {
    let app = start_app(|hooks| hooks.custom_access_token = database_hook("claims")).await;
    create_function(
        &app,
        "claims",
        "begin return jsonb_build_object('claims', event -> 'claims' || jsonb_build_object( \
           'plan', 'gold', 'how', event ->> 'authentication_method', 'who', event ->> 'user_id')); end",
    )
    .await;

    let session = app.sign_up("ana@example.com", PASSWORD).await.session();
    let first = verify_claims(&app, &session);
    assert_eq!(
        (&first["plan"], &first["how"]),
        (&json!("gold"), &json!("password"))
    );
    assert_eq!(first["who"], session.user["id"]);
    let refreshed = app.refresh(&session.refresh_token).await.session();
    assert_eq!(verify_claims(&app, &refreshed)["how"], "token_refresh");

    create_function(
        &app,
        "claims",
        "begin return jsonb_build_object('claims', (event -> 'claims') - 'sub'); end",
    )
    .await;
    let without = app.sign_in("ana@example.com", PASSWORD).await;
    assert_eq!(without.error(), (500, "unexpected_failure"));
    assert!(without.message().starts_with("output claims do not conform"));
    create_function(
        &app,
        "claims",
        "begin return '{\"error\": {\"http_code\": 403, \"message\": \"not you\"}}'::jsonb; end",
    )
    .await;
    let refused = app.sign_in("ana@example.com", PASSWORD).await;
    assert_eq!((refused.status, refused.message()), (403, "not you"));
    create_function(&app, "claims", "begin perform pg_sleep(3); return event; end").await;
    let slow = app.sign_in("ana@example.com", PASSWORD).await;
    assert_eq!(slow.error(), (422, "hook_timeout"));
    assert_eq!(
        app.count("select count(*) from auth.sessions").await,
        1,
        "a sign-in that fails leaves no session"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_080_a_database_hook_rejects_a_new_user() {
    let app = start_app(|hooks| hooks.before_user_created = database_hook("guard")).await;
    create_function(
        &app,
        "guard",
        "begin if event #>> '{user,email}' like '%@evil.example' then \
           return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message', 'not welcome: ' \
             || (event #>> '{user,user_metadata,name}') || ' ' || (event #>> '{metadata,name}'))); \
         end if; return '{}'::jsonb; end",
    )
    .await;

    let body = json!({"email": "eve@evil.example", "password": PASSWORD, "data": {"name": "Eve"}});
    let refused = app.post("/signup", body).send().await;
    assert_eq!(
        (refused.status, refused.message()),
        (403, "not welcome: Eve before-user-created")
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
    app.sign_up("ana@example.com", PASSWORD).await.session();
    let by_admin = json!({"email": "mallory@evil.example", "password": PASSWORD, "email_confirm": true});
    assert_eq!(
        app.admin_create(by_admin).await.status,
        200,
        "administrators are not asked"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_080_what_the_hook_writes_stays_when_it_refuses_or_a_later_step_fails() {
    let app = start_app(|hooks| hooks.before_user_created = database_hook("count_attempt")).await;
    app.migrate(
        "create table public.attempts (email text); grant insert on public.attempts to supabase_auth_admin; \
         create function public.reject_row() returns trigger language plpgsql as $$ begin \
           if new.email like 'unlucky%' then raise exception 'no'; end if; return new; end $$; \
         create trigger reject_row before insert on auth.users for each row execute function public.reject_row();",
    )
    .await;
    create_function(
        &app,
        "count_attempt",
        "begin insert into public.attempts values (event #>> '{user,email}'); \
           if event #>> '{user,email}' like 'eve%' then \
             return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message', 'no')); \
           end if; return '{}'::jsonb; end",
    )
    .await;

    assert_eq!(app.sign_up("eve@example.com", PASSWORD).await.status, 403);
    assert_eq!(app.sign_up("unlucky@example.com", PASSWORD).await.status, 500);
    assert_eq!(app.sign_up("ana@example.com", PASSWORD).await.status, 200);
    let invited = app
        .post("/invite", json!({"email": "eve2@example.com"}))
        .admin()
        .send()
        .await;
    assert_eq!(invited.status, 403);

    let attempts = app
        .sql(
            "select string_agg(email, ' ' order by email) from public.attempts",
            &[],
        )
        .await;
    assert_eq!(
        attempts[0].get::<_, &str>(0),
        "ana@example.com eve2@example.com eve@example.com unlucky@example.com"
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_080_an_http_hook_rejects_a_new_user_and_gets_signed_requests() {
    let receiver = Receiver::start(r#"{"error": {"http_code": 418, "message": "tea only"}}"#).await;
    let app = start_app(|hooks| hooks.before_user_created = http_hook(&receiver)).await;

    let refused = app.sign_up("ana@example.com", PASSWORD).await;

    assert_eq!((refused.status, refused.message()), (418, "tea only"));
    let request = receiver.last();
    assert_eq!(request.line, "POST /hook HTTP/1.1\r\n");
    assert!(is_signed(&request, "new-secret") && is_signed(&request, "old-secret"));
    assert!(!is_signed(&request, "another"));
    let input = request.json();
    assert_eq!(input["user"]["email"], "ana@example.com");
    assert_eq!(input["metadata"]["ip_address"], "127.0.0.1");
    assert!(input["metadata"]["uuid"].is_string() && input["metadata"]["time"].is_string());

    receiver.respond("204 No Content", "");
    app.sign_up("ana@example.com", PASSWORD).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_080_hooks_at_private_addresses_are_not_called_unless_that_is_allowed() {
    let receiver = Receiver::start("{}").await;
    // As an address, and as a name that leads to it.
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("{}/hook", receiver.url.replace("127.0.0.1", host));
        let secrets = SecretString::from(SECRETS);
        let hook = HookConfig::parse(&url, Some(&secrets)).unwrap();
        let app = TestApp::start_with(|config: &mut AuthConfig| {
            config.calls_private_addresses = false;
            config.hooks.before_user_created = Some(hook);
        })
        .await;

        let refused = app.sign_up("ana@example.com", PASSWORD).await;

        assert_eq!(refused.error(), (422, "hook_timeout_after_retry"), "{host}");
    }
    assert!(receiver.requests().is_empty());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn invalid_responses_of_http_hooks_are_errors() {
    let receiver = Receiver::start("{}").await;
    let app = start_app(|hooks| hooks.before_user_created = http_hook(&receiver)).await;
    let large = format!("\"{}\"", "x".repeat(210 * 1024));
    let cases: [(&str, &str, (u16, &str)); 6] = [
        (
            "200 OK\r\ncontent-type: text/html",
            "<p>",
            (400, "hook_payload_invalid_content_type"),
        ),
        ("200 OK", "not json", (500, "unexpected_failure")),
        ("200 OK", &large, (422, "hook_payload_over_size_limit")),
        ("401 Unauthorized", "{}", (500, "unexpected_failure")),
        ("503 Service Unavailable", "{}", (500, "unexpected_failure")),
        (
            "302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-type: text/plain",
            "",
            (500, "unexpected_failure"),
        ),
    ];
    for (status, body, error) in cases {
        receiver.respond(status, body);
        assert_eq!(
            app.sign_up("ana@example.com", PASSWORD).await.error(),
            error,
            "{status}"
        );
    }

    receiver.respond_in_turn(&[
        (
            "503 Service Unavailable\r\nretry-after: true\r\ncontent-type: text/plain",
            "",
        ),
        ("200 OK", "{}"),
    ]);
    app.sign_up("ana@example.com", PASSWORD).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_send_email_hook_is_called_instead_of_sending_mails() {
    let receiver = Receiver::start("{}").await;
    let app = TestApp::start_with(|config| config.hooks.send_email = http_hook(&receiver)).await;

    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let signed_up = app
        .post("/signup?redirect_to=https://site.example/x", body)
        .send()
        .await;
    assert_eq!(signed_up.status, 200, "{}", signed_up.body);
    assert_eq!(app.mail_count(), 0, "instead of ours");
    let input = receiver.last().json();
    let data = &input["email_data"];
    assert_eq!(input["user"]["email"], "ana@example.com");
    assert_eq!(
        (&data["email_action_type"], &data["redirect_to"]),
        (&json!("signup"), &json!("https://site.example/x"))
    );
    let session = app
        .post(
            "/verify",
            json!({"type": "signup", "token_hash": data["token_hash"]}),
        )
        .send()
        .await
        .session();

    let change = app
        .put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(change.status, 200, "{}", change.body);
    let input = receiver.last().json();
    let data = &input["email_data"];
    assert_eq!(data["email_action_type"], "email_change");
    assert_eq!(input["user"]["new_email"], "new@example.com");
    // Compat: `token` and `token_hash_new` belong to the current address, the other two to the new one.
    for (email, token, hash) in [
        ("ana@example.com", "token", "token_hash_new"),
        ("new@example.com", "token_new", "token_hash"),
    ] {
        const OWNER: &str = "select relates_to from auth.one_time_tokens where token_hash = $1";
        let owner = app.sql(OWNER, &[&data[hash].as_str().unwrap()]).await;
        assert_eq!(owner[0].get::<_, &str>(0), email, "{hash}");
        assert_eq!(data[token].as_str().unwrap().len(), 6, "{token}");
    }
    // The code that was sent to each address confirms that address.
    for (email, token) in [("ana@example.com", "token"), ("new@example.com", "token_new")] {
        let body = json!({"type": "email_change", "email": email, "token": data[token]});
        let confirmed = app.post("/verify", body).send().await;
        assert_eq!(confirmed.status, 200, "{token}: {}", confirmed.body);
    }
    assert_eq!(receiver.requests().len(), 2, "one call for both mails");

    let asked = app
        .get("/reauthenticate")
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let data = &receiver.last().json()["email_data"];
    let stored = "select count(*) from auth.users where reauthentication_token = $1";
    let stored = app.sql(stored, &[&data["token_hash"].as_str().unwrap()]).await;
    assert_eq!(stored[0].get::<_, i64>(0), 1);

    receiver.respond("500 Internal Server Error", "{}");
    let failed = app.sign_up("bea@example.com", PASSWORD).await;
    assert_eq!(failed.error(), (500, "unexpected_failure"));
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_send_sms_hook_is_called_instead_of_the_provider() {
    let app = TestApp::start_with(|config| {
        config.phone.enabled = true;
        config.phone.autoconfirm = false;
        config.hooks.send_sms = database_hook("send");
    })
    .await;
    app.migrate(
        "create table public.sent (body jsonb); grant insert on public.sent to supabase_auth_admin; \
         create function public.send(event jsonb) returns void language sql as \
           'insert into public.sent values (event)'; \
         grant usage on schema public to supabase_auth_admin; \
         grant execute on function public.send to supabase_auth_admin;",
    )
    .await;

    let asked = app.post("/otp", json!({"phone": "+49170"})).send().await;

    assert_eq!((asked.status, &asked.body), (200, &json!({})), "{}", asked.body);
    let sent = app.sql("select body from public.sent", &[]).await;
    let sent: Value = sent[0].get(0);
    assert_eq!(sent["sms"]["phone"], "49170");
    assert_eq!(sent["user"]["new_phone"], json!(null));
    let body = json!({"type": "sms", "phone": "49170", "token": sent["sms"]["otp"]});
    let session = app.post("/verify", body).send().await.session();

    let changed = app
        .put("/user", json!({"phone": "+49171"}))
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    let sent = app
        .sql(
            "select body from public.sent where body #>> '{sms,phone}' = '49171'",
            &[],
        )
        .await;
    assert_eq!(sent[0].get::<_, Value>(0)["user"]["new_phone"], "49171");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_password_hook_is_called_and_may_reject_a_sign_in() {
    let receiver = Receiver::start(r#"{"decision": "continue"}"#).await;
    let app = start_app(|hooks| hooks.password_verification_attempt = http_hook(&receiver)).await;
    let session = app.sign_up("ana@example.com", PASSWORD).await.session();

    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    assert_eq!(receiver.last().json()["valid"], true);
    assert_eq!(
        app.sign_in("ana@example.com", "wrong").await.error(),
        (400, "invalid_credentials")
    );
    let input = receiver.last().json();
    assert_eq!(
        (&input["valid"], &input["user_id"]),
        (&json!(false), &session.user["id"])
    );
    app.sign_in("nobody@example.com", "wrong").await;
    assert_eq!(receiver.requests().len(), 2, "nobody has no password");

    receiver.respond(
        "200 OK",
        r#"{"decision": "reject", "message": "too often", "should_logout_user": true}"#,
    );
    let rejected = app.sign_in("ana@example.com", PASSWORD).await;
    assert_eq!(
        (rejected.error(), rejected.message()),
        ((400, "invalid_credentials"), "too often")
    );
    assert_eq!(app.count("select count(*) from auth.sessions").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_mfa_hook_may_reject_a_factor_and_delete_the_sessions() {
    let app = TestApp::start_with(|config| {
        config.mfa.totp = selvedge_auth::FactorSwitch {
            enroll: true,
            verify: true,
        };
        config.hooks.mfa_verification_attempt = database_hook("judge");
    })
    .await;
    create_function(
        &app,
        "judge",
        "begin return jsonb_build_object('decision', 'reject', 'message', event ->> 'factor_type'); end",
    )
    .await;
    let session = app.user("ana@example.com").await;
    let enrolled = app
        .post("/factors", json!({"factor_type": "totp"}))
        .bearer(&session.access_token)
        .send()
        .await;
    let id = enrolled.body["id"].as_str().unwrap().to_owned();
    let challenge = app
        .post(&format!("/factors/{id}/challenge"), json!({}))
        .bearer(&session.access_token)
        .send()
        .await;

    let rejected = app
        .post(
            &format!("/factors/{id}/verify"),
            json!({"challenge_id": challenge.body["id"], "code": "123456"}),
        )
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(
        (rejected.error(), rejected.message()),
        ((403, "mfa_verification_rejected"), "totp")
    );
    assert_eq!(app.count("select count(*) from auth.sessions").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_after_user_created_hook_is_called_after_the_commit() {
    let app = start_app(|hooks| hooks.after_user_created = database_hook("note")).await;
    app.migrate(
        "create table public.noted (id text); grant insert on public.noted to supabase_auth_admin; \
         create function public.note(event jsonb) returns void language sql as \
           'insert into public.noted values (event #>> ''{user,id}'')'; \
         grant usage on schema public to supabase_auth_admin; \
         grant execute on function public.note to supabase_auth_admin;",
    )
    .await;

    let session = app.sign_up("ana@example.com", PASSWORD).await.session();

    let noted = app
        .eventually("select id from public.noted", |rows| !rows.is_empty())
        .await;
    assert_eq!(session.user["id"], noted[0].get::<_, String>(0).as_str());
}
