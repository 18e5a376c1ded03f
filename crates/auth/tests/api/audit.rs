//! Audit log entries: actor and traits of each action.

use selvedge_auth::FactorSwitch;
use serde_json::{Value, json};

use crate::app::{PASSWORD, TestApp};
use crate::mfa::compute_code;

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The S256 challenge of [`VERIFIER`]; both are the example of RFC 7636, appendix B.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Action, name of the actor and traits of every entry, oldest first; ids are left out of the traits.
async fn list_audit_entries(app: &TestApp) -> Vec<(String, String, Value)> {
    let sql = "select payload::jsonb from auth.audit_log_entries order by created_at";
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry = |row: &tokio_postgres::Row| {
        let mut payload: Value = row.get(0);
        if let Some(traits) = payload["traits"].as_object_mut() {
            traits.retain(|name, _| !name.ends_with("_id"));
        }
        (
            text(&payload["action"]),
            text(&payload["actor_username"]),
            payload["traits"].take(),
        )
    };
    app.sql(sql, &[]).await.iter().map(entry).collect()
}

/// Builds an expected entry in the form of [`list_audit_entries`].
fn build_entry(action: &str, actor: &str, traits: Value) -> (String, String, Value) {
    (action.to_owned(), actor.to_owned(), traits)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_097_sign_up_entries_name_the_provider() {
    let app = TestApp::start_with(|config| {
        config.phone.enabled = true;
        config.phone.test_otp = [("491511".to_owned(), "123456".to_owned())].into();
        config.phone.autoconfirm = false;
        config.anonymous_users_enabled = true;
    })
    .await;
    let ana = "ana@example.com";

    app.sign_up(ana, PASSWORD).await;
    app.get(&app.mail_to(ana).link).send().await;
    app.sign_up(ana, PASSWORD).await;
    app.sign_in(ana, PASSWORD).await.session();
    app.post("/signup", json!({})).send().await.session();
    let by_phone = json!({"phone": "+491511", "password": PASSWORD});
    let signed_up = app.post("/signup", by_phone).send().await;
    assert_eq!(signed_up.status, 200, "{}", signed_up.body);
    let code = json!({"type": "sms", "phone": "491511", "token": "123456"});
    app.post("/verify", code).send().await.session();

    let (email, phone) = (json!({"provider": "email"}), json!({"provider": "phone"}));
    let expected = [
        build_entry("user_confirmation_requested", ana, email.clone()),
        build_entry("user_signedup", ana, email.clone()),
        build_entry("user_repeated_signup", ana, email.clone()),
        build_entry("login", ana, email),
        build_entry("user_signedup", "", json!({"provider": "anonymous"})),
        build_entry("user_confirmation_requested", "491511", phone.clone()),
        build_entry("user_signedup", "491511", phone),
    ];
    assert_eq!(list_audit_entries(&app).await, expected);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_097_pkce_sign_in_entries_name_the_flow() {
    let app = TestApp::start().await;
    let body = json!({
        "email": "ana@example.com", "password": PASSWORD, "code_challenge": CHALLENGE, "code_challenge_method": "s256",
    });
    app.post("/signup", body).send().await;
    let response = app.get(&app.mail_to("ana@example.com").link).send().await;
    let location = url::Url::parse(response.header("location")).unwrap();
    let code = location
        .query_pairs()
        .find(|(name, _)| name == "code")
        .unwrap()
        .1
        .into_owned();

    let exchange = json!({"auth_code": code, "code_verifier": VERIFIER});
    app.post("/token?grant_type=pkce", exchange)
        .send()
        .await
        .session();

    let last = list_audit_entries(&app).await.pop().unwrap();
    assert_eq!(
        last,
        build_entry("login", "ana@example.com", json!({"provider_type": "email"}))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_097_admin_entries_name_the_affected_user() {
    let app = TestApp::start().await;
    let ana = app.user("ana@example.com").await;
    let path = format!("/admin/users/{}", ana.user_id());
    app.put(&path, json!({"user_metadata": {"full_name": "Ana"}}))
        .admin()
        .send()
        .await;
    app.post("/invite", json!({"email": "bea@example.com"}))
        .admin()
        .send()
        .await;
    for kind in ["recovery", "email_change_new"] {
        let body = json!({"type": kind, "email": "ana@example.com", "new_email": "new@example.com"});
        assert_eq!(
            app.post("/admin/generate_link", body).admin().send().await.status,
            200
        );
    }
    app.call(reqwest::Method::DELETE, &path).admin().send().await;

    let about = |email: &str| json!({"user_email": email, "user_phone": ""});
    let mut created = about("ana@example.com");
    created["provider"] = json!("email");
    let expected = [
        build_entry("user_signedup", "service_role", created),
        build_entry("login", "ana@example.com", json!({"provider": "email"})),
        build_entry("user_modified", "service_role", about("ana@example.com")),
        build_entry(
            "user_invited",
            "service_role",
            json!({"user_email": "bea@example.com"}),
        ),
        build_entry("user_recovery_requested", "ana@example.com", Value::Null),
        build_entry("user_deleted", "service_role", about("ana@example.com")),
    ];
    assert_eq!(list_audit_entries(&app).await, expected);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_097_refresh_and_second_factor_each_log_a_revoked_token() {
    for (counters, expected) in [
        (
            false,
            vec![
                "token_refreshed",
                "token_revoked",
                "token_refreshed",
                "verification_attempted",
                "token_revoked",
            ],
        ),
        (
            true,
            vec!["token_refreshed", "token_refreshed", "verification_attempted"],
        ),
    ] {
        let app = TestApp::start_with(|config| {
            config.refresh.counter_tokens = counters;
            config.mfa.totp = FactorSwitch {
                enroll: true,
                verify: true,
            };
        })
        .await;
        let first = app.user("ana@example.com").await;
        app.refresh(&first.refresh_token).await.session();
        // A client that lost the response gets the same token again, so nothing is revoked.
        let session = app.refresh(&first.refresh_token).await.session();
        let factor = app.enroll(&session, json!({"factor_type": "totp"})).await.body;
        let code = compute_code(factor["totp"]["secret"].as_str().unwrap(), 0);
        let raised = app
            .verify_with_code(&session, factor["id"].as_str().unwrap(), &code)
            .await
            .session();

        let told = ["token_refreshed", "token_revoked", "verification_attempted"];
        let actions: Vec<String> = list_audit_entries(&app)
            .await
            .into_iter()
            .map(|(action, ..)| action)
            .collect();
        let actions: Vec<&str> = actions
            .iter()
            .map(String::as_str)
            .filter(|action| told.contains(action))
            .collect();
        assert_eq!(actions, expected);
        if counters {
            // The token that was issued before the upgrade to aal2 is revoked.
            let old = app.refresh(&session.refresh_token).await;
            assert_eq!(old.error(), (400, "refresh_token_already_used"));
            assert_eq!(
                app.refresh(&raised.refresh_token).await.status,
                400,
                "both are out"
            );
        }
    }
}
