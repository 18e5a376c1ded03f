//! Linking and unlinking identities.

use serde_json::json;

use crate::app::{Response, Session, TestApp};
use crate::identity_provider::IdentityProvider;

/// Starts the service with manual linking, anonymous users and a test provider configured as Google.
async fn start_with_linking() -> (TestApp, IdentityProvider) {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| {
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.anonymous_users_enabled = true;
        config.external = vec![provider.config("google")];
    })
    .await;
    (app, provider)
}

/// Links the provider's identity to the signed-in user: `/user/identities/authorize`, then `/callback`.
async fn link_identity(app: &TestApp, session: &Session) -> Response {
    let path = "/user/identities/authorize?provider=google&skip_http_redirect=true";
    let response = app.get(path).bearer(&session.access_token).send().await;
    let url = url::Url::parse(response.body["url"].as_str().unwrap()).unwrap();
    let state = url
        .query_pairs()
        .find(|(name, _)| name == "state")
        .unwrap()
        .1
        .into_owned();
    app.get(&format!("/callback?state={state}&code=x")).send().await
}

/// Returns `error_code` in the query of the `location` header; empty when there is none.
fn error_code(response: &Response) -> String {
    let url = url::Url::parse(response.header("location")).unwrap();
    let found = url
        .query_pairs()
        .find(|(name, _)| name == "error_code")
        .map(|(_, value)| value.into_owned());
    found.unwrap_or_default()
}

