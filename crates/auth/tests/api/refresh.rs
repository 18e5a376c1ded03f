//! `POST /token?grant_type=refresh_token`.

use std::time::Duration;

use futures_util::future::join_all;

use crate::app::{PASSWORD, TestApp};

#[actix_web::test]
async fn auth_009_a_refresh_rotates_the_token_and_keeps_the_session() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;

    let answer = app.refresh(&first.refresh_token).await;
    let second = answer.session();

    assert_ne!(second.refresh_token, first.refresh_token);
    assert_eq!(
        answer.header("sb-auth-refresh-token-prefix"),
        &second.refresh_token[..5]
    );
    let (old, new) = (
        app.keys.verify(&first.access_token).unwrap(),
        app.keys.verify(&second.access_token).unwrap(),
    );
    assert_eq!(
        (old.session_id(), old.subject()),
        (new.session_id(), new.subject())
    );
    assert_eq!(new.get("amr").unwrap()[0]["method"], "password");
    let rows = app
        .sql("select refreshed_at is not null from auth.sessions", &[])
        .await;
    assert!(rows[0].get::<_, bool>(0));
}

#[actix_web::test]
async fn auth_010_fifty_tabs_refresh_at_once_and_all_stay_signed_in() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;

    let answers = join_all((0..50).map(|_| app.refresh(&first.refresh_token))).await;

    let tokens: Vec<String> = answers
        .iter()
        .map(|answer| answer.session().refresh_token)
        .collect();
    assert!(
        tokens.iter().all(|token| *token == tokens[0]),
        "one successor for all"
    );
    let next = join_all(tokens.iter().take(10).map(|token| app.refresh(token))).await;
    assert!(next.iter().all(|answer| answer.status == 200));
    assert_eq!(
        app.count("select count(*) from auth.refresh_tokens where not revoked")
            .await,
        1
    );
}

#[actix_web::test]
async fn auth_011_a_lost_answer_is_given_again() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;
    let lost = app.refresh(&first.refresh_token).await.session();
    app.sql(
        "update auth.refresh_tokens set updated_at = now() - interval '1 day'",
        &[],
    )
    .await;

    let again = app.refresh(&first.refresh_token).await.session();

    assert_eq!(again.refresh_token, lost.refresh_token);
}

#[actix_web::test]
async fn auth_012_a_stolen_token_ends_the_family_for_good() {
    // Also with an interval in which a used token may be used again: a revoked family gets no mercy.
    for interval in [Duration::ZERO, Duration::from_secs(10)] {
        let app = TestApp::with(|config| config.refresh.reuse_interval = interval).await;
        let first = app.user("ana@example.com").await;
        let second = app.refresh(&first.refresh_token).await.session();
        let third = app.refresh(&second.refresh_token).await.session();
        app.sql(
            "update auth.refresh_tokens set updated_at = now() - interval '1 minute' where token = $1",
            &[&first.refresh_token],
        )
        .await;

        assert_eq!(
            app.refresh(&first.refresh_token).await.error(),
            (400, "refresh_token_already_used")
        );

        let newest = app.refresh(&third.refresh_token).await;
        assert_eq!(
            (newest.error(), newest.message()),
            (
                (400, "refresh_token_already_used"),
                "Invalid Refresh Token: Already Used"
            )
        );
        assert_eq!(
            app.count("select count(*) from auth.refresh_tokens where not revoked")
                .await,
            0
        );
    }
}

#[actix_web::test]
async fn a_used_token_may_be_used_again_inside_the_interval() {
    let app = TestApp::with(|config| config.refresh.reuse_interval = Duration::from_secs(10)).await;
    let first = app.user("ana@example.com").await;
    let second = app.refresh(&first.refresh_token).await.session();
    let third = app.refresh(&second.refresh_token).await.session();

    let other = app.refresh(&first.refresh_token).await.session();

    assert_ne!(other.refresh_token, third.refresh_token);
    assert_eq!(app.refresh(&other.refresh_token).await.status, 200);
    assert_eq!(app.refresh(&third.refresh_token).await.status, 200);
}

#[actix_web::test]
async fn auth_013_unknown_and_malformed_tokens_are_told_apart() {
    let app = TestApp::start().await;

    let unknown = app.refresh("abcdefghijkl").await;
    let malformed = app.refresh("no").await;

    assert_eq!(unknown.error(), (400, "refresh_token_not_found"));
    assert_eq!(
        unknown.message(),
        "Invalid Refresh Token: Refresh Token Not Found"
    );
    assert_eq!(
        (malformed.error(), malformed.message()),
        ((400, "validation_failed"), "Refresh token is not valid")
    );
}

#[actix_web::test]
async fn auth_087_limits_show_at_the_refresh() {
    let hour = Some(Duration::from_secs(3600));
    let timebox = TestApp::with(|config| config.sessions.timebox = hour).await;
    let inactivity = TestApp::with(|config| config.sessions.inactivity_timeout = hour).await;
    for (app, suffix) in [(timebox, ""), (inactivity, " (Inactivity)")] {
        let session = app.user("ana@example.com").await;
        let session = app.refresh(&session.refresh_token).await.session();
        app.sql("update auth.sessions set created_at = now() - interval '2 hours', refreshed_at = refreshed_at - interval '2 hours'", &[]).await;

        let answer = app.refresh(&session.refresh_token).await;

        assert_eq!(answer.error(), (400, "session_expired"));
        assert_eq!(
            answer.message(),
            format!("Invalid Refresh Token: Session Expired{suffix}")
        );
    }
}

#[actix_web::test]
async fn a_single_session_per_user_is_the_newest() {
    let app = TestApp::with(|config| config.sessions.single_per_user = true).await;
    let first = app.user("ana@example.com").await;
    let second = app.sign_in("ana@example.com", PASSWORD).await.session();

    let old = app.refresh(&first.refresh_token).await;

    assert_eq!(
        old.message(),
        "Invalid Refresh Token: Session Expired (Revoked by Newer Login)"
    );
    assert_eq!(app.refresh(&second.refresh_token).await.status, 200);
}

#[actix_web::test]
async fn without_rotation_a_used_token_is_only_refused() {
    let app = TestApp::with(|config| config.refresh.rotation_enabled = false).await;
    let first = app.user("ana@example.com").await;
    let second = app.refresh(&first.refresh_token).await.session();
    let third = app.refresh(&second.refresh_token).await.session();

    assert_eq!(
        app.refresh(&first.refresh_token).await.error(),
        (400, "refresh_token_already_used")
    );
    assert_eq!(app.refresh(&third.refresh_token).await.status, 200);
}
