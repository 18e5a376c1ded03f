//! What becomes of a password when somebody proves the address of an account that nobody has confirmed. Source: Auth contract
//! §13.

use serde_json::json;

use crate::address_proofs::{VICTIM, id_token, open_mail, sign_in_by, sign_in_by_phone, start};
use crate::app::{PASSWORD, TestApp};

/// Subject of the mail that tells that a password was forgotten.
const NOTICE: &str = "Please set a new password";

/// Waits until the notices of finished requests were sent: they are made after the responses.
async fn wait_for_notice(app: &TestApp) {
    for _ in 0..1500 {
        if count_notices(app) > 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no notice among {} mails", app.mail_count());
}

fn count_notices(app: &TestApp) -> usize {
    let mails = app.inbox.list_mails();
    mails.iter().filter(|mail| mail.subject == NOTICE).count()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_password_that_an_administrator_has_set_stays() {
    let (app, [google, _]) = start().await;
    let create = async || {
        app.sql("delete from auth.users", &[]).await;
        let created = app
            .admin_create(json!({"email": VICTIM, "password": PASSWORD}))
            .await;
        assert_eq!(created.status, 200, "{}", created.body);
        created.body["id"].as_str().unwrap().to_owned()
    };

    for path in ["/otp", "/recover"] {
        create().await;
        app.post(path, json!({"email": VICTIM})).send().await;
        open_mail(&app, VICTIM).await;
        app.sign_in(VICTIM, PASSWORD).await.session();
    }
    // Somebody else has tried to register the address.
    create().await;
    app.sign_up(VICTIM, "mallory's password").await;
    open_mail(&app, VICTIM).await;
    app.sign_in(VICTIM, PASSWORD).await.session();
    let refused = app.sign_in(VICTIM, "mallory's password").await;
    assert_eq!(refused.error(), (400, "invalid_credentials"));
    // The owner signs in by a provider that has verified the address.
    create().await;
    let verified = id_token(&google, "v-1", VICTIM, true);
    sign_in_by(&app, "google", verified).await.session();
    app.sign_in(VICTIM, PASSWORD).await.session();
    // An administrator replaces what somebody has registered.
    app.sql("delete from auth.users", &[]).await;
    app.sign_up(VICTIM, "mallory's password").await;
    let rows = app.sql("select id::text from auth.users", &[]).await;
    let path = format!("/admin/users/{}", rows[0].get::<_, String>(0));
    let changed = app.put(&path, json!({"password": PASSWORD})).admin().send().await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    app.post("/otp", json!({"email": VICTIM})).send().await;
    open_mail(&app, VICTIM).await;
    app.sign_in(VICTIM, PASSWORD).await.session();

    assert_eq!(count_notices(&app), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_link_of_an_administrator_forgets_no_password_of_an_administrator() {
    let (app, _) = start().await;
    for kind in ["magiclink", "recovery", "invite", "signup"] {
        app.sql("delete from auth.users", &[]).await;
        app.admin_create(json!({"email": VICTIM, "password": PASSWORD}))
            .await;
        let body = json!({"type": kind, "email": VICTIM, "password": "another password"});
        let made = app.post("/admin/generate_link", body).admin().send().await;
        assert_eq!(made.status, 200, "{kind}: {}", made.body);

        let body = json!({"type": kind, "token_hash": made.body["hashed_token"]});
        app.post("/verify", body).send().await.session();

        app.sign_in(VICTIM, PASSWORD).await.session();
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_the_owner_is_told_when_a_password_was_forgotten() {
    let (app, [google, _]) = start().await;
    let register = async || {
        app.sql("delete from auth.users", &[]).await;
        app.inbox.delete_mails(|_| true);
        app.sign_up(VICTIM, PASSWORD).await;
    };

    register().await;
    app.post("/otp", json!({"email": VICTIM})).send().await;
    open_mail(&app, VICTIM).await;
    wait_for_notice(&app).await;
    let refused = app.sign_in(VICTIM, PASSWORD).await;
    assert_eq!(refused.error(), (400, "invalid_credentials"));

    register().await;
    sign_in_by(&app, "google", id_token(&google, "v-1", VICTIM, true))
        .await
        .session();
    wait_for_notice(&app).await;

    // Nothing is forgotten, and nothing told, where the password was confirmed, and in a recovery, which sets a new one.
    for path in ["/resend", "/recover"] {
        register().await;
        app.post(path, json!({"type": "signup", "email": VICTIM}))
            .send()
            .await;
        open_mail(&app, VICTIM).await;
        let mails = app.mail_count();
        assert_eq!((count_notices(&app), mails), (0, 2), "{path}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_two_claims_of_an_address_at_providers_contest_it() {
    let (app, [google, keycloak]) = start().await;
    // The mail to the address belongs to the first, and the owner cannot tell.
    sign_in_by(&app, "google", id_token(&google, "m-1", VICTIM, false)).await;
    sign_in_by(&app, "keycloak", id_token(&keycloak, "v-1", VICTIM, false)).await;

    let opened = open_mail(&app, VICTIM).await;

    assert!(opened.in_fragment("access_token").is_some());
    let claimed = sign_in_by(&app, "google", id_token(&google, "m-1", VICTIM, false)).await;
    assert_eq!(claimed.error(), (422, "provider_email_needs_verification"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_number_of_an_administrators_user_keeps_its_password() {
    let (app, _) = start().await;
    app.admin_create(json!({"phone": "15550001", "password": PASSWORD}))
        .await;

    sign_in_by_phone(&app, "15550001", json!({})).await;

    let body = json!({"phone": "15550001", "password": PASSWORD});
    app.post("/token?grant_type=password", body)
        .send()
        .await
        .session();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_password_of_an_administrator_goes_with_the_address_that_it_was_set_for() {
    let (app, [google, _]) = start().await;
    let body = json!({"email": "former@corp.example", "password": "told to the former"});
    let created = app.admin_create(body).await;
    let path = format!("/admin/users/{}", created.body["id"].as_str().unwrap());

    let moved = app.put(&path, json!({"email": VICTIM})).admin().send().await;

    assert_eq!(moved.status, 200, "{}", moved.body);
    let verified = id_token(&google, "v-1", VICTIM, true);
    sign_in_by(&app, "google", verified).await.session();
    let refused = app.sign_in(VICTIM, "told to the former").await;
    assert_eq!(refused.error(), (400, "invalid_credentials"));
    // One that comes with the new address is its owner's.
    app.sql("delete from auth.users", &[]).await;
    let created = app
        .admin_create(json!({"email": "former@corp.example", "password": "told to the former"}))
        .await;
    let path = format!("/admin/users/{}", created.body["id"].as_str().unwrap());
    let body = json!({"email": VICTIM, "password": PASSWORD});
    let moved = app.put(&path, body).admin().send().await;
    assert_eq!(moved.status, 200, "{}", moved.body);
    let verified = id_token(&google, "v-1", VICTIM, true);
    sign_in_by(&app, "google", verified).await.session();
    app.sign_in(VICTIM, PASSWORD).await.session();
}

/// Its owner has signed up, and came to use the account by a number that support has confirmed. When a stranger signs up, the owner takes
/// the mail for an answer to the own sign-up.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_whoever_proves_an_address_that_an_account_in_use_claims_gets_no_strangers_password() {
    const STRANGERS: &str = "password of a stranger";
    let (app, _) = start().await;
    let signed_up = app.sign_up(VICTIM, PASSWORD).await;
    let path = format!("/admin/users/{}", signed_up.body["id"].as_str().unwrap());
    let number = json!({"phone": "15550002", "phone_confirm": true});
    assert_eq!(app.put(&path, number).admin().send().await.status, 200);
    let stranger = app.sign_up(VICTIM, STRANGERS).await;
    assert_ne!(stranger.body["id"], signed_up.body["id"]);

    let opened = open_mail(&app, VICTIM).await;

    assert!(opened.in_fragment("access_token").is_some());
    let refused = app.sign_in(VICTIM, STRANGERS).await;
    assert_eq!(refused.error(), (400, "invalid_credentials"));
    // The same by a number.
    const CLAIM: &str = "update auth.users set phone = '15550001' where email = 'victim@corp.example'";
    app.sql(CLAIM, &[]).await;
    let by_number = json!({"phone": "15550001", "password": STRANGERS});
    let stranger = app.post("/signup", by_number.clone()).send().await;
    assert_eq!(stranger.status, 200, "{}", stranger.body);
    let body = json!({"type": "sms", "phone": "15550001", "token": "123456"});
    app.post("/verify", body).send().await.session();
    let refused = app.post("/token?grant_type=password", by_number).send().await;
    assert_eq!(refused.error(), (400, "invalid_credentials"));
}
