//! `POST /signup`.

use futures_util::future::join;
use serde_json::json;

use crate::app::{PASSWORD, TestApp};

#[actix_web::test]
async fn auth_004_a_new_address_gets_a_bare_user_and_a_mail() {
    let app = TestApp::start().await;
    let body = json!({"email": "Ana@Example.com", "password": PASSWORD, "data": {"username": "ana"}, "code_challenge": null});

    let answer = app.post("/signup", body).send().await;

    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body["access_token"].is_null());
    assert_eq!(answer.body["email"], "ana@example.com");
    assert_eq!(answer.body["role"], "authenticated");
    assert_eq!(answer.body["aud"], "authenticated");
    assert_eq!(answer.body["user_metadata"]["username"], "ana");
    assert_eq!(answer.body["user_metadata"]["email_verified"], false);
    assert_eq!(
        answer.body["app_metadata"],
        json!({"provider": "email", "providers": ["email"]})
    );
    assert_eq!(answer.body["identities"].as_array().unwrap().len(), 1);
    assert_eq!(answer.body["identities"][0]["identity_data"]["username"], "ana");
    assert!(
        answer.body["confirmation_sent_at"]
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

#[actix_web::test]
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

#[actix_web::test]
async fn auth_006_a_trigger_reads_the_metadata_at_the_insert() {
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

#[actix_web::test]
async fn auth_007_a_raising_trigger_leaves_nothing_behind() {
    let app = TestApp::start().await;
    app.migrate(
        "create function public.refuse() returns trigger language plpgsql as $$ begin raise 'not today'; end $$;
         create trigger refuse before insert on auth.users for each row execute function public.refuse();",
    )
    .await;

    let answer = app.sign_up("ana@example.com", PASSWORD).await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let legacy = app
        .post("/signup", body)
        .header("x-supabase-api-version", "")
        .send()
        .await;

    assert_eq!(answer.error(), (500, "unexpected_failure"));
    assert_eq!(answer.message(), "Database error saving new user");
    assert_eq!(
        (legacy.status, &legacy.body["code"], &legacy.body["message"]),
        (500, &json!("P0001"), &json!("not today"))
    );
    assert_eq!(app.count("select count(*) from auth.users").await, 0);
    assert_eq!(app.mail_count(), 0);
}

#[actix_web::test]
async fn auth_007_a_name_too_long_for_the_projects_table_is_the_projects_fault() {
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

    let answer = app.post("/signup", body).send().await;

    assert_eq!(
        (answer.error(), answer.message()),
        ((500, "unexpected_failure"), "Database error saving new user")
    );
}

#[actix_web::test]
async fn auth_030_a_confirmed_address_gets_a_decoy() {
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
    let keys = |answer: &crate::app::Answer| {
        let mut keys: Vec<String> = answer.body.as_object().unwrap().keys().cloned().collect();
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

#[actix_web::test]
async fn auth_031_autoconfirm_says_that_the_address_is_taken() {
    let app = TestApp::autoconfirm().await;
    app.sign_up("ana@example.com", PASSWORD).await;

    let again = app.sign_up("ana@example.com", PASSWORD).await;

    assert_eq!(
        (again.error(), again.message()),
        ((422, "user_already_exists"), "User already registered")
    );
}

#[actix_web::test]
async fn auth_032_signing_up_again_changes_nothing_about_an_unconfirmed_user() {
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

#[actix_web::test]
async fn auth_032_under_autoconfirm_only_the_password_opens_an_unconfirmed_account() {
    let app = TestApp::autoconfirm().await;
    app.admin_create(json!({"email": "ana@example.com", "password": PASSWORD}))
        .await;

    assert_eq!(
        app.sign_up("ana@example.com", "another one").await.error(),
        (422, "user_already_exists")
    );
    assert_eq!(app.sign_up("ana@example.com", PASSWORD).await.status, 200);
}

#[actix_web::test]
async fn auth_033_two_sign_ups_at_once_make_one_user() {
    for autoconfirm in [false, true] {
        let app = TestApp::with(|config| config.email.autoconfirm = autoconfirm).await;

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

#[actix_web::test]
async fn auth_034_auth_035_weak_and_overlong_passwords_are_refused() {
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

#[actix_web::test]
async fn auth_037_the_case_of_an_address_does_not_matter() {
    let app = TestApp::autoconfirm().await;
    app.sign_up("Foo@Bar.com", PASSWORD).await.session();

    assert_eq!(app.sign_in("foo@bar.COM", PASSWORD).await.status, 200);
    assert_eq!(
        app.count("select count(*) from auth.users where email = 'foo@bar.com'")
            .await,
        1
    );
}

#[actix_web::test]
async fn auth_044_disabled_sign_ups_are_refused() {
    let app = TestApp::with(|config| config.disable_signup = true).await;

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

#[actix_web::test]
async fn auth_072_anonymous_sign_in_is_a_switch() {
    let off = TestApp::start().await;
    let on = TestApp::with(|config| config.anonymous_users_enabled = true).await;
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

#[actix_web::test]
async fn phone_sign_ups_are_refused_honestly() {
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

#[actix_web::test]
async fn auth_030_a_second_sign_up_waits_whether_the_address_is_known_or_not() {
    let app = TestApp::with(|config| config.email.max_frequency = std::time::Duration::from_secs(60)).await;
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

#[actix_web::test]
async fn characters_that_cannot_be_stored_are_the_callers_fault() {
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
