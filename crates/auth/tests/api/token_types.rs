//! A signed token says what it is: sessions of OAuth clients and ID tokens are no sessions of the user.

use reqwest::Method;
use selvedge_token::KeyAlgorithm;
use serde_json::{Value, json};

use crate::app::{PASSWORD, Session, TestApp};
use crate::hooks::{create_function, database_hook};
use crate::oauth_server::{consent, exchange_code, register, start_app};

/// The token response of a client that a user has granted these scopes.
async fn grant(app: &TestApp, user: &Session, scope: &str) -> Value {
    let client = register(app, "none").await;
    let code = consent(app, &client, user, scope).await;
    let response = exchange_code(app, &client, &code).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_099_a_clients_token_reaches_userinfo_and_not_the_account() {
    let app = start_app(None).await;
    let ana = app.user("ana@example.com").await;
    let tokens = grant(&app, &ana, "email").await;
    let token = tokens["access_token"].as_str().unwrap();
    let refused = (403, "no_authorization");

    let userinfo = app.get("/oauth/userinfo").bearer(token).send().await;
    assert_eq!(userinfo.body["email"], "ana@example.com");
    for (method, path, body) in [
        (Method::GET, "/user", json!({})),
        (Method::PUT, "/user", json!({"password": "client's own"})),
        (Method::POST, "/factors", json!({"factor_type": "totp"})),
        (Method::GET, "/user/oauth/grants", json!({})),
        (Method::GET, "/reauthenticate", json!({})),
        (Method::POST, "/logout?scope=others", json!({})),
    ] {
        let response = app
            .call(method.clone(), path)
            .json(&body)
            .bearer(token)
            .send()
            .await;
        assert_eq!(response.error(), refused, "{method} {path}");
    }
    // A client cannot widen its own grant.
    let client = register(&app, "none").await;
    let id = client["client_id"].as_str().unwrap();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let url = format!(
        "/oauth/authorize?client_id={id}&redirect_uri=https%3A%2F%2Fprogram.example%2Fcb%3Fx%3D1&scope=phone&\
         code_challenge={challenge}&code_challenge_method=S256"
    );
    let location = app.get(&url).send().await.header("location").to_owned();
    let authorization = location.rsplit('=').next().unwrap();
    let opened = app
        .get(&format!("/oauth/authorizations/{authorization}"))
        .bearer(token);
    assert_eq!(opened.send().await.error(), refused);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_014_a_client_signs_itself_out_and_nobody_else() {
    let app = start_app(None).await;
    let ana = app.user("ana@example.com").await;
    for scope in ["", "?scope=global", "?scope=local"] {
        let tokens = grant(&app, &ana, "email").await;
        let token = tokens["access_token"].as_str().unwrap();

        let signed_out = app
            .post(&format!("/logout{scope}"), json!({}))
            .bearer(token)
            .send()
            .await;

        assert_eq!(signed_out.status, 204, "{scope}");
        let userinfo = app.get("/oauth/userinfo").bearer(token).send().await;
        assert_eq!(userinfo.error(), (403, "session_not_found"), "{scope}");
        let user = app.get("/user").bearer(&ana.access_token).send().await;
        assert_eq!(user.status, 200, "{scope}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_099_an_id_token_is_no_bearer() {
    let app = start_app(Some(KeyAlgorithm::Es256)).await;
    let ana = app.user("ana@example.com").await;
    let tokens = grant(&app, &ana, "openid email").await;
    let id_token = tokens["id_token"].as_str().unwrap();

    for path in ["/user", "/oauth/userinfo", "/admin/users"] {
        let response = app.get(path).bearer(id_token).send().await;
        assert_eq!(response.error(), (403, "bad_jwt"), "{path}");
    }
    let changed = app
        .put("/user", json!({"password": "by ID token"}))
        .bearer(id_token);
    assert_eq!(changed.send().await.error(), (403, "bad_jwt"));
    assert!(app.keys.verify_bearer(id_token).is_err(), "nor elsewhere");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_099_discovery_does_not_offer_plain_pkce() {
    let app = start_app(None).await;

    let document = app.get("/.well-known/openid-configuration").send().await.body;

    assert_eq!(document["code_challenge_methods_supported"], json!(["S256"]));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_112_claims_of_a_hook_make_no_session_one_of_a_client_or_of_another_audience() {
    let app = TestApp::start_with(|config| {
        config.email.autoconfirm = true;
        config.hooks.custom_access_token = database_hook("claims");
    })
    .await;
    create_function(
        &app,
        "claims",
        "begin return jsonb_build_object('claims', event -> 'claims' || \
           jsonb_build_object('client_id', 'acme', 'aud', 'elsewhere')); end",
    )
    .await;

    let session = app.sign_up("ana@example.com", PASSWORD).await.session();

    let claims = app.keys.verify(&session.access_token).unwrap().map().clone();
    assert_eq!(
        (&claims["client_id"], &claims["aud"]),
        (&json!("acme"), &json!("elsewhere"))
    );
    let user = app.get("/user").bearer(&session.access_token).send().await;
    assert_eq!(user.status, 200, "{}", user.body);
    let changed = app
        .put("/user", json!({"data": {"nickname": "A"}}))
        .bearer(&session.access_token);
    assert_eq!(changed.send().await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_123_an_administrator_loses_the_role_with_the_row() {
    for by_hook in [false, true] {
        let app = TestApp::start_with(|config| {
            if by_hook {
                config.hooks.custom_access_token = database_hook("give_role");
            }
        })
        .await;
        create_function(
            &app,
            "give_role",
            "begin return jsonb_set(event, '{claims,role}', '\"service_role\"'); end",
        )
        .await;
        app.user("ana@example.com").await;
        if !by_hook {
            app.sql("update auth.users set role = 'service_role'", &[]).await;
        }
        let ana = app.sign_in("ana@example.com", PASSWORD).await.session();
        let users = || app.get("/admin/users").bearer(&ana.access_token).send();
        assert_eq!(users().await.status, 200, "{by_hook}");

        app.sql("update auth.users set role = 'authenticated'", &[]).await;

        // Where the hook gives roles, only the token knows.
        assert_eq!(users().await.status == 200, by_hook);
    }
}
