//! An account that is in use without having proven its address does not get it, and is not given to whoever proves it. Source:
//! Auth contract §13.

use serde_json::json;

use crate::address_proofs::{
    MALLORY, VICTIM, id_token, open_mail, sign_in_by, sign_in_by_phone, start, start_with,
};
use crate::app::PASSWORD;
use crate::hooks::{create_function, database_hook};

#[actix_web::test]
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

#[actix_web::test]
async fn auth_103_the_owner_of_a_number_gets_an_account_of_their_own() {
    let (app, _) = start().await;
    let mallory = app.user(MALLORY).await;
    app.sql("update auth.users set phone = '15550002'", &[]).await;

    let victim = sign_in_by_phone(&app, "15550002", json!({})).await;

    assert_ne!(victim.user_id(), mallory.user_id());
    let still = app.get("/user").bearer(&mallory.access_token).send().await;
    assert_eq!((still.status, &still.body["phone"]), (200, &json!("")));
}

#[actix_web::test]
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

#[actix_web::test]
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

#[actix_web::test]
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
