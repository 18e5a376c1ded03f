//! Sessions whose tokens are counters, single sessions, many tabs at once.

use std::time::Duration;

use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::test]
async fn auth_010_fifty_tabs_with_one_token_all_get_a_usable_session() {
    for counter_tokens in [false, true] {
        let app = TestApp::with(|config| {
            config.refresh.counter_tokens = counter_tokens;
            config.refresh.reuse_interval = Duration::from_secs(10);
        })
        .await;
        let session = app.user("ana@example.com").await;

        let answers =
            futures_util::future::join_all((0..50).map(|_| app.refresh(&session.refresh_token))).await;

        let mut tokens: Vec<String> = answers
            .iter()
            .map(|answer| answer.session().refresh_token)
            .collect();
        tokens.sort_unstable();
        tokens.dedup();
        for token in &tokens {
            assert_eq!(app.refresh(token).await.status, 200);
        }
        assert_eq!(app.count("select count(*) from auth.sessions").await, 1);
    }
}

#[actix_web::test]
async fn auth_012_counter_tokens_rotate_and_end_the_session_when_old_ones_return() {
    let app = TestApp::with(|config| config.refresh.counter_tokens = true).await;
    let session = app.user("ana@example.com").await;
    assert_eq!(app.count("select count(*) from auth.refresh_tokens").await, 0);
    assert!(session.refresh_token.len() > 40);

    let first = app.refresh(&session.refresh_token).await.session();
    let lost = app.refresh(&session.refresh_token).await.session();
    assert_eq!(
        first.refresh_token, lost.refresh_token,
        "a lost answer comes again"
    );
    let second = app.refresh(&first.refresh_token).await.session();
    let user = app.get("/user").bearer(&second.access_token).send().await;
    assert_eq!(user.status, 200);

    let mut forged = second.refresh_token.clone().into_bytes();
    forged[30] = if forged[30] == b'A' { b'B' } else { b'A' };
    let forged = app.refresh(&String::from_utf8(forged).unwrap()).await;
    assert_eq!(forged.error(), (400, "refresh_token_not_found"));
    let reused = app.refresh(&session.refresh_token).await;
    assert_eq!(reused.error(), (400, "refresh_token_already_used"));
    assert_eq!(app.refresh(&second.refresh_token).await.status, 400);
    let user = app.get("/user").bearer(&second.access_token).send().await;
    assert_eq!(user.error(), (403, "session_not_found"), "both holders are out");
}

#[actix_web::test]
async fn a_counter_of_another_session_is_worth_nothing() {
    let app = TestApp::with(|config| config.refresh.counter_tokens = true).await;
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

#[actix_web::test]
async fn auth_087_only_the_newest_session_of_a_kind_refreshes() {
    let app = TestApp::with(|config| {
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

#[actix_web::test]
async fn auth_016_a_session_of_another_user_is_no_session() {
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

    let answer = app.get("/user").bearer(&mixed).send().await;

    assert_eq!(answer.error(), (403, "session_not_found"));
}
