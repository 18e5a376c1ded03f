//! Links that administrators make, and addresses that they confirm, give nobody the credentials of a stranger. Source: Auth
//! contract §13.

use serde_json::{Value, json};

use crate::address_proofs::{
    MALLORY, VICTIM, id_token, open_mail, sign_in_by, sign_in_by_phone, start, start_with,
};
use crate::app::{PASSWORD, Response, TestApp};

const STRANGERS: &str = "mallory's password";

/// The link of a sign-up that the form of a project's own server asks for.
async fn sign_up_by_server(app: &TestApp, password: &str) -> Response {
    let body = json!({"type": "signup", "email": VICTIM, "password": password});
    let made = app.post("/admin/generate_link", body).admin().send().await;
    assert_eq!(made.status, 200, "{}", made.body);
    made
}

async fn open_link(app: &TestApp, made: &Response) {
    let body = json!({"type": made.body["verification_type"], "token_hash": made.body["hashed_token"]});
    app.post("/verify", body).send().await.session();
}

async fn assert_refused(app: &TestApp, password: &str) {
    let refused = app.sign_in(VICTIM, password).await;
    assert_eq!(refused.error(), (400, "invalid_credentials"), "{password}");
}

/// The id of the only user.
async fn only_user(app: &TestApp) -> String {
    let rows = app.sql("select id::text from auth.users", &[]).await;
    assert_eq!(rows.len(), 1);
    rows[0].get(0)
}

