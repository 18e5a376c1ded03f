//! PKCE flows by mail (clients with `flowType: 'pkce'`): links return a code, which is exchanged together with the
//! verifier.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::{PASSWORD, Response, TestApp};

pub(crate) const VERIFIER: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Adds the S256 challenge of [`VERIFIER`] to a request body.
pub(crate) fn with_challenge(mut body: Value) -> Value {
    body["code_challenge"] = json!(URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER)));
    body["code_challenge_method"] = json!("s256");
    body
}

/// Returns the code in the query of the `location` header.
pub(crate) fn code_of(response: &Response) -> String {
    let url = url::Url::parse(response.header("location")).unwrap();
    url.query_pairs()
        .find(|(name, _)| name == "code")
        .map(|(_, value)| value.into_owned())
        .unwrap()
}

/// Exchanges a code for a session (`grant_type=pkce`).
pub(crate) async fn exchange_code(app: &TestApp, code: &str, verifier: &str) -> Response {
    app.post(
        "/token?grant_type=pkce",
        json!({"auth_code": code, "code_verifier": verifier}),
    )
    .send()
    .await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_046_a_pkce_sign_up_ends_with_a_code_exchange() {
    let app = TestApp::start().await;
    app.post(
        "/signup?redirect_to=https://site.example/done?x=1",
        with_challenge(json!({"email": "ana@example.com", "password": PASSWORD})),
    )
    .send()
    .await;
    let mail = app.mail_to("ana@example.com");
    assert!(mail.param("token").starts_with("pkce_"));

    let opened = app.get(&mail.link).send().await;
    assert!(
        opened
            .header("location")
            .starts_with("https://site.example/done?x=1&code="),
        "{:?}",
        opened.headers
    );
    let code = code_of(&opened);
    let session = exchange_code(&app, &code, VERIFIER).await.session();

    assert_eq!(
        app.keys
            .verify(&session.access_token)
            .unwrap()
            .get("amr")
            .unwrap()[0]["method"],
        "email/signup"
    );
    assert_eq!(
        exchange_code(&app, &code, VERIFIER).await.error(),
        (404, "flow_state_not_found")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_047_a_wrong_verifier_is_rejected_and_does_not_consume_the_code() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    app.post("/recover", with_challenge(json!({"email": "ana@example.com"})))
        .send()
        .await;
    let code = code_of(&app.get(&app.mail_to("ana@example.com").link).send().await);

    assert_eq!(
        exchange_code(&app, &code, "wrong").await.error(),
        (400, "bad_code_verifier")
    );
    assert_eq!(
        exchange_code(&app, &code, "").await.error(),
        (400, "validation_failed")
    );
    let session = exchange_code(&app, &code, VERIFIER).await.session();
    assert_eq!(
        app.keys
            .verify(&session.access_token)
            .unwrap()
            .get("amr")
            .unwrap()[0]["method"],
        "recovery"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_048_a_code_expires_five_minutes_after_its_link_was_opened() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    let begin = async || {
        app.post("/otp", with_challenge(json!({"email": "ana@example.com"})))
            .send()
            .await;
        app.sql(
            "update auth.flow_state set created_at = now() - interval '10 minutes'",
            &[],
        )
        .await;
        code_of(&app.get(&app.mail_to("ana@example.com").link).send().await)
    };

    let code = begin().await;
    assert_eq!(exchange_code(&app, &code, VERIFIER).await.status, 200);
    let code = begin().await;
    app.sql(
        "update auth.flow_state set auth_code_issued_at = now() - interval '6 minutes'",
        &[],
    )
    .await;
    assert_eq!(
        exchange_code(&app, &code, VERIFIER).await.error(),
        (422, "flow_state_expired")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn typing_the_mailed_code_of_a_pkce_flow_returns_a_session_without_exchange() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    app.post("/otp", with_challenge(json!({"email": "ana@example.com"})))
        .send()
        .await;
    let code = app.mail_to("ana@example.com").code;

    let body = json!({"email": "ana@example.com", "token": code, "type": "email"});

    app.post("/verify", body).send().await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_049_a_challenge_without_a_method_is_rejected_and_null_means_implicit() {
    let app = TestApp::start().await;
    let sign_up = |challenge: Value, method: Value| {
        let body = json!({"email": "ana@example.com", "password": PASSWORD, "code_challenge": challenge, "code_challenge_method": method});
        app.post("/signup", body).send()
    };

    assert_eq!(
        sign_up(json!("a".repeat(43)), Value::Null).await.error(),
        (400, "validation_failed")
    );
    assert_eq!(sign_up(Value::Null, Value::Null).await.status, 200);
    assert!(!app.mail_to("ana@example.com").param("token").starts_with("pkce_"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_026_errors_of_pkce_links_are_in_query_and_fragment() {
    let app = TestApp::start().await;

    let response = app.get("/verify?token=pkce_nonsense&type=signup").send().await;

    let location = response.header("location");
    assert!(
        location.starts_with("https://site.example?error=access_denied&error_code=otp_expired&"),
        "{location}"
    );
    assert_eq!(response.in_fragment("error_code").unwrap(), "otp_expired");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_pkce_link_without_its_prefix_is_rejected() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    app.post("/otp", with_challenge(json!({"email": "ana@example.com"})))
        .send()
        .await;
    let link = app.mail_to("ana@example.com").link;

    let stripped = app.get(&link.replace("token=pkce_", "token=")).send().await;

    assert_eq!(stripped.in_fragment("error_code").unwrap(), "otp_expired");
}
