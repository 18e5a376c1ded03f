//! Sessions with counter tokens, single sessions per user, and simultaneous refreshes.

use std::time::Duration;

use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_010_fifty_simultaneous_refreshes_of_one_token_all_return_a_usable_session() {
    for counter_tokens in [false, true] {
        let app = TestApp::start_with(|config| {
            config.refresh.counter_tokens = counter_tokens;
            config.refresh.reuse_interval = Duration::from_secs(10);
        })
        .await;
        let session = app.user("ana@example.com").await;

        let responses =
            futures_util::future::join_all((0..50).map(|_| app.refresh(&session.refresh_token))).await;

        let mut tokens: Vec<String> = responses
            .iter()
            .map(|response| response.session().refresh_token)
            .collect();
        tokens.sort_unstable();
        tokens.dedup();
        for token in &tokens {
            assert_eq!(app.refresh(token).await.status, 200);
        }
        assert_eq!(app.count("select count(*) from auth.sessions").await, 1);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_012_reusing_an_old_counter_token_deletes_the_session() {
    let app = TestApp::start_with(|config| config.refresh.counter_tokens = true).await;
    let session = app.user("ana@example.com").await;
    assert_eq!(app.count("select count(*) from auth.refresh_tokens").await, 0);
    assert!(session.refresh_token.len() > 40);

    let first = app.refresh(&session.refresh_token).await.session();
    let lost = app.refresh(&session.refresh_token).await.session();
    assert_eq!(
        first.refresh_token, lost.refresh_token,
        "a lost response comes again"
    );
    let second = app.refresh(&first.refresh_token).await.session();
    let user = app.get("/user").bearer(&second.access_token).send().await;
    assert_eq!(user.status, 200);

    // Character 30 of the base64url text lies inside of the signature, so the checksum no longer fits either.
    let mut forged = second.refresh_token.clone().into_bytes();
    forged[30] = if forged[30] == b'A' { b'B' } else { b'A' };
    let forged = app.refresh(&String::from_utf8(forged).unwrap()).await;
    assert_eq!(forged.error(), (400, "validation_failed"));
    let reused = app.refresh(&session.refresh_token).await;
    assert_eq!(reused.error(), (400, "refresh_token_already_used"));
    assert_eq!(app.refresh(&second.refresh_token).await.status, 400);
    let user = app.get("/user").bearer(&second.access_token).send().await;
    assert_eq!(user.error(), (403, "session_not_found"), "both holders are out");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_counter_token_signed_with_another_key_is_rejected() {
    let app = TestApp::start_with(|config| config.refresh.counter_tokens = true).await;
    let ana = app.user("ana@example.com").await;
    let eve = app.user("eve@example.com").await;
    app.sql(
        "update auth.sessions set refresh_token_hmac_key = 'c29tZXRoaW5nIGVsc2U' where user_id = $1",
        &[&ana.user_id()],
    )
    .await;

    assert_eq!(
        app.refresh(&ana.refresh_token).await.error(),
        (400, "refresh_token_not_found"),
        "signed by another key"
    );
    assert_eq!(app.refresh(&eve.refresh_token).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_087_only_the_newest_session_of_a_tag_refreshes() {
    let app = TestApp::start_with(|config| {
        config.sessions.single_per_user = true;
        config.sessions.tags = vec!["web".to_owned(), "mobile".to_owned()];
    })
    .await;
    let old = app.user("ana@example.com").await;
    let new = app.sign_in("ana@example.com", PASSWORD).await.session();

    let refused = app.refresh(&old.refresh_token).await;
    assert_eq!(
        (refused.error(), refused.message()),
        (
            (400, "session_expired"),
            "Invalid Refresh Token: Session Expired (Revoked by Newer Login)"
        )
    );
    let new = app.refresh(&new.refresh_token).await.session();
    app.sql(
        "update auth.sessions set tag = 'mobile' where id = (select id from auth.sessions order by created_at limit 1)",
        &[],
    )
    .await;
    assert_eq!(
        app.refresh(&old.refresh_token).await.status,
        200,
        "another kind has a session of its own"
    );
    assert_eq!(app.refresh(&new.refresh_token).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_016_an_access_token_with_another_users_session_is_rejected() {
    let app = TestApp::start().await;
    let ana = app.user("ana@example.com").await;
    let eve = app.user("eve@example.com").await;
    let session_id = app
        .sql(
            "select id::text from auth.sessions where user_id = $1",
            &[&ana.user_id()],
        )
        .await[0]
        .get::<_, String>(0);
    let mut claims: serde_json::Value =
        serde_json::from_str(app.keys.verify(&eve.access_token).unwrap().json()).unwrap();
    claims["session_id"] = json!(session_id);
    let mixed = app.keys.sign(&claims).unwrap();

    let response = app.get("/user").bearer(&mixed).send().await;

    assert_eq!(response.error(), (403, "session_not_found"));
}
