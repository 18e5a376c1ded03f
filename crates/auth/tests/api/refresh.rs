//! Refresh tokens stored as rows: `POST /token?grant_type=refresh_token`.

use std::time::Duration;

use futures_util::future::join_all;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_009_refreshing_rotates_the_token_and_keeps_the_session() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;

    let response = app.refresh(&first.refresh_token).await;
    let second = response.session();

    assert_ne!(second.refresh_token, first.refresh_token);
    assert_eq!(
        response.header("sb-auth-refresh-token-prefix"),
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_010_fifty_simultaneous_refreshes_all_succeed() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;

    let responses = join_all((0..50).map(|_| app.refresh(&first.refresh_token))).await;

    let tokens: Vec<String> = responses
        .iter()
        .map(|response| response.session().refresh_token)
        .collect();
    assert!(
        tokens.iter().all(|token| *token == tokens[0]),
        "one successor for all"
    );
    // All clients hold the same token now, and they may refresh at the same time again.
    let next = join_all(tokens.iter().take(10).map(|token| app.refresh(token))).await;
    assert!(next.iter().all(|response| response.status == 200));
    assert_eq!(
        app.count("select count(*) from auth.refresh_tokens where not revoked")
            .await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_011_a_client_that_lost_the_response_gets_the_active_token_again() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_012_reusing_an_old_refresh_token_revokes_all_tokens_of_the_session() {
    // Revoking sets `updated_at`, but the reuse interval must not let the newest token refresh for another ten seconds.
    for interval in [Duration::ZERO, Duration::from_secs(10)] {
        let app = TestApp::start_with(|config| config.refresh.reuse_interval = interval).await;
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_used_token_may_be_used_again_inside_the_reuse_interval() {
    let app = TestApp::start_with(|config| config.refresh.reuse_interval = Duration::from_secs(10)).await;
    let first = app.user("ana@example.com").await;
    let second = app.refresh(&first.refresh_token).await.session();
    let third = app.refresh(&second.refresh_token).await.session();

    let other = app.refresh(&first.refresh_token).await.session();

    assert_ne!(other.refresh_token, third.refresh_token);
    assert_eq!(app.refresh(&other.refresh_token).await.status, 200);
    assert_eq!(app.refresh(&third.refresh_token).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_013_unknown_and_malformed_tokens_get_different_errors() {
    let app = TestApp::start().await;

    let unknown = app.refresh("abcdefghijkl").await;
    assert_eq!(unknown.error(), (400, "refresh_token_not_found"));
    assert_eq!(
        unknown.message(),
        "Invalid Refresh Token: Refresh Token Not Found"
    );
    for text in [
        "",
        "no",
        "ABCDEFGHIJKL",
        " abcdefghijkl",
        "abcdefghijklm",
        "!!!!!!!!!!!!",
        "a.b.c",
    ] {
        let malformed = app.refresh(text).await;
        assert_eq!(
            (malformed.error(), malformed.message()),
            ((400, "validation_failed"), "Refresh token is not valid"),
            "{text:?}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_087_session_limits_are_enforced_at_the_refresh() {
    let hour = Some(Duration::from_secs(3600));
    let timebox = TestApp::start_with(|config| config.sessions.timebox = hour).await;
    let inactivity = TestApp::start_with(|config| config.sessions.inactivity_timeout = hour).await;
    for (app, suffix) in [(timebox, ""), (inactivity, " (Inactivity)")] {
        let session = app.user("ana@example.com").await;
        let session = app.refresh(&session.refresh_token).await.session();
        app.sql("update auth.sessions set created_at = now() - interval '2 hours', refreshed_at = refreshed_at - interval '2 hours'", &[]).await;

        let response = app.refresh(&session.refresh_token).await;

        assert_eq!(response.error(), (400, "session_expired"));
        assert_eq!(
            response.message(),
            format!("Invalid Refresh Token: Session Expired{suffix}")
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn with_single_per_user_only_the_newest_session_refreshes() {
    let app = TestApp::start_with(|config| config.sessions.single_per_user = true).await;
    let first = app.user("ana@example.com").await;
    let second = app.sign_in("ana@example.com", PASSWORD).await.session();

    let old = app.refresh(&first.refresh_token).await;

    assert_eq!(
        old.message(),
        "Invalid Refresh Token: Session Expired (Revoked by Newer Login)"
    );
    assert_eq!(app.refresh(&second.refresh_token).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn without_rotation_reusing_a_token_is_rejected_and_the_session_stays() {
    let app = TestApp::start_with(|config| config.refresh.rotation_enabled = false).await;
    let first = app.user("ana@example.com").await;
    let second = app.refresh(&first.refresh_token).await.session();
    let third = app.refresh(&second.refresh_token).await.session();

    assert_eq!(
        app.refresh(&first.refresh_token).await.error(),
        (400, "refresh_token_already_used")
    );
    assert_eq!(app.refresh(&third.refresh_token).await.status, 200);
}
