//! Providers that administrators add while the server runs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::TestApp;
use crate::identity_provider::{CLIENT_ID, CLIENT_SECRET, IdentityProvider};

/// Starts the service and a provider. The table's https constraints are dropped, because the provider has no
/// certificate.
async fn start_app() -> (TestApp, IdentityProvider) {
    let provider = IdentityProvider::start();
    let app = TestApp::start_with(|config| config.insecure_providers = true).await;
    let constraints = app
        .sql(
            "select conname from pg_constraint where conrelid = 'auth.custom_oauth_providers'::regclass and conname like '%_https'",
            &[],
        )
        .await;
    for row in constraints {
        let drop = format!(
            "alter table auth.custom_oauth_providers drop constraint {}",
            row.get::<_, &str>(0)
        );
        app.sql(&drop, &[]).await;
    }
    (app, provider)
}

/// Builds the body that creates an OpenID Connect provider with every optional member set.
fn build_oidc_body(provider: &IdentityProvider) -> Value {
    json!({
        "provider_type": "oidc", "identifier": "custom:loom", "name": "Loom", "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET, "issuer": provider.base, "scopes": ["email"],
        "attribute_mapping": {"nickname": "handle"}, "custom_claims_allowlist": ["team"],
        "authorization_params": {"prompt": "login"},
    })
}

