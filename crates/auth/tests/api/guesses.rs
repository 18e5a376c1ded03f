//! Guesses at codes: counted in the row of the code, before it is compared, whichever way it is presented.

use selvedge_auth::{AuthConfig, SmsProviderConfig, TwilioConfig};
use serde_json::json;
use sha2::{Digest, Sha224};

use crate::app::{PASSWORD, Response, TestApp};
use crate::http_receiver::Receiver;
use crate::mfa::{ENABLED, compute_code, extract_code, read_text, with_twilio};

/// Presents a code for an address.
async fn present(app: &TestApp, email: &str, code: &str) -> Response {
    let body = json!({"type": "email", "email": email, "token": code});
    app.post("/verify", body).send().await
}

/// A code that is not `right`.
pub(crate) fn wrong_code(right: &str) -> &'static str {
    if right == "000000" { "000001" } else { "000000" }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_after_five_attempts_a_code_is_invalid_and_its_link_works() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let mail = app.mail_to("ana@example.com");

    for _ in 0..5 {
        let wrong = present(&app, "ana@example.com", wrong_code(&mail.code)).await;
        assert_eq!(wrong.error(), (403, "otp_expired"));
    }
    let right = present(&app, "ana@example.com", &mail.code).await;

    assert_eq!(
        (right.error(), right.message()),
        ((403, "otp_expired"), "Token has expired or is invalid")
    );
    let opened = app.get(&mail.link).send().await;
    assert!(opened.in_fragment("access_token").is_some());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_026_the_fifth_attempt_may_be_right_and_a_new_code_starts_anew() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let first = app.mail_to("ana@example.com");
    for _ in 0..5 {
        present(&app, "ana@example.com", wrong_code(&first.code)).await;
    }

    let body = json!({"type": "signup", "email": "ana@example.com"});
    assert_eq!(app.post("/resend", body).send().await.status, 200);
    let second = app.mail_to("ana@example.com");
    for _ in 0..4 {
        present(&app, "ana@example.com", wrong_code(&second.code)).await;
    }

    present(&app, "ana@example.com", &second.code).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_attempts_at_once_are_counted_one_by_one() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let mail = app.mail_to("ana@example.com");

    let guesses = (0..12).map(|_| present(&app, "ana@example.com", wrong_code(&mail.code)));
    futures_util::future::join_all(guesses).await;

    let attempts = app
        .sql("select attempts from _selvedge.selvedge_one_time_codes", &[])
        .await;
    assert_eq!(attempts[0].get::<_, i16>(0), 5);
    let right = present(&app, "ana@example.com", &mail.code).await;
    assert_eq!(right.error(), (403, "otp_expired"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_026_address_and_code_do_not_lead_to_the_token_of_the_link() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let code = app.mail_to("ana@example.com").code;
    let hash = hex::encode(Sha224::digest(format!("ana@example.com{code}")));

    for token in [hash.clone(), format!("pkce_{hash}")] {
        let body = json!({"type": "signup", "token_hash": token});
        let presented = app.post("/verify", body).send().await;
        assert_eq!(presented.error(), (403, "otp_expired"));
    }
    present(&app, "ana@example.com", &code).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_026_tokens_of_older_versions_have_expired_and_a_new_mail_works() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    // As the original stores it: the token of the link is the hash of address and code.
    let hash = hex::encode(Sha224::digest("ana@example.com123456"));
    app.sql("update auth.users set confirmation_token = $1", &[&hash])
        .await;
    app.sql(
        "update auth.one_time_tokens set id = gen_random_uuid(), token_hash = $1",
        &[&hash],
    )
    .await;

    let body = json!({"type": "signup", "token_hash": hash});
    let link = app.post("/verify", body).send().await;
    let code = present(&app, "ana@example.com", "123456").await;

    assert_eq!(
        (link.error(), code.error()),
        ((403, "otp_expired"), (403, "otp_expired"))
    );
    let body = json!({"type": "signup", "email": "ana@example.com"});
    assert_eq!(app.post("/resend", body).send().await.status, 200);
    present(&app, "ana@example.com", &app.mail_to("ana@example.com").code)
        .await
        .session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_026_a_code_for_an_address_counts_for_every_account_that_waits_for_it() {
    let app = TestApp::start_with(|config| config.email.secure_change = false).await;
    let mut codes = Vec::new();
    for name in ["eve", "eva"] {
        let session = app.user(&format!("{name}@example.com")).await;
        let change = app
            .put("/user", json!({"email": "victim@example.com"}))
            .bearer(&session.access_token)
            .send()
            .await;
        assert_eq!(change.status, 200, "{}", change.body);
        codes.push(app.mail_to("victim@example.com").code);
    }
    let guess = ["000000", "000001", "000002"]
        .into_iter()
        .find(|guess| !codes.iter().any(|code| code == guess));

    for _ in 0..5 {
        let body = json!({"type": "email_change", "email": "victim@example.com", "token": guess});
        assert_eq!(
            app.post("/verify", body).send().await.error(),
            (403, "otp_expired")
        );
    }

    for code in codes {
        let body = json!({"type": "email_change", "email": "victim@example.com", "token": code});
        assert_eq!(
            app.post("/verify", body).send().await.error(),
            (403, "otp_expired")
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_074_the_nonce_of_a_new_password_is_invalid_after_five_attempts() {
    let app = TestApp::start_with(|config| config.password.require_reauthentication = true).await;
    let session = app.user("ana@example.com").await;
    app.sql(
        "update auth.sessions set created_at = now() - interval '2 days'",
        &[],
    )
    .await;
    let asked = app
        .get("/reauthenticate")
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let code = app.mail_to("ana@example.com").code;
    let update = async |nonce: &str| {
        let body = json!({"password": "a better one", "nonce": nonce});
        app.put("/user", body).bearer(&session.access_token).send().await
    };

    for _ in 0..5 {
        let wrong = update(wrong_code(&code)).await;
        assert_eq!(wrong.error(), (422, "reauthentication_not_valid"));
    }

    assert_eq!(update(&code).await.error(), (422, "reauthentication_not_valid"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_111_a_totp_code_is_accepted_once_for_its_factor() {
    let app = TestApp::start_with(|config| config.mfa.totp = ENABLED).await;
    let session = app.user("ana@example.com").await;
    let enrolled = app.enroll(&session, json!({"factor_type": "totp"})).await;
    let (id, secret) = (
        read_text(&enrolled.body["id"]),
        read_text(&enrolled.body["totp"]["secret"]),
    );
    let code = compute_code(&secret, 0);
    app.verify_with_code(&session, &id, &code).await.session();
    let other = app.sign_in("ana@example.com", PASSWORD).await.session();

    let again = app.verify_with_code(&other, &id, &code).await;
    let earlier = app
        .verify_with_code(&other, &id, &compute_code(&secret, -1))
        .await;

    assert_eq!(again.error(), (422, "mfa_verification_failed"));
    assert_eq!(
        earlier.error(),
        (422, "mfa_verification_failed"),
        "a step before the last"
    );
    app.verify_with_code(&other, &id, &compute_code(&secret, 1))
        .await
        .session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_086_flows_with_providers_and_clients_are_limited_per_client_address() {
    let app = TestApp::start_with(|config| {
        config.rate_limits.client = crate::protection::proxy_header();
        config.rate_limits.authorizations = 1;
        config.oauth_server.enabled = true;
    })
    .await;

    let mut statuses = Vec::new();
    for attempt in 0..31 {
        let path = ["/authorize?provider=google", "/oauth/authorize"][attempt % 2];
        let begun = app.get(path).header("x-real-ip", "192.0.2.1").send().await;
        statuses.push(begun.error().1.to_owned());
    }

    assert!(
        statuses[..30]
            .iter()
            .all(|code| code != "over_request_rate_limit")
    );
    assert!(statuses[30] == "over_request_rate_limit", "{}", statuses[30]);
}

/// Codes that Twilio Verify makes and checks.
pub(crate) fn with_twilio_verify(config: &mut AuthConfig, verify: &Receiver) {
    with_twilio(config, verify);
    config.phone.provider = Some(SmsProviderConfig::TwilioVerify(TwilioConfig {
        account_sid: "AC1".to_owned(),
        message_service_sid: "VA1".to_owned(),
        auth_token: "token".to_owned().into(),
        content_sid: String::new(),
        base_url: Some(verify.url.clone()),
    }));
}

/// Second factors by text message, with a minute between two messages.
pub(crate) fn with_phone_factors(config: &mut AuthConfig, twilio: &Receiver) {
    with_twilio(config, twilio);
    config.mfa.phone.switch = ENABLED;
    config.mfa.phone.max_frequency = std::time::Duration::from_secs(60);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_076_the_code_of_a_text_message_is_invalid_after_five_attempts() {
    let twilio = Receiver::start(r#"{"sid": "SM1"}"#).await;
    let app = TestApp::start_with(|config| with_phone_factors(config, &twilio)).await;
    let session = app.user("ana@example.com").await;
    let body = json!({"factor_type": "phone", "phone": "491701234567"});
    let id = read_text(&app.enroll(&session, body).await.body["id"]);
    let challenge = read_text(&app.challenge(&session, &id).await.body["id"]);
    let code = extract_code(&twilio.last().field("Body"));

    for _ in 0..5 {
        let wrong = app
            .verify_factor(&session, &id, &challenge, wrong_code(&code))
            .await;
        assert_eq!(wrong.error(), (422, "mfa_verification_failed"));
    }

    let right = app.verify_factor(&session, &id, &challenge, &code).await;
    assert_eq!(right.error(), (422, "mfa_verification_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_076_the_pause_between_text_messages_is_the_numbers_and_not_the_factors() {
    let twilio = Receiver::start(r#"{"sid": "SM1"}"#).await;
    let app = TestApp::start_with(|config| with_phone_factors(config, &twilio)).await;

    let mut statuses = Vec::new();
    for (email, name) in [
        ("ana@example.com", "a"),
        ("ana@example.com", "b"),
        ("eve@example.com", "c"),
    ] {
        let session = match name {
            "b" => app.sign_in(email, PASSWORD).await.session(),
            _ => app.user(email).await,
        };
        let body = json!({"factor_type": "phone", "phone": "491701234567", "friendly_name": name});
        let id = read_text(&app.enroll(&session, body).await.body["id"]);
        statuses.push(app.challenge(&session, &id).await.status);
    }

    assert_eq!(statuses, [200, 429, 429]);
    assert_eq!(twilio.requests().len(), 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_110_attempts_at_all_codes_of_an_address_are_counted_in_the_database() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    present(&app, "ana@example.com", "not it").await;
    // As after 200 attempts, on whichever node, at whichever code.
    app.sql(
        "update _selvedge.selvedge_counted_attempts set full_at = now() + interval '1 day'",
        &[],
    )
    .await;

    let refused = present(&app, "Ana@example.com", "not it").await;
    assert_eq!(refused.error(), (429, "over_request_rate_limit"));
    // Another address is not concerned, nor is the link.
    let other = present(&app, "bea@example.com", "not it").await;
    assert_eq!(other.error(), (403, "otp_expired"));
    let opened = app.get(&app.mail_to("ana@example.com").link).send().await;
    assert!(opened.in_fragment("access_token").is_some());
}
