//! An address is proven, not a user: nobody gets an account by a claim. Source: Auth contract §13.

use reqwest::Method;
use selvedge_auth::AuthConfig;
use serde_json::{Value, json};

use crate::app::{PASSWORD, Response, Session, TestApp};
use crate::identity_provider::IdentityProvider;

pub(crate) const VICTIM: &str = "victim@corp.example";
pub(crate) const MALLORY: &str = "mallory@evil.example";

/// Starts the service with linking, anonymous users, phones with test codes, and two providers that sign ID tokens.
pub(crate) async fn start_with(change: impl FnOnce(&mut AuthConfig)) -> (TestApp, [IdentityProvider; 2]) {
    let providers = [IdentityProvider::start(), IdentityProvider::start()];
    let configs = vec![providers[0].config("google"), providers[1].config("keycloak")];
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.anonymous_users_enabled = true;
        config.external = configs;
        config.phone.enabled = true;
        config.phone.autoconfirm = false;
        config.phone.max_frequency = std::time::Duration::ZERO;
        let codes = ["15550001", "15550002"].map(|phone| (phone.to_owned(), "123456".to_owned()));
        config.phone.test_otp = codes.into();
        change(config);
    })
    .await;
    (app, providers)
}

pub(crate) async fn start() -> (TestApp, [IdentityProvider; 2]) {
    start_with(|_| {}).await
}

/// The ID token of a person at a provider.
pub(crate) fn id_token(provider: &IdentityProvider, subject: &str, email: &str, is_verified: bool) -> String {
    provider.id_token(|claims| {
        claims["sub"] = json!(subject);
        claims["email"] = json!(email);
        claims["email_verified"] = json!(is_verified);
    })
}

/// Signs in with an ID token of Google's or Keycloak's.
pub(crate) async fn sign_in_by(app: &TestApp, provider: &str, token: String) -> Response {
    app.post(
        "/token?grant_type=id_token",
        json!({"provider": provider, "id_token": token}),
    )
    .send()
    .await
}

/// Links an identity to the account of a session.
async fn link(app: &TestApp, session: &Session, token: String) -> Response {
    let body = json!({"provider": "keycloak", "id_token": token, "link_identity": true});
    app.post("/token?grant_type=id_token", body)
        .bearer(&session.access_token)
        .send()
        .await
}

/// Signs in by a code that is sent to a phone number, with metadata for a new user.
pub(crate) async fn sign_in_by_phone(app: &TestApp, phone: &str, data: Value) -> Session {
    let asked = app
        .post("/otp", json!({"phone": phone, "data": data}))
        .send()
        .await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let body = json!({"type": "sms", "phone": phone, "token": "123456"});
    app.post("/verify", body).send().await.session()
}

/// Opens the link of the newest mail to an address that has one; returns where the browser goes. Notices have none.
pub(crate) async fn open_mail(app: &TestApp, address: &str) -> Response {
    let mails = app.inbox.list_mails();
    let to_address = mails.iter().filter(|mail| mail.to[0].address == address);
    let link = to_address
        .flat_map(|mail| mail.text.split_whitespace())
        .find(|word| word.contains("/verify?"));
    app.get(link.unwrap()).send().await
}

