//! Guesses at recovery codes: who is locked out by them, and for how long.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::app::{Session, TestApp};
use crate::hooks::{create_function, database_hook};
use crate::mfa::{ENABLED, read_text};
use crate::recovery_codes::{PATH, WRONG, read_codes, start_app, user_with_codes, with_codes};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_203_wrong_codes_lock_the_set_for_a_time_also_for_right_ones() {
    let app = start_app().await;
    let (strong, codes) = user_with_codes(&app).await;
    let weak = app.weak_session().await;
    let wrong = async || app.use_code(&weak, WRONG).await.error().0;

    assert_eq!([wrong().await, wrong().await], [422, 422]);
    app.use_code(&weak, &codes[0]).await.session();
    assert_eq!(
        [wrong().await, wrong().await, wrong().await, wrong().await],
        [422, 422, 422, 429]
    );
    let locked = app.use_code(&strong, &codes[1]).await;
    assert_eq!(locked.error(), (429, "mfa_recovery_codes_locked"));

    let over =
        "update auth.mfa_recovery_code_sets set verification_locked_until = now() - interval '1 second'";
    app.superuser().await.batch_execute(over).await.unwrap();
    assert_eq!(wrong().await, 422);
    app.use_code(&strong, &codes[1]).await.session();

    assert_eq!(
        [wrong().await, wrong().await, wrong().await, wrong().await],
        [422, 422, 422, 429]
    );
    let fresh = read_codes(
        &app.recovery(&strong, Method::POST, "/regenerate", json!({}))
            .await,
    );
    app.use_code(&strong, &fresh[0]).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_207_of_two_requests_with_one_code_one_succeeds_and_no_guess_gets_around_the_lock() {
    let app = start_app().await;
    let (strong, codes) = user_with_codes(&app).await;

    let (one, other) = tokio::join!(app.use_code(&strong, &codes[0]), app.use_code(&strong, &codes[0]));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422]);

    app.use_code(&strong, &codes[1]).await.session();
    let guesses = futures_util::future::join_all((0..8).map(|_| app.use_code(&strong, WRONG))).await;
    let wrong = guesses.iter().filter(|response| response.status == 422).count();
    let locked = guesses.iter().filter(|response| response.status == 429).count();
    assert_eq!((wrong, locked), (3, 5));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_200_a_set_of_the_longest_lockout_stays_locked() {
    let app = TestApp::start_with(|config| {
        config.mfa.totp = ENABLED;
        config.mfa.recovery_codes.switch = ENABLED;
        config.mfa.recovery_codes.max_verify_attempts = 3;
        config.mfa.recovery_codes.lockout = Duration::from_secs(24 * 60 * 60);
    })
    .await;
    let (strong, _) = user_with_codes(&app).await;
    for _ in 0..3 {
        app.use_code(&strong, WRONG).await;
    }

    let row = app
        .superuser()
        .await
        .query_one(
            "select verification_locked_until > now() + interval '23 hours' from auth.mfa_recovery_code_sets",
            &[],
        )
        .await
        .unwrap();

    assert!(row.get::<_, bool>(0));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_203_whoever_knows_only_the_password_does_not_lock_the_owner_out() {
    let app = TestApp::start_behind_proxy(with_codes).await;
    let (_, codes) = user_with_codes(&app).await;
    let (stranger, owner) = (app.weak_session().await, app.weak_session().await);
    let from = async |session: &Session, ip: &str, code: &str| {
        let call = app.post(&format!("{PATH}/verify"), json!({"code": code}));
        call.bearer(&session.access_token).sent_from(ip).send().await
    };

    for status in [422, 422, 422, 429] {
        assert_eq!(from(&stranger, "198.51.100.1", WRONG).await.status, status);
    }

    let used = from(&owner, "192.0.2.1", &codes[0]).await;
    used.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_203_all_networks_together_have_a_bound() {
    let app = TestApp::start_behind_proxy(with_codes).await;
    let (_, codes) = user_with_codes(&app).await;
    let weak = app.weak_session().await;
    app.superuser()
        .await
        .batch_execute(
            "insert into _selvedge.selvedge_recovery_code_attempts (set_id, network_hash, failed_count, tried_at) \
             select s.id, 'network ' || n, 2, now() from auth.mfa_recovery_code_sets s, generate_series(1, 500) n",
        )
        .await
        .unwrap();

    let locked = app.use_code(&weak, &codes[0]).await;

    assert_eq!(locked.error(), (429, "mfa_recovery_codes_locked"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_203_only_a_code_that_was_compared_and_is_wrong_counts() {
    let app = start_app().await;
    let (_, codes) = user_with_codes(&app).await;
    let weak = app.weak_session().await;
    let db = app.superuser().await;

    // What can be no code, and what the database could not say.
    for text in [
        "x",
        "too long to be any code of any configuration",
        "aaaaaaaaaaaaaaa1",
    ] {
        assert_eq!(
            app.use_code(&weak, text).await.error(),
            (422, "mfa_verification_failed")
        );
    }
    let rename = "alter table auth.mfa_recovery_codes rename column code_hash to gone";
    db.batch_execute(rename).await.unwrap();
    for _ in 0..4 {
        assert_eq!(app.use_code(&weak, &codes[0]).await.status, 500);
    }
    let back = "alter table auth.mfa_recovery_codes rename column gone to code_hash";
    db.batch_execute(back).await.unwrap();

    let counted = "select failed_verification_count::bigint from auth.mfa_recovery_code_sets";
    assert_eq!(app.count(counted).await, 0);
    app.use_code(&weak, &codes[0]).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_203_wrong_codes_of_long_ago_do_not_count() {
    let app = start_app().await;
    let (_, _) = user_with_codes(&app).await;
    let weak = app.weak_session().await;
    let wrong = async || app.use_code(&weak, WRONG).await.status;

    assert_eq!([wrong().await, wrong().await], [422, 422]);
    let age = "update _selvedge.selvedge_recovery_code_attempts set tried_at = now() - interval '16 minutes'";
    app.superuser().await.batch_execute(age).await.unwrap();

    assert_eq!(
        [wrong().await, wrong().await, wrong().await, wrong().await],
        [422, 422, 422, 429]
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_205_codes_that_are_used_up_lock_nobody_out() {
    let app = start_app().await;
    let (strong, codes) = user_with_codes(&app).await;
    let user = app.get("/user").bearer(&strong.access_token).send().await.body;
    let totp = user["factors"].as_array().unwrap().iter();
    let totp = totp
        .clone()
        .find(|factor| factor["factor_type"] == "totp")
        .unwrap();
    for code in &codes {
        app.use_code(&strong, code).await.session();
    }
    let weak = app.weak_session().await;
    let enroll = async || {
        app.enroll(&weak, json!({"factor_type": "totp", "friendly_name": "new"}))
            .await
    };
    assert_eq!(enroll().await.error(), (403, "insufficient_aal"));

    // The phone is lost, and an administrator removes its factor.
    let path = format!(
        "/admin/users/{}/factors/{}",
        read_text(&user["id"]),
        read_text(&totp["id"])
    );
    let removed = app.call(Method::DELETE, &path).admin().send().await;
    assert_eq!(removed.status, 200, "{}", removed.body);

    assert_eq!(enroll().await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_203_what_is_given_back_ends_no_lock_of_another_network() {
    let app = TestApp::start_behind_proxy(with_codes).await;
    let (_, codes) = user_with_codes(&app).await;
    let (stranger, owner) = (app.weak_session().await, app.weak_session().await);
    let from = async |session: &Session, ip: &str, code: &str| {
        let call = app.post(&format!("{PATH}/verify"), json!({"code": code}));
        call.bearer(&session.access_token)
            .sent_from(ip)
            .send()
            .await
            .status
    };
    for _ in 0..3 {
        from(&stranger, "198.51.100.1", WRONG).await;
    }
    let db = app.superuser().await;
    for _ in 0..2 {
        from(&owner, "192.0.2.1", WRONG).await;
    }
    let rename = "alter table auth.mfa_recovery_codes rename column code_hash to gone";
    db.batch_execute(rename).await.unwrap();
    // The third attempt locks, and is taken back.
    assert_eq!(from(&owner, "192.0.2.1", &codes[0]).await, 500);
    let back = "alter table auth.mfa_recovery_codes rename column gone to code_hash";
    db.batch_execute(back).await.unwrap();

    assert_eq!(from(&stranger, "198.51.100.1", WRONG).await, 429);
    assert_eq!(from(&owner, "192.0.2.1", &codes[0]).await, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_203_a_text_that_can_be_no_code_reaches_no_hook() {
    let app = TestApp::start_with(|config| {
        with_codes(config);
        config.hooks.mfa_verification_attempt = database_hook("judge");
    })
    .await;
    let decide = "begin return jsonb_build_object('decision', \
                  case event ->> 'factor_type' when 'totp' then 'continue' else 'reject' end); end";
    create_function(&app, "judge", decide).await;
    let (strong, _) = user_with_codes(&app).await;

    let answer = app.use_code(&strong, "no code").await;
    assert_eq!(answer.error(), (422, "mfa_verification_failed"));
    let answer = app.use_code(&strong, WRONG).await;
    assert_eq!(answer.error(), (403, "mfa_verification_rejected"));
}
