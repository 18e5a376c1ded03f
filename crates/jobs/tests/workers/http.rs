//! The extension http: statements that wait for a response, limits, and packages that are available without a network.

use std::time::{Duration, Instant};

use selvedge_jobs::{NetConfig, serve_http_requests};
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use crate::http_server::HttpServer;
use crate::{development, query_value};

/// A session that has the extension, as a role of the API. The socket is one of the whole test process, so one test
/// has all that needs it.
async fn connect_with_extension(database: &TestDatabase) -> Client {
    let client = database.connect("postgres").await;
    client
        .batch_execute(
            "create extension http with schema extensions;
             set search_path = public, extensions; set role authenticated;",
        )
        .await
        .expect("created");
    client
}

/// The message with which a statement fails.
async fn query_error(client: &Client, sql: &str) -> String {
    let error = client.batch_execute(sql).await.expect_err(sql);
    error.as_db_error().expect(sql).message().to_owned()
}

#[tokio::test]
async fn gw_018_statements_wait_for_the_response_of_an_http_request() {
    let database = TestDatabase::create().await;
    let client = connect_with_extension(&database).await;
    let refused = query_error(&client, "select http_get('http://127.0.0.1:1/')").await;
    assert!(refused.contains("server beside this database"), "{refused}");

    let (server, console) = (HttpServer::start().await, HttpServer::start().await);
    let limited = NetConfig {
        max_response_bytes: 100_000,
        refused_ports: vec![console.address.port()],
        ..development().net
    };
    let task = tokio::spawn(serve_http_requests(database.bind_http_socket(), limited));
    let url = |path: &str| server.url(path);

    let row = client
        .query_one(
            &format!(
                "select status, content_type, content::json ->> 'ok',
                   (select value from unnest(headers) where field = 'x-answer')
                 from http_get('{}', '{{\"q\": \"a b\", \"n\": 1.50, \"deep\": [1]}}')",
                url("/get")
            ),
            &[],
        )
        .await
        .expect("a response");
    assert_eq!(row.get::<_, i32>(0), 200);
    assert_eq!(row.get::<_, &str>(1), "application/json");
    assert_eq!(row.get::<_, &str>(2), "true");
    assert_eq!(row.get::<_, &str>(3), "42");

    client
        .batch_execute(&format!(
            "select http_set_curlopt('CURLOPT_USERPWD', 'me:secret');
             select http_post('{}', 'it''s ünï', 'text/plain');
             select http(('PROPFIND', '{}', array[http_header('X-One', '1')], null, null));
             select http_reset_curlopt();
             select http_put('{}', 'x', 'text/plain');
             select http_delete('{}');",
            url("/post"),
            url("/other"),
            url("/put"),
            url("/delete"),
        ))
        .await
        .expect("sent");
    let received = server.received();
    let seen: Vec<(&str, &str, &str)> = received
        .iter()
        .map(|request| {
            (
                request.method.as_str(),
                request.path.as_str(),
                request.body.as_str(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("GET", "/get?n=1.5&q=a+b", ""),
            ("POST", "/post", "it's ünï"),
            ("PROPFIND", "/other", ""),
            ("PUT", "/put", "x"),
            ("DELETE", "/delete", ""),
        ]
    );
    assert_eq!(received[1].headers["authorization"], "Basic bWU6c2VjcmV0");
    assert_eq!(received[2].headers["x-one"], "1");
    assert!(!received[3].headers.contains_key("authorization"));

    for (call, expected) in [
        (format!("http_get('{}')", url("/missing")), "404 nothing here"),
        (format!("http_get('{}')", url("/moved")), "200 {\"ok\":true}"),
        (format!("http_head('{}')", url("/moved")), "302 null"),
    ] {
        let query = format!("select status || ' ' || coalesce(content, 'null') from {call}");
        assert_eq!(query_value(&client, &query).await, expected, "{call}");
    }
    for (call, expected) in [
        (
            "http_get('http://nowhere.invalid/')".to_owned(),
            "Couldn't resolve host name",
        ),
        (
            "http_get('file:///etc/passwd')".to_owned(),
            "Unsupported protocol",
        ),
        (
            format!("http_get('{}')", url("/around")),
            "Number of redirects hit maximum amount",
        ),
        (
            format!("http_get('{}')", url("/large")),
            "Maximum file size exceeded",
        ),
        (
            format!("http_post('{}', 'x', null)", url("/post")),
            "http_request.content_type is NULL",
        ),
        (
            format!("http_get('{}')", console.url("/")),
            "127.0.0.1 is not called at this port, which the console or the mail inbox of this server may have",
        ),
    ] {
        assert_eq!(
            query_error(&client, &format!("select {call}")).await,
            expected,
            "{call}"
        );
    }

    let started = Instant::now();
    let statement = format!(
        "set http.curlopt_timeout_ms = 200; select http_get('{}')",
        url("/slow")
    );
    assert_eq!(
        query_error(&client, &statement).await,
        "Operation timed out after 200 milliseconds"
    );
    assert!(started.elapsed() < Duration::from_secs(20));

    assert!(console.received().is_empty());
    // Only the role of `_http_send` chooses a target.
    let refused = query_error(
        &client,
        "select * from extensions._http_dblink('', '') as t (a text)",
    )
    .await;
    assert!(refused.contains("permission denied"), "{refused}");
    task.abort();
}

#[tokio::test]
async fn gw_018_packages_of_database_dev_are_installed_without_a_network() {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;

    // The script that Supabase's documentation gives for the first file of a project's tests.
    client
        .batch_execute(
            r#"create extension if not exists pgtap with schema extensions;
            create extension if not exists http with schema extensions;
            create extension if not exists pg_tle;
            drop extension if exists "supabase-dbdev";
            select pgtle.uninstall_extension_if_exists('supabase-dbdev');
            select pgtle.install_extension(
              'supabase-dbdev', resp.contents ->> 'version', 'PostgreSQL package manager', resp.contents ->> 'sql'
            )
            from extensions.http(
              (
                'GET',
                'https://api.database.dev/rest/v1/'
                || 'package_versions?select=sql,version'
                || '&package_name=eq.supabase-dbdev' || '&order=version.desc' || '&limit=1',
                array[('apiKey', 'key')::extensions.http_header],
                null,
                null
              )
            ) x,
            lateral (select ((row_to_json(x) -> 'content') #>> '{}')::json -> 0) resp(contents);
            create extension "supabase-dbdev";
            select dbdev.install('supabase-dbdev');
            drop extension if exists "supabase-dbdev";
            create extension "supabase-dbdev";
            select dbdev.install('basejump-supabase_test_helpers');
            create extension if not exists "basejump-supabase_test_helpers" version '0.0.6';"#,
        )
        .await
        .expect("installed");
    assert_eq!(
        query_value(
            &client,
            "select rolname from pg_proc join pg_roles on pg_roles.oid = proowner
             where pronamespace = 'tests'::regnamespace and proname = 'create_supabase_user'"
        )
        .await,
        "postgres"
    );
    let refused = query_error(&client, "select dbdev.install('olirice-read_once')").await;
    assert!(refused.contains("is not among those"), "{refused}");
    let refused = query_error(&client, "select pgtle.install_extension('other', '1', '', '')").await;
    assert_eq!(refused, "extension \"other\" cannot be installed from SQL");
}
