//! The service without a gateway: tokens, CORS, headers and the admin server.

use std::time::Duration;

use selvedge_memory::{MemoryBudget, MemoryLimit, watch_memory};
use selvedge_postgres::RequestPoolConfig;
use selvedge_rest::RestConfig;
use serde_json::json;

use crate::standalone_app::{Start, until};

const ITEMS: &str = "create table public.items (id int primary key); insert into public.items values (1);
    grant usage on schema public to anon, authenticated; grant select, insert on public.items to anon, authenticated;
    create function public.me() returns text language sql as $$ select current_user::text $$;
    create function public.fail(message text) returns void language plpgsql as
      $$ begin raise sqlstate 'PT402' using message = message; end $$;
    create function public.fail_loudly() returns void language plpgsql as $$ begin raise sqlstate 'PGRST' using
      message = '{\"code\":\"X1\",\"message\":\"m\"}', detail = '{\"status\":418,\"headers\":{},\"status_text\":\"Short and stout\"}'; end $$;
    create function public.root() returns json language sql as $$ select '{\"own\":true}'::json $$;";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_001_standalone_tokens_are_verified_by_jwt_secret() {
    let app = Start::on(ITEMS).run().await;

    assert_eq!(app.anon().get("/rpc/me").await.text, r#""anon""#);
    let user = app.with_claims(&json!({"role": "authenticated"}));
    assert_eq!(user.get("/rpc/me").await.text, r#""authenticated""#);
    for (authorization, status, code) in [
        ("Basic abc", 200, ""),
        ("bearer", 401, "PGRST301"),
        ("Bearer a.b", 401, "PGRST301"),
    ] {
        let response = app
            .anon()
            .get_with("/items", &[("authorization", authorization)])
            .await;
        assert_eq!(response.status, status, "{authorization}");
        if status != 200 {
            assert_eq!(response.code(), code);
        }
    }
    let expired = app
        .with_claims(&json!({"role": "authenticated", "exp": 1}))
        .get("/items")
        .await;
    assert_eq!((expired.status, expired.code().as_str()), (401, "PGRST303"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_001_without_anonymous_role_or_secret_requests_get_pgrst302_or_pgrst300() {
    let start = Start::on(ITEMS);
    let config = RestConfig {
        anon_role: None,
        jwt_secret: None,
        ..start.config
    };
    let app = Start { config, ..start }.run().await;

    let anonymous = app.anon().get("/items").await;
    let with_token = app
        .with_claims(&json!({"role": "authenticated"}))
        .get("/items")
        .await;

    assert_eq!((anonymous.status, anonymous.code().as_str()), (401, "PGRST302"));
    assert_eq!((with_token.status, with_token.code().as_str()), (500, "PGRST300"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_081_cors_headers_equal_postgrests() {
    let app = Start::on(ITEMS).run().await;
    let origin = ("origin", "https://site.example");

    let preflight = app
        .anon()
        .send(
            "OPTIONS",
            "/items",
            &[
                origin,
                ("access-control-request-method", "POST"),
                ("access-control-request-headers", "Foo,Bar"),
                ("authorization", "Bearer broken"),
            ],
            None,
        )
        .await;
    assert_eq!((preflight.status, preflight.text.as_str()), (200, ""));
    for (name, value) in [
        ("access-control-allow-origin", "*"),
        (
            "access-control-allow-methods",
            "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD",
        ),
        (
            "access-control-allow-headers",
            "Authorization, Foo, Bar, Accept, Accept-Language, Content-Language",
        ),
        ("access-control-max-age", "86400"),
    ] {
        assert_eq!(preflight.header(name), Some(value));
    }
    for path in ["/items", "/nothing"] {
        let response = app.anon().get_with(path, &[origin]).await;
        assert_eq!(
            response.header("access-control-allow-origin"),
            Some("*"),
            "{path}"
        );
        let exposed = response
            .header("access-control-expose-headers")
            .unwrap_or_default();
        assert!(
            exposed.contains("Content-Range") && exposed.contains("Location"),
            "{exposed}"
        );
    }
    // A preflight for a method that is not served is an ordinary OPTIONS.
    let headers = [origin, ("access-control-request-method", "BREW")];
    let ordinary = app.anon().send("OPTIONS", "/items", &headers, None).await;
    assert!(ordinary.header("allow").is_some(), "{ordinary:?}");
    let same_origin = app.anon().get("/items").await;
    assert_eq!(same_origin.header("access-control-allow-origin"), None);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_081_only_listed_origins_get_cors_headers() {
    let start = Start::on(ITEMS);
    let config = RestConfig {
        cors_allowed_origins: vec!["https://good.example".to_owned()],
        ..start.config
    };
    let app = Start { config, ..start }.run().await;
    let ask = |origin: &'static str| {
        let anon = app.anon();
        async move { anon.get_with("/items", &[("origin", origin)]).await }
    };

    let listed = ask("https://good.example").await;
    let other = ask("https://evil.example").await;

    assert_eq!(
        listed.header("access-control-allow-origin"),
        Some("https://good.example")
    );
    assert_eq!(listed.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(
        (other.status, other.header("access-control-allow-origin")),
        (200, None)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_121_the_trace_header_is_repeated_on_every_response() {
    let start = Start::on(ITEMS);
    let config = RestConfig {
        trace_header: Some("x-request-id".to_owned()),
        server_timing_enabled: true,
        ..start.config
    };
    let app = Start { config, ..start }.run().await;

    for (method, path) in [
        ("GET", "/items"),
        ("GET", "/nothing"),
        ("OPTIONS", "/items"),
        ("HEAD", "/items"),
    ] {
        let response = app
            .anon()
            .send(method, path, &[("x-request-id", "abc-1")], None)
            .await;
        assert_eq!(response.header("x-request-id"), Some("abc-1"), "{method} {path}");
        let timing = response.header("server-timing");
        assert_eq!(timing.is_some(), path == "/items", "{method} {path}");
        if let Some(timing) = timing {
            let names: Vec<_> = timing
                .split(", ")
                .map(|part| part.split(';').next().unwrap_or_default())
                .collect();
            assert_eq!(names, ["jwt", "parse", "plan", "transaction", "response"]);
        }
    }
    assert_eq!(app.anon().get("/items").await.header("x-request-id"), Some(""));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_043_server_max_body_bytes_sets_the_limit_of_bodies() {
    let mut start = Start::on(ITEMS);
    start
        .config
        .set("server-max-body-bytes", "20")
        .expect("a good value");
    let app = start.run().await;

    let small = app.anon().post("/items", &json!({ "id": 2 })).await;
    let large = app
        .anon()
        .post("/items", &json!([{ "id": 3 }, { "id": 4 }, { "id": 5 }]))
        .await;

    assert_eq!(small.status, 201, "{small:?}");
    assert_eq!((large.status, large.code().as_str()), (413, "PGRST102"));
    assert_eq!(
        large.json()["message"],
        "The request body is larger than 20 bytes"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_118_root_spec_replaces_the_root_document() {
    let start = Start::on(ITEMS);
    let config = RestConfig {
        root_spec: Some("public.root".to_owned()),
        ..start.config
    };
    let app = Start { config, ..start }.run().await;

    assert_eq!(app.anon().get("/").await.text, r#"{"own":true}"#);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_097_admin_server_reports_live_ready_metrics_and_schema_cache() {
    let start = Start::on(ITEMS);
    let app = Start {
        reachable: false,
        ..start
    }
    .run()
    .await;
    let admin = app.admin();
    assert_eq!(admin.get("/live").await.status, 200);
    assert_eq!(admin.get("/ready").await.status, 503);
    assert_eq!(admin.get("/schema_cache").await.status, 503);

    app.proxy.accept_connections();

    admin.until("/ready", |response| response.status == 200).await;
    assert_eq!(admin.get("/nothing").await.status, 404);
    for path in ["/live", "/ready"] {
        assert_eq!(
            admin.send("HEAD", path, &[], None).await.status,
            200,
            "probes may use HEAD"
        );
    }
    let user = app.with_claims(&json!({"role": "authenticated"}));
    for _ in 0..3 {
        assert_eq!(user.get("/items").await.status, 200);
    }
    let tables = admin.get("/schema_cache").await.json();
    assert_eq!(tables["dbTables"][0]["tableName"], "items");
    let metrics = admin.get("/metrics").await.text;
    for line in [
        "pgrst_db_pool_max 10",
        "pgrst_db_pool_available 10",
        "pgrst_db_pool_waiting 0",
        "pgrst_db_pool_timeouts_total 0",
        "pgrst_jwt_cache_requests_total 3",
        "pgrst_jwt_cache_hits_total 2",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
    assert!(metrics.contains("pgrst_schema_cache_loads_total{status=\"SUCCESS\"}"));
}

/// The status line with its reason phrase, which HTTP clients hide.
async fn status_line(url: &str, path: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let address = url.strip_prefix("http://").expect("a URL");
    let mut stream = tokio::net::TcpStream::connect(address)
        .await
        .expect("the server listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("written");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("a response");
    response.lines().next().unwrap_or_default().to_owned()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_075_raised_errors_choose_the_reason_phrase() {
    let app = Start::on(ITEMS).run().await;
    let url = app.url();

    for (path, line) in [
        (
            "/rpc/fail?message=Payment%20Required%20Now",
            "HTTP/1.1 402 Payment Required Now",
        ),
        ("/rpc/fail_loudly", "HTTP/1.1 418 Short and stout"),
        ("/rpc/fail?message=a%0D%0Ax-evil:%201", "HTTP/1.1 402 ax-evil: 1"),
    ] {
        assert_eq!(status_line(url, path).await, line);
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_049_standalone_requests_are_refused_while_memory_runs_short() {
    let memory = MemoryBudget::new(1_000_000);
    let start = Start::on(
        "grant usage on schema public to anon;
         create function public.wait() returns int language sql volatile as
           $$ select 1 from pg_advisory_xact_lock(49) $$;
         create function public.one() returns int language sql stable as $$ select 1 $$;",
    );
    let pool = RequestPoolConfig {
        memory: memory.clone(),
        ..start.pool
    };
    let app = Start { pool, ..start }.run().await;
    let holder = app.database.superuser().await;
    let hold = "begin; select pg_advisory_xact_lock(49)";
    holder.batch_execute(hold).await.expect("locked");
    // Every process uses more than one byte.
    let limit = MemoryLimit::find(Some(1)).expect("it is configured");
    watch_memory(limit, memory.clone(), |_| false).expect("a thread");
    until("memory runs short", || memory.is_short()).await;

    // The only worker takes one request at a time.
    assert_eq!(app.anon().get("/rpc/one").await.status, 200);
    let client = app.anon();
    let waiting = tokio::spawn(async move { client.post("/rpc/wait", &json!({})).await });
    let is_waiting = "select exists (select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database()))";
    while !holder
        .query_one(is_waiting, &[])
        .await
        .expect("a row")
        .get::<_, bool>(0)
    {
        assert!(!waiting.is_finished(), "it does not wait");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let refused = app.anon().get("/rpc/one").await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "53200"));
    assert_eq!(refused.header("retry-after"), Some("1"));

    holder.batch_execute("commit").await.expect("unlocked");
    assert_eq!(waiting.await.expect("no panic").status, 200);
    assert_eq!(app.anon().get("/rpc/one").await.status, 200);
}
