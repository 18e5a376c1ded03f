//! Sign-up and sign-in by phone, changes of the number, and the services that send text messages.

use std::time::Duration;

use selvedge_auth::{AuthConfig, SmsProviderConfig};
use serde_json::{Value, json};

use crate::app::{PASSWORD, Response, TestApp};
use crate::guesses::with_twilio_verify;
use crate::http_receiver::Receiver;
use crate::mfa::{extract_code, with_twilio};

/// A phone number as users write it.
const PHONE: &str = "+49 170 1234567";
/// The same number as the database and responses contain it.
const STORED_PHONE: &str = "491701234567";

/// Starts a receiver that responds as Twilio does to an accepted message.
async fn start_twilio() -> Receiver {
    Receiver::start(r#"{"sid": "SM1", "status": "queued"}"#).await
}

impl TestApp {
    async fn verify_sms(&self, kind: &str, phone: &str, code: &str) -> Response {
        let body = json!({"type": kind, "phone": phone, "token": code});
        self.post("/verify", body).send().await
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_094_a_phone_user_signs_up_confirms_and_signs_in() {
    let twilio = start_twilio().await;
    let app = TestApp::start_with(|config| with_twilio(config, &twilio)).await;
    let body = json!({"phone": PHONE, "password": PASSWORD, "data": {"username": "ana"}});

    let signed_up = app.post("/signup", body.clone()).send().await;
    assert_eq!(signed_up.status, 200, "{}", signed_up.body);
    assert!(signed_up.body.get("access_token").is_none());
    assert_eq!(
        (&signed_up.body["phone"], &signed_up.body["email"]),
        (&json!(STORED_PHONE), &json!(""))
    );
    assert_eq!(signed_up.body["identities"][0]["provider"], "phone");
    let sent = twilio.last();
    assert_eq!(
        sent.line,
        "POST /2010-04-01/Accounts/AC1/Messages.json HTTP/1.1\r\n"
    );
    assert_eq!(
        (sent.field("To"), sent.field("From")),
        ("+491701234567".to_owned(), "MG1".to_owned())
    );
    assert!(sent.header("authorization").starts_with("Basic "));
    let sign_in = json!({"phone": PHONE, "password": PASSWORD});
    let early = app
        .post("/token?grant_type=password", sign_in.clone())
        .send()
        .await;
    assert_eq!(
        (early.error(), early.message()),
        ((400, "phone_not_confirmed"), "Phone not confirmed")
    );

    let code = extract_code(&sent.field("Body"));
    assert_eq!(
        app.verify_sms("sms", PHONE, "000000x").await.error(),
        (403, "otp_expired")
    );
    let session = app.verify_sms("sms", "491701234567", &code).await.session();
    assert_eq!(session.user["user_metadata"]["username"], "ana");
    assert!(session.user["phone_confirmed_at"].is_string());
    assert_eq!(session.user["app_metadata"]["provider"], "phone");
    assert_eq!(
        app.verify_sms("sms", PHONE, &code).await.error(),
        (403, "otp_expired"),
        "a code is used once"
    );
    app.post("/token?grant_type=password", sign_in)
        .send()
        .await
        .session();
    let again = app.post("/signup", body).send().await;
    assert_eq!(
        (again.status, &again.body["identities"]),
        (200, &json!([])),
        "a decoy"
    );
    assert_eq!(twilio.requests().len(), 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_094_test_codes_need_no_message() {
    let app = TestApp::start_with(|config| {
        config.phone.enabled = true;
        config.phone.autoconfirm = false;
        config.phone.max_frequency = Duration::ZERO;
        config.phone.test_otp = [(STORED_PHONE.to_owned(), "123456".to_owned())].into();
    })
    .await;

    let asked = app.post("/otp", json!({"phone": PHONE})).send().await;
    assert_eq!(
        (asked.status, &asked.body["message_id"]),
        (200, &json!("test-otp"))
    );
    assert_eq!(
        app.verify_sms("sms", PHONE, "654321").await.error(),
        (403, "otp_expired")
    );
    let session = app.verify_sms("sms", PHONE, "123456").await.session();
    assert_eq!(session.user["phone"], STORED_PHONE, "without +");
    // Compat: as in GoTrue, a test code can be used again.
    app.verify_sms("sms", PHONE, "123456").await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn sms_codes_sign_in_expire_and_respect_max_frequency() {
    let twilio = start_twilio().await;
    let app = TestApp::start_with(|config| {
        with_twilio(config, &twilio);
        config.phone.max_frequency = Duration::from_secs(60);
        config.phone.template = "{{ .Code }} is yours".to_owned();
    })
    .await;
    let ask = |body: Value| app.post("/otp", body).send();

    let unknown = ask(json!({"phone": PHONE, "create_user": false})).await;
    assert_eq!(unknown.error(), (422, "otp_disabled"));
    let asked = ask(json!({"phone": PHONE})).await;
    assert_eq!((asked.status, &asked.body), (200, &json!({"message_id": "SM1"})));
    let soon = ask(json!({"phone": PHONE})).await;
    assert_eq!(soon.error(), (429, "over_sms_send_rate_limit"));
    assert!(
        soon.message()
            .starts_with("For security purposes, you can only request this after ")
    );
    let text = twilio.last().field("Body");
    assert!(text.ends_with(" is yours"));

    app.sql(
        "update auth.users set confirmation_sent_at = now() - interval '2 hours'",
        &[],
    )
    .await;
    assert_eq!(
        app.verify_sms("sms", PHONE, &extract_code(&text)).await.error(),
        (403, "otp_expired")
    );
    let resent = app
        .post("/resend", json!({"type": "sms", "phone": PHONE}))
        .send()
        .await;
    assert_eq!(resent.body, json!({"message_id": "SM1"}));
    let code = extract_code(&twilio.last().field("Body"));
    // A code sent by text message must not confirm an e-mail address.
    let hash = app.sql("select token_hash from auth.one_time_tokens", &[]).await;
    let hash: String = hash[0].get(0);
    for kind in ["signup", "email", "sms"] {
        let forged = app
            .post("/verify", json!({"type": kind, "token_hash": hash}))
            .send()
            .await;
        assert!(
            forged.status == 403 || forged.status == 400,
            "{kind} {}",
            forged.body
        );
    }
    app.verify_sms("sms", PHONE, &code).await.session();
    let confirmed = app
        .post("/resend", json!({"type": "sms", "phone": PHONE}))
        .send()
        .await;
    assert_eq!(confirmed.body, json!({}));
    let nobody = app
        .post("/resend", json!({"type": "sms", "phone": "4912345678"}))
        .send()
        .await;
    assert_eq!(nobody.body, json!({}));
    for (body, error) in [
        (json!({"phone": "nonsense"}), (400, "validation_failed")),
        (
            json!({"phone": PHONE, "email": "a@b.c"}),
            (400, "validation_failed"),
        ),
        (
            json!({"phone": PHONE, "channel": "pigeon"}),
            (400, "validation_failed"),
        ),
    ] {
        assert_eq!(ask(body.clone()).await.error(), error, "{body}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_phone_number_changes_after_its_code_is_verified() {
    let twilio = start_twilio().await;
    let app = TestApp::start_with(|config| with_twilio(config, &twilio)).await;
    let session = app.user("ana@example.com").await;
    let taken = app
        .admin_create(json!({"phone": "4915000000", "password": PASSWORD, "phone_confirm": true}))
        .await;
    assert_eq!(taken.status, 200, "{}", taken.body);
    let change = |phone: &str| {
        app.put("/user", json!({ "phone": phone }))
            .bearer(&session.access_token)
            .send()
    };

    assert_eq!(change("+49 150 00001").await.status, 200);
    assert_eq!(change("+49 150 00000").await.error(), (422, "phone_exists"));
    let changed = change(PHONE).await;
    assert_eq!(
        (&changed.body["phone"], &changed.body["new_phone"]),
        (&json!(""), &json!(STORED_PHONE))
    );
    let code = extract_code(&twilio.last().field("Body"));
    assert_eq!(
        app.verify_sms("sms", PHONE, &code).await.error(),
        (403, "otp_expired"),
        "a change is no sign-in"
    );
    let session = app.verify_sms("phone_change", PHONE, &code).await.session();

    assert_eq!(session.user["phone"], STORED_PHONE);
    assert!(session.user.get("new_phone").is_none());
    let providers = session.user["app_metadata"]["providers"].clone();
    assert_eq!(providers, json!(["email", "phone"]));
    let sign_in = json!({"phone": PHONE, "password": PASSWORD});
    app.post("/token?grant_type=password", sign_in)
        .send()
        .await
        .session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn phone_autoconfirm_confirms_numbers_at_once() {
    let app = TestApp::start_with(|config| {
        config.phone.enabled = true;
        config.phone.autoconfirm = true;
        config.anonymous_users_enabled = true;
    })
    .await;

    let session = app
        .post("/signup", json!({"phone": PHONE, "password": PASSWORD}))
        .send()
        .await
        .session();
    assert_eq!(
        session.user["identities"][0]["identity_data"]["phone_verified"], false,
        "nobody has proven it"
    );
    let again = app
        .post("/signup", json!({"phone": PHONE, "password": PASSWORD}))
        .send()
        .await;
    assert_eq!(again.error(), (422, "user_already_exists"));
    let anonymous = app.post("/signup", json!({})).send().await.session();
    let named = app
        .put("/user", json!({"phone": "+49 171 1"}))
        .bearer(&anonymous.access_token)
        .send()
        .await;
    assert_eq!(
        (&named.body["phone"], &named.body["is_anonymous"]),
        (&json!("491711"), &json!(false))
    );
    let settings = app.get("/settings").send().await.body;
    assert_eq!(
        (&settings["external"]["phone"], &settings["phone_autoconfirm"]),
        (&json!(true), &json!(true))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn parallel_sign_ups_with_one_number_make_one_user() {
    let twilio = start_twilio().await;
    let app = TestApp::start_with(|config| with_twilio(config, &twilio)).await;
    let body = json!({"phone": PHONE, "password": PASSWORD});

    let responses =
        futures_util::future::join_all((0..6).map(|_| app.post("/signup", body.clone()).send())).await;

    assert!(responses.iter().all(|response| response.status < 500));
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn phone_sign_in_is_off_by_default() {
    let app = TestApp::start().await;
    let cases = [
        (
            "/signup",
            json!({"phone": PHONE, "password": PASSWORD}),
            (400, "phone_provider_disabled"),
        ),
        ("/otp", json!({"phone": PHONE}), (400, "phone_provider_disabled")),
        (
            "/resend",
            json!({"type": "sms", "phone": PHONE}),
            (400, "phone_provider_disabled"),
        ),
        (
            "/token?grant_type=password",
            json!({"phone": PHONE, "password": PASSWORD}),
            (422, "phone_provider_disabled"),
        ),
    ];
    for (path, body, error) in cases {
        assert_eq!(app.post(path, body).send().await.error(), error, "{path}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_failed_text_message_leaves_no_user() {
    let twilio = Receiver::start("{}").await;
    twilio.respond(
        "400 Bad Request",
        r#"{"code": 21211, "message": "Invalid 'To'", "more_info": "https://x/21211"}"#,
    );
    let app = TestApp::start_with(|config| with_twilio(config, &twilio)).await;

    let refused = app.post("/otp", json!({"phone": PHONE})).send().await;

    assert_eq!(refused.error(), (422, "sms_send_failed"));
    assert_eq!(
        refused.message(),
        "Error sending confirmation OTP to provider: Invalid 'To' More information: https://x/21211"
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn each_sms_provider_gets_the_message_in_its_own_request_format() {
    let secret = || "secret".to_owned().into();
    let url = |receiver: &Receiver| Some(receiver.url.clone());
    type Make = Box<dyn Fn(&Receiver) -> SmsProviderConfig>;
    let providers: Vec<(&str, &str, &str, Make)> = vec![
        (
            "POST /messages ",
            r#"{"id": "M1", "recipients": {"totalSentCount": 1}}"#,
            "recipients",
            Box::new(move |receiver| SmsProviderConfig::Messagebird {
                originator: "Shop".to_owned(),
                access_key: secret(),
                base_url: url(receiver),
            }),
        ),
        (
            "POST /send ",
            r#"{"status": "success", "messages": [{"id": "M1"}]}"#,
            "numbers",
            Box::new(move |receiver| SmsProviderConfig::Textlocal {
                sender: "Shop".to_owned(),
                api_key: secret(),
                base_url: url(receiver),
            }),
        ),
        (
            "POST /sms/json ",
            r#"{"messages": [{"status": "0", "message-id": "M1"}]}"#,
            "to",
            Box::new(move |receiver| SmsProviderConfig::Vonage {
                from: "Shop".to_owned(),
                api_key: "key".to_owned(),
                api_secret: secret(),
                base_url: url(receiver),
            }),
        ),
    ];
    for (path, response, field, make) in providers {
        let receiver = Receiver::start(response).await;
        let app = TestApp::start_with(|config: &mut AuthConfig| {
            with_twilio(config, &receiver);
            config.phone.provider = Some(make(&receiver));
        })
        .await;

        let asked = app.post("/otp", json!({"phone": PHONE})).send().await;
        assert_eq!(asked.body, json!({"message_id": "M1"}), "{path}");
        assert!(receiver.last().line.starts_with(path), "{}", receiver.last().line);
        assert_eq!(receiver.last().field(field), STORED_PHONE);

        receiver.respond(
            "200 OK",
            r#"{"status": "failure", "messages": [{"status": "4"}], "recipients": {"totalSentCount": 0}}"#,
        );
        let refused = app.post("/otp", json!({"phone": PHONE})).send().await;
        assert_eq!(refused.error(), (422, "sms_send_failed"), "{path}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn twilio_verify_checks_its_own_codes() {
    let verify = Receiver::start(r#"{"sid": "VE1"}"#).await;
    let app = TestApp::start_with(|config| with_twilio_verify(config, &verify)).await;

    let asked = app
        .post("/otp", json!({"phone": PHONE, "channel": "whatsapp"}))
        .send()
        .await;
    assert_eq!(asked.body, json!({"message_id": "VE1"}));
    assert!(
        verify
            .last()
            .line
            .starts_with("POST /v2/Services/VA1/Verifications ")
    );
    assert_eq!(verify.last().field("Channel"), "whatsapp");

    verify.respond("200 OK", r#"{"status": "pending", "valid": false}"#);
    assert_eq!(
        app.verify_sms("sms", PHONE, "111111").await.error(),
        (403, "otp_expired")
    );
    verify.respond("200 OK", r#"{"status": "approved", "valid": true}"#);
    app.verify_sms("sms", PHONE, "222222").await.session();
    assert!(
        verify
            .last()
            .line
            .starts_with("POST /v2/Services/VA1/VerificationCheck ")
    );
    assert_eq!(verify.last().field("Code"), "222222");
    assert_eq!(
        app.verify_sms("sms", "4912345678", "222222").await.error(),
        (403, "otp_expired"),
        "a good code for a number that nobody has"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_user_without_mail_reauthenticates_by_text_message() {
    let twilio = start_twilio().await;
    let app = TestApp::start_with(|config| {
        with_twilio(config, &twilio);
        config.password.require_reauthentication = true;
    })
    .await;
    app.post("/signup", json!({"phone": PHONE, "password": PASSWORD}))
        .send()
        .await;
    let code = extract_code(&twilio.last().field("Body"));
    let session = app.verify_sms("sms", PHONE, &code).await.session();
    app.sql(
        "update auth.sessions set created_at = now() - interval '25 hours'",
        &[],
    )
    .await;
    let change = |body: Value| app.put("/user", body).bearer(&session.access_token).send();

    let early = change(json!({"password": "another horse"})).await;
    assert_eq!(early.error(), (400, "reauthentication_needed"));
    let asked = app
        .get("/reauthenticate")
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(asked.body, json!({"message_id": "SM1"}));
    let nonce = extract_code(&twilio.last().field("Body"));
    let wrong = change(json!({"password": "another horse", "nonce": "1"})).await;
    assert_eq!(wrong.error(), (422, "reauthentication_not_valid"));
    assert_eq!(
        change(json!({"password": "another horse", "nonce": nonce}))
            .await
            .status,
        200
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_069_resending_the_code_of_a_change_that_nobody_requested_succeeds() {
    let app = TestApp::start_with(|config| {
        config.phone.enabled = true;
        config.phone.max_frequency = Duration::from_secs(60);
        config.email.max_frequency = Duration::from_secs(60);
    })
    .await;
    for body in [
        json!({"type": "phone_change", "phone": "4912345678"}),
        json!({"type": "email_change", "email": "nobody@example.com"}),
    ] {
        for _ in 0..2 {
            let response = app.post("/resend", body.clone()).send().await;
            assert_eq!((response.status, response.body), (200, json!({})));
        }
    }
}
