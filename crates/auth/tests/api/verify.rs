//! `/verify`: links and codes for confirmation, recovery and magic links.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_025_a_confirmation_link_confirms_and_signs_in() {
    let app = TestApp::start().await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let redirect = "https://a.preview.example/welcome?next=1";
    app.call(Method::POST, "/signup")
        .json(&body)
        .header("redirect_to", redirect)
        .send()
        .await;
    let mail = app.mail_to("ana@example.com");
    assert_eq!(
        (mail.param("type").as_str(), mail.param("redirect_to").as_str()),
        ("signup", redirect)
    );

    let response = app.get(&mail.link).send().await;

    assert!(
        response
            .header("location")
            .starts_with("https://a.preview.example/welcome?next=1#access_token=")
    );
    let names: Vec<String> = response.fragment().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "access_token",
            "expires_at",
            "expires_in",
            "refresh_token",
            "sb",
            "token_type",
            "type"
        ]
    );
    assert_eq!(response.in_fragment("type").unwrap(), "signup");
    let token = response.in_fragment("access_token").unwrap();
    let user = app.get("/user").bearer(&token).send().await;
    assert!(user.body["email_confirmed_at"].is_string());
    assert_eq!(user.body["user_metadata"]["email_verified"], true);
    assert_eq!(
        user.body["identities"][0]["identity_data"]["email_verified"],
        true
    );
    assert_eq!(
        app.keys.verify(&token).unwrap().get("amr").unwrap()[0]["method"],
        "otp"
    );
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_026_used_and_expired_links_redirect_with_otp_expired_in_the_fragment() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    app.sign_up("bea@example.com", PASSWORD).await;
    let (used, expired) = (
        app.mail_to("ana@example.com").link,
        app.mail_to("bea@example.com").link,
    );
    app.get(&used).send().await;
    // Codes and links are valid for one hour by default.
    app.sql("update auth.users set confirmation_sent_at = now() - interval '2 hours' where email = 'bea@example.com'", &[]).await;

    for link in [used, expired] {
        let response = app.get(&link).send().await;
        let location = response.header("location");
        let expected = "https://site.example#error=access_denied&error_code=otp_expired\
                        &error_description=Email+link+is+invalid+or+has+expired&sb=";
        assert_eq!((response.status, location), (303, expected));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_head_request_does_not_consume_a_link() {
    // Mail scanners send HEAD to the links in a mail before the user opens them.
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let link = app.mail_to("ana@example.com").link;

    let head = app.call(Method::HEAD, &link).send().await;
    let get = app.get(&link).send().await;

    assert_ne!(head.status, 303);
    assert!(get.in_fragment("access_token").is_some());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_027_auth_028_a_foreign_redirect_target_becomes_the_site() {
    let app = TestApp::start().await;
    for (asked, expected) in [
        ("https://evil.example/", "https://site.example"),
        ("https://site.example/other", "https://site.example/other"),
        ("http://site.example/other", "https://site.example"),
        ("https://x.preview.example.evil.io/a", "https://site.example"),
        ("myapp://callback", "myapp://callback"),
    ] {
        let path = format!("/recover?redirect_to={asked}");
        app.user(&format!("u{}@example.com", asked.len())).await;
        app.post(&path, json!({"email": format!("u{}@example.com", asked.len())}))
            .send()
            .await;
        let mail = app.mail_to(&format!("u{}@example.com", asked.len()));
        assert_eq!(mail.param("redirect_to"), expected);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_020_auth_021_auth_022_a_recovery_link_allows_a_new_password() {
    let app = TestApp::start().await;
    let old = app.user("ana@example.com").await;
    let target = "https://site.example/auth?reset=true";

    let asked = app
        .post(
            &format!("/recover?redirect_to={}", target.replace('=', "%3D")),
            json!({"email": "Ana@example.com"}),
        )
        .send()
        .await;
    let mail = app.mail_to("ana@example.com");
    let opened = app.get(&mail.link).send().await;

    assert_eq!((asked.status, &asked.body), (200, &json!({})));
    assert_eq!(mail.subject, "Reset your password");
    assert!(
        mail.link
            .contains("&type=recovery&redirect_to=https%3A%2F%2Fsite.example%2Fauth%3Freset%3Dtrue"),
        "{}",
        mail.link
    );
    assert!(
        opened
            .header("location")
            .starts_with("https://site.example/auth?reset=true#access_token=")
    );
    assert_eq!(opened.in_fragment("type").unwrap(), "recovery");
    let token = opened.in_fragment("access_token").unwrap();
    let changed = app
        .put("/user", json!({"password": "a better one"}))
        .bearer(&token)
        .send()
        .await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_eq!(app.sign_in("ana@example.com", "a better one").await.status, 200);
    assert_eq!(
        app.sign_in("ana@example.com", PASSWORD).await.error(),
        (400, "invalid_credentials")
    );
    assert_eq!(
        app.get("/user").bearer(&old.access_token).send().await.error(),
        (403, "session_not_found")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_023_recovery_of_an_unknown_address_answers_as_for_a_known_one_and_sends_no_mail() {
    let app = TestApp::start_with(|config| config.email.max_frequency = Duration::from_secs(60)).await;
    app.user("ana@example.com").await;
    for path in ["/recover", "/resend"] {
        let ask = |email: &str| app.post(path, json!({"email": email, "type": "signup"})).send();
        for email in ["ana@example.com", "nobody@example.com"] {
            let first = ask(email).await;
            assert_eq!((first.status, first.body), (200, json!({})), "{path} {email}");
        }
        app.sql("update auth.users set recovery_sent_at = null", &[])
            .await;
    }
    assert_eq!(app.mail_count(), 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_024_max_frequency_limits_mails_to_one_user() {
    let app = TestApp::start_with(|config| config.email.max_frequency = Duration::from_secs(60)).await;
    app.user("ana@example.com").await;
    let ask = |email: &str| app.post("/recover", json!({"email": email})).send();

    for email in ["ana@example.com", "nobody@example.com"] {
        assert_eq!(ask(email).await.status, 200);
        let again = ask(email).await;
        assert_eq!(again.error(), (429, "over_email_send_rate_limit"));
        let text = again.message().to_owned();
        assert!(
            text.starts_with("For security purposes, you can only request this after "),
            "{text}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_065_a_magic_link_signs_up_new_users_and_signs_in_known_ones() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;

    for email in ["ana@example.com", "new@example.com"] {
        let response = app
            .post("/otp", json!({"email": email, "data": {"from": "otp"}}))
            .send()
            .await;
        assert_eq!((response.status, response.body), (200, json!({})));
    }
    let (known, new) = (app.mail_to("ana@example.com"), app.mail_to("new@example.com"));

    assert_eq!(
        (known.param("type").as_str(), new.param("type").as_str()),
        ("magiclink", "signup")
    );
    let opened = app.get(&known.link).send().await;
    assert_eq!(opened.in_fragment("type").unwrap(), "magiclink");
    let body = json!({"email": "new@example.com", "token": new.code, "type": "email"});
    let session = app.post("/verify", body).send().await.session();
    assert_eq!(session.user["user_metadata"]["from"], "otp");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_066_create_user_false_does_not_create_unknown_users() {
    let app = TestApp::start().await;

    let response = app
        .post("/otp", json!({"email": "new@example.com", "create_user": false}))
        .send()
        .await;

    assert_eq!(
        (response.error(), response.message()),
        ((422, "otp_disabled"), "Signups not allowed for otp")
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_067_a_code_is_accepted_once() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    app.post("/otp", json!({"email": "ana@example.com"})).send().await;
    let code = app.mail_to("ana@example.com").code;
    let verify = |token: &str| {
        app.post(
            "/verify",
            json!({"email": "ANA@example.com", "token": token, "type": "email"}),
        )
        .send()
    };

    let wrong = verify("000000").await;
    let right = verify(&code).await;
    let again = verify(&code).await;

    assert_eq!(
        (wrong.error(), wrong.message()),
        ((403, "otp_expired"), "Token has expired or is invalid")
    );
    right.session();
    assert_eq!(again.error(), (403, "otp_expired"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_067_a_code_of_another_user_is_rejected() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;
    app.user("eve@example.com").await;
    app.post("/otp", json!({"email": "eve@example.com"})).send().await;
    let code = app.mail_to("eve@example.com").code;

    let body = json!({"email": "ana@example.com", "token": code, "type": "email"});

    assert_eq!(
        app.post("/verify", body).send().await.error(),
        (403, "otp_expired")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_068_verify_accepts_a_token_hash_only_without_an_email() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let hash = app.mail_to("ana@example.com").param("token");
    let verify = |body| app.post("/verify", body).send();

    let mixed = verify(json!({"token_hash": hash, "type": "email", "email": "ana@example.com"})).await;
    let wrong = verify(json!({"token_hash": "0".repeat(56), "type": "email"})).await;
    let right = verify(json!({"token_hash": hash, "type": "email"})).await;

    assert_eq!(mixed.message(), "Only the token_hash and type should be provided");
    assert_eq!(
        (wrong.error(), wrong.message()),
        ((403, "otp_expired"), "Email link is invalid or has expired")
    );
    right.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_069_resending_invalidates_the_old_code() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let old = app.mail_to("ana@example.com");

    let response = app
        .post("/resend", json!({"type": "signup", "email": "ana@example.com"}))
        .send()
        .await;
    let new = app.mail_to("ana@example.com");

    assert_eq!((response.status, app.mail_count()), (200, 2));
    assert!(
        app.get(&old.link)
            .send()
            .await
            .in_fragment("error_code")
            .is_some()
    );
    assert!(
        app.get(&new.link)
            .send()
            .await
            .in_fragment("access_token")
            .is_some()
    );
    app.post("/resend", json!({"type": "signup", "email": "ana@example.com"}))
        .send()
        .await;
    assert_eq!(app.mail_count(), 2, "a confirmed user gets no mail");
    assert_eq!(
        app.post("/resend", json!({"type": "x", "email": "a@b.c"}))
            .send()
            .await
            .error(),
        (400, "validation_failed")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_link_is_rejected_under_another_type() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;
    let link = app.mail_to("ana@example.com").link;

    for kind in ["recovery", "email_change", "sms", "nonsense"] {
        let response = app
            .get(&link.replace("type=signup", &format!("type={kind}")))
            .send()
            .await;
        assert!(response.in_fragment("error_code").is_some(), "{kind}");
    }
    let missing = app.get("/verify?type=signup").send().await;
    assert_eq!(missing.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_086_verify_is_rate_limited_per_client_address() {
    let app = TestApp::start_with(|config| {
        config.rate_limits.client = crate::protection::proxy_header();
        config.rate_limits.verify = 1;
    })
    .await;
    let body = json!({"email": "ana@example.com", "token": "000000", "type": "email"});
    let mut statuses = Vec::new();
    for _ in 0..31 {
        statuses.push(
            app.post("/verify", body.clone())
                .header("x-real-ip", "203.0.113.7")
                .send()
                .await
                .error()
                .0,
        );
    }

    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 1);
    assert_eq!(statuses[30], 429);
    assert_eq!(
        app.post("/verify", body.clone())
            .header("x-real-ip", "203.0.113.8")
            .send()
            .await
            .status,
        403
    );
    assert_eq!(app.post("/verify", body).send().await.status, 403);
}
