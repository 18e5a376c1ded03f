//! Linking and unlinking identities.

use serde_json::json;

use crate::app::{Answer, Session, TestApp};
use crate::identity_provider::IdentityProvider;

async fn with_linking() -> (TestApp, IdentityProvider) {
    let provider = IdentityProvider::start();
    let app = TestApp::with(|config| {
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.anonymous_users_enabled = true;
        config.external = vec![provider.config("google")];
    })
    .await;
    (app, provider)
}

async fn link(app: &TestApp, session: &Session) -> Answer {
    let path = "/user/identities/authorize?provider=google&skip_http_redirect=true";
    let answer = app.get(path).bearer(&session.access_token).send().await;
    let url = url::Url::parse(answer.body["url"].as_str().unwrap()).unwrap();
    let state = url
        .query_pairs()
        .find(|(name, _)| name == "state")
        .unwrap()
        .1
        .into_owned();
    app.get(&format!("/callback?state={state}&code=x")).send().await
}

fn error_code(answer: &Answer) -> String {
    let url = url::Url::parse(answer.header("location")).unwrap();
    let found = url
        .query_pairs()
        .find(|(name, _)| name == "error_code")
        .map(|(_, value)| value.into_owned());
    found.unwrap_or_default()
}

async fn unlink(app: &TestApp, session: &Session, provider: &str) -> Answer {
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

#[actix_web::test]
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

#[actix_web::test]
async fn auth_083_a_user_links_an_identity_with_another_address_and_gives_it_up() {
    let (app, provider) = with_linking().await;
    provider.says(json!({"email": "work@example.com"}));
    let ana = app.user("ana@example.com").await;

    let answer = link(&app, &ana).await;

    assert!(
        answer
            .header("location")
            .starts_with("https://site.example#access_token=")
    );
    let user = app.get("/user").bearer(&ana.access_token).send().await.body;
    assert_eq!(user["email"], "ana@example.com");
    assert_eq!(user["app_metadata"]["providers"], json!(["email", "google"]));
    assert_eq!(error_code(&link(&app, &ana).await), "identity_already_exists");
    let ben = app.user("ben@example.com").await;
    assert_eq!(error_code(&link(&app, &ben).await), "identity_already_exists");

    let unlinked = unlink(&app, &ana, "google").await;
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

#[actix_web::test]
async fn auth_084_the_last_identity_stays_and_others_belong_to_others() {
    let (app, _provider) = with_linking().await;
    let ana = app.user("ana@example.com").await;

    assert_eq!(
        unlink(&app, &ana, "email").await.error(),
        (422, "single_identity_not_deletable")
    );
    link(&app, &ana).await;
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

#[actix_web::test]
async fn the_address_goes_with_its_identity_and_the_next_one_takes_over() {
    let (app, provider) = with_linking().await;
    provider.says(json!({"email": "work@example.com"}));
    let ana = app.user("ana@example.com").await;
    link(&app, &ana).await;

    assert_eq!(unlink(&app, &ana, "email").await.status, 200);

    let user = app.get("/user").bearer(&ana.access_token).send().await.body;
    assert_eq!(user["email"], "work@example.com");
    assert_eq!(
        user["app_metadata"],
        json!({"provider": "google", "providers": ["google"]})
    );
}

#[actix_web::test]
async fn an_anonymous_user_becomes_permanent_by_a_proven_identity() {
    let (app, provider) = with_linking().await;
    let guest = app.post("/signup", json!({})).send().await.session();
    assert_eq!(guest.user["is_anonymous"], true);

    link(&app, &guest).await;

    let user = app.get("/user").bearer(&guest.access_token).send().await.body;
    assert_eq!(
        (&user["id"], &user["is_anonymous"]),
        (&guest.user["id"], &json!(false))
    );
    assert_eq!(user["email"], "ana@example.com");

    provider.says(json!({"sub": "cem-1", "email": "cem@example.com", "email_verified": false}));
    let guest = app.post("/signup", json!({})).send().await.session();
    assert_eq!(error_code(&link(&app, &guest).await), "email_not_confirmed");
    let user = app.get("/user").bearer(&guest.access_token).send().await.body;
    assert_eq!(user["email_confirmed_at"], json!(null));
    let mail = app.mail_to("cem@example.com");
    app.get(&mail.link).send().await;
    let user = app.get("/user").bearer(&guest.access_token).send().await.body;
    assert!(user["email_confirmed_at"].is_string());
}

#[actix_web::test]
async fn an_address_that_somebody_has_is_not_taken_by_linking() {
    let (app, _provider) = with_linking().await;
    app.user("ana@example.com").await;
    let guest = app.post("/signup", json!({})).send().await.session();

    assert_eq!(error_code(&link(&app, &guest).await), "email_exists");
}

#[actix_web::test]
async fn an_id_token_links_to_its_bearer() {
    let (app, provider) = with_linking().await;
    provider.says(json!({"email": "work@example.com"}));
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