async fn update(app: &TestApp, id: &str, body: Value) -> Response {
    let changed = app.put(&format!("/admin/users/{id}"), body).admin().send().await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    changed
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_sign_up_by_the_projects_server_contests_the_one_before() {
    let (app, _) = start().await;
    // By the same form, and by the API.
    for by_form in [true, false] {
        app.sql("delete from auth.users", &[]).await;
        match by_form {
            true => drop(sign_up_by_server(&app, STRANGERS).await),
            false => drop(app.sign_up(VICTIM, STRANGERS).await),
        }

        let made = sign_up_by_server(&app, PASSWORD).await;
        open_link(&app, &made).await;

        assert_refused(&app, STRANGERS).await;
    }
    // Who signs up twice with the same password keeps it.
    app.sql("delete from auth.users", &[]).await;
    sign_up_by_server(&app, PASSWORD).await;
    let made = sign_up_by_server(&app, PASSWORD).await;
    open_link(&app, &made).await;
    app.sign_in(VICTIM, PASSWORD).await.session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_sign_up_by_the_projects_server_confirms_no_strangers_identity() {
    let (app, [google, _]) = start().await;
    let mallorys = || id_token(&google, "m-1", VICTIM, false);
    let claimed = sign_in_by(&app, "google", mallorys()).await;
    assert_eq!(claimed.error(), (422, "provider_email_needs_verification"));

    let made = sign_up_by_server(&app, PASSWORD).await;
    open_link(&app, &made).await;

    let again = sign_in_by(&app, "google", mallorys()).await;
    assert_eq!(again.error(), (422, "provider_email_needs_verification"));
    let identities = "select count(*) from auth.identities where provider = 'google' \
                      and identity_data ->> 'email_verified' = 'true'";
    assert_eq!(app.count(identities).await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_an_address_that_an_administrator_confirms_keeps_no_strangers_password() {
    let (app, [google, _]) = start().await;
    app.sign_up(VICTIM, STRANGERS).await;
    app.sign_up(VICTIM, PASSWORD).await;
    let id = only_user(&app).await;

    let confirmed = update(&app, &id, json!({"email_confirm": true})).await;

    assert!(confirmed.body["email_confirmed_at"].is_string());
    assert_refused(&app, STRANGERS).await;
    // A password that the administrator sets in the same request stays.
    app.sql("delete from auth.users", &[]).await;
    sign_in_by(&app, "google", id_token(&google, "m-1", VICTIM, false)).await;
    app.sign_up(VICTIM, PASSWORD).await;
    let id = only_user(&app).await;
    update(&app, &id, json!({"email_confirm": true, "password": PASSWORD})).await;
    app.sign_in(VICTIM, PASSWORD).await.session();
    let again = sign_in_by(&app, "google", id_token(&google, "m-1", VICTIM, false)).await;
    assert_eq!(again.error(), (422, "provider_email_needs_verification"));
    // An account that one person alone has registered is confirmed as it is.
    app.sql("delete from auth.users", &[]).await;
    app.sign_up(VICTIM, PASSWORD).await;
    let id = only_user(&app).await;
    update(&app, &id, json!({"email_confirm": true})).await;
    app.sign_in(VICTIM, PASSWORD).await.session();
}

/// The stranger has named the address to a provider that has not verified it, and nobody else has registered it.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_an_administrators_confirmation_confirms_no_strangers_identity() {
    let (app, [google, _]) = start().await;
    let mallorys = || id_token(&google, "m-1", VICTIM, false);
    for body in [
        json!({"email_confirm": true}),
        json!({"phone": "15550002", "phone_confirm": true}),
    ] {
        app.sql("delete from auth.users", &[]).await;
        sign_in_by(&app, "google", mallorys()).await;
        let id = only_user(&app).await;

        let confirmed = update(&app, &id, body.clone()).await;

        let left = "select count(*) from auth.identities where provider = 'google'";
        assert_eq!(app.count(left).await, 0, "{body}");
        let providers = &confirmed.body["app_metadata"]["providers"];
        assert!(!providers.to_string().contains("google"), "{providers}");
        // Nor does the owner get the name of whoever has named the address to the provider.
        let metadata = confirmed.body["user_metadata"].as_object().unwrap();
        let foreign = ["sub", "iss", "name", "picture", "provider_id"];
        assert!(
            !foreign.iter().any(|key| metadata.contains_key(*key)),
            "{metadata:?}"
        );
        let again = sign_in_by(&app, "google", mallorys()).await;
        assert_eq!(
            again.error(),
            (422, "provider_email_needs_verification"),
            "{body}"
        );
    }
}

/// A stranger has registered the address. Where addresses need no proof by now, that was before.
async fn register_stranger(app: &TestApp) -> String {
    app.sql("delete from auth.users", &[]).await;
    app.sign_up(VICTIM, STRANGERS).await;
    const BEFORE: &str = "update auth.users set email_confirmed_at = null, last_sign_in_at = null";
    const IDENTITY: &str = "insert into auth.identities (provider_id, user_id, provider, identity_data) \
                            select 'm-1', id, 'google', jsonb_build_object('sub', 'm-1', 'email', email) from auth.users";
    for sql in ["delete from auth.sessions", BEFORE, IDENTITY] {
        app.sql(sql, &[]).await;
    }
    only_user(app).await
}

/// Whoever has registered the address has never named the number that an administrator adds, at once or before it is confirmed.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_number_that_an_administrator_adds_opens_no_strangers_account() {
    let added = json!({"phone": "15550002"});
    let both = json!({"phone": "15550002", "phone_confirm": true});
    let ways = [
        vec![both.clone()],
        vec![added.clone(), json!({"phone_confirm": true})],
        vec![added.clone(), both],
        // The owner of the number confirms it, by the code of a text message.
        vec![added],
    ];
    for autoconfirm in [false, true] {
        let (app, _) = start_with(|config| config.email.autoconfirm = autoconfirm).await;
        for way in &ways {
            let id = register_stranger(&app).await;

            for body in way {
                update(&app, &id, body.clone()).await;
            }
            if way.last().is_some_and(|last| last["phone_confirm"].is_null()) {
                let body = json!({"type": "sms", "phone": "15550002"});
                app.post("/resend", body).send().await;
                let body = json!({"type": "sms", "phone": "15550002", "token": "123456"});
                app.post("/verify", body).send().await.session();
            }

            let confirmed = "select count(*) from auth.users where phone_confirmed_at is not null";
            assert_eq!(app.count(confirmed).await, 1, "{way:?}");
            let body = json!({"phone": "15550002", "password": STRANGERS});
            let refused = app.post("/token?grant_type=password", body).send().await;
            assert_eq!(refused.error(), (400, "invalid_credentials"), "{way:?}");
            assert_refused(&app, STRANGERS).await;
            let left = "select count(*) from auth.identities where provider = 'google'";
            assert_eq!(app.count(left).await, 0, "{way:?}");
        }
    }
}

/// An administrator's own password for such an account is no stranger's.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_number_that_is_confirmed_later_leaves_the_administrators_password() {
    let (app, _) = start().await;
    let created = app
        .admin_create(json!({"email": VICTIM, "password": PASSWORD}))
        .await;
    let id = created.body["id"].as_str().unwrap().to_owned();

    update(&app, &id, json!({"phone": "15550002"})).await;
    update(&app, &id, json!({"phone_confirm": true})).await;

    let body = json!({"phone": "15550002", "password": PASSWORD});
    let signed_in = app.post("/token?grant_type=password", body).send().await;
    signed_in.session();
}

/// The sign-in of a provider whose address was taken leaves an account that consists of its identity.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_an_account_without_an_address_has_none_to_confirm() {
    let (app, [google, _]) = start().await;
    app.user(VICTIM).await;
    sign_in_by(&app, "google", id_token(&google, "v-1", VICTIM, false)).await;
    let rows = app
        .sql("select id::text from auth.users where email is null", &[])
        .await;

    let changed = update(
        &app,
        rows[0].get(0),
        json!({"email_confirm": true, "phone_confirm": true}),
    )
    .await;

    let identities = changed.body["identities"].as_array().unwrap();
    assert_eq!(
        (identities.len(), &identities[0]["provider"]),
        (1, &json!("google"))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_120_where_addresses_need_no_proof_a_number_that_is_confirmed_brings_the_address_with_it() {
    let (app, _) = start_with(|config| config.email.autoconfirm = true).await;
    let created = app.admin_create(json!({"phone": "15550002"})).await;
    let id = created.body["id"].as_str().unwrap().to_owned();

    let body = json!({"email": VICTIM, "phone_confirm": true, "password": PASSWORD});
    update(&app, &id, body).await;

    app.sign_in(VICTIM, PASSWORD).await.session();
    let taken = app.sign_up(VICTIM, STRANGERS).await;
    assert_eq!(taken.error(), (422, "user_already_exists"));
    // The same by the user's own code.
    let body = json!({"phone": "15550001", "email": MALLORY});
    app.admin_create(body).await;
    sign_in_by_phone(&app, "15550001", json!({})).await;
    let taken = app.sign_up(MALLORY, STRANGERS).await;
    assert_eq!(taken.error(), (422, "user_already_exists"));
}

/// As older versions, and the original, leave it.
const CLAIM: &str = "update auth.users set email = 'victim@corp.example', email_confirmed_at = null";

async fn assert_claimed(app: &TestApp, way: &str) {
    const CLAIMED: &str = "select count(*) from auth.users where email = 'victim@corp.example' \
                           and email_confirmed_at is null";
    assert_eq!(app.count(CLAIMED).await, 1, "{way}");
}

/// Where addresses need no proof, that of an account is confirmed when the account comes into use, and not later.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_120_no_sign_in_confirms_an_address_that_an_account_in_use_only_claims() {
    let (app, [google, _]) = start_with(|config| config.email.autoconfirm = true).await;
    sign_in_by_phone(&app, "15550001", json!({})).await;
    app.sql(CLAIM, &[]).await;

    sign_in_by_phone(&app, "15550001", json!({})).await;
    assert_claimed(&app, "a text message").await;
    let id = only_user(&app).await;
    update(&app, &id, json!({"phone": "15550002", "phone_confirm": true})).await;
    assert_claimed(&app, "an administrator").await;
    app.sql("delete from auth.users", &[]).await;
    for is_verified in [true, false] {
        let token = id_token(&google, "m-1", MALLORY, is_verified);
        sign_in_by(&app, "google", token).await.session();
        if is_verified {
            app.sql(CLAIM, &[]).await;
        }
    }
    assert_claimed(&app, "a provider").await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_120_a_number_brings_no_address_with_it_that_another_account_has_proven() {
    let (app, [google, _]) = start_with(|config| config.email.autoconfirm = true).await;
    let verified = id_token(&google, "v-1", VICTIM, true);
    sign_in_by(&app, "google", verified).await.session();
    app.sql("update auth.users set email = 'new@corp.example'", &[])
        .await;
    let created = app.admin_create(json!({"phone": "15550001"})).await;
    let claim = format!("{CLAIM} where phone is not null");
    app.sql(&claim, &[]).await;

    sign_in_by_phone(&app, "15550001", json!({})).await;

    assert_claimed(&app, "a text message").await;
    // Nor does the confirmation of a number that the account does not have.
    app.sql("delete from auth.users where phone is null", &[]).await;
    const UNUSED: &str =
        "update auth.users set phone = null, phone_confirmed_at = null, last_sign_in_at = null";
    app.sql(UNUSED, &[]).await;
    let id = created.body["id"].as_str().unwrap();
    update(&app, id, json!({"phone_confirm": true})).await;
    assert_claimed(&app, "no number").await;
}

/// Support sets a password for the owner of an address that only a stranger has registered, by a provider that has not verified it.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_an_administrators_password_contests_what_a_stranger_has_registered() {
    let (app, [google, _]) = start().await;
    let mallorys = || id_token(&google, "m-1", VICTIM, false);
    for way in [
        "confirmed at once",
        "confirmed before",
        "resend",
        "sign-up",
        "link",
    ] {
        app.sql("delete from auth.users", &[]).await;
        app.inbox.delete_mails(|_| true);
        sign_in_by(&app, "google", mallorys()).await;
        let id = only_user(&app).await;

        if way == "confirmed before" {
            update(&app, &id, json!({"email_confirm": true})).await;
        }
        let is_confirmed = way == "confirmed at once";
        let body = json!({"password": PASSWORD, "email_confirm": is_confirmed});
        update(&app, &id, body).await;
        match way {
            "resend" => {
                let body = json!({"type": "signup", "email": VICTIM});
                app.post("/resend", body).send().await;
                open_mail(&app, VICTIM).await;
            }
            "sign-up" => {
                app.sign_up(VICTIM, PASSWORD).await;
                open_mail(&app, VICTIM).await;
            }
            "link" => {
                let made = sign_up_by_server(&app, PASSWORD).await;
                open_link(&app, &made).await;
            }
            _ => {}
        }

        app.sign_in(VICTIM, PASSWORD).await.session();
        let again = sign_in_by(&app, "google", mallorys()).await;
        assert_eq!(again.error(), (422, "provider_email_needs_verification"), "{way}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_120_where_addresses_need_no_proof_a_guest_gets_the_administrators_at_once() {
    let (app, _) = start_with(|config| config.email.autoconfirm = true).await;
    let guest = app.post("/signup", json!({})).send().await.session();
    let id = guest.user_id().to_string();

    let changed = update(&app, &id, json!({"email": VICTIM, "password": PASSWORD})).await;

    assert!(changed.body["email_confirmed_at"].is_string(), "{}", changed.body);
    let taken = app.sign_up(VICTIM, STRANGERS).await;
    assert_eq!(taken.error(), (422, "user_already_exists"));
    let owner = app.sign_in(VICTIM, PASSWORD).await.session();
    assert_eq!(owner.user_id(), guest.user_id());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_an_account_that_moves_to_a_confirmed_address_leaves_its_password() {
    let (app, _) = start().await;
    app.sign_up(MALLORY, STRANGERS).await;
    let id = only_user(&app).await;

    update(&app, &id, json!({"email": VICTIM, "email_confirm": true})).await;

    assert_refused(&app, STRANGERS).await;
    // The same by a number.
    app.sql("delete from auth.users", &[]).await;
    let body = json!({"phone": "15550001", "password": STRANGERS});
    assert_eq!(app.post("/signup", body).send().await.status, 200);
    let id = only_user(&app).await;
    update(&app, &id, json!({"phone": "15550002", "phone_confirm": true})).await;
    let body = json!({"phone": "15550002", "password": STRANGERS});
    let refused = app.post("/token?grant_type=password", body).send().await;
    assert_eq!(refused.error(), (400, "invalid_credentials"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_link_for_a_new_address_leaves_the_password_of_an_unproven_account() {
    let (app, _) = start_with(|config| config.email.secure_change = false).await;
    app.sign_up(MALLORY, STRANGERS).await;
    let body = json!({"type": "email_change_new", "email": MALLORY, "new_email": VICTIM});
    let made = app.post("/admin/generate_link", body).admin().send().await;
    assert_eq!(made.status, 200, "{}", made.body);

    let body = json!({"type": "email_change", "token_hash": made.body["hashed_token"]});
    let opened = app.post("/verify", body).send().await;

    assert_eq!(opened.session().user["email"], VICTIM);
    assert_refused(&app, STRANGERS).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_120_an_address_for_a_guest_waits_for_its_owner_and_locks_nobody_out() {
    let (app, _) = start().await;
    let guest = app.post("/signup", json!({})).send().await.session();
    let id = guest.user_id().to_string();

    let changed = update(&app, &id, json!({"email": VICTIM, "password": PASSWORD})).await;

    assert_eq!(
        (&changed.body["email"], &changed.body["new_email"]),
        (&json!(""), &json!(VICTIM))
    );
    // A new password ends sessions, as always; without one the guest goes on.
    let other = app.post("/signup", json!({})).send().await.session();
    let other_id = other.user_id().to_string();
    update(&app, &other_id, json!({"email": MALLORY})).await;
    let still = app.get("/user").bearer(&other.access_token).send().await;
    assert_eq!((still.status, &still.body["new_email"]), (200, &json!(MALLORY)));
    app.refresh(&other.refresh_token).await.session();
    // The owner of the address makes the account theirs, by the mail that was sent.
    let opened = open_mail(&app, VICTIM).await;
    assert!(opened.in_fragment("access_token").is_some());
    let owner = app.sign_in(VICTIM, PASSWORD).await.session();
    assert_eq!(owner.user_id(), guest.user_id());
    assert_eq!(owner.user["is_anonymous"], false);
    // So is an address for somebody with a confirmed number, who has not signed in yet.
    let body = json!({"phone": "15550001", "phone_confirm": true});
    let created = app.admin_create(body).await;
    let created_id = created.body["id"].as_str().unwrap().to_owned();
    let waiting = update(&app, &created_id, json!({"email": "third@corp.example"})).await;
    assert_eq!(waiting.body["new_email"], "third@corp.example");
    // An administrator who says that the address is theirs is believed.
    let confirmed = update(
        &app,
        &other_id,
        json!({"email": "other@corp.example", "email_confirm": true}),
    )
    .await;
    assert_eq!(confirmed.body["email"], "other@corp.example");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_120_an_account_in_use_with_a_claimed_address_goes_on_and_proves_it() {
    let (app, [google, _]) = start().await;
    let mallory = sign_in_by(&app, "google", id_token(&google, "m-1", MALLORY, true))
        .await
        .session();
    // As older versions, and the original, leave it.
    app.sql(
        "update auth.users set email = 'claimed@corp.example', email_confirmed_at = null",
        &[],
    )
    .await;

    let still = app.get("/user").bearer(&mallory.access_token).send().await;
    assert_eq!(still.status, 200, "{}", still.body);
    let again = app.refresh(&mallory.refresh_token).await.session();
    let claims = app.keys.verify(&again.access_token).unwrap();
    assert_eq!(claims.map()["email"], "");
    // The owner of the account may prove the address, for which it does not have to confirm itself first.
    let change = app
        .put("/user", json!({"email": "claimed@corp.example"}))
        .bearer(&again.access_token);
    assert_eq!(change.send().await.status, 200);
    open_mail(&app, "claimed@corp.example").await;
    let proven = app.get("/user").bearer(&again.access_token).send().await;
    assert!(proven.body["email_confirmed_at"].is_string(), "{}", proven.body);
    // An account that nobody has ever used stays closed.
    app.sign_up(VICTIM, PASSWORD).await;
    let refused = app.sign_in(VICTIM, PASSWORD).await;
    assert_eq!(refused.error(), (400, "email_not_confirmed"));
    sign_in_by_phone(&app, "15550001", json!({})).await;
}
