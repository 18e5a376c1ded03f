//! Clients of the OAuth server: registration and authentication.

use serde_json::json;

use crate::app::TestApp;
use crate::oauth_server::{VERIFIER, consent, exchange_code, register, setup, start_app, token};
use crate::protection::proxy_header;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn oauth_clients_authenticate_with_their_registered_method_only() {
    let app = start_app(None).await;
    let ana = app.user("ana@example.com").await;
    let client = register(&app, "client_secret_basic").await;
    let (id, secret) = (
        client["client_id"].as_str().unwrap(),
        client["client_secret"].as_str().unwrap(),
    );
    let other = register(&app, "none").await;
    let code = consent(&app, &client, &ana, "email").await;
    let pairs = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("code_verifier", VERIFIER),
    ];
    let with = |extra: &[(&'static str, String)]| -> Vec<(String, String)> {
        let own = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        own.chain(
            extra
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        )
        .collect()
    };

    let cases = [
        (Some((id, "wrong")), with(&[])),
        (
            None,
            with(&[("client_id", id.to_owned()), ("client_secret", secret.to_owned())]),
        ),
        (None, with(&[("client_id", id.to_owned())])),
        (None, with(&[])),
        (Some(("nonsense", secret)), with(&[])),
    ];
    for (basic, pairs) in cases {
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let refused = token(&app, basic, &pairs).await;
        assert_eq!(refused.error(), (400, "invalid_credentials"), "{pairs:?}");
    }
    let stolen = exchange_code(&app, &other, &code).await;
    assert_eq!(stolen.body["error"], "invalid_grant");
    for (verifier, uri, text) in [
        ("x", None, "PKCE verification failed: invalid code verifier"),
        (VERIFIER, Some("https://other.example/"), "Invalid redirect_uri"),
    ] {
        let mut pairs = vec![
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("code_verifier", verifier),
        ];
        pairs.extend(uri.map(|uri| ("redirect_uri", uri)));
        let refused = token(&app, Some((id, secret)), &pairs).await.body;
        assert_eq!(
            (&refused["error"], &refused["error_description"]),
            (&json!("invalid_grant"), &json!(text))
        );
    }
    assert_eq!(exchange_code(&app, &client, &code).await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn administrators_create_list_update_and_delete_oauth_clients() {
    let app = start_app(None).await;
    let body = json!({"client_name": "A", "redirect_uris": ["https://a.example/cb"]});
    let made = app
        .post("/admin/oauth/clients", body.clone())
        .admin()
        .send()
        .await;
    assert_eq!(
        (made.status, &made.body["registration_type"]),
        (201, &json!("manual"))
    );
    assert!(made.body["client_secret"].is_string());
    let path = format!(
        "/admin/oauth/clients/{}",
        made.body["client_id"].as_str().unwrap()
    );

    let shown = app.get(&path).admin().send().await.body;
    assert_eq!(
        (shown.get("client_secret"), &shown["client_name"]),
        (None, &json!("A"))
    );
    let listed = app.get("/admin/oauth/clients").admin().send().await.body;
    assert_eq!(listed["clients"].as_array().map(Vec::len), Some(1));
    let changed = app
        .put(&path, json!({"client_name": "B"}))
        .admin()
        .send()
        .await
        .body;
    assert_eq!(
        (&changed["client_name"], &changed["redirect_uris"]),
        (&json!("B"), &json!(["https://a.example/cb"]))
    );
    assert_eq!(
        app.put(&path, json!({})).admin().send().await.error(),
        (400, "validation_failed")
    );
    let mixed = app
        .put(&path, json!({"token_endpoint_auth_method": "none"}))
        .admin()
        .send()
        .await;
    assert_eq!(mixed.error(), (400, "validation_failed"));
    let renewed = app
        .post(&format!("{path}/regenerate_secret"), json!({}))
        .admin()
        .send()
        .await;
    assert_ne!(renewed.body["client_secret"], made.body["client_secret"]);
    let delete = || app.call(reqwest::Method::DELETE, &path).admin().send();
    assert_eq!(delete().await.status, 204);
    assert_eq!(delete().await.error(), (404, "oauth_client_not_found"));
    assert_eq!(app.post("/admin/oauth/clients", body).send().await.status, 401);
    let bad = app
        .post(
            "/admin/oauth/clients",
            json!({"redirect_uris": ["javascript:alert(1)"]}),
        )
        .admin();
    assert_eq!(bad.send().await.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn dynamic_client_registration_is_rate_limited() {
    let mut setup = setup();
    setup.config.rate_limits.client = proxy_header();
    // One more every five minutes: however long thirty requests take, none becomes free meanwhile.
    setup.config.rate_limits.client_registrations = 1;
    let app = TestApp::start_setup(setup).await;
    let register = |ip: &'static str| {
        let body = json!({"redirect_uris": ["https://a.example/cb"]});
        app.post("/oauth/clients/register", body)
            .header("x-real-ip", ip)
            .send()
    };

    for _ in 0..30 {
        assert_eq!(register("192.0.2.1").await.status, 201);
    }
    let refused = register("192.0.2.1").await;

    assert_eq!(
        (refused.error(), refused.message()),
        ((429, "over_request_rate_limit"), "Request rate limit reached")
    );
    assert_eq!(register("192.0.2.2").await.status, 201);
}
