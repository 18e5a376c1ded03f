//! Headers, media types, profiles, OPTIONS, the root document.

use crate::support::{ANA, TestApp};
use serde_json::json;

#[actix_web::test]
async fn rest_054_082_media_types() {
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

#[actix_web::test]
async fn rest_077_errors_have_four_keys_and_no_vary() {
    let app = TestApp::blog().await;

    let answer = app.anon().get("/nope").await;

    let keys: Vec<String> = answer.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["code", "details", "hint", "message"]);
    assert_eq!(answer.header("proxy-status"), Some("PostgREST; error=PGRST205"));
}

#[actix_web::test]
async fn rest_079_080_profiles_choose_the_schema() {
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

#[actix_web::test]
async fn rest_086_087_preferences_that_took_effect_are_named() {
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

#[actix_web::test]
async fn rest_117_options_tell_what_can_be_done() {
    let app = TestApp::blog().await;

    let table = app.anon().send("OPTIONS", "/posts", &[], None).await;
    let function = app.anon().send("OPTIONS", "/rpc/whoami", &[], None).await;

    assert_eq!(
        table.header("allow"),
        Some("OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE")
    );
    assert_eq!(function.header("allow"), Some("OPTIONS,GET,HEAD,POST"));
}

#[actix_web::test]
async fn rest_118_the_root_lists_what_the_role_may_use() {
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

#[actix_web::test]
async fn rest_121_vary_on_success() {
    let app = TestApp::blog().await;

    let answer = app.anon().get("/posts").await;

    let vary: Vec<_> = answer
        .headers
        .get_all("vary")
        .iter()
        .filter_map(|v| v.to_str().ok())
        .collect();
    assert!(vary.join(", ").contains("Accept, Prefer, Range"), "{vary:?}");
}

#[actix_web::test]
async fn rest_122_paths_and_methods_that_do_not_exist() {
    let app = TestApp::blog().await;

    for (method, path, status, code) in [
        ("GET", "/posts/1", 404, "PGRST125"),
        ("GET", "/posts/", 404, "PGRST125"),
        ("TRACE", "/posts", 405, "PGRST117"),
        ("POST", "/", 405, "PGRST117"),
    ] {
        let answer = app.anon().send(method, path, &[], None).await;

        assert_eq!(
            (answer.status, answer.code()),
            (status, code.to_owned()),
            "{method} {path}"
        );
    }
}

#[actix_web::test]
async fn rest_003_the_request_is_visible_to_sql() {
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

#[actix_web::test]
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

    let answer = app.anon().get_with("/rpc/headers?apikey=anything", &sent).await;

    assert_eq!(
        answer.status, 200,
        "a key in the query is no argument: {answer:?}"
    );
    let seen = answer.json();
    for (name, value) in sent {
        assert_eq!(seen[name], value, "{name}");
    }
}
