//! Headers, media types, profiles, OPTIONS and the root document.

use serde_json::json;

use crate::support::{ANA, TestApp};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_054_082_accept_chooses_object_csv_and_stripped_arrays() {
    let app = TestApp::blog().await;
    let anon = app.anon();

    let one = anon
        .get_with(
            "/posts?select=id&id=eq.1",
            &[("accept", "application/vnd.pgrst.object+json")],
        )
        .await;
    let none = anon
        .get_with(
            "/posts?id=eq.0",
            &[("accept", "application/vnd.pgrst.object+json")],
        )
        .await;
    let csv = anon
        .get_with(
            "/posts?select=id,status&order=id&limit=2",
            &[("accept", "text/csv")],
        )
        .await;
    let xml = anon.get_with("/posts", &[("accept", "application/xml")]).await;
    let stripped = anon
        .get_with(
            "/posts?select=id,editor_id&id=eq.2",
            &[("accept", "application/vnd.pgrst.array+json;nulls=stripped")],
        )
        .await;

    assert_eq!(one.text, r#"{"id":1}"#);
    assert_eq!(
        one.header("content-type"),
        Some("application/vnd.pgrst.object+json; charset=utf-8")
    );
    assert_eq!((none.status, none.code().as_str()), (406, "PGRST116"));
    assert_eq!(csv.text, "id,status\n1,published\n2,draft");
    assert_eq!((xml.status, xml.code().as_str()), (406, "PGRST107"));
    assert_eq!(stripped.text, r#"[{"id":2}]"#);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_077_errors_have_four_keys_and_a_proxy_status() {
    let app = TestApp::blog().await;

    let response = app.anon().get("/nope").await;

    let keys: Vec<String> = response.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["code", "details", "hint", "message"]);
    assert_eq!(response.header("proxy-status"), Some("PostgREST; error=PGRST205"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_079_080_profile_headers_choose_the_schema() {
    let schema =
        "create schema other; create table other.things (id int); grant usage on schema other to anon;
                  grant select on other.things to anon";
    let config = selvedge_rest::RestConfig {
        schemas: vec!["public".to_owned(), "other".to_owned()],
        ..Default::default()
    };
    let app = TestApp::start_with(schema, config).await;

    let other = app
        .anon()
        .get_with("/things", &[("accept-profile", "other")])
        .await;
    let public = app.anon().get("/things").await;
    let unknown = app
        .anon()
        .get_with("/things", &[("accept-profile", "nope")])
        .await;

    assert_eq!(
        (other.status, other.header("content-profile")),
        (200, Some("other"))
    );
    assert_eq!(public.code(), "PGRST205");
    assert_eq!((unknown.status, unknown.code().as_str()), (406, "PGRST106"));
    assert_eq!(
        unknown.json()["hint"],
        "Only the following schemas are exposed: public, other"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_086_087_preference_applied_lists_what_took_effect() {
    let app = TestApp::blog().await;

    let applied = app
        .anon()
        .get_with(
            "/posts?limit=1",
            &[("prefer", "timezone=Asia/Tokyo, count=exact, return=minimal, odd")],
        )
        .await;
    let strict = app
        .anon()
        .get_with("/posts", &[("prefer", "handling=strict, odd")])
        .await;

    assert_eq!(
        applied.header("preference-applied"),
        Some("count=exact, timezone=Asia/Tokyo")
    );
    assert!(
        applied.text.contains("2024-01-01T09:00:00+09:00"),
        "{}",
        applied.text
    );
    assert_eq!((strict.status, strict.code().as_str()), (400, "PGRST122"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_117_options_lists_the_allowed_methods() {
    let app = TestApp::blog().await;

    let table = app.anon().send("OPTIONS", "/posts", &[], None).await;
    let function = app.anon().send("OPTIONS", "/rpc/whoami", &[], None).await;

    assert_eq!(
        table.header("allow"),
        Some("OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE")
    );
    assert_eq!(function.header("allow"), Some("OPTIONS,GET,HEAD,POST"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_118_the_root_document_lists_what_the_role_may_use() {
    let app = TestApp::blog().await;
    let superuser = app.database.superuser().await;
    superuser
        .batch_execute("revoke all on public.tags from anon")
        .await
        .unwrap();

    let anon = app.anon().get("/").await.json();
    let ana = app.user(ANA).get("/").await.json();

    assert_eq!(anon["swagger"], "2.0");
    assert_eq!(
        anon["definitions"]["comments"]["properties"]["post_id"]["description"],
        "Note:\nThis is a Foreign Key to `posts.id`.<fk table='posts' column='id'/>"
    );
    assert_eq!(
        (
            anon["definitions"]["tags"].is_null(),
            ana["definitions"]["tags"].is_null()
        ),
        (true, false)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_118_argument_types_of_a_schema_are_named_with_it() {
    let app = TestApp::start(
        "create type public.mood as enum ('fine', 'tired');
         create function public.greet(how public.mood) returns text language sql stable as 'select how::text';
         grant execute on function public.greet to anon",
    )
    .await;

    let document = app.anon().get("/").await.json();

    let path = &document["paths"]["/rpc/greet"];
    assert_eq!(path["get"]["parameters"][0]["format"], "public.mood");
    let body = &path["post"]["parameters"][0]["schema"];
    assert_eq!(
        body["properties"]["how"],
        json!({ "format": "public.mood", "type": "string" })
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_121_successful_responses_have_vary() {
    let app = TestApp::blog().await;

    let response = app.anon().get("/posts").await;

    let vary: Vec<_> = response
        .headers
        .get_all("vary")
        .iter()
        .filter_map(|v| v.to_str().ok())
        .collect();
    assert!(vary.join(", ").contains("Accept, Prefer, Range"), "{vary:?}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_122_unknown_paths_and_methods_are_refused() {
    let app = TestApp::blog().await;

    for (method, path, status, code) in [
        ("GET", "/posts/1", 404, "PGRST125"),
        ("GET", "/posts/", 404, "PGRST125"),
        ("TRACE", "/posts", 405, "PGRST117"),
        ("POST", "/", 405, "PGRST117"),
    ] {
        let response = app.anon().send(method, path, &[], None).await;

        assert_eq!(
            (response.status, response.code()),
            (status, code.to_owned()),
            "{method} {path}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_003_sql_can_read_method_path_headers_and_role() {
    let app = TestApp::blog().await;

    let seen = app
        .anon()
        .send(
            "POST",
            "/rpc/settings",
            &[("X-Test", "say \"hi\"")],
            Some("{}".to_owned()),
        )
        .await
        .json();

    assert_eq!(
        (&seen["method"], &seen["path"], &seen["header"], &seen["role"]),
        (
            &json!("POST"),
            &json!("/rpc/settings"),
            &json!("say \"hi\""),
            &json!("anon")
        )
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_046_trace_headers_reach_sql_and_the_api_key_in_the_query_does_not() {
    let app = TestApp::start(
        "create function public.headers() returns json language sql stable as $$
           select current_setting('request.headers')::json
         $$",
    )
    .await;
    let sent = [
        (
            "traceparent",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
        ("tracestate", "vendor=1"),
        ("baggage", "user=ana,plan=free"),
        ("x-client-info", "supabase-js/2"),
        ("x-retry-count", "1"),
    ];

    let response = app.anon().get_with("/rpc/headers?apikey=anything", &sent).await;

    assert_eq!(
        response.status, 200,
        "a key in the query is no argument: {response:?}"
    );
    let seen = response.json();
    for (name, value) in sent {
        assert_eq!(seen[name], value, "{name}");
    }
}
