//! An account that is in use without having proven its address does not get it, and is not given to whoever proves it. Source:
//! Auth contract §13.

use reqwest::Method;
use serde_json::json;

use crate::address_proofs::{
    MALLORY, VICTIM, id_token, open_mail, sign_in_by, sign_in_by_phone, start, start_with,
};
use crate::app::{PASSWORD, Response, Session, TestApp};
use crate::hooks::{create_function, database_hook};
use crate::mfa::{ENABLED, compute_code};
use crate::passkeys::Authenticator;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_the_owner_of_an_address_gets_an_account_of_their_own_by_mail() {
    let (app, _) = start().await;
    for path in ["/otp", "/signup"] {
        app.sql("delete from auth.users", &[]).await;
        let mallory = sign_in_by_phone(&app, "15550001", json!({})).await;
        app.sql("update auth.users set email = 'victim@corp.example'", &[])
            .await;
        for (path, body) in [
            ("/recover", json!({"email": VICTIM})),
            ("/resend", json!({"type": "signup", "email": VICTIM})),
        ] {
            app.post(path, body).send().await;
            let tokens = "select count(*) from auth.one_time_tokens where relates_to = 'victim@corp.example'";
            assert_eq!(app.count(tokens).await, 0, "{path}");
        }

        let asked = app
            .post(path, json!({"email": VICTIM, "password": PASSWORD}))
            .send()
            .await;
        assert_eq!(asked.status, 200, "{path}: {}", asked.body);
        let opened = open_mail(&app, VICTIM).await;

        let token = opened.in_fragment("access_token").unwrap();
        let victim = app.get("/user").bearer(&token).send().await.body;
        assert_eq!(victim["email"], VICTIM);
        assert_ne!(victim["id"], mallory.user["id"], "{path}");
        let still = app.get("/user").bearer(&mallory.access_token).send().await;
        assert_eq!((still.status, &still.body["email"]), (200, &json!("")), "{path}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_nobody_is_told_of_an_account_that_only_claims_their_address() {
    let app = crate::passkeys::start_app().await;
    let mallory = app.user(MALLORY).await;
    const CLAIM: &str = "update auth.users set email = 'victim@corp.example', email_confirmed_at = null";
    app.sql(CLAIM, &[]).await;
    let added = app.register(&mallory, &mut Authenticator::new()).await;
    assert_eq!(added.status, 200, "{}", added.body);

    app.sql("update auth.users set email_confirmed_at = now()", &[])
        .await;
    let path = format!("/passkeys/{}", added.body["id"].as_str().unwrap());
    let removed = app.call(Method::DELETE, &path).bearer(&mallory.access_token);
    assert_eq!(removed.send().await.status, 204);

    // Notices are sent in their order, so the first one would have come by now.
    crate::passkeys::wait_for_mail(&app, "A passkey was removed").await;
    assert_eq!(app.mail_count(), 1);
}

/// What these providers have said is stored in identities of older versions.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_identities_of_providers_that_verify_nothing_attract_nobody() {
    let (app, [google, _]) = start().await;
    for provider in ["workos", "azure", "kakao", "zoom"] {
        app.sql("delete from auth.users", &[]).await;
        let mallory = app.user(MALLORY).await;
        let identity = "insert into auth.identities (provider_id, user_id, provider, identity_data, created_at, updated_at) \
                        values ('m', $1, $2, '{\"email\": \"victim@corp.example\", \"email_verified\": true}', now(), now())";
        app.sql(identity, &[&mallory.user_id(), &provider]).await;

        let victim = sign_in_by(&app, "google", id_token(&google, "v-1", VICTIM, true)).await;

        assert_ne!(victim.session().user_id(), mallory.user_id(), "{provider}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_an_identity_of_an_account_that_nobody_got_into_is_linked() {
    let (app, [google, _]) = start().await;
    let owner = app.user(VICTIM).await;
    // The provider does not verify the address, so that the sign-in leads to an account without one.
    let token = || id_token(&google, "v-1", VICTIM, false);
    let refused = sign_in_by(&app, "google", token()).await;
    assert_eq!(refused.error(), (422, "provider_email_needs_verification"));

    let body = json!({"provider": "google", "id_token": token(), "link_identity": true});
    let linked = app
        .post("/token?grant_type=id_token", body)
        .bearer(&owner.access_token)
        .send()
        .await;

    assert_eq!(linked.session().user_id(), owner.user_id());
    let again = sign_in_by(&app, "google", token()).await;
    assert_eq!(again.session().user_id(), owner.user_id());
    // That of an account in use stays there, and that of an account which somebody has banned.
    let other = app.user(MALLORY).await;
    let body = json!({"provider": "google", "id_token": token(), "link_identity": true});
    let take = async |body: &serde_json::Value| {
        let call = app.post("/token?grant_type=id_token", body.clone());
        call.bearer(&other.access_token).send().await
    };
    assert_eq!(take(&body).await.error(), (422, "identity_already_exists"));
    let third = id_token(&google, "v-2", VICTIM, false);
    sign_in_by(&app, "google", third.clone()).await;
    app.sql(
        "update auth.users set banned_until = now() + interval '1 day' where email is null",
        &[],
    )
    .await;
    let body = json!({"provider": "google", "id_token": third, "link_identity": true});
    assert_eq!(take(&body).await.error(), (422, "identity_already_exists"));
    // That of an account which an import has written looks the same, and holds what the person had before.
    app.sql("delete from auth.users where email is null", &[]).await;
    for sql in [
        "insert into auth.users (id, aud, role, created_at, updated_at) \
         values ('00000000-0000-4000-8000-0000000000f1', 'authenticated', 'authenticated', now(), now())",
        "insert into auth.identities (provider_id, user_id, provider, identity_data, last_sign_in_at, created_at, updated_at) \
         values ('v-3', '00000000-0000-4000-8000-0000000000f1', 'google', '{\"sub\": \"v-3\"}', now(), now(), now())",
    ] {
        app.sql(sql, &[]).await;
    }
    let imported = id_token(&google, "v-3", VICTIM, false);
    sign_in_by(&app, "google", imported.clone()).await;
    let body = json!({"provider": "google", "id_token": imported, "link_identity": true});
    assert_eq!(take(&body).await.error(), (422, "identity_already_exists"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_no_mail_goes_to_an_address_that_an_account_in_use_only_claims() {
    let (app, [google, _]) = start().await;
    sign_in_by(&app, "google", id_token(&google, "m-1", MALLORY, true))
        .await
        .session();
    app.sql(
        "update auth.users set email = 'victim@corp.example', email_confirmed_at = null",
        &[],
    )
    .await;
    let mails = app.mail_count();

    let refused = sign_in_by(&app, "google", id_token(&google, "m-1", VICTIM, false)).await;

    assert_eq!(refused.error(), (422, "provider_email_needs_verification"));
    assert_eq!(app.mail_count(), mails);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_administrators_make_nothing_for_an_address_that_an_account_in_use_claims() {
    let (app, _) = start().await;
    let user = sign_in_by_phone(&app, "15550001", json!({})).await;
    app.sql("update auth.users set email = 'victim@corp.example'", &[])
        .await;
    let link = "/admin/generate_link";

    for (path, body) in [
        ("/admin/users", json!({"email": VICTIM})),
        ("/invite", json!({"email": VICTIM})),
        (link, json!({"type": "magiclink", "email": VICTIM})),
        (link, json!({"type": "recovery", "email": VICTIM})),
        (
            link,
            json!({"type": "signup", "email": VICTIM, "password": PASSWORD}),
        ),
    ] {
        let refused = app.post(path, body.clone()).admin().send().await;
        assert_eq!(refused.error(), (422, "email_exists"), "{body}");
    }

    let still = "select count(*) from auth.users where email = 'victim@corp.example'";
    assert_eq!(app.count(still).await, 1);
    assert_eq!(app.count("select count(*) from auth.users").await, 1);
    // The administrator says whose the address is.
    let path = format!("/admin/users/{}", user.user_id());
    app.put(&path, json!({"email_confirm": true}))
        .admin()
        .send()
        .await;
    let body = json!({"type": "magiclink", "email": VICTIM});
    let made = app.post(link, body).admin().send().await;
    assert_eq!((made.status, &made.body["id"]), (200, &user.user["id"]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_administrators_make_no_account_for_a_number_that_an_account_in_use_claims() {
    let (app, _) = start().await;
    let mallory = app.user(MALLORY).await;
    app.sql("update auth.users set phone = '15550002'", &[]).await;

    for body in [
        json!({"phone": "15550002"}),
        json!({"phone": "15550002", "phone_confirm": true}),
        json!({"phone": "15550002", "email": VICTIM}),
    ] {
        let refused = app.admin_create(body.clone()).await;
        assert_eq!(refused.error(), (422, "phone_exists"), "{body}");
        assert!(refused.message().contains("claims"), "{}", refused.message());
    }

    let still = app.get("/user").bearer(&mallory.access_token).send().await;
    assert_eq!(still.body["phone"], "15550002");
    // One that is taken has the text of the original.
    app.sql("update auth.users set phone_confirmed_at = now()", &[])
        .await;
    let refused = app.admin_create(json!({"phone": "15550002"})).await;
    assert_eq!(
        refused.message(),
        "Phone number already registered by another user"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_the_owner_of_a_number_gets_an_account_of_their_own() {
    let (app, _) = start().await;
    let mallory = app.user(MALLORY).await;
    app.sql("update auth.users set phone = '15550002'", &[]).await;

    let victim = sign_in_by_phone(&app, "15550002", json!({})).await;

    assert_ne!(victim.user_id(), mallory.user_id());
    let still = app.get("/user").bearer(&mallory.access_token).send().await;
    assert_eq!((still.status, &still.body["phone"]), (200, &json!("")));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_a_link_confirms_no_address_of_an_account_that_has_come_into_use() {
    let (app, _) = start().await;
    app.sign_up(VICTIM, PASSWORD).await;
    let link = app.mail_to(VICTIM).link;
    app.sql("update auth.users set last_sign_in_at = now()", &[])
        .await;

    let opened = app.get(&link).send().await;

    assert_eq!(opened.in_fragment("error_code").unwrap(), "otp_expired");
    let confirmed = "select count(*) from auth.users where email_confirmed_at is not null";
    assert_eq!(app.count(confirmed).await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_105_a_guest_takes_no_invited_address_without_a_proof() {
    let (app, _) = start_with(|config| config.email.autoconfirm = true).await;
    let invited = app.post("/invite", json!({"email": VICTIM})).admin().send().await;
    assert_eq!(invited.status, 200, "{}", invited.body);
    let guest = app.post("/signup", json!({})).send().await.session();

    let change = app
        .put("/user", json!({"email": VICTIM}))
        .bearer(&guest.access_token);

    assert_eq!(change.send().await.error(), (422, "email_exists"));
    let still =
        "select count(*) from auth.users where email = 'victim@corp.example' and invited_at is not null";
    assert_eq!(app.count(still).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_118_a_refusal_of_the_hook_leaves_the_accounts_as_they_are() {
    let (app, [_, keycloak]) =
        start_with(|config| config.hooks.before_user_created = database_hook("guard")).await;
    create_function(
        &app,
        "guard",
        "begin if event -> 'user' ->> 'email' = 'mallory@evil.example' then \
           return '{\"error\": {\"http_code\": 403, \"message\": \"no\"}}'; end if; return '{}'; end",
    )
    .await;
    let claimed = sign_in_by(&app, "keycloak", id_token(&keycloak, "m-1", VICTIM, false)).await;
    assert_eq!(claimed.error().1, "provider_email_needs_verification");

    let refused = sign_in_by(&app, "keycloak", id_token(&keycloak, "m-1", MALLORY, true)).await;

    assert_eq!(
        (refused.status, refused.message()),
        (403, "no"),
        "{}",
        refused.body
    );
    let identities = "select count(*) from auth.identities i join auth.users u on u.id = i.user_id \
                      where i.provider = 'keycloak' and u.email = 'victim@corp.example'";
    assert_eq!(app.count(identities).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_118_a_database_hook_that_returns_nothing_decides_nothing() {
    type Choose = fn(&mut selvedge_auth::HooksConfig);
    let points: [(&str, Choose); 4] = [
        ("before_user_created", |hooks| {
            hooks.before_user_created = database_hook("forgetful");
        }),
        ("custom_access_token", |hooks| {
            hooks.custom_access_token = database_hook("forgetful");
        }),
        ("password_verification_attempt", |hooks| {
            hooks.password_verification_attempt = database_hook("forgetful");
        }),
        ("mfa_verification_attempt", |hooks| {
            hooks.mfa_verification_attempt = database_hook("forgetful");
        }),
    ];
    for (point, choose) in points {
        for returned in ["void", "jsonb"] {
            let app = TestApp::start_with(|config| {
                config.mfa.totp = ENABLED;
                choose(&mut config.hooks);
            })
            .await;
            let nothing = if returned == "void" {
                "return;"
            } else {
                "return null;"
            };
            app.migrate(&format!(
                "create function public.forgetful(event jsonb) returns {returned} language plpgsql as \
                   $hook$ begin {nothing} end $hook$; \
                 grant usage on schema public to supabase_auth_admin; \
                 grant execute on function public.forgetful to supabase_auth_admin;"
            ))
            .await;
            let refused = match point {
                "before_user_created" => app.sign_up(VICTIM, PASSWORD).await,
                "mfa_verification_attempt" => {
                    let session = app.user(VICTIM).await;
                    let enrolled = app.enroll(&session, json!({"factor_type": "totp"})).await;
                    let secret = enrolled.body["totp"]["secret"].as_str().unwrap();
                    let id = enrolled.body["id"].as_str().unwrap();
                    app.verify_with_code(&session, id, &compute_code(secret, 0)).await
                }
                _ => {
                    let body = json!({"email": VICTIM, "password": PASSWORD, "email_confirm": true});
                    app.admin_create(body).await;
                    app.sign_in(VICTIM, PASSWORD).await
                }
            };
            assert_eq!(refused.status, 500, "{point} {returned}: {}", refused.body);
            let allowed = "select (select count(*) from auth.sessions where aal = 'aal2') \
                           + (select count(*) from auth.mfa_factors where status = 'verified')";
            assert_eq!(app.count(allowed).await, 0, "{point} {returned}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_102_a_code_for_a_number_confirms_none_that_an_administrator_has_set_since() {
    let (app, _) = start().await;
    for path in ["/otp", "/signup"] {
        app.sql("delete from auth.users", &[]).await;
        let body = json!({"phone": "15550001", "password": PASSWORD});
        assert_eq!(app.post(path, body).send().await.status, 200);
        let rows = app.sql("select id::text from auth.users", &[]).await;
        let user = format!("/admin/users/{}", rows[0].get::<_, String>(0));
        let changed = app.put(&user, json!({"phone": "15550002"})).admin().send().await;
        assert_eq!(changed.body["phone"], "15550002", "{}", changed.body);

        for (phone, code) in [("15550001", "123456"), ("15550002", "000000")] {
            let body = json!({"type": "sms", "phone": phone, "token": code});
            let refused = app.post("/verify", body).send().await;
            assert_eq!(refused.error(), (403, "otp_expired"), "{phone}");
        }
        let confirmed = "select count(*) from auth.users where phone_confirmed_at is not null";
        assert_eq!(app.count(confirmed).await, 0);
        let pending = "select count(*) from auth.one_time_tokens";
        assert_eq!(
            app.count(pending).await,
            0,
            "the code was sent to the other number"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_an_access_token_names_no_unconfirmed_number() {
    let (app, _) = start().await;
    let session = app.user(MALLORY).await;
    let path = format!("/admin/users/{}", session.user_id());
    let set = app.put(&path, json!({"phone": "15550001"})).admin().send().await;
    assert_eq!(set.body["phone"], "15550001", "{}", set.body);
    let phone_of = |token: &str| app.keys.verify(token).unwrap().map()["phone"].clone();

    let claimed = app.refresh(&session.refresh_token).await.session();
    assert_eq!(phone_of(&claimed.access_token), "");

    // The number's owner gets an account of their own, which the token names.
    let owner = sign_in_by_phone(&app, "15550001", json!({})).await;
    assert_ne!(owner.user_id(), session.user_id());
    assert_eq!(phone_of(&owner.access_token), "15550001");
    let left = app.get("/user").bearer(&claimed.access_token).send().await;
    assert_eq!(left.body["phone"], "");
}

/// Unlinks the identity of a provider; returns the response.
async fn unlink(app: &TestApp, session: &Session, provider: &str) -> Response {
    let user = app.get("/user").bearer(&session.access_token).send().await.body;
    let identities = user["identities"].as_array().unwrap();
    let found = identities
        .iter()
        .find(|identity| identity["provider"] == provider);
    let path = format!(
        "/user/identities/{}",
        found.unwrap()["identity_id"].as_str().unwrap()
    );
    let call = app.call(reqwest::Method::DELETE, &path);
    call.bearer(&session.access_token).send().await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_unlinking_leaves_a_way_to_sign_in() {
    let (app, _) = start().await;
    let conflict = (422, "email_conflict_identity_not_deletable");
    let body = json!({"email": VICTIM, "phone": "15550001", "phone_confirm": true});
    app.admin_create(body).await;
    let by_phone = sign_in_by_phone(&app, "15550001", json!({})).await;

    assert_eq!(unlink(&app, &by_phone, "phone").await.error(), conflict);
    let still = app.get("/user").bearer(&by_phone.access_token).send().await;
    assert_eq!((still.status, &still.body["phone"]), (200, &json!("15550001")));
    // A phone identity whose number nobody has confirmed is no way to sign in either.
    app.sql("delete from auth.users", &[]).await;
    let body = json!({"email": MALLORY, "email_confirm": true, "password": PASSWORD, "phone": "15550001"});
    app.admin_create(body).await;
    let by_mail = app.sign_in(MALLORY, PASSWORD).await.session();
    assert_eq!(unlink(&app, &by_mail, "email").await.error(), conflict);
    app.sql("update auth.users set phone_confirmed_at = now()", &[])
        .await;
    assert_eq!(unlink(&app, &by_mail, "email").await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_122_an_unconfirmed_number_is_not_taken() {
    let (app, _) = start().await;
    let squatted = app
        .post("/signup", json!({"phone": "15550001", "password": PASSWORD}))
        .send()
        .await;
    assert_eq!(squatted.status, 200, "{}", squatted.body);
    let owner = app.user(VICTIM).await;

    let asked = app
        .put("/user", json!({"phone": "15550001"}))
        .bearer(&owner.access_token)
        .send()
        .await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let body = json!({"type": "phone_change", "phone": "15550001", "token": "123456"});
    let changed = app.post("/verify", body).send().await.session();

    assert_eq!(
        (changed.user_id(), &changed.user["phone"]),
        (owner.user_id(), &json!("15550001"))
    );
    // A confirmed one is, and an administrator takes an unconfirmed one, too.
    let other = app.user(MALLORY).await;
    let taken = app
        .put("/user", json!({"phone": "15550001"}))
        .bearer(&other.access_token);
    assert_eq!(taken.send().await.error(), (422, "phone_exists"));
    let squatted = app
        .post("/signup", json!({"phone": "15550002", "password": PASSWORD}))
        .send()
        .await;
    assert_eq!(squatted.status, 200, "{}", squatted.body);
    let path = format!("/admin/users/{}", other.user_id());
    let given = app
        .put(&path, json!({"phone": "15550002", "phone_confirm": true}))
        .admin()
        .send()
        .await;
    assert_eq!(given.body["phone"], "15550002", "{}", given.body);
}
