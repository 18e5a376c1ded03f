//! How callers are identified: tokens, API keys, roles.

use selvedge_storage::StorageConfig;
use selvedge_token::{development, unix_now};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_024_preflights_pass_without_a_token() {
    let app = TestApp::start().await;

    // Browsers send preflights without credentials, so these must not require a token.
    for path in ["/object/b/x", "/bucket", "/object/list/b", "/object/public/b/x"] {
        let response = app
            .nobody()
            .request(reqwest::Method::OPTIONS, path)
            .header("origin", "http://localhost:3000")
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "authorization,apikey,x-client-info,content-type,x-upsert,x-metadata,cache-control",
            )
            .send()
            .await
            .ok();
        let allowed = response
            .header("access-control-allow-headers")
            .expect("allowed headers")
            .to_owned();
        for header in ["authorization", "x-upsert", "x-metadata", "cache-control"] {
            assert!(allowed.contains(header), "{path}: {allowed}");
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_025_errors_have_cors_headers_and_four_text_fields() {
    let app = TestApp::start().await;

    let response = app
        .anon()
        .request(reqwest::Method::GET, "/object/b/x")
        .header("origin", "http://x")
        .send()
        .await;

    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    let body = response.json();
    let fields: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["statusCode", "error", "message", "code"]);
    assert!(
        body.as_object()
            .expect("an object")
            .values()
            .all(serde_json::Value::is_string),
        "{body}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_026_a_missing_token_is_reported_as_a_missing_header() {
    let app = TestApp::start().await;

    let response = app.nobody().get("/bucket").await;

    response.is(400, "400", "InvalidRequest");
    assert_eq!(response.json()["error"], "Error");
    assert_eq!(
        response.message(),
        "headers must have required property 'authorization'"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_026_behind_a_gateway_a_missing_token_is_an_empty_one() {
    let app = TestApp::start_with(|config| StorageConfig {
        behind_gateway: true,
        ..config
    })
    .await;

    for response in [
        app.nobody().get("/bucket").await,
        app.nobody().post("/bucket", json!({"name": "b"})).await,
        app.nobody().upload("b/x", "bytes").await,
    ] {
        response.is(400, "403", "AccessDenied");
        assert_eq!(response.message(), "Invalid Compact JWS");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_027_the_error_says_why_a_token_is_invalid() {
    let app = TestApp::start().await;
    let expired = app
        .keys
        .sign_hs256(&json!({"role": "authenticated", "exp": unix_now() - 10}))
        .expect("signs");
    let early = app
        .keys
        .sign_hs256(&json!({"role": "authenticated", "nbf": unix_now() + 3600}))
        .expect("signs");
    let forged = selvedge_token::KeyRing::new(b"another-secret-that-is-long-enough-0123456789", &[])
        .expect("a secret")
        .sign_hs256(&json!({"role": "service_role"}))
        .expect("signs");

    for (token, text) in [
        ("garbage", "Invalid Compact JWS"),
        (expired.as_str(), "\"exp\" claim timestamp check failed"),
        (early.as_str(), "\"nbf\" claim timestamp check failed"),
        (forged.as_str(), "signature verification failed"),
        // The header `{"alg":"HS512"}`, for which the project has no key.
        (
            "eyJhbGciOiJIUzUxMiJ9.e30.AAAA",
            "\"alg\" (Algorithm) Header Parameter value not allowed",
        ),
    ] {
        let response = app.with_token(token).get("/bucket").await;
        response.is(400, "403", "AccessDenied");
        assert_eq!(
            (response.message().as_str(), &response.json()["error"]),
            (text, &json!("Unauthorized"))
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_028_publishable_and_secret_keys_act_as_their_roles() {
    let app = TestApp::start().await;
    app.service_role()
        .post("/bucket", json!({"name": "b"}))
        .await
        .ok();

    for client in [
        app.with_token(&development::secret_key()),
        app.with_api_key(&development::secret_key()),
    ] {
        assert_eq!(client.get("/bucket").await.ok().names(), ["b"]);
    }
    for client in [
        app.with_token(&development::publishable_key()),
        app.with_api_key(&development::publishable_key()),
    ] {
        assert_eq!(client.get("/bucket").await.ok().json(), json!([]));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_098_status_version_and_health_respond() {
    let app = TestApp::start().await;

    assert_eq!(app.nobody().get("/status").await.ok().text(), "");
    assert!(!app.nobody().get("/version").await.ok().text().is_empty());
    assert_eq!(
        app.anon().get("/health").await.ok().json(),
        json!({"healthy": true})
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_099_only_the_service_role_purges_the_cache() {
    let app = TestApp::start().await;

    assert_eq!(
        app.service_role().delete("/cdn/b/x").await.ok().message(),
        "success"
    );
    app.user("ana")
        .delete("/cdn/b/x")
        .await
        .is(403, "403", "AccessDenied");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_100_unknown_routes_and_roles_are_reported() {
    let app = TestApp::start().await;

    app.service_role()
        .get("/nope")
        .await
        .is(404, "404", "InvalidRequest");
    for role in ["no_such_role", "", "a\"b", "postgres", "supabase_admin"] {
        for path in ["/bucket", "/object/authenticated/b/x"] {
            let response = app.with_claims(json!({"role": role})).get(path).await;
            // Clients retry after a 5xx.
            assert!(
                response.status.as_u16() < 500,
                "{role:?} {path}: {}",
                response.text()
            );
            // The message of PostgreSQL is for the log: names of roles must not reach the client.
            assert!(!response.text().contains("no_such_role"), "{}", response.text());
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_100_database_errors_have_a_status_and_hide_details() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b');
         create function public.refuse(code text) returns boolean language plpgsql as
           $$ begin raise exception using errcode = code, message = 'internals'; end $$;
         create policy \"refuse\" on storage.objects for insert to authenticated
           with check (bucket_id = 'b' and public.refuse(name))",
    )
    .await;

    for (code, http, status_code, error) in [
        // The policy raises the SQLSTATE that the key names.
        ("57014", 544, "544", "DatabaseTimeout"),
        ("P0001", 500, "500", "DatabaseError"),
        ("25006", 400, "503", "DatabaseReadOnly"),
        ("55P03", 400, "423", "ResourceLocked"),
        ("40P01", 400, "503", "LockTimeout"),
        ("42501", 400, "403", "AccessDenied"),
    ] {
        app.user("ana")
            .upload(&format!("b/{code}"), "x")
            .await
            .is(http, status_code, error);
    }
    let unexpected = app.user("ana").upload("b/P0001", "x").await;
    assert_eq!(unexpected.message(), "database error, code: P0001");
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_100_nul_characters_are_refused_as_client_errors() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let admin = app.service_role();

    let responses = [
        admin.post("/object/list/b", json!({"prefix": "a\u{0}b"})).await,
        admin.remove("b", &["a\u{0}b"]).await,
        admin
            .post(
                "/object/move",
                json!({"bucketId": "b", "sourceKey": "a\u{0}", "destinationKey": "c"}),
            )
            .await,
        admin.get("/bucket/a%00b").await,
    ];

    for response in responses {
        assert_eq!(response.status.as_u16(), 400, "{}", response.text());
    }
    // Base64 of {"a":"\u0000"}, which JSON allows and jsonb refuses.
    let metadata = "eyJhIjoiXHUwMDAwIn0=";
    let response = admin
        .upload_request("b/x", "x")
        .header("x-metadata", metadata)
        .send()
        .await;
    assert_eq!(response.status.as_u16(), 400, "{}", response.text());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_027_a_token_without_the_bearer_scheme_is_accepted() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let admin = app.service_role();
    let with = async |authorization: &str| {
        let request = app.nobody().request(reqwest::Method::GET, "/bucket/b");
        request.header("authorization", authorization).send().await
    };

    assert_eq!(with(admin.token()).await.status, 200);
    assert_eq!(with(&format!("bearer {}", admin.token())).await.status, 200);
    with(&admin.token()[1..]).await.is(400, "403", "AccessDenied");
    with("nonsense").await.is(400, "403", "AccessDenied");
    with("Basic a.b.c").await.is(400, "403", "AccessDenied");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_067_rejects_bucket_names_over_the_length_limit() {
    let app = TestApp::start().await;

    let long = app
        .service_role()
        .get(&format!("/bucket/{}", "b".repeat(2501)))
        .await;

    long.is(414, "414", "InvalidRequest");
}
