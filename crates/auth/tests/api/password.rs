//! Sign-in by password, sessions and sign-out.

use std::time::{Duration, Instant};

use selvedge_auth::PasswordConfig;
use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_001_auth_053_the_right_password_returns_a_session_with_the_contracts_claims() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;

    let response = app.sign_in("ana@example.com", PASSWORD).await;

    let session = response.session();
    assert_eq!(response.body["token_type"], "bearer");
    assert_eq!(response.body["expires_in"], 3600);
    assert!(
        response.body["weak_password"].is_null()
            && response.body.as_object().unwrap().contains_key("weak_password")
    );
    let claims = app.keys.verify(&session.access_token).unwrap();
    let mut names: Vec<&str> = claims.map().keys().map(String::as_str).collect();
    names.sort_unstable();
    let expected =
        "aal amr app_metadata aud email exp iat is_anonymous iss phone role session_id sub user_metadata";
    assert_eq!(names.join(" "), expected);
    assert_eq!(claims.subject(), session.user["id"].as_str());
    assert_eq!(claims.get("aud").unwrap(), "authenticated");
    assert_eq!(claims.get("aal").unwrap(), "aal1");
    assert_eq!(claims.get("phone").unwrap(), "");
    assert_eq!(claims.get("exp").unwrap(), &response.body["expires_at"]);
    let session_id: uuid::Uuid = claims.session_id().unwrap().parse().unwrap();
    let rows = app
        .sql(
            "select user_id, host(ip), user_agent from auth.sessions where id = $1",
            &[&session_id],
        )
        .await;
    assert_eq!(rows[0].get::<_, uuid::Uuid>(0), session.user_id());
    assert_eq!(rows[0].get::<_, String>(1), "127.0.0.1");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_002_wrong_password_and_unknown_address_get_the_same_error() {
    let app = TestApp::start().await;
    app.user("ana@example.com").await;

    for (email, password) in [
        ("ana@example.com", "wrong"),
        ("nobody@example.com", PASSWORD),
        ("ana@example.com", ""),
    ] {
        let response = app.sign_in(email, password).await;
        assert_eq!(
            (response.error(), response.message()),
            ((400, "invalid_credentials"), "Invalid login credentials")
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_003_email_not_confirmed_is_reported_only_after_the_right_password() {
    let app = TestApp::start().await;
    app.sign_up("ana@example.com", PASSWORD).await;

    let right = app.sign_in("ana@example.com", PASSWORD).await;
    let wrong = app.sign_in("ana@example.com", "wrong").await;

    assert_eq!(
        (right.error(), right.message()),
        ((400, "email_not_confirmed"), "Email not confirmed")
    );
    assert_eq!(wrong.error(), (400, "invalid_credentials"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn invalid_sign_in_parameters_are_rejected() {
    let app = TestApp::start().await;
    let sign_in = |body| app.post("/token?grant_type=password", body).send();

    assert_eq!(
        sign_in(json!({"password": "x"})).await.message(),
        "missing email or phone"
    );
    let both = sign_in(json!({"email": "a@b.c", "phone": "1", "password": "x"})).await;
    assert_eq!(both.error(), (400, "validation_failed"));
    assert_eq!(
        sign_in(json!({"phone": "1", "password": "x"})).await.error(),
        (422, "phone_provider_disabled")
    );
    let unknown = app.post("/token?grant_type=magic", json!({})).send().await;
    assert_eq!(
        (unknown.error(), unknown.message()),
        ((400, "invalid_credentials"), "unsupported_grant_type")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_008_get_user_shows_identities_and_times_in_utc() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;

    let response = app.get("/user").bearer(&session.access_token).send().await;

    assert_eq!(response.status, 200);
    assert_eq!(response.body["app_metadata"]["provider"], "email");
    let identity = &response.body["identities"][0];
    assert_eq!(
        (&identity["provider"], &identity["email"]),
        (&json!("email"), &json!("ana@example.com"))
    );
    assert_eq!(identity["id"], response.body["id"]);
    assert!(identity["identity_id"].is_string());
    for name in [
        "created_at",
        "updated_at",
        "last_sign_in_at",
        "email_confirmed_at",
        "confirmed_at",
    ] {
        assert!(response.body[name].as_str().unwrap().ends_with('Z'), "{name}");
    }
    assert!(response.body.get("factors").is_none() && response.body.get("banned_until").is_none());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_014_auth_016_signing_out_globally_deletes_every_session() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;
    let second = app.sign_in("ana@example.com", PASSWORD).await.session();

    let response = app
        .post("/logout", json!({}))
        .bearer(&first.access_token)
        .send()
        .await;

    assert_eq!(response.status, 204);
    assert_eq!(app.count("select count(*) from auth.sessions").await, 0);
    for session in [first, second] {
        let user = app.get("/user").bearer(&session.access_token).send().await;
        assert_eq!(user.error(), (403, "session_not_found"));
        assert_eq!(app.refresh(&session.refresh_token).await.status, 400);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_015_logout_scope_chooses_the_deleted_sessions() {
    let app = TestApp::start().await;
    let first = app.user("ana@example.com").await;
    let second = app.sign_in("ana@example.com", PASSWORD).await.session();
    let third = app.sign_in("ana@example.com", PASSWORD).await.session();
    let logout = |scope: &str, token: &str| {
        app.post(&format!("/logout?scope={scope}"), json!({}))
            .bearer(token)
            .send()
    };

    assert_eq!(
        logout("everywhere", &first.access_token).await.error(),
        (400, "validation_failed")
    );
    assert_eq!(logout("local", &first.access_token).await.status, 204);
    assert_eq!(
        app.refresh(&first.refresh_token).await.error(),
        (400, "refresh_token_not_found")
    );
    assert_eq!(logout("others", &second.access_token).await.status, 204);
    assert_eq!(
        app.refresh(&third.refresh_token).await.error(),
        (400, "refresh_token_not_found")
    );
    assert_eq!(app.refresh(&second.refresh_token).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_089_a_hand_inserted_user_signs_in() {
    let app = TestApp::start().await;
    app.sql(
        "create extension if not exists pgcrypto with schema extensions",
        &[],
    )
    .await;
    app.sql(
        "insert into auth.users (id, aud, role, email, encrypted_password, email_confirmed_at)
         values (gen_random_uuid(), 'authenticated', 'authenticated', 'Seed@example.com',
                 extensions.crypt($1::text, extensions.gen_salt('bf', 4)), now())",
        &[&PASSWORD],
    )
    .await;

    let session = app.sign_in("seed@example.com", PASSWORD).await.session();

    assert_eq!(session.user["app_metadata"], json!({}));
    assert_eq!(
        app.get("/user").bearer(&session.access_token).send().await.status,
        200
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_password_that_became_weak_signs_in_with_a_warning() {
    let app = TestApp::start_with(|config| {
        config.password = PasswordConfig {
            min_length: 20,
            bcrypt_cost: 4,
            ..PasswordConfig::default()
        };
    })
    .await;
    app.user("ana@example.com").await;

    let response = app.sign_in("ana@example.com", PASSWORD).await;

    assert_eq!(response.status, 200);
    assert_eq!(response.body["weak_password"]["reasons"], json!(["length"]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_098_sign_in_takes_equally_long_for_known_and_unknown_addresses() {
    let app = TestApp::start_with(|config| config.password.bcrypt_cost = 10).await;
    app.user("ana@example.com").await;
    app.sign_in("nobody@example.com", "warm up").await;
    let time = async |email: &str| {
        let start = Instant::now();
        app.sign_in(email, "wrong").await;
        start.elapsed()
    };

    // Alternate both and compare the fastest of each, so that other load on the machine affects both alike. A busy machine needs
    // more rounds until each was measured undisturbed; if only one of them hashed, no number of rounds would help.
    let (mut known, mut unknown) = (Duration::MAX, Duration::MAX);
    for round in 1..=60 {
        known = known.min(time("ana@example.com").await);
        unknown = unknown.min(time("nobody@example.com").await);
        if round >= 12 && known.abs_diff(unknown) < known / 2 {
            break;
        }
    }

    assert!(known.abs_diff(unknown) < known / 2, "{known:?} and {unknown:?}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_097_sign_in_refresh_and_sign_out_are_logged() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let session = app.refresh(&session.refresh_token).await.session();
    app.post("/logout", json!({}))
        .bearer(&session.access_token)
        .send()
        .await;

    let rows = app.sql("select payload ->> 'action', payload ->> 'actor_username', ip_address from auth.audit_log_entries order by created_at", &[]).await;

    let actions: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        actions,
        [
            "user_signedup",
            "login",
            "token_refreshed",
            "token_revoked",
            "logout"
        ]
    );
    assert_eq!(rows[1].get::<_, String>(1), "ana@example.com");
    assert_eq!(rows[1].get::<_, String>(2), "127.0.0.1");
}
