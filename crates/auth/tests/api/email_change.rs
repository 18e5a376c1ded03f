//! Changes of the e-mail address, by `PUT /user` and the links or codes in the mails that follow.

use selvedge_auth::AuthConfig;
use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_070_a_secure_change_needs_both_addresses_to_confirm() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;

    let response = app
        .put("/user", json!({"email": "New@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(
        (&response.body["email"], &response.body["new_email"]),
        (&json!("ana@example.com"), &json!("new@example.com"))
    );
    assert_eq!(app.mail_count(), 2);
    let (current, new) = (app.mail_to("ana@example.com"), app.mail_to("new@example.com"));

    let half = app.get(&new.link).send().await;
    assert_eq!(
        half.header("location"),
        "https://site.example#message=Confirmation+link+accepted.+Please+proceed+to+confirm+link+sent+to+the+other+email&sb="
    );
    assert_eq!(
        app.get(&new.link).send().await.in_fragment("error_code").unwrap(),
        "otp_expired"
    );
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    let body = json!({"type": "email_change", "email": "ana@example.com", "token": current.code});
    let done = app.post("/verify", body).send().await.session();

    assert_eq!(done.user["email"], "new@example.com");
    assert!(done.user.get("new_email").is_none());
    assert_eq!(done.user["identities"][0]["email"], "new@example.com");
    assert_eq!(app.sign_in("new@example.com", PASSWORD).await.status, 200);
    assert_eq!(
        app.sign_in("ana@example.com", PASSWORD).await.error(),
        (400, "invalid_credentials")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn confirming_the_first_address_by_code_returns_a_message() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    let code = app.mail_to("new@example.com").code;

    let half = app
        .post(
            "/verify",
            json!({"type": "email_change", "email": "new@example.com", "token": code}),
        )
        .send()
        .await;

    assert_eq!((half.status, &half.body["code"]), (200, &json!("200")));
    assert!(
        half.body["msg"]
            .as_str()
            .unwrap()
            .starts_with("Confirmation link accepted.")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_simple_change_needs_only_the_new_address_to_confirm() {
    let app = TestApp::start_with(|config: &mut AuthConfig| config.email.secure_change = false).await;
    let session = app.user("ana@example.com").await;
    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(app.mail_count(), 1);
    let opened = app.get(&app.mail_to("new@example.com").link).send().await;

    assert_eq!(opened.in_fragment("type").unwrap(), "email_change");
    assert_eq!(app.sign_in("new@example.com", PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_071_changing_to_a_taken_address_is_rejected() {
    let app = TestApp::start().await;
    app.user("bea@example.com").await;
    let session = app.user("ana@example.com").await;

    let response = app
        .put("/user", json!({"email": "Bea@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(response.error(), (422, "email_exists"));
    assert_eq!(
        response.message(),
        "A user with this email address has already been registered"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_address_that_was_taken_meanwhile_is_rejected_at_the_confirmation() {
    let app = TestApp::start_with(|config: &mut AuthConfig| config.email.secure_change = false).await;
    let session = app.user("ana@example.com").await;
    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    app.user("new@example.com").await;

    let opened = app.get(&app.mail_to("new@example.com").link).send().await;

    assert_eq!(opened.in_fragment("error_code").unwrap(), "email_exists");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_073_an_anonymous_user_becomes_permanent_with_the_same_id() {
    for autoconfirm in [false, true] {
        let app = TestApp::start_with(|config| {
            config.anonymous_users_enabled = true;
            config.email.autoconfirm = autoconfirm;
        })
        .await;
        let anonymous = app.post("/signup", json!({})).send().await.session();

        let response = app
            .put("/user", json!({"email": "ana@example.com"}))
            .bearer(&anonymous.access_token)
            .send()
            .await;
        assert_eq!(response.status, 200, "{}", response.body);
        if !autoconfirm {
            app.get(&app.mail_to("ana@example.com").link).send().await;
        }

        let user = app.get("/user").bearer(&anonymous.access_token).send().await.body;
        assert_eq!(
            (&user["id"], &user["is_anonymous"]),
            (&anonymous.user["id"], &json!(false))
        );
        assert_eq!(
            (&user["email"], &user["app_metadata"]["provider"]),
            (&json!("ana@example.com"), &json!("email"))
        );
        let password = app
            .put("/user", json!({"password": PASSWORD}))
            .bearer(&anonymous.access_token)
            .send()
            .await;
        assert_eq!(password.status, 200);
        assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_069_resending_an_email_change_mails_both_addresses() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    let old = app.mail_to("new@example.com").link;

    app.post(
        "/resend",
        json!({"type": "email_change", "email": "ana@example.com"}),
    )
    .send()
    .await;

    assert_eq!(app.mail_count(), 4);
    assert!(app.get(&old).send().await.in_fragment("error_code").is_some());
    assert!(
        app.get(&app.mail_to("new@example.com").link)
            .send()
            .await
            .in_fragment("message")
            .is_some()
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_063_without_secure_change_there_is_no_link_for_the_old_address() {
    let app = TestApp::start_with(|config| config.email.secure_change = false).await;
    app.user("ana@example.com").await;
    let link = async |kind: &str| {
        let body = json!({"type": kind, "email": "ana@example.com", "new_email": "new@example.com"});
        app.post("/admin/generate_link", body).admin().send().await
    };

    let old = link("email_change_current").await;

    assert_eq!(
        (old.error(), old.message()),
        (
            (400, "validation_failed"),
            "Enable secure email change to generate link for current email"
        )
    );
    assert_eq!(link("email_change_new").await.status, 200);
}
