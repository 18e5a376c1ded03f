//! Second factors by authenticator app and text message: enrolment, challenge, verification, AAL, limits,
//! administration.

use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use selvedge_auth::{AuthConfig, FactorSwitch, SmsProviderConfig, TwilioConfig};
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use sha1::Sha1;

use crate::app::{PASSWORD, Response, Session, TestApp};
use crate::http_receiver::Receiver;

/// A type of factor that may be enrolled and verified.
pub(crate) const ENABLED: FactorSwitch = FactorSwitch {
    enroll: true,
    verify: true,
};

/// Starts the service with authenticator apps enabled.
async fn start_app() -> TestApp {
    TestApp::start_with(|config| config.mfa.totp = ENABLED).await
}

/// Computes the code that an authenticator app shows, `steps` of thirty seconds from now.
pub(crate) fn compute_code(secret: &str, steps: i64) -> String {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits: String = secret
        .chars()
        .map(|character| format!("{:05b}", ALPHABET.find(character).unwrap()))
        .collect();
    let key: Vec<u8> = (0..bits.len() / 8)
        .map(|index| u8::from_str_radix(&bits[index * 8..index * 8 + 8], 2).unwrap())
        .collect();
    let step = chrono::Utc::now().timestamp() / 30 + steps;
    let mut mac = Hmac::<Sha1>::new_from_slice(&key).unwrap();
    mac.update(&step.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    // RFC 4226 §5.3: the low four bits of the last byte choose the four bytes that become the number.
    let at = usize::from(digest[19] & 15);
    let number = u32::from_be_bytes(digest[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

impl TestApp {
    pub(crate) async fn enroll(&self, session: &Session, body: Value) -> Response {
        self.post("/factors", body)
            .bearer(&session.access_token)
            .send()
            .await
    }

    pub(crate) async fn challenge(&self, session: &Session, factor: &str) -> Response {
        self.post(&format!("/factors/{factor}/challenge"), json!({}))
            .bearer(&session.access_token)
            .send()
            .await
    }

    pub(crate) async fn verify_factor(
        &self,
        session: &Session,
        factor: &str,
        challenge: &str,
        code: &str,
    ) -> Response {
        self.post(
            &format!("/factors/{factor}/verify"),
            json!({"challenge_id": challenge, "code": code}),
        )
        .bearer(&session.access_token)
        .send()
        .await
    }

    /// Creates a challenge for a factor and verifies it with this code.
    pub(crate) async fn verify_with_code(&self, session: &Session, factor: &str, code: &str) -> Response {
        let challenge = self.challenge(session, factor).await;
        assert_eq!(challenge.status, 200, "{}", challenge.body);
        let id = challenge.body["id"].as_str().unwrap().to_owned();
        self.verify_factor(session, factor, &id, code).await
    }

    /// Creates a user with a verified TOTP factor; returns the factor's id, its secret and the session at `aal2`.
    pub(crate) async fn user_with_totp(&self, email: &str) -> (String, String, Session) {
        let session = self.user(email).await;
        let enrolled = self
            .enroll(&session, json!({"factor_type": "totp", "friendly_name": "phone"}))
            .await;
        assert_eq!(enrolled.status, 200, "{}", enrolled.body);
        let (id, secret) = (
            read_text(&enrolled.body["id"]),
            read_text(&enrolled.body["totp"]["secret"]),
        );
        let raised = self
            .verify_with_code(&session, &id, &compute_code(&secret, 0))
            .await
            .session();
        (id, secret, raised)
    }
}

pub(crate) fn read_text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Verifies the session's access token and returns its claims.
fn verify_claims(app: &TestApp, session: &Session) -> Value {
    let claims = app.keys.verify(&session.access_token).unwrap();
    serde_json::from_str(claims.json()).unwrap()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_075_a_verified_totp_factor_raises_the_session_to_aal2() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let other = app.sign_in("ana@example.com", PASSWORD).await.session();

    let enrolled = app
        .enroll(
            &session,
            json!({"factor_type": "totp", "friendly_name": "phone", "issuer": "Shop"}),
        )
        .await;
    assert_eq!(enrolled.status, 200, "{}", enrolled.body);
    let (id, totp) = (read_text(&enrolled.body["id"]), &enrolled.body["totp"]);
    assert_eq!(
        (&enrolled.body["type"], &enrolled.body["friendly_name"]),
        (&json!("totp"), &json!("phone"))
    );
    let secret = read_text(&totp["secret"]);
    assert!(totp["qr_code"].as_str().unwrap().starts_with("<svg"));
    assert_eq!(
        totp["uri"],
        json!(format!(
            "otpauth://totp/Shop:ana@example.com?algorithm=SHA1&digits=6&issuer=Shop&period=30&secret={secret}"
        ))
    );
    let challenge = app.challenge(&session, &id).await;
    assert!(challenge.body["expires_at"].as_i64().unwrap() > chrono::Utc::now().timestamp() + 200);
    assert_eq!(challenge.body["type"], "totp");
    let challenge = read_text(&challenge.body["id"]);

    let raised = app
        .verify_factor(&session, &id, &challenge, &compute_code(&secret, 0))
        .await
        .session();

    let claims = verify_claims(&app, &raised);
    assert_eq!(claims["aal"], "aal2");
    let methods: Vec<&str> = claims["amr"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["method"].as_str().unwrap())
        .collect();
    assert_eq!(methods, ["totp", "password"], "newest first");
    assert_eq!(raised.user["factors"][0]["status"], "verified");
    assert!(raised.user["factors"][0].get("secret").is_none());
    assert_eq!(
        app.refresh(&other.refresh_token).await.error(),
        (400, "refresh_token_not_found"),
        "other sessions below aal2 are gone"
    );
    // A tab that refreshes with the token from before the verification gets the same session.
    assert_eq!(app.refresh(&session.refresh_token).await.status, 200);
    let refreshed = app.refresh(&raised.refresh_token).await.session();
    assert_eq!(self::verify_claims(&app, &refreshed)["aal"], "aal2");
    let again = app
        .verify_factor(&raised, &id, &challenge, &compute_code(&secret, 0))
        .await;
    assert_eq!(
        again.error(),
        (422, "mfa_ip_address_mismatch"),
        "a challenge is used once"
    );
    let actions = app
        .sql(
            "select payload ->> 'action' from auth.audit_log_entries \
             where payload ->> 'log_type' = 'factor' order by created_at",
            &[],
        )
        .await;
    let actions: Vec<String> = actions.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        actions,
        [
            "factor_in_progress",
            "challenge_created",
            "verification_attempted"
        ]
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_076_wrong_and_expired_codes_are_rejected() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let enrolled = app.enroll(&session, json!({"factor_type": "totp"})).await;
    let (id, secret) = (
        read_text(&enrolled.body["id"]),
        read_text(&enrolled.body["totp"]["secret"]),
    );

    let wrong = app.verify_with_code(&session, &id, "abcdef").await;
    assert_eq!(
        (wrong.error(), wrong.message()),
        ((422, "mfa_verification_failed"), "Invalid TOTP code entered")
    );
    let far = app
        .verify_with_code(&session, &id, &compute_code(&secret, 4))
        .await;
    assert_eq!(far.error(), (422, "mfa_verification_failed"));
    assert_eq!(
        app.verify_with_code(&session, &id, "").await.error(),
        (400, "validation_failed")
    );
    let unknown = app
        .verify_factor(&session, &id, "00000000-0000-4000-8000-000000000000", "123456")
        .await;
    assert_eq!(unknown.error(), (422, "mfa_factor_not_found"));

    let challenge = read_text(&app.challenge(&session, &id).await.body["id"]);
    app.sql(
        "update auth.mfa_challenges set created_at = created_at - interval '301 seconds'",
        &[],
    )
    .await;
    let late = app
        .verify_factor(&session, &id, &challenge, &compute_code(&secret, 0))
        .await;
    assert_eq!(late.error(), (422, "mfa_challenge_expired"));
    let gone = app
        .verify_factor(&session, &id, &challenge, &compute_code(&secret, 0))
        .await;
    assert_eq!(gone.error(), (422, "mfa_factor_not_found"), "its row is deleted");

    let challenge = read_text(&app.challenge(&session, &id).await.body["id"]);
    app.sql("update auth.mfa_challenges set ip_address = '192.0.2.1'", &[])
        .await;
    let moved = app
        .verify_factor(&session, &id, &challenge, &compute_code(&secret, 0))
        .await;
    assert_eq!(moved.error(), (422, "mfa_ip_address_mismatch"));
    let stranger = app.user("eve@example.com").await;
    assert_eq!(
        app.challenge(&stranger, &id).await.error(),
        (404, "mfa_factor_not_found"),
        "nobody reaches another's factor"
    );
    assert_eq!(
        app.challenge(&session, "nonsense").await.error(),
        (404, "validation_failed")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn after_twenty_wrong_codes_a_factor_rejects_even_the_right_code() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let enrolled = app.enroll(&session, json!({"factor_type": "totp"})).await;
    let (id, secret) = (
        read_text(&enrolled.body["id"]),
        read_text(&enrolled.body["totp"]["secret"]),
    );
    let challenge = read_text(&app.challenge(&session, &id).await.body["id"]);

    let mut statuses = Vec::new();
    for _ in 0..21 {
        statuses.push(
            app.verify_factor(&session, &id, &challenge, "000000x")
                .await
                .status,
        );
    }

    assert_eq!(statuses[..20], [422; 20]);
    assert_eq!(statuses[20], 429);
    let right = app
        .verify_factor(&session, &id, &challenge, &compute_code(&secret, 0))
        .await;
    assert_eq!(
        right.error(),
        (429, "over_request_rate_limit"),
        "not even the right one"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn two_simultaneous_verifications_of_a_challenge_raise_one_session() {
    let app = start_app().await;
    let session = app.user("ana@example.com").await;
    let enrolled = app.enroll(&session, json!({"factor_type": "totp"})).await;
    let (id, secret) = (
        read_text(&enrolled.body["id"]),
        read_text(&enrolled.body["totp"]["secret"]),
    );
    let challenge = read_text(&app.challenge(&session, &id).await.body["id"]);
    let code = compute_code(&secret, 0);

    let responses =
        futures_util::future::join_all((0..4).map(|_| app.verify_factor(&session, &id, &challenge, &code)))
            .await;

    assert_eq!(
        responses.iter().filter(|response| response.status == 200).count(),
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_077_aal1_sessions_cannot_change_password_address_or_factors() {
    let app = start_app().await;
    let (id, _, raised) = app.user_with_totp("ana@example.com").await;
    let low = app.sign_in("ana@example.com", PASSWORD).await.session();
    let change = |session: &Session, body: Value| app.put("/user", body).bearer(&session.access_token).send();

    let password = change(&low, json!({"password": "another horse"})).await;
    assert_eq!(password.error(), (401, "insufficient_aal"));
    assert_eq!(
        change(&low, json!({"email": "eve@example.com"})).await.error(),
        (401, "insufficient_aal")
    );
    assert_eq!(change(&low, json!({"data": {"a": 1}})).await.status, 200);
    let remove = app
        .call(Method::DELETE, &format!("/factors/{id}"))
        .bearer(&low.access_token)
        .send()
        .await;
    assert_eq!(remove.error(), (422, "insufficient_aal"));
    let another = json!({"factor_type": "totp", "friendly_name": "another"});
    assert_eq!(
        app.enroll(&low, another.clone()).await.error(),
        (403, "insufficient_aal")
    );
    assert_eq!(app.enroll(&raised, another).await.status, 200);
    let same = json!({"factor_type": "totp", "friendly_name": "phone"});
    assert_eq!(
        app.enroll(&raised, same).await.error(),
        (422, "mfa_factor_name_conflict")
    );
    assert_eq!(
        change(&raised, json!({"password": "another horse"})).await.status,
        200
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_078_removing_the_factor_lowers_the_session_to_aal1() {
    let app = TestApp::start_with(|config| {
        config.mfa.totp = ENABLED;
        config.email.notifications = vec![MailKind::MfaFactorEnrolled, MailKind::MfaFactorUnenrolled];
    })
    .await;
    let (id, _, raised) = app.user_with_totp("ana@example.com").await;
    assert_eq!(
        app.mail_to("ana@example.com").subject,
        "A second factor was added"
    );

    let removed = app
        .call(Method::DELETE, &format!("/factors/{id}"))
        .bearer(&raised.access_token)
        .send()
        .await;

    assert_eq!((removed.status, &removed.body), (200, &json!({ "id": id })));
    assert_eq!(
        app.mail_to("ana@example.com").subject,
        "A second factor was removed"
    );
    let refreshed = app.refresh(&raised.refresh_token).await.session();
    let claims = verify_claims(&app, &refreshed);
    assert_eq!(claims["aal"], "aal1");
    assert_eq!(claims["amr"].as_array().unwrap().len(), 1);
    assert!(refreshed.user.get("factors").is_none());
    let gone = app.challenge(&refreshed, &id).await;
    assert_eq!(gone.error(), (404, "mfa_factor_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn disabled_factor_types_and_factors_over_the_limit_are_rejected() {
    let app = TestApp::start_with(|config| {
        config.mfa.totp = ENABLED;
        config.mfa.max_enrolled_factors = 2;
        config.anonymous_users_enabled = true;
    })
    .await;
    let session = app.user("ana@example.com").await;
    let enroll =
        |name: &str, kind: &str| app.enroll(&session, json!({"factor_type": kind, "friendly_name": name}));

    assert_eq!(
        enroll("a", "phone").await.error(),
        (422, "mfa_phone_enroll_not_enabled")
    );
    assert_eq!(
        enroll("a", "webauthn").await.error(),
        (422, "mfa_webauthn_enroll_not_enabled")
    );
    assert_eq!(enroll("a", "horse").await.error(), (400, "validation_failed"));
    assert_eq!(enroll("a", "totp").await.status, 200);
    assert_eq!(enroll("b", "totp").await.status, 200);
    assert_eq!(
        enroll("c", "totp").await.error(),
        (422, "too_many_enrolled_mfa_factors")
    );
    app.sql(
        "update auth.mfa_factors set created_at = created_at - interval '301 seconds'",
        &[],
    )
    .await;
    assert_eq!(enroll("c", "totp").await.status, 200, "unused factors make room");

    let anonymous = app.post("/signup", json!({})).send().await.session();
    let refused = app.enroll(&anonymous, json!({"factor_type": "totp"})).await;
    assert_eq!(refused.error(), (403, "no_authorization"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn administrators_list_rename_and_delete_factors() {
    let app = start_app().await;
    let (id, _, raised) = app.user_with_totp("ana@example.com").await;
    let base = format!("/admin/users/{}/factors", raised.user_id());

    let listed = app.get(&base).admin().send().await;
    assert_eq!(listed.body[0]["id"], id.as_str());
    let renamed = app
        .put(&format!("{base}/{id}"), json!({"friendly_name": "tablet"}))
        .admin()
        .send()
        .await;
    assert_eq!(
        (renamed.status, &renamed.body["friendly_name"]),
        (200, &json!("tablet"))
    );
    let path = format!("{base}/{id}");
    let by_user = app
        .call(Method::DELETE, &path)
        .bearer(&raised.access_token)
        .send()
        .await;
    assert_eq!(by_user.error(), (403, "not_admin"));
    let removed = app.call(Method::DELETE, &path).admin().send().await;
    assert_eq!((removed.status, &removed.body["id"]), (200, &json!(id)));
    assert_eq!(app.get(&base).admin().send().await.body, json!([]));
    let refreshed = app.refresh(&raised.refresh_token).await.session();
    assert_eq!(verify_claims(&app, &refreshed)["aal"], "aal1");
    let again = app.call(Method::DELETE, &path).admin().send().await;
    assert_eq!(again.error(), (404, "mfa_factor_not_found"));
}

/// Configures Twilio with the receiver as its server.
pub(crate) fn with_twilio(config: &mut AuthConfig, receiver: &Receiver) {
    config.phone.enabled = true;
    config.phone.autoconfirm = false;
    config.phone.max_frequency = std::time::Duration::ZERO;
    config.phone.provider = Some(SmsProviderConfig::Twilio(TwilioConfig {
        account_sid: "AC1".to_owned(),
        message_service_sid: "MG1".to_owned(),
        auth_token: "token".to_owned().into(),
        content_sid: String::new(),
        base_url: Some(receiver.url.clone()),
    }));
}

/// Extracts the digits of a text message.
pub(crate) fn extract_code(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_phone_factor_is_verified_by_text_message() {
    let twilio = Receiver::start(r#"{"sid": "SM1", "status": "queued"}"#).await;
    let app = TestApp::start_with(|config| {
        with_twilio(config, &twilio);
        config.mfa.phone.switch = ENABLED;
        config.mfa.phone.template = "Second factor: {{ .Code }}".to_owned();
        config.mfa.phone.max_frequency = std::time::Duration::from_secs(60);
    })
    .await;
    let session = app.user("ana@example.com").await;
    let bad = json!({"factor_type": "phone", "phone": "nonsense"});
    assert_eq!(
        app.enroll(&session, bad).await.error(),
        (400, "validation_failed")
    );
    let enrolled = app
        .enroll(
            &session,
            json!({"factor_type": "phone", "phone": "+49 170 1234567"}),
        )
        .await;
    assert_eq!(enrolled.body["phone"], "+49 170 1234567");
    let id = read_text(&enrolled.body["id"]);

    let challenge = app.challenge(&session, &id).await;
    assert_eq!(challenge.status, 200, "{}", challenge.body);
    let sent = twilio.last();
    assert_eq!(sent.field("To"), "+491701234567");
    assert!(sent.field("Body").starts_with("Second factor: "));
    let soon = app.challenge(&session, &id).await;
    assert_eq!(soon.error(), (429, "over_sms_send_rate_limit"));
    let challenge = read_text(&challenge.body["id"]);
    let wrong = app.verify_factor(&session, &id, &challenge, "1").await;
    assert_eq!(
        (wrong.error(), wrong.message()),
        ((422, "mfa_verification_failed"), "Invalid MFA Phone code entered")
    );
    let code = extract_code(&sent.field("Body"));
    let raised = app
        .verify_factor(&session, &id, &challenge, &code)
        .await
        .session();

    assert_eq!(verify_claims(&app, &raised)["aal"], "aal2");
    assert_eq!(verify_claims(&app, &raised)["amr"][0]["method"], "mfa/phone");
    let stored = app
        .sql(
            "select encode(code_hash, 'escape') from _selvedge.selvedge_one_time_codes",
            &[],
        )
        .await;
    assert!(!stored[0].get::<_, String>(0).contains(&code));
    let same = json!({"factor_type": "phone", "phone": "491701234567", "friendly_name": "x"});
    assert_eq!(
        app.enroll(&raised, same).await.error(),
        (422, "mfa_verified_factor_exists")
    );
}
