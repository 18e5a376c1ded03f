//! `POST /signup`: new users, taken addresses, weak passwords, anonymous users.

use futures_util::future::join;
use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_004_sign_up_returns_a_user_without_session_and_sends_a_mail() {
    let app = TestApp::start().await;
    let body = json!({"email": "Ana@Example.com", "password": PASSWORD, "data": {"username": "ana"}, "code_challenge": null});

    let response = app.post("/signup", body).send().await;

    assert_eq!(response.status, 200, "{}", response.body);
    assert!(response.body["access_token"].is_null());
    assert_eq!(response.body["email"], "ana@example.com");
    assert_eq!(response.body["role"], "authenticated");
    assert_eq!(response.body["aud"], "authenticated");
    assert_eq!(response.body["user_metadata"]["username"], "ana");
    assert_eq!(response.body["user_metadata"]["email_verified"], false);
    assert_eq!(
        response.body["app_metadata"],
        json!({"provider": "email", "providers": ["email"]})
    );
    assert_eq!(response.body["identities"].as_array().unwrap().len(), 1);
    assert_eq!(response.body["identities"][0]["identity_data"]["username"], "ana");
    assert!(
        response.body["confirmation_sent_at"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    assert_eq!(app.mail_count(), 1);
    assert_eq!(
        app.mail_to("ana@example.com").subject,
        "Confirm your email address"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_005_autoconfirm_signs_in_at_once() {
    let app = TestApp::autoconfirm().await;

    let session = app.sign_up("ana@example.com", PASSWORD).await.session();

    let claims = app.keys.verify(&session.access_token).unwrap();
    assert_eq!(claims.get("role").unwrap(), "authenticated");
    assert_eq!(claims.get("aud").unwrap(), "authenticated");
    assert_eq!(claims.get("amr").unwrap()[0]["method"], "password");
    assert_eq!(session.user["user_metadata"]["email_verified"], true);
    assert!(session.user["email_confirmed_at"].is_string());
    assert_eq!(app.mail_count(), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_006_an_insert_trigger_sees_the_metadata() {
    let app = TestApp::start().await;
    app.migrate(
        "create table public.profiles (id uuid primary key references auth.users on delete cascade, username text);
         create function public.handle_new_user() returns trigger language plpgsql security definer set search_path = '' as
         $$ begin insert into public.profiles values (new.id, new.raw_user_meta_data ->> 'username'); return new; end $$;
         create trigger on_auth_user_created after insert on auth.users
         for each row execute function public.handle_new_user();",
    )
    .await;

    let body = json!({"email": "ana@example.com", "password": PASSWORD, "data": {"username": "ana"}});
    assert_eq!(app.post("/signup", body).send().await.status, 200);

    assert_eq!(
        app.count("select count(*) from public.profiles where username = 'ana'")
            .await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_007_an_error_in_a_trigger_rolls_the_sign_up_back() {
    let app = TestApp::start().await;
    app.migrate(
        "create function public.refuse() returns trigger language plpgsql as $$ begin raise 'not today'; end $$;
         create trigger refuse before insert on auth.users for each row execute function public.refuse();",
    )
    .await;

    let response = app.sign_up("ana@example.com", PASSWORD).await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let legacy = app
        .post("/signup", body)
        .header("x-supabase-api-version", "")
        .send()
        .await;

    assert_eq!(response.error(), (500, "unexpected_failure"));
    assert_eq!(response.message(), "Database error saving new user");
    assert_eq!(
        (legacy.status, &legacy.body["code"], &legacy.body["message"]),
        (500, &json!("P0001"), &json!("not today"))
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
    assert_eq!(app.mail_count(), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_007_a_value_too_long_for_a_triggers_table_answers_500() {
    let app = TestApp::start().await;
    app.migrate(
        "create table public.profiles (id uuid primary key, name varchar(5));
         create function public.add() returns trigger language plpgsql security definer as $$ begin
           insert into public.profiles values (new.id, new.raw_user_meta_data ->> 'name'); return new;
         end $$;
         create trigger add after insert on auth.users for each row execute function public.add();",
    )
    .await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD, "data": {"name": "Anastasia"}});

    let response = app.post("/signup", body).send().await;

    assert_eq!(
        (response.error(), response.message()),
        ((500, "unexpected_failure"), "Database error saving new user")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_030_signing_up_a_confirmed_address_returns_a_fake_user() {
    let app = TestApp::start().await;
    let user = app.user("ana@example.com").await;
    let body = json!({"email": "ana@example.com", "password": "another one", "data": {"username": "eve"}});
    let fresh_body =
        json!({"email": "new@example.com", "password": "another one", "data": {"username": "eve"}});

    let decoy = app.post("/signup", body).send().await;
    let fresh = app.post("/signup", fresh_body).send().await;

    assert_eq!(decoy.status, 200);
    assert_ne!(decoy.body["id"], user.user["id"]);
    assert_eq!(decoy.body["identities"], json!([]));
    assert_eq!(decoy.body["user_metadata"], json!({"username": "eve"}));
    let keys = |response: &crate::app::Response| {
        let mut keys: Vec<String> = response.body.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&decoy), keys(&fresh));
    assert_eq!(app.mail_count(), 1, "only the fresh address gets a mail");
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
    assert_eq!(
        app.count(
            "select count(*) from auth.audit_log_entries where payload ->> 'action' = 'user_repeated_signup'"
        )
        .await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_031_with_autoconfirm_a_taken_address_is_reported() {
    let app = TestApp::autoconfirm().await;
    app.sign_up("ana@example.com", PASSWORD).await;

    let again = app.sign_up("ana@example.com", PASSWORD).await;

    assert_eq!(
        (again.error(), again.message()),
        ((422, "user_already_exists"), "User already registered")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_032_signing_up_again_does_not_change_an_unconfirmed_user() {
    let app = TestApp::start().await;
    let first = app.sign_up("ana@example.com", PASSWORD).await;

    let body = json!({"email": "ana@example.com", "password": "another one", "data": {"username": "eve"}});
    let second = app.post("/signup", body).send().await;

    assert_eq!((second.status, &second.body["id"]), (200, &first.body["id"]));
    assert!(second.body["user_metadata"]["username"].is_null());
    assert_eq!(app.mail_count(), 2);
    assert_eq!(
        app.sign_in("ana@example.com", PASSWORD).await.error(),
        (400, "email_not_confirmed")
    );
    assert_eq!(
        app.sign_in("ana@example.com", "another one").await.error(),
        (400, "invalid_credentials")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_032_with_autoconfirm_an_unconfirmed_account_needs_its_password() {
    let app = TestApp::autoconfirm().await;
    app.admin_create(json!({"email": "ana@example.com", "password": PASSWORD}))
        .await;

    assert_eq!(
        app.sign_up("ana@example.com", "another one").await.error(),
        (422, "user_already_exists")
    );
    assert_eq!(app.sign_up("ana@example.com", PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_033_two_simultaneous_sign_ups_create_one_user() {
    for autoconfirm in [false, true] {
        let app = TestApp::start_with(|config| config.email.autoconfirm = autoconfirm).await;

        let (a, b) = join(
            app.sign_up("ana@example.com", PASSWORD),
            app.sign_up("ana@example.com", PASSWORD),
        )
        .await;

        assert!(a.status < 500 && b.status < 500, "{a:?} {b:?}");
        assert!(a.status == 200 || b.status == 200);
        assert_eq!(app.count("select count(*) from auth.users").await, 1);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_034_auth_035_weak_and_too_long_passwords_are_rejected() {
    let app = TestApp::start().await;

    let short = app.sign_up("ana@example.com", "12345").await;
    let long = app.sign_up("ana@example.com", &"x".repeat(73)).await;

    assert_eq!(short.error(), (422, "weak_password"));
    assert_eq!(short.message(), "Password should be at least 6 characters.");
    assert_eq!(short.body["weak_password"]["reasons"], json!(["length"]));
    assert_eq!(long.error(), (400, "validation_failed"));
    assert_eq!(
        app.sign_up("ana@example.com", "").await.message(),
        "Signup requires a valid password"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_037_addresses_are_case_insensitive() {
    let app = TestApp::autoconfirm().await;
    app.sign_up("Foo@Bar.com", PASSWORD).await.session();

    assert_eq!(app.sign_in("foo@bar.COM", PASSWORD).await.status, 200);
    assert_eq!(
        app.count("select count(*) from auth.users where email = 'foo@bar.com'")
            .await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_044_disabled_sign_ups_are_rejected() {
    let app = TestApp::start_with(|config| config.disable_signup = true).await;

    assert_eq!(
        app.sign_up("ana@example.com", PASSWORD).await.error(),
        (422, "signup_disabled")
    );
    let otp = app.post("/otp", json!({"email": "ana@example.com"})).send().await;
    assert_eq!(otp.error(), (422, "signup_disabled"));
    assert_eq!(
        app.admin_create(json!({"email": "ana@example.com"})).await.status,
        200
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_072_anonymous_sign_in_works_only_when_enabled() {
    let off = TestApp::start().await;
    let on = TestApp::start_with(|config| config.anonymous_users_enabled = true).await;
    let body = json!({"data": {"cart": 3}});

    assert_eq!(
        off.post("/signup", body.clone()).send().await.error(),
        (422, "anonymous_provider_disabled")
    );
    let session = on.post("/signup", body).send().await.session();

    assert_eq!(session.user["is_anonymous"], true);
    assert_eq!(
        (&session.user["email"], &session.user["app_metadata"]),
        (&json!(""), &json!({}))
    );
    assert_eq!(session.user["user_metadata"], json!({"cart": 3}));
    let claims = on.keys.verify(&session.access_token).unwrap();
    assert_eq!(claims.get("is_anonymous").unwrap(), true);
    assert_eq!(claims.get("amr").unwrap()[0]["method"], "anonymous");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn phone_sign_ups_are_rejected_when_disabled() {
    let app = TestApp::start().await;

    let phone = app
        .post("/signup", json!({"phone": "+4912345", "password": PASSWORD}))
        .send()
        .await;
    let both = app
        .post(
            "/signup",
            json!({"email": "a@b.c", "phone": "+4912345", "password": PASSWORD}),
        )
        .send()
        .await;

    assert_eq!(phone.error(), (400, "phone_provider_disabled"));
    assert_eq!(both.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_030_max_frequency_applies_to_known_and_unknown_addresses() {
    let app =
        TestApp::start_with(|config| config.email.max_frequency = std::time::Duration::from_secs(60)).await;
    app.user("ana@example.com").await;

    for email in ["ana@example.com", "new@example.com"] {
        assert_eq!(app.sign_up(email, "another one").await.status, 200, "{email}");
        assert_eq!(
            app.sign_up(email, "another one").await.error(),
            (429, "over_email_send_rate_limit"),
            "{email}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn null_characters_are_rejected_with_400() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let body = json!({"email": "new@example.com", "password": PASSWORD, "data": {"x": "\u{0}"}});

    assert_eq!(
        app.post("/signup", body).send().await.error(),
        (400, "validation_failed")
    );
    assert_eq!(
        app.sign_up("new@example.com", "with \u{0} inside").await.error(),
        (400, "validation_failed")
    );
    let update = app
        .put("/user", json!({"data": {"x": "\u{0}"}}))
        .bearer(&session.access_token)
        .send()
        .await;
    assert_eq!(update.error(), (400, "validation_failed"));
    assert_eq!(app.sign_in("ana@example.com\u{0}", PASSWORD).await.status, 400);
    let link = app.get("/verify?type=signup&token=%00").send().await;
    assert_eq!(link.in_fragment("error").unwrap(), "invalid_request");
}
