//! Captchas, leaked passwords, rate limits per client, and attempts at privilege escalation.

use selvedge_auth::{CaptchaConfig, CaptchaProvider, ClientAddress, LeakedPasswordConfig};
use serde_json::json;

use crate::app::{PASSWORD, TestApp};
use crate::http_receiver::Receiver;

/// Starts the service with autoconfirm and Turnstile, for which the receiver answers.
async fn with_captcha(receiver: &Receiver) -> TestApp {
    let url = receiver.url.clone();
    TestApp::start_with(|config| {
        config.email.autoconfirm = true;
        config.captcha = Some(CaptchaConfig {
            provider: CaptchaProvider::Turnstile,
            secret: "0x1".to_owned().into(),
            verify_url: Some(format!("{url}/siteverify")),
        });
    })
    .await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_085_sign_up_sign_in_and_recovery_need_a_captcha() {
    let service = Receiver::start(r#"{"success": true}"#).await;
    let app = with_captcha(&service).await;
    let body = |token: serde_json::Value| {
        json!({
            "email": "ana@example.com", "password": PASSWORD,
            "gotrue_meta_security": {"captcha_token": token},
        })
    };

    let bare = app.sign_up("ana@example.com", PASSWORD).await;
    assert_eq!(
        (bare.error(), bare.message()),
        (
            (400, "captcha_failed"),
            "captcha protection: request disallowed (no captcha_token found)"
        )
    );
    for (path, rest) in [
        (
            "/token?grant_type=password",
            json!({"email": "a@b.c", "password": "x"}),
        ),
        ("/otp", json!({"email": "a@b.c"})),
        ("/magiclink", json!({"email": "a@b.c"})),
        (
            "/recover",
            json!({"email": "a@b.c", "gotrue_meta_security": null}),
        ),
        (
            "/resend",
            json!({"email": "a@b.c", "type": "signup", "gotrue_meta_security": {}}),
        ),
    ] {
        assert_eq!(
            app.post(path, rest).send().await.error(),
            (400, "captcha_failed"),
            "{path}"
        );
    }
    assert!(service.requests().is_empty());

    service.respond(
        "200 OK",
        r#"{"success": false, "error-codes": ["timeout-or-duplicate", "x"]}"#,
    );
    let failed = app.post("/signup", body(json!("used"))).send().await;
    assert_eq!(
        failed.message(),
        "captcha protection: request disallowed (timeout-or-duplicate, x)"
    );
    service.respond("200 OK", r#"{"success": true}"#);
    let signed_up = app.post("/signup", body(json!("fresh"))).send().await;
    signed_up.session();
    let asked = service.last();
    assert_eq!(
        (
            asked.field("secret"),
            asked.field("response"),
            asked.field("remoteip")
        ),
        ("0x1".to_owned(), "fresh".to_owned(), "127.0.0.1".to_owned())
    );
    let refresh = app.refresh("abcdefghijkl").await;
    assert_eq!(
        refresh.error(),
        (400, "refresh_token_not_found"),
        "no captcha here"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_085_administrators_need_no_captcha() {
    let service = Receiver::start("{}").await;
    let app = with_captcha(&service).await;

    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let signed_up = app.post("/signup", body).admin().send().await;

    signed_up.session();
    assert!(service.requests().is_empty());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_085_an_expired_key_of_an_administrator_needs_a_captcha() {
    let service = Receiver::start("{}").await;
    let app = with_captcha(&service).await;
    let expired = app
        .keys
        .sign(&json!({"role": "service_role", "exp": 1}))
        .expect("signs");

    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let refused = app.post("/signup", body).bearer(&expired).send().await;

    assert_eq!(refused.error(), (400, "captcha_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn leaked_passwords_are_rejected_and_only_a_hash_prefix_is_sent() {
    // SHA-1 of "correct horse" starts with FE6B3B; the list is asked for FE6B3 and contains the rest.
    let hash = {
        use sha1::Digest;
        hex::encode_upper(sha1::Sha1::digest(PASSWORD))
    };
    let (prefix, suffix) = hash.split_at(5);
    let list = Receiver::start("").await;
    list.respond(
        "200 OK\r\ncontent-type: text/plain",
        // Entries with the count 0 are padding, which hides the length of the real list.
        &format!("0018A45C4D1DEF81644B54AB7F969B88D65:0\r\n{suffix}:7\r\n"),
    );
    let url = list.url.clone();
    let app = TestApp::start_with(|config| {
        config.email.autoconfirm = true;
        config.password.min_length = 14;
        config.password.leaked = Some(LeakedPasswordConfig {
            base_url: url.clone(),
            fail_closed: false,
        });
    })
    .await;

    let weak = app.sign_up("ana@example.com", PASSWORD).await;
    assert_eq!(weak.error(), (422, "weak_password"));
    assert_eq!(
        weak.body["weak_password"],
        json!({"reasons": ["length", "pwned"]})
    );
    assert_eq!(list.last().line, format!("GET /range/{prefix} HTTP/1.1\r\n"));
    app.admin_create(json!({"email": "bea@example.com", "password": PASSWORD, "email_confirm": true}))
        .await;
    let signed_in = app.sign_in("bea@example.com", PASSWORD).await;
    assert_eq!(
        (signed_in.status, &signed_in.body["weak_password"]["reasons"]),
        (200, &json!(["length", "pwned"])),
        "an old password is reported, not refused"
    );

    list.respond("500 Internal Server Error", "");
    app.sign_up("eve@example.com", "correct horse battery")
        .await
        .session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn with_fail_closed_an_unreachable_leak_list_rejects_passwords() {
    let app = TestApp::start_with(|config| {
        config.password.leaked = Some(LeakedPasswordConfig {
            base_url: "http://127.0.0.1:1".to_owned(),
            fail_closed: true,
        });
    })
    .await;

    let refused = app.sign_up("ana@example.com", PASSWORD).await;

    assert_eq!(refused.body["weak_password"], json!({"reasons": ["pwned"]}));
}

/// The header of a proxy that is trusted, as in `serve`.
pub(crate) fn proxy_header() -> ClientAddress {
    ClientAddress::Header {
        name: "x-real-ip".to_owned(),
        peer_otherwise: true,
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_119_rate_limits_count_the_address_that_the_proxy_has_written_last() {
    let app = TestApp::start_with(|config| {
        config.rate_limits.client = proxy_header();
        config.rate_limits.verify = 1;
    })
    .await;
    let verify = async |ip: Option<String>| {
        let body = json!({"type": "signup", "token": "123456", "email": "a@b.c"});
        let call = app.post("/verify", body);
        let call = match ip {
            Some(ip) => call.header("x-real-ip", &ip),
            None => call,
        };
        call.send().await
    };

    let mut statuses = Vec::new();
    for attempt in 0..31 {
        let forged = format!("198.51.100.{attempt}, 192.0.2.1");
        statuses.push(verify(Some(forged)).await.status);
    }
    assert_eq!((statuses[29], statuses[30]), (403, 429));
    let limited = verify(Some("192.0.2.1".to_owned())).await;
    assert_eq!(
        (limited.error(), limited.message()),
        ((429, "over_request_rate_limit"), "Request rate limit reached")
    );
    assert_eq!(verify(Some("192.0.2.2".to_owned())).await.status, 403);
    let mut statuses = Vec::new();
    for attempt in 0..31 {
        // No address, so the peer's counts.
        let invented = (attempt % 2 == 0).then(|| format!("a{attempt}"));
        statuses.push(verify(invented).await.status);
    }
    assert_eq!((statuses[29], statuses[30]), (403, 429));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn parallel_sign_ups_with_one_address_in_many_spellings_make_one_user() {
    let app = TestApp::start().await;
    let spellings = [
        "ana@example.com",
        "Ana@Example.com",
        "ANA@EXAMPLE.COM",
        "anA@example.Com",
    ];

    let responses = futures_util::future::join_all(
        spellings
            .iter()
            .cycle()
            .take(8)
            .map(|email| app.sign_up(email, PASSWORD)),
    )
    .await;

    assert!(
        responses.iter().all(|response| response.status < 500),
        "{responses:?}"
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
    let look_alike = app.sign_up("аna@example.com", PASSWORD).await;
    assert_eq!(look_alike.error(), (400, "validation_failed"), "a Cyrillic a");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn users_cannot_set_their_own_role() {
    let app = TestApp::autoconfirm().await;
    let body = json!({
        "email": "eve@example.com", "password": PASSWORD, "role": "service_role", "aud": "x",
        "app_metadata": {"role": "admin"}, "raw_app_meta_data": {"role": "admin"},
        "data": {"role": "admin", "app_metadata": {"role": "admin"}},
    });

    let session = app.post("/signup", body).send().await.session();
    assert_eq!(session.user["role"], "authenticated");
    assert_eq!(
        session.user["app_metadata"],
        json!({"provider": "email", "providers": ["email"]})
    );
    let update = app
        .put(
            "/user",
            json!({"app_metadata": {"role": "admin"}, "data": {"a": 1}}),
        )
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(update.error(), (403, "not_admin"));
    let update = app
        .put(
            "/user",
            json!({"role": "service_role", "raw_app_meta_data": {"x": 1}}),
        )
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(
        (update.status, &update.body["role"]),
        (200, &json!("authenticated"))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn metadata_over_the_size_limit_is_rejected() {
    let app = TestApp::autoconfirm().await;
    let data = json!({ "text": "x".repeat(2 << 20) });

    let body = json!({"email": "eve@example.com", "password": PASSWORD, "data": data});
    let refused = app.post("/signup", body).send().await;

    assert_eq!(refused.error(), (413, "request_entity_too_large"));
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_086_sb_forwarded_for_names_the_client_when_enabled() {
    let app = TestApp::start_with(|config| {
        config.sb_forwarded_for = true;
        config.rate_limits.client = proxy_header();
        config.rate_limits.otp = 1;
    })
    .await;
    let recover = async |name: &str, value: &str| {
        let call = app.post("/recover", json!({"email": "ana@example.com"}));
        call.header(name, value).send().await.status
    };
    app.user("ana@example.com").await;

    let mut responses = Vec::new();
    for _ in 0..31 {
        responses.push(recover("sb-forwarded-for", "198.51.100.1, 192.0.2.7").await);
    }
    assert_eq!((responses[0], responses[30]), (200, 429));
    assert_eq!(
        recover("sb-forwarded-for", "192.0.2.8").await,
        200,
        "somebody else"
    );
    assert_eq!(
        recover("x-real-ip", "192.0.2.7").await,
        429,
        "the same by the older header"
    );
    assert_eq!(
        recover("sb-forwarded-for", "nonsense").await,
        200,
        "no address, so the peer's counts"
    );

    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let call = app.post("/token?grant_type=password", body);
    call.header("sb-forwarded-for", "192.0.2.9")
        .send()
        .await
        .session();
    let ips = "select count(*) from auth.sessions where ip = '192.0.2.9'";
    assert_eq!(app.count(ips).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_086_forwarded_headers_are_ignored_unless_enabled() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let call = app.post("/token?grant_type=password", body);

    call.header("sb-forwarded-for", "192.0.2.9")
        .send()
        .await
        .session();

    assert_eq!(
        app.count("select count(*) from auth.sessions where ip = '127.0.0.1'")
            .await,
        2
    );
}