/// Unlinks the user's identity of this provider.
async fn unlink_identity(app: &TestApp, session: &Session, provider: &str) -> Response {
    let user = app.get("/user").bearer(&session.access_token).send().await.body;
    let identities = user["identities"].as_array().unwrap();
    let identity = identities
        .iter()
        .find(|identity| identity["provider"] == provider)
        .unwrap();
    let path = format!("/user/identities/{}", identity["identity_id"].as_str().unwrap());
    app.call(reqwest::Method::DELETE, &path)
        .bearer(&session.access_token)
        .send()
        .await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_083_linking_is_off_by_default() {
    let app = TestApp::start().await;
    let ana = app.user("ana@example.com").await;
    let id = uuid::Uuid::new_v4();

    let link = app
        .get("/user/identities/authorize?provider=google")
        .bearer(&ana.access_token)
        .send()
        .await;
    let path = format!("/user/identities/{id}");
    let unlink = app
        .call(reqwest::Method::DELETE, &path)
        .bearer(&ana.access_token)
        .send()
        .await;

    assert_eq!(link.error(), (404, "manual_linking_disabled"));
    assert_eq!(unlink.error(), (404, "manual_linking_disabled"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_083_a_user_links_and_unlinks_an_identity_with_another_address() {
    let (app, provider) = start_with_linking().await;
    provider.set_claims(json!({"email": "work@example.com"}));
    let ana = app.user("ana@example.com").await;

    let response = link_identity(&app, &ana).await;

    assert!(
        response
            .header("location")
            .starts_with("https://site.example#access_token=")
    );
    let user = app.get("/user").bearer(&ana.access_token).send().await.body;
    assert_eq!(user["email"], "ana@example.com");
    assert_eq!(user["app_metadata"]["providers"], json!(["email", "google"]));
    assert_eq!(
        error_code(&link_identity(&app, &ana).await),
        "identity_already_exists"
    );
    let ben = app.user("ben@example.com").await;
    assert_eq!(
        error_code(&link_identity(&app, &ben).await),
        "identity_already_exists"
    );

    let unlinked = unlink_identity(&app, &ana, "google").await;
    assert_eq!((unlinked.status, unlinked.body), (200, json!({})));
    let user = app.get("/user").bearer(&ana.access_token).send().await.body;
    assert_eq!(user["app_metadata"]["providers"], json!(["email"]));
    assert_eq!(
        app.count(
            "select count(*) from auth.audit_log_entries where payload ->> 'action' = 'identity_unlinked'"
        )
        .await,
        1
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_084_the_last_identity_and_other_users_identities_cannot_be_unlinked() {
    let (app, _provider) = start_with_linking().await;
    let ana = app.user("ana@example.com").await;

    assert_eq!(
        unlink_identity(&app, &ana, "email").await.error(),
        (422, "single_identity_not_deletable")
    );
    link_identity(&app, &ana).await;
    let delete = |id: String| {
        let path = format!("/user/identities/{id}");
        app.call(reqwest::Method::DELETE, &path)
            .bearer(&ana.access_token)
            .send()
    };
    assert_eq!(
        delete("nonsense".to_owned()).await.error(),
        (404, "validation_failed")
    );
    assert_eq!(
        delete(uuid::Uuid::new_v4().to_string()).await.error(),
        (422, "identity_not_found")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_unlinking_replaces_the_address_by_that_of_the_next_identity() {
    let (app, provider) = start_with_linking().await;
    provider.set_claims(json!({"email": "work@example.com"}));
    let ana = app.user("ana@example.com").await;
    link_identity(&app, &ana).await;

    assert_eq!(unlink_identity(&app, &ana, "email").await.status, 200);

    let user = app.get("/user").bearer(&ana.access_token).send().await.body;
    assert_eq!(user["email"], "work@example.com");
    assert_eq!(
        user["app_metadata"],
        json!({"provider": "google", "providers": ["google"]})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_anonymous_user_becomes_permanent_by_linking_a_verified_identity() {
    let (app, provider) = start_with_linking().await;
    let guest = app.post("/signup", json!({})).send().await.session();
    assert_eq!(guest.user["is_anonymous"], true);

    link_identity(&app, &guest).await;

    let user = app.get("/user").bearer(&guest.access_token).send().await.body;
    assert_eq!(
        (&user["id"], &user["is_anonymous"]),
        (&guest.user["id"], &json!(false))
    );
    assert_eq!(user["email"], "ana@example.com");

    provider.set_claims(json!({"sub": "cem-1", "email": "cem@example.com", "email_verified": false}));
    let guest = app.post("/signup", json!({})).send().await.session();
    assert_eq!(
        error_code(&link_identity(&app, &guest).await),
        "email_not_confirmed"
    );
    let user = app.get("/user").bearer(&guest.access_token).send().await.body;
    assert_eq!(user["email_confirmed_at"], json!(null));
    let mail = app.mail_to("cem@example.com");
    app.get(&mail.link).send().await;
    let user = app.get("/user").bearer(&guest.access_token).send().await.body;
    assert!(user["email_confirmed_at"].is_string());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn linking_does_not_take_an_address_of_another_user() {
    let (app, _provider) = start_with_linking().await;
    app.user("ana@example.com").await;
    let guest = app.post("/signup", json!({})).send().await.session();

    assert_eq!(error_code(&link_identity(&app, &guest).await), "email_exists");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_id_token_can_be_linked_to_the_signed_in_user() {
    let (app, provider) = start_with_linking().await;
    provider.set_claims(json!({"email": "work@example.com"}));
    let ana = app.user("ana@example.com").await;
    let body = json!({"provider": "google", "id_token": provider.id_token(|_| {}), "link_identity": true});

    let without_user = app.post("/token?grant_type=id_token", body.clone()).send().await;
    let linked = app
        .post("/token?grant_type=id_token", body)
        .bearer(&ana.access_token)
        .send()
        .await;

    assert_eq!(
        (without_user.status, &without_user.body["error"]),
        (400, &json!("invalid request"))
    );
    assert_eq!(
        linked.session().user["app_metadata"]["providers"],
        json!(["email", "google"])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_unlinking_takes_a_free_verified_address_and_passes_the_others_over() {
    // What another account does with the address of the remaining identity, and whether the user gets it.
    let cases = [
        ("nothing", true),
        ("confirmed", false),
        ("proven at a provider", false),
        ("unconfirmed", true),
        ("the identity is not verified", false),
    ];
    for (other, is_taken_over) in cases {
        let (app, provider) = start_with_linking().await;
        provider.set_claims(json!({"email": "work@example.com"}));
        let ana = app.user("ana@example.com").await;
        link_identity(&app, &ana).await;
        match other {
            "confirmed" | "unconfirmed" => {
                let confirmed_at = if other == "confirmed" { "now()" } else { "null" };
                let sql = format!(
                    "insert into auth.users (id, instance_id, aud, email, email_confirmed_at) values (gen_random_uuid(), \
                     '00000000-0000-0000-0000-000000000000', 'authenticated', 'work@example.com', {confirmed_at})"
                );
                app.sql(&sql, &[]).await;
            }
            "proven at a provider" => {
                app.user("ben@example.com").await;
                let sql = "insert into auth.identities (provider_id, user_id, identity_data, provider, created_at, updated_at) \
                           select 'b', id, '{\"email\": \"work@example.com\", \"email_verified\": true}', 'github', now(), now() \
                           from auth.users where email = 'ben@example.com'";
                app.sql(sql, &[]).await;
            }
            "nothing" => {}
            _ => {
                let sql = "update auth.identities set identity_data = identity_data || '{\"email_verified\": false}' \
                           where provider = 'google'";
                app.sql(sql, &[]).await;
            }
        }

        let unlinked = unlink_identity(&app, &ana, "email").await;

        let user = app.get("/user").bearer(&ana.access_token).send().await.body;
        if is_taken_over {
            assert_eq!(
                (unlinked.status, &user["email"]),
                (200, &json!("work@example.com")),
                "{other}"
            );
        } else {
            let conflict = (422, "email_conflict_identity_not_deletable");
            assert_eq!(unlinked.error(), conflict, "{other}");
            assert_eq!(user["email"], "ana@example.com", "{other}");
        }
        let holders = "select count(*) from auth.users where email = 'work@example.com'";
        assert!(app.count(holders).await <= 1, "{other}");
    }
}
