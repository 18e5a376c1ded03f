//! Unusual relations and types, custom media types, and repeated requests: from its third use on, a statement is prepared
//! and its JSON is rendered here instead of in PostgreSQL, with the same result.

use selvedge_rest::RestConfig;
use serde_json::json;

use crate::support::{ANA, TestApp};

const SHAPES: &str = r#"
create table public.readings (id int primary key, place text, value numeric);
insert into public.readings values (1, 'a', 1.5), (2, 'a', 2.5), (3, 'b', 4);
create materialized view public.totals as select place, sum(value) as total from public.readings group by place;
create table public.events (id int, day date, primary key (id, day)) partition by range (day);
create table public.events_2026 partition of public.events for values from ('2026-01-01') to ('2027-01-01');
insert into public.events values (1, '2026-05-01');

create domain public.color as int check (value between 0 and 16777215);
create function public.json(c public.color) returns json language sql immutable as
  $$ select to_json('#' || lpad(to_hex(c::int), 6, '0')) $$;
create function public.color(j json) returns public.color language sql immutable as
  $$ select public.color(j #>> '{}') $$;
create function public.color(t text) returns public.color language sql immutable as
  $$ select ('x' || lpad(replace(t, '#', ''), 8, '0'))::bit(32)::int::public.color $$;
create cast (public.color as json) with function public.json(public.color) as implicit;
create cast (json as public.color) with function public.color(json) as implicit;
create cast (text as public.color) with function public.color(text) as implicit;
create table public.paints (id int primary key, shade public.color);
insert into public.paints values (1, 255), (2, 65280);

create domain "text/html" as text;
create function public.page() returns "text/html" language sql stable as $$ select '<p>hello</p>'::"text/html" $$;
create domain "application/x-lines" as text;
create function public.as_lines(lines text, row_of public.readings) returns "application/x-lines" language sql immutable as
  $$ select (coalesce(lines || E'\n', '') || row_of.place || '=' || row_of.value)::"application/x-lines" $$;
create aggregate public.to_lines(public.readings) (sfunc = public.as_lines, stype = "application/x-lines");

create function public.say(place text) returns text language plpgsql stable as $$
begin
  perform set_config('response.headers', '[{"X-Place": "' || place || '"}]', true);
  return place;
end $$;
create view public.loud as select id, public.say(place) as place from public.readings where id = 3;
create type public.mood as enum ('fine', 'tired');
create table public.mixed (
  id int primary key, flag bool, tags text[], made timestamptz, doc jsonb, small float8, mood public.mood, note text
);
insert into public.mixed values
  (1, true, '{a,"b c"}', '2026-01-02 03:04:05+00', '{"a": [1]}', 'NaN', 'fine', E'line\n"two"'), (2, null, null, null, null, null, null, null);
-- Counts its runs in a session, and shows by a lock which sessions it has run in.
create function public.count_run() returns int language plpgsql volatile as $$
begin
  perform pg_advisory_lock_shared(4711);
  perform set_config('gw.runs', (coalesce(nullif(current_setting('gw.runs', true), ''), '0')::int + 1)::text, false);
  return current_setting('gw.runs')::int;
end $$;
create view public.counted as select id, mood, public.count_run() as runs from public.mixed where id = 1;
grant select, insert on all tables in schema public to anon;
"#;

async fn app() -> TestApp {
    TestApp::start(SHAPES).await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_111_aggregates_are_refused_unless_switched_on() {
    let closed = app().await.anon().get("/readings?select=place,value.sum()").await;
    assert_eq!((closed.status, closed.code().as_str()), (400, "PGRST123"));

    let config = RestConfig {
        aggregates_enabled: true,
        ..RestConfig::default()
    };
    let app = TestApp::start_with(SHAPES, config).await;
    for _ in 0..4 {
        let open = app
            .anon()
            .get("/readings?select=place,total:value.sum(),count()&order=place")
            .await;
        assert_eq!(
            open.json(),
            json!([{ "place": "a", "total": 4.0, "count": 2 }, { "place": "b", "total": 4, "count": 1 }])
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_112_materialized_views_and_partitioned_tables_are_exposed_and_partitions_are_not() {
    let app = app().await;
    let anon = app.anon();
    for _ in 0..4 {
        let totals = anon.get("/totals?order=place").await;
        assert_eq!(
            totals.json(),
            json!([{ "place": "a", "total": 4.0 }, { "place": "b", "total": 4 }])
        );
        assert_eq!(anon.get("/events").await.text, r#"[{"id":1,"day":"2026-05-01"}]"#);
    }
    assert_eq!(anon.get("/events_2026").await.code(), "PGRST205");
    let written = anon.post("/totals", &json!({ "place": "c" })).await;
    assert!(written.status >= 400, "{written:?}");
    let allow = anon.send("OPTIONS", "/totals", &[], None).await;
    assert_eq!(allow.header("allow"), Some("OPTIONS,GET,HEAD"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_113_domain_representations_apply_to_output_input_and_filters() {
    let app = app().await;
    let anon = app.anon();
    for _ in 0..4 {
        let all = anon.get("/paints?order=id").await;
        assert_eq!(
            all.json(),
            json!([{ "id": 1, "shade": "#0000ff" }, { "id": 2, "shade": "#00ff00" }])
        );
        let one = anon.get("/paints?select=id&shade=eq.%2300ff00").await;
        assert_eq!(one.json(), json!([{ "id": 2 }]));
    }
    let headers = [("prefer", "return=representation")];
    let made = anon
        .post_with("/paints", &headers, &json!({ "id": 3, "shade": "#ff0000" }))
        .await;
    assert_eq!(
        (made.status, made.json()),
        (201, json!([{ "id": 3, "shade": "#ff0000" }]))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_004_the_first_read_of_an_enum_runs_once() {
    let app = app().await;

    let first = app.anon().get("/counted").await;

    assert_eq!(first.json(), json!([{ "id": 1, "mood": "fine", "runs": 1 }]));
    let superuser = app.database.superuser().await;
    let sessions = "select count(*) from pg_locks where locktype = 'advisory' and objid = 4711
        and database = (select oid from pg_database where datname = current_database())";
    let sessions: i64 = superuser.query_one(sessions, &[]).await.expect("locks").get(0);
    assert_eq!(sessions, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_114_custom_media_type_handlers_render_their_type() {
    let app = app().await;
    let anon = app.anon();
    for _ in 0..4 {
        let page = anon.get_with("/rpc/page", &[("accept", "text/html")]).await;
        assert_eq!(page.text, "<p>hello</p>");
        assert_eq!(page.header("content-type"), Some("text/html"));

        let accept = [("accept", "application/x-lines")];
        let lines = anon.get_with("/readings?order=id", &accept).await;
        assert_eq!(lines.text, "a=1.5\na=2.5\nb=4", "{lines:?}");
        // A handler of the whole row does not apply if `select` selects a part of it.
        assert_eq!(
            anon.get_with("/readings?select=id", &accept).await.code(),
            "PGRST107"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn rest_116_head_and_empty_responses_have_no_body() {
    let app = TestApp::blog().await;
    let (anon, ana) = (app.anon(), app.user(ANA));
    for _ in 0..4 {
        let get = anon.get("/posts").await;
        let head = anon.send("HEAD", "/posts", &[], None).await;
        assert_eq!(head.header("content-type"), get.header("content-type"));
        assert_eq!(head.header("content-range"), get.header("content-range"));
        assert_eq!((head.text.as_str(), head.header("content-length")), ("", None));
        let length = get.text.len().to_string();
        assert_eq!(get.header("content-length"), Some(length.as_str()));
    }
    let made = ana.post("/tags", &json!({ "id": 9, "name": "new" })).await;
    assert_eq!((made.status, made.header("content-length")), (201, Some("0")));
    assert_eq!(made.header("content-type"), None);
    for (method, body) in [
        ("PATCH", Some(r#"{"name":"newer"}"#.to_owned())),
        ("DELETE", None),
    ] {
        let changed = ana.send(method, "/tags?id=eq.9", &[], body).await;
        assert_eq!((changed.status, changed.text.as_str()), (204, ""));
        assert_eq!(
            (changed.header("content-type"), changed.header("content-length")),
            (None, None)
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn repeated_requests_get_the_same_response_before_and_after_statements_are_prepared() {
    let app = app().await;
    let anon = app.anon();
    for (path, accept) in [
        ("/mixed?order=id", "application/json"),
        (
            "/mixed?select=id,flag,tags,made,doc,small,note&order=id",
            "application/json",
        ),
        (
            "/mixed?select=id,doc->a,note&id=eq.1",
            "application/vnd.pgrst.object+json",
        ),
        (
            "/mixed?select=id,note&id=in.(1,2)&order=id.desc",
            "application/json",
        ),
        ("/mixed?select=id,note&note=like.*two*", "application/json"),
        ("/mixed?select=id&id=eq.99", "application/json"),
        ("/mixed?select=id", "application/vnd.pgrst.object+json"),
        ("/mixed?select=id,nope", "application/json"),
        ("/loud", "application/json"),
        ("/loud?select=id", "application/json"),
        ("/readings?select=*&limit=1&offset=1&order=id", "application/json"),
    ] {
        let headers = [("accept", accept)];
        let first = anon.get_with(path, &headers).await;
        for _ in 0..4 {
            let again = anon.get_with(path, &headers).await;
            assert_eq!((again.status, &again.text), (first.status, &first.text), "{path}");
            for name in ["content-range", "content-type", "x-place", "content-location"] {
                assert_eq!(again.header(name), first.header(name), "{path} {name}");
            }
        }
    }
    assert_eq!(anon.get("/loud").await.header("x-place"), Some("b"));
}