/// Returns one query parameter of a URL; empty when it is missing.
fn read_query_param(url: &str, name: &str) -> String {
    let url = url::Url::parse(url).unwrap();
    let found = url
        .query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned());
    found.unwrap_or_default()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_oidc_provider_can_be_created_used_updated_and_deleted() {
    let (app, provider) = start_app().await;
    provider.set_claims(json!({"handle": "weaver", "team": "north", "salary": 1}));

    let made = app
        .post("/admin/custom-providers", build_oidc_body(&provider))
        .admin()
        .send()
        .await;

    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(made.body.get("client_secret"), None);
    assert_eq!(made.body["scopes"], json!(["openid", "email"]));
    assert_eq!(made.body["discovery_document"]["issuer"], provider.base);
    let started = app.get("/authorize?provider=custom:loom").send().await;
    let url = started.header("location");
    assert_eq!(
        (
            read_query_param(url, "prompt").as_str(),
            read_query_param(url, "scope").as_str()
        ),
        ("login", "openid email")
    );
    assert_eq!(read_query_param(url, "code_challenge_method"), "S256");
    assert_eq!(
        read_query_param(url, "redirect_uri"),
        format!("{}/callback", app.base)
    );
    let state = read_query_param(url, "state");
    let back = app.get(&format!("/callback?state={state}&code=x")).send().await;
    assert!(
        back.header("location").contains("#access_token="),
        "{:?}",
        back.headers
    );
    let verifier = provider.requests()[0].get("code_verifier").to_owned();
    assert_eq!(
        read_query_param(url, "code_challenge"),
        URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
    );
    let data: Value = app.sql("select identity_data from auth.identities", &[]).await[0].get(0);
    assert_eq!(
        (&data["nickname"], &data["custom_claims"]),
        (&json!("weaver"), &json!({"team": "north"}))
    );

    let body = json!({"provider": "custom:loom", "id_token": provider.id_token(|_| {})});
    app.post("/token?grant_type=id_token", body)
        .send()
        .await
        .session();

    let path = "/admin/custom-providers/custom:loom";
    let changed = app.put(path, json!({"enabled": false})).admin().send().await;
    assert_eq!((changed.status, &changed.body["enabled"]), (200, &json!(false)));
    assert_eq!(
        app.get("/authorize?provider=custom:loom").send().await.error(),
        (400, "validation_failed")
    );
    let listed = app
        .get("/admin/custom-providers?type=oidc")
        .admin()
        .send()
        .await
        .body;
    assert_eq!(listed["providers"].as_array().map(Vec::len), Some(1));
    let others = app
        .get("/admin/custom-providers?type=oauth2")
        .admin()
        .send()
        .await
        .body;
    assert_eq!(others, json!({"providers": []}));
    let delete = || app.call(reqwest::Method::DELETE, path).admin().send();
    assert_eq!(delete().await.status, 204);
    assert_eq!(delete().await.error(), (404, "custom_provider_not_found"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_oauth2_providers_userinfo_is_fetched_with_the_access_token() {
    let (app, provider) = start_app().await;
    provider.set_token_response("id_token", json!(null));
    provider.set_userinfo(
        json!({"id": 7, "uid": "7", "email": "ana@example.com", "email_verified": true, "display": "Ana"}),
    );
    let body = json!({
        "provider_type": "oauth2", "identifier": "custom:plain", "name": "Plain", "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET, "authorization_url": format!("{}/authorize", provider.base),
        "token_url": format!("{}/token", provider.base), "userinfo_url": format!("{}/userinfo", provider.base),
        "attribute_mapping": {"sub": "uid", "name": "display"}, "pkce_enabled": false,
    });
    assert_eq!(
        app.post("/admin/custom-providers", body)
            .admin()
            .send()
            .await
            .status,
        201
    );

    let started = app.get("/authorize?provider=custom:plain").send().await;
    let state = read_query_param(started.header("location"), "state");
    let back = app.get(&format!("/callback?state={state}&code=x")).send().await;

    assert!(
        back.header("location").contains("#access_token="),
        "{:?}",
        back.headers
    );
    let user = &app
        .sql("select email, raw_user_meta_data ->> 'name' from auth.users", &[])
        .await[0];
    assert_eq!(
        (user.get::<_, &str>(0), user.get::<_, &str>(1)),
        ("ana@example.com", "Ana")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_040_an_address_mapped_from_another_claim_does_not_link_to_an_account() {
    let (app, provider) = start_app().await;
    let victim = app.user("ana@example.com").await;
    provider.set_token_response("id_token", json!(null));
    provider.set_userinfo(json!({"sub": "7", "nickname": "ana@example.com", "email_verified": true}));
    let body = json!({
        "provider_type": "oauth2", "identifier": "custom:plain", "name": "Plain", "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET, "authorization_url": format!("{}/authorize", provider.base),
        "token_url": format!("{}/token", provider.base), "userinfo_url": format!("{}/userinfo", provider.base),
        "attribute_mapping": {"email": "nickname"},
    });
    let made = app.post("/admin/custom-providers", body).admin().send().await;
    assert_eq!(made.status, 201, "{}", made.body);

    let started = app.get("/authorize?provider=custom:plain").send().await;
    let state = read_query_param(started.header("location"), "state");
    app.get(&format!("/callback?state={state}&code=x")).send().await;

    let linked = app
        .sql(
            "select count(*) from auth.identities where provider = 'custom:plain' and user_id = $1",
            &[&victim.user_id()],
        )
        .await;
    assert_eq!(linked[0].get::<_, i64>(0), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn unsafe_custom_providers_are_rejected() {
    let (app, provider) = start_app().await;
    let refused = async |change: Value| {
        let mut body = build_oidc_body(&provider);
        for (name, value) in change.as_object().unwrap() {
            body[name.as_str()] = value.clone();
        }
        app.post("/admin/custom-providers", body).admin().send().await
    };
    for change in [
        json!({"identifier": "google"}),
        json!({"identifier": "custom:"}),
        json!({"identifier": "custom:a b"}),
        json!({"identifier": "custom:a-"}),
        json!({"identifier": format!("custom:{}", "a".repeat(44))}),
        json!({"name": "a".repeat(101)}),
        json!({"client_id": "a".repeat(513)}),
        json!({"provider_type": "saml"}),
        json!({"client_secret": ""}),
        json!({"issuer": null}),
        json!({"issuer": "file:///etc/passwd"}),
        json!({"issuer": "http://127.0.0.1:1"}),
        json!({"issuer": format!("{}/other", provider.base), "discovery_url": format!("{}/.well-known/openid-configuration", provider.base)}),
        json!({"authorization_params": {"redirect_uri": "https://evil.io"}}),
        json!({"authorization_params": {"prompt": 1}}),
        json!({"attribute_mapping": {"email_verified": true}}),
        json!({"attribute_mapping": {"app_metadata": {"role": "admin"}}}),
    ] {
        assert_eq!(
            refused(change.clone()).await.error(),
            (400, "validation_failed"),
            "{change}"
        );
    }
    assert_eq!(refused(json!({})).await.status, 201);
    assert_eq!(refused(json!({})).await.error(), (400, "conflict"));
    assert_eq!(app.get("/admin/custom-providers").send().await.status, 401);
}
