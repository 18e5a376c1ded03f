//! Changing one's address, and reauthentication.

use selvedge_auth::AuthConfig;
use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::test]
async fn auth_070_a_secure_change_asks_both_addresses() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;

    let answer = app
        .put("/user", json!({"email": "New@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(
        (&answer.body["email"], &answer.body["new_email"]),
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

#[actix_web::test]
async fn the_first_half_by_code_answers_a_message() {
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

#[actix_web::test]
async fn a_simple_change_asks_the_new_address_only() {
    let app = TestApp::with(|config: &mut AuthConfig| config.email.secure_change = false).await;
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

#[actix_web::test]
async fn auth_071_a_taken_address_is_refused() {
    let app = TestApp::start().await;
    app.user("bea@example.com").await;
    let session = app.user("ana@example.com").await;

    let answer = app
        .put("/user", json!({"email": "Bea@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(answer.error(), (422, "email_exists"));
    assert_eq!(
        answer.message(),
        "A user with this email address has already been registered"
    );
}

#[actix_web::test]
async fn an_address_taken_meanwhile_is_refused_at_the_confirmation() {
    let app = TestApp::with(|config: &mut AuthConfig| config.email.secure_change = false).await;
    let session = app.user("ana@example.com").await;
    app.put("/user", json!({"email": "new@example.com"}))
        .bearer(&session.access_token)
        .send()
        .await;
    app.user("new@example.com").await;

    let opened = app.get(&app.mail_to("new@example.com").link).send().await;

    assert_eq!(opened.in_fragment("error_code").unwrap(), "email_exists");
}

#[actix_web::test]
async fn auth_073_an_anonymous_user_becomes_permanent_with_the_same_id() {
    for autoconfirm in [false, true] {
        let app = TestApp::with(|config| {
            config.anonymous_users_enabled = true;
            config.email.autoconfirm = autoconfirm;
        })
        .await;
        let anonymous = app.post("/signup", json!({})).send().await.session();

        let answer = app
            .put("/user", json!({"email": "ana@example.com"}))
            .bearer(&anonymous.access_token)
            .send()
            .await;
        assert_eq!(answer.status, 200, "{}", answer.body);
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

#[actix_web::test]
async fn auth_069_resending_a_change_mails_both_again() {
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

#[actix_web::test]
async fn auth_063_where_one_address_is_enough_the_old_one_has_no_link() {
    let app = TestApp::with(|config| config.email.secure_change = false).await;
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