fn claims(app: &TestApp, token: &str) -> Value {
    Value::Object(app.keys.verify(token).unwrap().map().clone())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_101_metadata_of_a_sign_up_claims_no_address() {
    let (app, [google, _]) = start().await;
    let data = json!({"email": VICTIM, "email_verified": true, "phone": "1", "iss": "x", "provider_id": "y", "nickname": "M"});
    let mallory = sign_in_by_phone(&app, "15550001", data).await;

    let identity = &mallory.user["identities"][0];
    assert_eq!(identity["identity_data"]["nickname"], "M");
    for reserved in ["email", "phone", "iss", "provider_id"] {
        assert!(identity["identity_data"].get(reserved).is_none(), "{identity}");
    }
    let victim = sign_in_by(&app, "google", id_token(&google, "v-1", VICTIM, true)).await;
    assert_ne!(victim.session().user_id(), mallory.user_id());

    // Identities of older databases may hold such an address; they attract nobody either.
    app.sql(
        "update auth.identities set identity_data = identity_data || \
         '{\"email\": \"other@corp.example\", \"email_verified\": true}' where provider = 'phone'",
        &[],
    )
    .await;
    let other = sign_in_by(
        &app,
        "google",
        id_token(&google, "o-1", "other@corp.example", true),
    )
    .await;
    assert_ne!(other.session().user_id(), mallory.user_id());
    assert_eq!(app.sign_up("third@corp.example", PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_102_a_verified_address_confirms_no_other_one() {
    let (app, [google, keycloak]) = start().await;
    let claimed = sign_in_by(&app, "keycloak", id_token(&keycloak, "m-1", VICTIM, false)).await;
    assert_eq!(claimed.error(), (422, "provider_email_needs_verification"));

    let mallory = sign_in_by(&app, "keycloak", id_token(&keycloak, "m-1", MALLORY, true))
        .await
        .session();

    assert_eq!(mallory.user["email"], MALLORY);
    let confirmed = "select count(*) from auth.users where email = 'victim@corp.example' and email_confirmed_at is not null";
    assert_eq!(app.count(confirmed).await, 0);
    let victim = sign_in_by(&app, "google", id_token(&google, "v-1", VICTIM, true))
        .await
        .session();
    assert_ne!(victim.user_id(), mallory.user_id());
    let again = sign_in_by(&app, "keycloak", id_token(&keycloak, "m-1", MALLORY, true)).await;
    assert_eq!(again.session().user_id(), mallory.user_id());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_102_the_link_to_an_old_address_does_not_confirm_the_new_one() {
    let (app, _) = start().await;
    let user = app.user("old@corp.example").await;
    for (path, kind) in [("/recover", "recovery"), ("/otp", "magiclink")] {
        let asked = app.post(path, json!({"email": "old@corp.example"})).send().await;
        assert_eq!(asked.status, 200, "{}", asked.body);
        let token = app.mail_to("old@corp.example").param("token");
        let path = format!("/admin/users/{}", user.user_id());
        let changed = app
            .put(&path, json!({"email": "new@corp.example"}))
            .admin()
            .send()
            .await;
        assert_eq!(changed.status, 200, "{}", changed.body);

        let body = json!({"type": kind, "token_hash": token});
        assert_eq!(
            app.post("/verify", body).send().await.error(),
            (403, "otp_expired"),
            "{kind}"
        );
        app.put(&path, json!({"email": "old@corp.example"}))
            .admin()
            .send()
            .await;
    }
    // Where only the row of the user was changed, by SQL, the token still belongs to the address it was sent to.
    app.post("/recover", json!({"email": "old@corp.example"}))
        .send()
        .await;
    let token = app.mail_to("old@corp.example").param("token");
    app.sql("update auth.users set email = 'new@corp.example'", &[])
        .await;
    let body = json!({"type": "recovery", "token_hash": token});
    assert_eq!(
        app.post("/verify", body).send().await.error(),
        (403, "otp_expired")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_102_a_code_confirms_the_number_that_it_was_sent_to() {
    let (app, _) = start().await;
    let guest = app.post("/signup", json!({})).send().await.session();
    let change = app
        .put("/user", json!({"phone": "15550001"}))
        .bearer(&guest.access_token);
    assert_eq!(change.send().await.status, 200);
    // What another request has stored between the check of the code and the lock of the row.
    app.sql(
        "update auth.users set phone_change = '15550099' where is_anonymous",
        &[],
    )
    .await;

    let body = json!({"type": "phone_change", "phone": "15550001", "token": "123456"});
    assert_eq!(
        app.post("/verify", body).send().await.error(),
        (403, "otp_expired")
    );
    assert_eq!(
        app.count("select count(*) from auth.users where phone is not null")
            .await,
        0
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_an_unverified_address_of_an_identity_attracts_nobody() {
    let (app, [google, keycloak]) = start().await;
    let mallory = sign_in_by(&app, "keycloak", id_token(&keycloak, "m-1", MALLORY, true))
        .await
        .session();
    let renamed = sign_in_by(&app, "keycloak", id_token(&keycloak, "m-1", VICTIM, false)).await;
    assert_eq!(renamed.session().user_id(), mallory.user_id());

    let admin = async |kind: &str| {
        let body = json!({"type": kind, "email": VICTIM, "password": PASSWORD});
        app.post("/admin/generate_link", body).admin().send().await
    };
    assert_eq!(admin("recovery").await.error(), (404, "user_not_found"));
    let own = admin("signup").await;
    assert_eq!((own.status, &own.body["email"]), (200, &json!(VICTIM)));
    app.sql("delete from auth.users where email = 'victim@corp.example'", &[])
        .await;
    let signed_up = app.sign_up(VICTIM, PASSWORD).await;
    assert_eq!(signed_up.body["identities"][0]["identity_data"]["email"], VICTIM);
    app.mail_to(VICTIM);
    let victim = sign_in_by(&app, "google", id_token(&google, "v-1", VICTIM, true))
        .await
        .session();
    assert_ne!(victim.user_id(), mallory.user_id());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_an_unconfirmed_account_loses_its_address_to_whoever_proves_it() {
    let (app, [_, keycloak]) = start().await;
    app.sign_up(VICTIM, "mallory's password").await;
    let planted = app.mail_to(VICTIM);
    let guest = app.post("/signup", json!({})).send().await.session();

    let linked = link(&app, &guest, id_token(&keycloak, "v-1", VICTIM, true)).await;

    assert_eq!(linked.session().user["email"], VICTIM);
    assert_eq!(linked.session().user_id(), guest.user_id());
    let old_link = app.get(&planted.link).send().await;
    assert_eq!(old_link.in_fragment("error_code").unwrap(), "otp_expired");
    assert_eq!(
        app.sign_in(VICTIM, "mallory's password").await.error(),
        (400, "invalid_credentials")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_103_an_account_in_use_is_not_given_to_the_owner_of_its_unconfirmed_address() {
    let (app, [google, _]) = start().await;
    let mallory = sign_in_by_phone(&app, "15550001", json!({})).await;
    // As older versions left it.
    app.sql("update auth.users set email = 'victim@corp.example'", &[])
        .await;

    let victim = sign_in_by(&app, "google", id_token(&google, "v-1", VICTIM, true))
        .await
        .session();

    assert_ne!(victim.user_id(), mallory.user_id());
    assert_eq!(victim.user["email"], VICTIM);
    let still = app.get("/user").bearer(&mallory.access_token).send().await;
    assert_eq!((still.status, &still.body["email"]), (200, &json!("")));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_an_access_token_names_no_unconfirmed_address() {
    let (app, [_, keycloak]) = start().await;
    let guest = app.post("/signup", json!({})).send().await.session();

    let refused = link(&app, &guest, id_token(&keycloak, "m-1", VICTIM, false)).await;

    assert_eq!(refused.error().1, "email_not_confirmed");
    let refreshed = app.refresh(&guest.refresh_token).await.session();
    assert_eq!(
        (
            &claims(&app, &refreshed.access_token)["email"],
            &refreshed.user["email"]
        ),
        (&json!(""), &json!(""))
    );
    // The mail that was sent confirms it.
    open_mail(&app, VICTIM).await;
    let refreshed = app.refresh(&refreshed.refresh_token).await.session();
    assert_eq!(claims(&app, &refreshed.access_token)["email"], VICTIM);

    // A row that was written by hand. Guests alone may have a session without a confirmed address.
    app.sql(
        "update auth.users set email_confirmed_at = null, phone = '15550002', is_anonymous = true",
        &[],
    )
    .await;
    let refreshed = app.refresh(&refreshed.refresh_token).await.session();
    let claims = claims(&app, &refreshed.access_token);
    assert_eq!((&claims["email"], &claims["phone"]), (&json!(""), &json!("")));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_unlinking_leaves_no_unverified_address() {
    let (app, [_, keycloak]) = start().await;
    let mallory = app.user(MALLORY).await;
    link(&app, &mallory, id_token(&keycloak, "m-1", VICTIM, false)).await;
    let user = app.get("/user").bearer(&mallory.access_token).send().await.body;
    let identities = user["identities"].as_array().unwrap();
    assert_eq!(identities.len(), 2);
    let own = identities.iter().find(|one| one["provider"] == "email").unwrap();
    let path = format!("/user/identities/{}", own["identity_id"].as_str().unwrap());

    let unlinked = app
        .call(Method::DELETE, &path)
        .bearer(&mallory.access_token)
        .send()
        .await;

    assert_eq!(unlinked.error(), (422, "email_conflict_identity_not_deletable"));
    let user = app.get("/user").bearer(&mallory.access_token).send().await.body;
    assert_eq!(
        (&user["email"], user["identities"].as_array().unwrap().len()),
        (&json!(MALLORY), 2)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_105_an_invitation_is_accepted_by_its_verified_address_in_time() {
    let (app, [_, keycloak]) = start().await;
    let invite = async || {
        let invited = app.post("/invite", json!({"email": VICTIM})).admin().send().await;
        assert_eq!(invited.status, 200, "{}", invited.body);
        app.mail_to(VICTIM).param("token")
    };
    let accept = async |token: &str, is_verified: bool| {
        let path = format!("/authorize?provider=keycloak&invite_token={token}");
        let started = app.get(&path).send().await;
        if started.status != 302 {
            return started.error().1.to_owned();
        }
        keycloak.set_claims(json!({"sub": "m-1", "email": VICTIM, "email_verified": is_verified}));
        keycloak.set_userinfo(json!({"sub": "m-1", "email": VICTIM, "email_verified": is_verified}));
        let state = crate::providers::read_query_param(started.header("location"), "state");
        let response = crate::providers::return_from_provider(&app, &state).await;
        crate::providers::in_fragment(&response, "error_code").unwrap_or_default()
    };
    let token = invite().await;
    assert_eq!(accept(&token, false).await, "validation_failed");
    let ban = "update auth.users set banned_until = now() + interval '1 day'";
    app.sql(ban, &[]).await;
    assert_eq!(accept(&token, true).await, "user_banned");
    app.sql("update auth.users set banned_until = null", &[]).await;
    let age = "update auth.users set confirmation_sent_at = now() - interval '60 days'";
    app.sql(age, &[]).await;
    assert_eq!(accept(&token, true).await, "user_not_found");

    let token = invite().await;
    assert_eq!(accept(&token, true).await, "");
    let confirmed = "select count(*) from auth.users where email_confirmed_at is not null";
    assert_eq!(app.count(confirmed).await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_who_proves_an_address_gets_no_password_of_somebody_else() {
    let (app, [google, _]) = start().await;
    let is_refused = async |password: &str| {
        let refused = app.sign_in(VICTIM, password).await;
        assert_eq!(refused.error(), (400, "invalid_credentials"), "{password}");
    };
    let forget = "delete from auth.users";

    // Two sign-ups with different passwords: neither is proven.
    app.sign_up(VICTIM, "mallory's password").await;
    app.sign_up(VICTIM, PASSWORD).await;
    open_mail(&app, VICTIM).await;
    is_refused("mallory's password").await;
    is_refused(PASSWORD).await;

    // The same password twice is the same person.
    app.sql(forget, &[]).await;
    app.sign_up(VICTIM, PASSWORD).await;
    app.sign_up(VICTIM, PASSWORD).await;
    open_mail(&app, VICTIM).await;
    app.sign_in(VICTIM, PASSWORD).await.session();

    // A code or a recovery, asked for by somebody who has not given the password.
    for path in ["/otp", "/recover"] {
        app.sql(forget, &[]).await;
        app.sign_up(VICTIM, "mallory's password").await;
        app.post(path, json!({"email": VICTIM})).send().await;
        assert!(
            open_mail(&app, VICTIM)
                .await
                .in_fragment("access_token")
                .is_some(),
            "{path}"
        );
        is_refused("mallory's password").await;
    }

    // An identity that somebody else has attached by claiming the address at a provider.
    app.sql(forget, &[]).await;
    sign_in_by(&app, "google", id_token(&google, "m-1", VICTIM, false)).await;
    app.sign_up(VICTIM, PASSWORD).await;
    open_mail(&app, VICTIM).await;
    let claimed = sign_in_by(&app, "google", id_token(&google, "m-1", VICTIM, false)).await;
    assert_eq!(claimed.error(), (422, "provider_email_needs_verification"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_106_a_phone_number_that_was_registered_twice_has_no_password() {
    let (app, _) = start().await;
    let sign_up = |password: &str| {
        app.post("/signup", json!({"phone": "15550001", "password": password}))
            .send()
    };
    sign_up("mallory's password").await;
    sign_up(PASSWORD).await;

    sign_in_by_phone(&app, "15550001", json!({})).await;

    for password in ["mallory's password", PASSWORD] {
        let body = json!({"phone": "15550001", "password": password});
        let refused = app.post("/token?grant_type=password", body).send().await;
        assert_eq!(refused.error(), (400, "invalid_credentials"), "{password}");
    }
}
