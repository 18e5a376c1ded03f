//! The OAuth server: authorization requests, consent, codes, tokens and refreshes of OAuth clients.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use selvedge_token::{IssuerKeys, KeyAlgorithm, KeyRing, development, generate_signing_key};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::{PASSWORD, Response, Session, Setup, TestApp};

pub(crate) const VERIFIER: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// Redirect URI of the registered client; its query must survive the redirect.
const CALLBACK: &str = "https://program.example/cb?x=1";

/// A setup with the OAuth server and dynamic client registration enabled.
pub(crate) fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.config.oauth_server.enabled = true;
    setup.config.oauth_server.allow_dynamic_registration = true;
    setup
}

/// Starts the service with the OAuth server. With an algorithm it signs tokens with an asymmetric key, else with HS256.
pub(crate) async fn start_app(algorithm: Option<KeyAlgorithm>) -> TestApp {
    let mut setup = setup();
    let keys: Vec<_> = algorithm.map(generate_signing_key).into_iter().collect();
    setup.keys = KeyRing::new(development::JWT_SECRET.as_bytes(), &keys).unwrap();
    TestApp::start_setup(setup).await
}

/// Registers an OAuth client with this `token_endpoint_auth_method`; returns the response body.
pub(crate) async fn register(app: &TestApp, method: &str) -> Value {
    let body = json!({
        "client_name": "Loom Notes", "client_uri": "https://program.example", "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": method,
    });
    let response = app.post("/oauth/clients/register", body).send().await;
    assert_eq!(response.status, 201, "{}", response.body);
    response.body
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

/// Builds the query of an authorization request.
fn authorization_query(client: &Value, scope: &str) -> Vec<(String, String)> {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    [
        ("client_id", client["client_id"].as_str().unwrap()),
        ("redirect_uri", CALLBACK),
        ("response_type", "code"),
        ("scope", scope),
        ("state", "their state"),
        ("nonce", "their-nonce"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Sends an authorization request.
async fn request_authorization(app: &TestApp, query: &[(String, String)]) -> Response {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(query)
        .finish();
    app.get(&format!("/oauth/authorize?{query}")).send().await
}

/// Begins an authorization; the response leads to the consent page.
pub(crate) async fn begin_authorization(app: &TestApp, client: &Value, scope: &str) -> Response {
    request_authorization(app, &authorization_query(client, scope)).await
}

/// Begins an authorization, which `user` opens; returns the path of its endpoints.
pub(crate) async fn open_authorization(app: &TestApp, client: &Value, user: &Session, scope: &str) -> String {
    let started = begin_authorization(app, client, scope).await;
    let url = started.header("location");
    assert!(
        url.starts_with("https://site.example/oauth/consent?authorization_id="),
        "{url}"
    );
    let path = format!(
        "/oauth/authorizations/{}",
        read_query_param(url, "authorization_id")
    );
    let shown = app.get(&path).bearer(&user.access_token).send().await;
    assert_eq!(shown.body["client"]["name"], "Loom Notes", "{}", shown.body);
    assert_eq!(shown.body["scope"], scope);
    assert_eq!(
        shown.body["user"],
        json!({"id": user.user["id"], "email": user.user["email"]})
    );
    path
}

/// Approves a request as `user`; returns the code.
pub(crate) async fn consent(app: &TestApp, client: &Value, user: &Session, scope: &str) -> String {
    let path = open_authorization(app, client, user, scope).await;
    let approve = app.post(&format!("{path}/consent"), json!({"action": "approve"}));
    let decided = approve.bearer(&user.access_token).send().await;
    let url = decided.body["redirect_url"].as_str().unwrap().to_owned();
    assert!(url.starts_with("https://program.example/cb?x=1&code="), "{url}");
    assert_eq!(read_query_param(&url, "state"), "their state");
    read_query_param(&url, "code")
}

/// Sends a form to the token endpoint.
pub(crate) async fn token(app: &TestApp, basic: Option<(&str, &str)>, pairs: &[(&str, &str)]) -> Response {
    let form = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish();
    let mut call = app.call(reqwest::Method::POST, "/oauth/token").json_bytes(form);
    call = call.header("content-type", "application/x-www-form-urlencoded");
    if let Some((id, secret)) = basic {
        call = call.header(
            "authorization",
            &format!("Basic {}", STANDARD.encode(format!("{id}:{secret}"))),
        );
    }
    call.send().await
}

/// Exchanges an authorization code; a client with a secret authenticates by HTTP Basic.
pub(crate) async fn exchange_code(app: &TestApp, client: &Value, code: &str) -> Response {
    let id = client["client_id"].as_str().unwrap();
    let pairs = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("code_verifier", VERIFIER),
        ("client_id", id),
    ];
    match client["client_secret"].as_str() {
        Some(secret) => token(app, Some((id, secret)), &pairs).await,
        None => token(app, None, &pairs).await,
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_099_an_oauth_client_signs_a_user_in_and_gets_the_granted_claims() {
    let app = start_app(Some(KeyAlgorithm::Es256)).await;
    let ana = app.user("ana@example.com").await;
    let client = register(&app, "client_secret_basic").await;
    assert_eq!(
        (&client["client_type"], &client["response_types"]),
        (&json!("confidential"), &json!(["code"]))
    );

    let code = consent(&app, &client, &ana, "openid email").await;
    let response = exchange_code(&app, &client, &code).await;

    assert_eq!(response.status, 200, "{}", response.body);
    assert_eq!(response.body.get("user"), None);
    let access = response.body["access_token"].as_str().unwrap();
    let claims = app.keys.verify(access).unwrap();
    assert_eq!(claims.get("client_id"), Some(&client["client_id"]));
    assert_eq!(claims.get("scope"), Some(&json!("openid email")));
    assert_eq!(
        claims.get("amr").unwrap()[0]["method"],
        "oauth_provider/authorization_code"
    );
    let jwks = app.get("/.well-known/jwks.json").send().await.body;
    let id_token = IssuerKeys::from_jwks(&jwks)
        .verify(response.body["id_token"].as_str().unwrap())
        .unwrap();
    for (name, value) in [
        ("aud", &client["client_id"]),
        ("sub", &ana.user["id"]),
        ("nonce", &json!("their-nonce")),
        ("email", &json!("ana@example.com")),
        ("email_verified", &json!(true)),
    ] {
        assert_eq!(id_token.get(name), Some(value), "{name}");
    }
    assert_eq!(id_token.get("name"), None);
    let userinfo = app.get("/oauth/userinfo").bearer(access).send().await.body;
    let expected = json!({"sub": ana.user["id"], "email": "ana@example.com", "email_verified": true});
    assert_eq!(userinfo, expected);
    let own = app
        .get("/oauth/userinfo")
        .bearer(&ana.access_token)
        .send()
        .await
        .body;
    assert_eq!(own, json!({"sub": ana.user["id"]}));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_099_a_code_that_is_used_again_ends_the_session_that_it_has_made() {
    let app = start_app(Some(KeyAlgorithm::Es256)).await;
    let ana = app.user("ana@example.com").await;
    let client = register(&app, "none").await;
    let other = register(&app, "none").await;
    let code = consent(&app, &client, &ana, "email").await;
    let tokens = exchange_code(&app, &client, &code).await.body;
    let access = tokens["access_token"].as_str().unwrap();
    let is_alive = async || app.get("/oauth/userinfo").bearer(access).send().await.status == 200;

    // A code counts for its client only, also here.
    assert_eq!(exchange_code(&app, &other, &code).await.status, 400);
    assert!(is_alive().await);

    let again = exchange_code(&app, &client, &code).await;
    assert_eq!(
        (again.status, &again.body["error"]),
        (400, &json!("invalid_grant"))
    );
    assert!(!is_alive().await);
    let refresh = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
        ("client_id", client["client_id"].as_str().unwrap()),
    ];
    assert_eq!(token(&app, None, &refresh).await.status, 400);
    // The user's own session is none of the client's.
    assert_eq!(
        app.get("/user").bearer(&ana.access_token).send().await.status,
        200
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_099_no_id_token_is_issued_with_a_symmetric_signing_key() {
    let app = start_app(None).await;
    let ana = app.user("ana@example.com").await;
    let client = register(&app, "none").await;
    assert_eq!(
        (&client["client_type"], client.get("client_secret")),
        (&json!("public"), None)
    );

    let code = consent(&app, &client, &ana, "openid profile").await;
    let response = exchange_code(&app, &client, &code).await;

    assert_eq!((response.status, response.body.get("id_token")), (200, None));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_session_of_an_oauth_client_is_refreshed_by_that_client_only() {
    let app = start_app(None).await;
    let ana = app.user("ana@example.com").await;
    let client = register(&app, "client_secret_post").await;
    let (id, secret) = (
        client["client_id"].as_str().unwrap(),
        client["client_secret"].as_str().unwrap(),
    );
    let code = consent(&app, &client, &ana, "email").await;
    let pairs = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("client_id", id),
        ("client_secret", secret),
    ];
    let first = token(&app, None, &pairs).await;
    let refresh_token = first.body["refresh_token"].as_str().unwrap();

    let by_user = app.refresh(refresh_token).await;
    assert_eq!(
        (by_user.status, &by_user.body["error"]),
        (400, &json!("invalid_client"))
    );
    let refresh = |token: String| {
        let pairs = [
            ("grant_type".to_owned(), "refresh_token".to_owned()),
            ("refresh_token".to_owned(), token),
            ("client_id".to_owned(), id.to_owned()),
            ("client_secret".to_owned(), secret.to_owned()),
        ];
        let app = &app;
        async move {
            let pairs: Vec<(&str, &str)> = pairs
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            self::token(app, None, &pairs).await
        }
    };
    let users_own = refresh(ana.refresh_token.clone()).await;
    assert_eq!(users_own.body["error"], "invalid_client");
    let refreshed = refresh(refresh_token.to_owned()).await;
    assert_eq!(refreshed.status, 200, "{}", refreshed.body);
    let access = refreshed.body["access_token"].as_str().unwrap();
    assert_eq!(
        app.keys.verify(access).unwrap().get("client_id"),
        Some(&client["client_id"])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_116_authorization_errors_are_shown_and_never_redirected() {
    let app = start_app(None).await;
    let client = register(&app, "none").await;
    let with = |name: &str, value: &str| {
        let mut query = authorization_query(&client, "email");
        for pair in &mut query {
            if pair.0 == name {
                value.clone_into(&mut pair.1);
            }
        }
        query
    };

    for (name, value) in [
        ("redirect_uri", "https://evil.io/"),
        ("redirect_uri", "https://program.example/cb"),
        ("client_id", "nonsense"),
        ("client_id", "7d2c1d6e-0000-4000-8000-000000000000"),
    ] {
        let refused = request_authorization(&app, &with(name, value)).await;
        assert_eq!(
            (refused.status, refused.header("location")),
            (400, ""),
            "{name}={value}"
        );
    }
    for (name, value) in [
        ("response_type", "token"),
        ("scope", "email admin"),
        ("code_challenge", ""),
        ("code_challenge_method", "md5"),
    ] {
        // Anybody may register a client, so a redirect before the consent page would lead anywhere (RFC 9700 §4.11.2).
        let refused = request_authorization(&app, &with(name, value)).await;
        assert_eq!((refused.status, refused.header("location")), (400, ""), "{name}");
        assert_eq!(refused.body["error"], "invalid_request", "{name}");
    }
    assert_eq!(
        app.count("select count(*) from auth.oauth_authorizations").await,
        0
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_authorization_request_belongs_to_its_first_user_and_is_decided_once() {
    let app = start_app(None).await;
    let (ana, ben) = (
        app.user("ana@example.com").await,
        app.user("ben@example.com").await,
    );
    let client = register(&app, "none").await;
    let started = request_authorization(&app, &authorization_query(&client, "email")).await;
    let path = format!(
        "/oauth/authorizations/{}",
        read_query_param(started.header("location"), "authorization_id")
    );
    let decide = |user: &Session, action: &str| {
        app.post(&format!("{path}/consent"), json!({"action": action}))
            .bearer(&user.access_token)
            .send()
    };

    app.get(&path).bearer(&ana.access_token).send().await;
    let stranger = app.get(&path).bearer(&ben.access_token).send().await;
    assert_eq!(stranger.error(), (404, "oauth_authorization_not_found"));
    assert_eq!(
        decide(&ben, "approve").await.error(),
        (404, "oauth_authorization_not_found")
    );
    assert_eq!(decide(&ana, "maybe").await.error(), (400, "validation_failed"));
    let denied = decide(&ana, "deny").await;
    assert_eq!(
        read_query_param(denied.body["redirect_url"].as_str().unwrap(), "error"),
        "access_denied"
    );
    assert_eq!(decide(&ana, "approve").await.error(), (400, "validation_failed"));
    let foreign = app
        .get(&path)
        .bearer(&ana.access_token)
        .header("origin", "https://evil.io")
        .send()
        .await;
    assert_eq!(foreign.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn consents_are_stored_listed_and_revoked() {
    let app = start_app(None).await;
    let ana = app.user("ana@example.com").await;
    let client = register(&app, "none").await;
    let id = client["client_id"].as_str().unwrap();
    let code = consent(&app, &client, &ana, "email profile").await;
    let access = exchange_code(&app, &client, &code).await.body["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let open = async |scope: &str| {
        let started = request_authorization(&app, &authorization_query(&client, scope)).await;
        let path = format!(
            "/oauth/authorizations/{}",
            read_query_param(started.header("location"), "authorization_id")
        );
        app.get(&path).bearer(&ana.access_token).send().await.body
    };

    assert!(open("email").await["redirect_url"].is_string());
    assert!(open("email phone").await["redirect_url"].is_null());
    let grants = app
        .get("/user/oauth/grants")
        .bearer(&ana.access_token)
        .send()
        .await
        .body;
    assert_eq!(grants[0]["client"]["id"], id);
    assert_eq!(grants[0]["scopes"], json!(["email", "profile"]));
    let revoke = || {
        let path = format!("/user/oauth/grants?client_id={id}");
        app.call(reqwest::Method::DELETE, &path)
            .bearer(&ana.access_token)
            .send()
    };
    assert_eq!(revoke().await.status, 204);
    assert_eq!(
        app.get("/user").bearer(&access).send().await.error(),
        (403, "session_not_found")
    );
    assert_eq!(revoke().await.error(), (404, "oauth_consent_not_found"));
    assert!(open("email").await["redirect_url"].is_null());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_095_the_oauth_server_is_off_by_default() {
    let app = TestApp::start().await;
    let ana = app.user("ana@example.com").await;
    for path in [
        "/.well-known/oauth-authorization-server",
        "/oauth/authorize",
        "/oauth/userinfo",
        "/user/oauth/grants",
    ] {
        let response = app.get(path).bearer(&ana.access_token).send().await;
        assert_eq!(response.error(), (404, "feature_disabled"), "{path}");
    }
    let listed = app.get("/admin/oauth/clients").admin().send().await;
    assert_eq!(listed.error(), (404, "feature_disabled"));
    let registered = app.post("/oauth/clients/register", json!({})).send().await;
    assert_eq!(registered.error(), (404, "feature_disabled"));
    assert_eq!(app.sign_in("ana@example.com", PASSWORD).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_104_a_client_learns_no_address_that_nobody_has_confirmed() {
    let app = start_app(Some(KeyAlgorithm::Es256)).await;
    let mallory = app.user("claimed@example.com").await;
    // A user of a number, or of a provider, whose address an administrator has set.
    app.sql(
        "update auth.users set email_confirmed_at = null, phone = '15550001', raw_user_meta_data = '{}'",
        &[],
    )
    .await;
    let client = register(&app, "none").await;

    let code = consent(&app, &client, &mallory, "openid email phone profile").await;
    let response = exchange_code(&app, &client, &code).await;

    let jwks = app.get("/.well-known/jwks.json").send().await.body;
    let id_token = IssuerKeys::from_jwks(&jwks)
        .verify(response.body["id_token"].as_str().unwrap())
        .unwrap();
    let id_token = Value::Object(id_token.map().clone());
    let access_token = response.body["access_token"].as_str().unwrap();
    let userinfo = app.get("/oauth/userinfo").bearer(access_token).send().await.body;
    for claims in [id_token, userinfo] {
        assert_eq!(claims["sub"], mallory.user["id"], "{claims}");
        for absent in [
            "email",
            "email_verified",
            "phone",
            "phone_number",
            "phone_number_verified",
            "name",
        ] {
            assert!(claims.get(absent).is_none(), "{absent}: {claims}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_108_a_client_gets_no_session_from_one_without_the_second_factor() {
    let app = start_app(None).await;
    let ana = app.user("ana@example.com").await;
    let client = register(&app, "none").await;
    consent(&app, &client, &ana, "email").await;
    let path = open_authorization(&app, &client, &ana, "email profile").await;
    app.sql(
        "insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at)
           select gen_random_uuid(), id, 'first', 'totp', 'verified', now(), now() from auth.users",
        &[],
    )
    .await;

    let approve = app.post(&format!("{path}/consent"), json!({"action": "approve"}));
    let refused = approve.bearer(&ana.access_token).send().await;
    assert_eq!(refused.error(), (401, "insufficient_aal"));
    // Nor by the consent of before.
    let started = begin_authorization(&app, &client, "email").await;
    let id = read_query_param(started.header("location"), "authorization_id");
    let opened = app
        .get(&format!("/oauth/authorizations/{id}"))
        .bearer(&ana.access_token);
    assert_eq!(opened.send().await.error(), (401, "insufficient_aal"));
    let deny = app.post(&format!("{path}/consent"), json!({"action": "deny"}));
    let denied = deny.bearer(&ana.access_token).send().await;
    assert_eq!(denied.status, 200, "{}", denied.body);
}
