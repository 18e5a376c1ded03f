//! `PUT /user`: passwords and metadata.

use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_036_changing_to_the_same_password_is_rejected() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;

    let response = app
        .put("/user", json!({"password": PASSWORD}))
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(response.error(), (422, "same_password"));
    assert_eq!(
        response.message(),
        "New password should be different from the old password."
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_022_a_new_password_deletes_the_other_sessions() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;
    let second = app.sign_in("ana@example.com", PASSWORD).await.session();

    app.put("/user", json!({"password": "a better one"}))
        .bearer(&second.access_token)
        .send()
        .await;

    assert_eq!(
        app.get("/user").bearer(&first.access_token).send().await.error(),
        (403, "session_not_found")
    );
    assert_eq!(
        app.get("/user").bearer(&second.access_token).send().await.status,
        200
    );
    let weak = app
        .put("/user", json!({"password": "12345"}))
        .bearer(&second.access_token)
        .send()
        .await;
    assert_eq!(weak.error(), (422, "weak_password"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_054_metadata_is_merged_and_null_removes_a_key() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let update = |data| {
        app.put("/user", json!({"data": data}))
            .bearer(&session.access_token)
            .send()
    };
    update(json!({"b": 2, "c": {"deep": 1}})).await;

    let response = update(json!({"a": 1, "b": null, "c": {"other": null}})).await;

    let metadata = &response.body["user_metadata"];
    assert_eq!(
        (&metadata["a"], metadata.get("b"), &metadata["c"]),
        (&json!(1), None, &json!({"other": null}))
    );
    assert_eq!(metadata["email_verified"], true);
    let next = app.refresh(&session.refresh_token).await.session();
    assert_eq!(
        app.keys
            .verify(&next.access_token)
            .unwrap()
            .get("user_metadata")
            .unwrap()["a"],
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_055_users_cannot_change_app_metadata() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;

    let response = app
        .put("/user", json!({"app_metadata": {"role": "admin"}}))
        .bearer(&session.access_token)
        .send()
        .await;

    assert_eq!(response.error(), (403, "not_admin"));
    assert_eq!(
        app.count("select count(*) from auth.users where raw_app_meta_data ? 'role'")
            .await,
        0
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_074_an_old_session_needs_a_mailed_nonce() {
    let app = TestApp::start_with(|config| config.password.require_reauthentication = true).await;
    let session = app.user("ana@example.com").await;
    app.sql(
        "update auth.sessions set created_at = now() - interval '25 hours'",
        &[],
    )
    .await;
    let update = |nonce: &str| {
        app.put("/user", json!({"password": "a better one", "nonce": nonce}))
            .bearer(&session.access_token)
            .send()
    };

    assert_eq!(update("").await.error(), (400, "reauthentication_needed"));
    assert_eq!(
        update("000000").await.error(),
        (422, "reauthentication_not_valid")
    );
    assert_eq!(
        app.get("/reauthenticate")
            .bearer(&session.access_token)
            .send()
            .await
            .status,
        200
    );
    let mail = app.mail_to("ana@example.com");
    assert_eq!(mail.subject, format!("{} is your verification code", mail.code));
    assert_eq!(update(&mail.code).await.status, 200);
    assert_eq!(app.sign_in("ana@example.com", "a better one").await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_current_password_may_be_required() {
    let app = TestApp::start_with(|config| config.password.require_current = true).await;
    let session = app.user("ana@example.com").await;
    let update = |current: &str| {
        app.put(
            "/user",
            json!({"password": "a better one", "current_password": current}),
        )
        .bearer(&session.access_token)
        .send()
    };

    assert_eq!(update("").await.error(), (400, "current_password_required"));
    assert_eq!(update("wrong").await.error(), (400, "current_password_invalid"));
    assert_eq!(update(PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_077_with_a_factor_password_and_address_changes_need_aal2() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    app.sql(
        "insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
         select gen_random_uuid(), id, 'totp', 'verified', now(), now() from auth.users",
        &[],
    )
    .await;
    let update = |body| app.put("/user", body).bearer(&session.access_token).send();

    for body in [
        json!({"password": "a better one"}),
        json!({"email": "new@example.com"}),
    ] {
        assert_eq!(update(body).await.error(), (401, "insufficient_aal"));
    }
    let shown = update(json!({"data": {"a": 1}})).await;
    assert_eq!(shown.body["factors"][0]["status"], "verified");
    let listed = app
        .get(&format!("/admin/users/{}/factors", session.user_id()))
        .admin()
        .send()
        .await;
    assert_eq!(listed.body, shown.body["factors"]);
}
