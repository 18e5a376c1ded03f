//! Error responses: bad bearers, malformed bodies and queries, unknown routes, disabled features.

use reqwest::Method;
use selvedge_token::{KeyRing, development, unix_now};
use serde_json::json;

use crate::app::{PASSWORD, Setup, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_017_auth_018_the_api_version_header_chooses_the_error_format() {
    let app = TestApp::start().await;
    let body = json!({"email": "ana@example.com", "password": "wrong"});

    let new = app
        .post("/token?grant_type=password", body.clone())
        .header("origin", "https://site.example")
        .send()
        .await;
    let old = app
        .post("/token?grant_type=password", body)
        .header("x-supabase-api-version", "")
        .send()
        .await;

    assert_eq!(
        new.body,
        json!({"code": "invalid_credentials", "message": "Invalid login credentials"})
    );
    assert_eq!(
        (
            new.header("x-supabase-api-version"),
            new.header("x-sb-error-code")
        ),
        ("2024-01-01", "invalid_credentials")
    );
    assert!(
        new.header("access-control-expose-headers")
            .to_lowercase()
            .contains("x-supabase-api-version")
    );
    assert_eq!(
        old.body,
        json!({"code": 400, "error_code": "invalid_credentials", "msg": "Invalid login credentials"})
    );
    assert_eq!(old.header("x-supabase-api-version"), "");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_088_each_kind_of_bad_bearer_has_its_own_error() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let sign = |claims| app.keys.sign(&claims).unwrap();
    let now = unix_now();
    let (sub, exp) = (session.user["id"].clone(), now + 60);
    let foreign = KeyRing::new(b"another secret of at least 32 characters", &[]).unwrap();
    let cases = [
        (
            development::anon_key(),
            403,
            "bad_jwt",
            "invalid claim: missing sub claim",
        ),
        (
            sign(json!({"sub": sub, "role": "authenticated", "exp": now - 1})),
            403,
            "bad_jwt",
            "invalid JWT: unable to parse or verify signature, token has invalid claims: token is expired",
        ),
        (
            foreign.sign(&json!({"sub": sub, "exp": exp})).unwrap(),
            403,
            "bad_jwt",
            "invalid JWT: unable to parse or verify signature, token signature is invalid: signature is invalid",
        ),
        (
            // The header `{"alg":"HS512"}`, for which the project has no key.
            "eyJhbGciOiJIUzUxMiJ9.e30.AAAA".to_owned(),
            403,
            "bad_jwt",
            "invalid JWT: unable to parse or verify signature, token signature is invalid: signing method HS512 is invalid",
        ),
        (
            sign(json!({"sub": "ana", "exp": exp})),
            400,
            "bad_jwt",
            "invalid claim: sub claim must be a UUID",
        ),
        (
            sign(json!({"sub": uuid::Uuid::new_v4(), "exp": exp})),
            403,
            "user_not_found",
            "User from sub claim in JWT does not exist",
        ),
        (
            sign(json!({"sub": sub, "exp": exp, "session_id": uuid::Uuid::new_v4()})),
            403,
            "session_not_found",
            "Session from session_id claim in JWT does not exist",
        ),
    ];
    for (token, status, code, message) in cases {
        let response = app.get("/user").bearer(&token).send().await;
        assert_eq!((response.error(), response.message()), ((status, code), message));
    }
    let none = app.get("/user").header("apikey", "").send().await;
    assert_eq!(
        (none.error(), none.message()),
        (
            (401, "no_authorization"),
            "This endpoint requires a valid Bearer token"
        )
    );
    let publishable = app
        .get("/user")
        .header("apikey", &development::publishable_key())
        .send()
        .await;
    assert_eq!(publishable.message(), "invalid claim: missing sub claim");
    // Header `{"alg":"none"}` and no signature.
    let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.";
    assert_eq!(
        app.get("/user").bearer(unsigned).send().await.error(),
        (403, "bad_jwt")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_088_a_subject_without_a_session_counts_only_where_the_project_allows_it() {
    for (is_allowed, expected) in [(false, (403, "session_not_found")), (true, (200, ""))] {
        let app = TestApp::start_with(|config| config.tokens_without_session = is_allowed).await;
        let session = app.user("ana@example.com").await;
        let claims = json!({
            "sub": session.user["id"], "aud": "authenticated", "role": "authenticated", "exp": unix_now() + 60,
        });

        let token = app.keys.sign(&claims).unwrap();
        let user = app.get("/user").bearer(&token).send().await;

        assert_eq!(user.error(), expected);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_088_a_token_of_a_node_whose_clock_is_ahead_is_accepted() {
    let app = TestApp::start_with(|config| config.tokens_without_session = true).await;
    let session = app.user("ana@example.com").await;
    let now = unix_now();
    let get_user = async |start: i64| {
        let claims = json!({
            "sub": session.user["id"], "aud": "authenticated", "role": "authenticated", "exp": now + 3600,
            "iat": start, "nbf": start,
        });
        app.get("/user")
            .bearer(&app.keys.sign(&claims).unwrap())
            .send()
            .await
    };

    assert_eq!(get_user(now + 55).await.status, 200);
    let early = get_user(now + 3000).await;
    assert_eq!(early.error(), (403, "bad_jwt"));
    assert!(
        early.message().ends_with("token is not valid yet"),
        "{}",
        early.message()
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_091_malformed_and_large_bodies_are_rejected_and_unknown_members_ignored() {
    let app = TestApp::start().await;
    let post = |body: Vec<u8>| app.call(Method::POST, "/signup").json_bytes(body).send();

    let malformed = post(b"{\"email\":".to_vec()).await;
    let empty = post(Vec::new()).await;
    let wrong_type = post(br#"{"email": 7}"#.to_vec()).await;
    let large = post(vec![b' '; 2 << 20]).await;
    let unknown =
        post(br#"{"email":"ana@example.com","password":"correct horse","surprise":[1]}"#.to_vec()).await;

    assert_eq!(malformed.error(), (400, "bad_json"));
    assert!(
        malformed
            .message()
            .starts_with("Could not parse request body as JSON: ")
    );
    assert_eq!(
        (empty.error(), wrong_type.error()),
        ((400, "bad_json"), (400, "bad_json"))
    );
    assert_eq!(large.error(), (413, "request_entity_too_large"));
    assert_eq!(unknown.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn unknown_routes_answer_404_and_unknown_methods_405() {
    let app = TestApp::start().await;

    let nothing = app.get("/nothing").send().await;
    assert_eq!(
        (nothing.status, &nothing.body),
        (404, &json!("404 page not found\n"))
    );
    assert_eq!(nothing.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(nothing.header("x-content-type-options"), "nosniff");
    let wrong = app
        .call(Method::DELETE, "/user/")
        .bearer(&app.user("ana@example.com").await.access_token);
    let wrong = wrong.send().await;
    assert_eq!((wrong.status, &wrong.body), (405, &serde_json::Value::Null));
    assert_eq!(wrong.header("allow"), "GET, PUT");
    assert_eq!(app.get("/signup").send().await.header("allow"), "POST");
    assert_eq!(app.get("/health/").send().await.status, 200);
    assert_eq!(app.get("/admin/users/").admin().send().await.status, 200);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_061_unauthenticated_callers_get_401_whether_a_path_exists_or_not() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;

    for path in [
        "/user/nothing",
        "/factors",
        "/reauthenticate/x",
        "/admin/nothing",
        "/admin/generate_link",
    ] {
        assert_eq!(
            app.get(path).send().await.error(),
            (401, "no_authorization"),
            "{path}"
        );
    }
    for path in ["/admin/nothing", "/admin/generate_link"] {
        let response = app.get(path).bearer(&session.access_token).send().await;
        assert_eq!(response.error(), (403, "not_admin"), "{path}");
    }
    let known = [("/user/nothing", 404), ("/factors", 405), ("/logout", 405)];
    for (path, status) in known {
        let response = app.get(path).bearer(&session.access_token).send().await;
        assert_eq!(response.status, status, "{path}");
    }
    assert_eq!(app.get("/admin/nothing").admin().send().await.status, 404);
    assert_eq!(app.get("/logout").send().await.status, 405);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_095_a_disabled_feature_is_reported_before_authentication() {
    let app = TestApp::start().await;
    let cases = [
        (Method::GET, "/passkeys", "passkey_disabled"),
        (Method::POST, "/passkeys/registration/options", "passkey_disabled"),
        (Method::PATCH, "/passkeys/x", "passkey_disabled"),
        (Method::PUT, "/passkeys/nothing/at/all", "passkey_disabled"),
        (Method::GET, "/oauth/userinfo", "feature_disabled"),
        (Method::GET, "/oauth/authorizations/x", "feature_disabled"),
        (Method::GET, "/oauth/nothing", "feature_disabled"),
    ];

    for (method, path, code) in cases {
        let response = app.call(method, path).send().await;
        assert_eq!(response.error(), (404, code), "{path}");
        assert_eq!(response.header("x-sb-error-code"), code);
    }
    let ana = app.user("ana@example.com").await;
    let of_ana = format!("/admin/users/{}/passkeys", ana.user_id());
    let passkeys = app.get(&of_ana).admin().send().await;
    assert_eq!(
        (passkeys.status, passkeys.body),
        (200, json!([])),
        "administrators see what is left"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_096_settings_and_health_contain_no_secret() {
    let app = TestApp::start().await;

    let health = app.get("/health").send().await;
    let settings = app.get("/settings").send().await;

    assert_eq!(health.body["name"], "GoTrue");
    assert_eq!(settings.body["external"]["email"], true);
    assert_eq!(settings.body["external"]["google"], false);
    assert_eq!(
        (
            &settings.body["mailer_autoconfirm"],
            &settings.body["disable_signup"]
        ),
        (&json!(false), &json!(false))
    );
    assert!(!settings.body.to_string().contains("secret"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_050_jwks_contains_only_public_keys() {
    let symmetric = TestApp::start().await;
    let key = development::signing_key();
    let keys = KeyRing::new(development::JWT_SECRET.as_bytes(), &[key]).unwrap();
    let asymmetric = TestApp::start_setup(Setup {
        keys,
        ..Setup::default()
    })
    .await;

    let none = symmetric.get("/.well-known/jwks.json").send().await;
    let listed = asymmetric.get("/.well-known/jwks.json").send().await;

    assert_eq!(
        (none.body, none.headers["cache-control"].to_str().unwrap()),
        (json!({"keys": []}), "public, max-age=600")
    );
    let discovery = asymmetric.get("/.well-known/openid-configuration").send().await;
    let issuer = discovery.body["issuer"].as_str().unwrap();
    assert_eq!(
        discovery.body["jwks_uri"],
        format!("{issuer}/.well-known/jwks.json")
    );
    let public = &listed.body["keys"][0];
    assert_eq!((&public["kty"], &public["use"]), (&json!("EC"), &json!("sig")));
    assert!(public.get("d").is_none());
    let session = asymmetric.user("ana@example.com").await;
    assert_eq!(
        asymmetric
            .get("/user")
            .bearer(&session.access_token)
            .send()
            .await
            .status,
        200
    );
    let header = session.access_token.split('.').next().unwrap();
    let header = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, header).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
    assert_eq!(
        (&header["alg"], &header["kid"]),
        (&json!("ES256"), &public["kid"])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_043_auth_083_auth_095_disabled_features_answer_4xx_so_that_clients_do_not_retry() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;
    let cases = [
        (
            Method::GET,
            "/authorize?provider=google",
            400,
            "validation_failed",
        ),
        (
            Method::GET,
            "/user/identities/authorize?provider=google",
            404,
            "manual_linking_disabled",
        ),
        (Method::POST, "/sso", 404, "saml_provider_disabled"),
        (
            Method::POST,
            "/passkeys/authentication/options",
            404,
            "passkey_disabled",
        ),
        (Method::GET, "/oauth/authorize", 404, "feature_disabled"),
        (
            Method::GET,
            "/.well-known/oauth-authorization-server",
            404,
            "feature_disabled",
        ),
        (Method::GET, "/scim/v2/Schemas", 404, "feature_disabled"),
        (Method::POST, "/factors", 422, "mfa_totp_enroll_not_enabled"),
        (
            Method::POST,
            "/token?grant_type=web3",
            422,
            "web3_provider_disabled",
        ),
    ];
    for (method, path, status, code) in cases {
        let response = app
            .call(method, path)
            .json(&json!({"factor_type": "totp", "id_token": "x.y.z", "provider": "google"}))
            .bearer(&session.access_token)
            .send()
            .await;
        assert_eq!(response.error(), (status, code), "{path}");
    }
    let provider = app.get("/authorize?provider=google").send().await;
    assert!(provider.message().starts_with("Unsupported provider"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn the_header_x_jwt_aud_with_another_audience_is_refused() {
    let app = TestApp::start().await;
    let session = app.user("ana@example.com").await;

    let other = app
        .get("/user")
        .bearer(&session.access_token)
        .header("x-jwt-aud", "elsewhere")
        .send()
        .await;
    let body = json!({"email": "ana@example.com", "password": PASSWORD});
    let sign_in = app
        .post("/token?grant_type=password", body)
        .header("x-jwt-aud", "elsewhere")
        .send()
        .await;

    assert_eq!(other.error(), (400, "validation_failed"));
    assert_eq!(sign_in.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_113_an_unknown_audience_tells_nothing_about_addresses_and_gets_into_no_token() {
    let app = TestApp::start_with(|config| {
        config.anonymous_users_enabled = true;
        config.audiences = vec!["partners".to_owned()];
    })
    .await;
    app.user("ana@example.com").await;
    let ask = async |path: &str, email: &str, audience: &str| {
        let body = json!({"email": email, "password": PASSWORD});
        let asked = app.post(path, body).header("x-jwt-aud", audience).send().await;
        (asked.status, asked.body)
    };

    for path in ["/signup", "/otp"] {
        let known = ask(path, "ana@example.com", "nobody").await;
        assert_eq!(known.0, 400, "{}", known.1);
        assert_eq!(known, ask(path, "ben@example.com", "nobody").await, "{path}");
    }
    let anonymous = app.post("/signup", json!({})).header("x-jwt-aud", "billing");
    assert_eq!(anonymous.send().await.error(), (400, "validation_failed"));
    let partner = app.post("/signup", json!({})).header("x-jwt-aud", "partners");
    let session = partner.send().await.session();
    assert_eq!(session.user["aud"], "partners");
    let user = app.get("/user").bearer(&session.access_token).send().await;
    assert_eq!(user.status, 200, "{}", user.body);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_repeated_grant_type_is_a_validation_error() {
    let app = TestApp::start().await;

    let twice = app
        .post("/token?grant_type=password&grant_type=pkce", json!({}))
        .send()
        .await;

    assert_eq!(twice.error(), (400, "validation_failed"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_091_of_repeated_members_the_last_counts_and_of_repeated_parameters_the_first() {
    let app = TestApp::start().await;
    let admin = |body: &str| {
        app.call(Method::POST, "/admin/users")
            .admin()
            .json_bytes(body.to_owned())
    };

    let nulls = r#"{"email": "ana@example.com", "email_confirm": null, "phone_confirm": null, "role": null}"#;
    assert_eq!(admin(nulls).send().await.status, 200, "null is no flag");
    let twice = r#"{"email": "x@example.com", "email": "bea@example.com"}"#;
    assert_eq!(
        admin(twice).send().await.body["email"],
        "bea@example.com",
        "the last member counts"
    );
    let long = json!({"email": "cem@example.com", "role": "r".repeat(300)}).to_string();
    assert_eq!(admin(&long).send().await.error(), (400, "validation_failed"));
    for body in ["[]", "1", "\"text\"", "{} {}", ""] {
        assert_eq!(admin(body).send().await.error(), (400, "bad_json"), "{body}");
    }
    let session = app.user("dan@example.com").await;
    let call = app.call(Method::POST, "/logout?scope=local&scope=nonsense");
    let response = call.bearer(&session.access_token).send().await;
    assert_eq!(response.status, 204, "the first parameter counts");
}
