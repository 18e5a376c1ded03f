//! Reads pages, counts and whole cells.

use serde_json::{Value, json};

use super::support::TestConsole;

/// Returns the cells of the first column.
fn first_column(page: &Value) -> Vec<Value> {
    let rows = page["rows"].as_array().expect("rows");
    rows.iter().map(|row| row[0].clone()).collect()
}

/// Reads a table from the start to the end and back, and returns both ways.
async fn read_both_ways(console: &TestConsole, query: &Value) -> (Vec<Value>, Vec<Value>) {
    let mut ways = [Vec::new(), Vec::new()];
    for (way, (first, towards, member)) in ways
        .iter_mut()
        .zip([("start", "next", "after"), ("end", "previous", "before")])
    {
        let mut body = query.clone();
        body["limit"] = json!(3);
        if first == "end" {
            body["end"] = json!(true);
        }
        for _ in 0..40 {
            let page = console.post("/api/rows/read", &body).await;
            let rows = first_column(&page);
            if first == "end" {
                way.splice(0..0, rows);
            } else {
                way.extend(rows);
            }
            let Some(place) = page[towards].as_str() else {
                break;
            };
            body["end"] = json!(false);
            body[member] = json!(place);
        }
    }
    let [forward, backward] = ways;
    (forward, backward)
}

#[tokio::test]
async fn console_050_every_row_is_read_once_both_ways_with_nulls_and_equal_values() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table keyed (id int primary key, a text, b float8);
             insert into keyed select i, (array['x', null, 'y', 'Y', ''])[1 + i % 5],
               (array['nan', null, '1.5', '-infinity'])[1 + i % 4]::float8 from generate_series(1, 20) i;
             create table keyless (id int, a text);
             insert into keyless select i % 7, nullif(i % 3, 0)::text from generate_series(1, 20) i;
             create view repeated as select i % 3 as id, null::text as a from generate_series(1, 20) i;
             create table parted (id int, a text) partition by list (a);
             create table parted_x partition of parted for values in ('x');
             create table parted_rest partition of parted default;
             insert into parted select i, case when i % 2 = 0 then 'x' end from generate_series(1, 20) i",
        )
        .await;
    for table in ["keyed", "keyless", "repeated", "parted"] {
        let oid = console.oid(table).await;
        for sort in [
            json!([]),
            json!([{ "column": "a" }]),
            json!([{ "column": "a", "descending": true }]),
            json!([{ "column": "a", "nulls_first": true }, { "column": "id", "descending": true }]),
        ] {
            let (forward, backward) = read_both_ways(&console, &json!({ "table": oid, "sort": sort })).await;
            assert_eq!(forward.len(), 20, "{table} {sort}");
            assert_eq!(forward, backward, "{table} {sort}");
        }
    }
    let keyed = console.oid("keyed").await;
    let sort = json!([{ "column": "b", "descending": true, "nulls_first": true }, { "column": "a" }]);
    let (forward, backward) = read_both_ways(&console, &json!({ "table": keyed, "sort": sort })).await;
    let expected = console
        .value("select json_agg(id::text order by b desc nulls first, a, id)::text from keyed")
        .await;
    assert_eq!(
        json!(forward),
        serde_json::from_str::<Value>(&expected).expect("JSON")
    );
    assert_eq!(forward, backward);
}

#[tokio::test]
async fn console_034_values_are_postgresqls_text_and_long_ones_are_cut_with_their_size() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table odd (id int8 primary key, flag bool, padded char(4), address inet, raw bytea, note text, doc jsonb, tags text[]);
             insert into odd values (9223372036854775807, true, 'a', '10.0.0.1', '\\x00ff', repeat('é', 3000), '{\"a\": 1}', '{a,null}');
             insert into odd (id, note) values (1, '');
             alter table odd alter column raw set storage external",
        )
        .await;
    let oid = console.oid("odd").await;
    let page = console
        .post(
            "/api/rows/read",
            &json!({ "table": oid, "sort": [{ "column": "id", "descending": true }] }),
        )
        .await;
    let row = &page["rows"][0];
    assert_eq!(row[0], "9223372036854775807");
    assert_eq!(
        (&row[1], &row[2], &row[3], &row[4]),
        (&json!("t"), &json!("a   "), &json!("10.0.0.1"), &json!("\\x00ff"))
    );
    assert_eq!((&row[6], &row[7]), (&json!("{\"a\": 1}"), &json!("{a,NULL}")));
    assert!(row[5].as_str().expect("text").len() <= 2048);
    assert_eq!(
        page["cuts"],
        json!([{ "row": 0, "column": "note", "bytes": 6000 }])
    );
    assert_eq!(
        (&page["rows"][1][1], &page["rows"][1][5]),
        (&Value::Null, &json!(""))
    );
    assert_eq!(page["ids"][0]["key"], json!(["9223372036854775807"]));

    let whole = console
        .send(
            "/api/rows/cell",
            &json!({ "table": oid, "row": page["ids"][0], "column": "note" }),
        )
        .await;
    assert_eq!(whole.text().await.expect("text"), "é".repeat(3000));
}

#[tokio::test]
async fn console_173_a_table_of_1600_columns_and_cells_of_megabytes_are_read() {
    let console = TestConsole::start().await;
    console
        .sql(
            "do $$ begin execute (select format('create table wide (%s)', string_agg('c' || i || ' int2', ', '))
               from generate_series(1, 1600) i); end $$;
             insert into wide (c1, c1600) values (1, 2);
             create table heavy (id int primary key, note text, raw bytea);
             insert into heavy values (1, repeat('x', 50000000), decode(repeat('ab', 20000000), 'hex'))",
        )
        .await;
    let wide = console.oid("wide").await;
    let page = console.post("/api/rows/read", &json!({ "table": wide })).await;
    assert_eq!(page["rows"][0].as_array().expect("a row").len(), 1600);
    assert_eq!(page["rows"][0][1599], "2");

    let heavy = console.oid("heavy").await;
    let page = console.post("/api/rows/read", &json!({ "table": heavy })).await;
    assert_eq!(page["cuts"][0]["bytes"], 50_000_000);
    assert_eq!(
        page["cuts"][1],
        json!({ "row": 0, "column": "raw", "bytes": 20_000_000 })
    );
    assert!(page.to_string().len() < 10_000);
}

#[tokio::test]
async fn console_051_052_rows_are_counted_and_filtered() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create type mood as enum ('sad', 'happy');
             create table people (id int primary key, name text, mood mood, doc jsonb, born date);
             insert into people select i, 'n' || i, case when i % 2 = 0 then 'sad' else 'happy' end::mood,
               jsonb_build_object('a', jsonb_build_object('b', i)), date '2000-01-01' + i from generate_series(1, 10) i;
             create table large (id int); insert into large select generate_series(1, 60000); analyze large",
        )
        .await;
    let (people, large) = (console.oid("people").await, console.oid("large").await);
    for (filters, expected) in [
        (json!([]), 10),
        (json!([{ "column": "mood", "operator": "eq", "value": "sad" }]), 5),
        (
            json!([{ "column": "name", "operator": "in", "value": "(n1,n2,\"x,y\")" }]),
            2,
        ),
        (
            json!([{ "column": "born", "operator": "gt", "value": "2000-01-08" }]),
            3,
        ),
        (json!([{ "column": "id", "operator": "like", "value": "1%" }]), 2),
        (
            json!([{ "column": "doc", "path": ["a", "b"], "operator": "eq", "value": "4" }]),
            1,
        ),
        (
            json!([{ "column": "doc", "operator": "cs", "value": "{\"a\":{\"b\":4}}" }]),
            1,
        ),
        (
            json!([{ "column": "mood", "operator": "is", "value": "null", "not": true }]),
            10,
        ),
    ] {
        let count = console
            .post("/api/rows/count", &json!({ "table": people, "filters": filters }))
            .await;
        assert_eq!(count, json!({ "count": expected, "exact": true }), "{filters}");
    }
    let estimate = console.post("/api/rows/count", &json!({ "table": large })).await;
    assert_eq!(estimate, json!({ "count": 60_000, "exact": false }));
    let more = json!([{ "column": "id", "operator": "gt", "value": "1" }]);
    let bounded = console
        .post("/api/rows/count", &json!({ "table": large, "filters": more }))
        .await;
    assert_eq!(bounded, json!({ "count": 50_001, "exact": false }));
    let exact = console
        .post("/api/rows/count", &json!({ "table": large, "exact": true }))
        .await;
    assert_eq!(exact, json!({ "count": 60_000, "exact": true }));
}

#[tokio::test]
async fn console_163_166_names_of_anything_stay_names_and_control_characters_stay_data() {
    let console = TestConsole::start().await;
    console
        .sql(
            r#"create schema "a""; drop table x; --";
             create table "a""; drop table x; --"."<script>'\" ("id""" int primary key, "sel ect" text);
             insert into "a""; drop table x; --"."<script>'\" values (1, E'<b>\u202E\x01\n');"#,
        )
        .await;
    let oid = console
        .value("select oid::text from pg_class where relname = '<script>''\\'")
        .await;
    let query = json!({ "table": oid, "sort": [{ "column": "sel ect" }],
        "filters": [{ "column": "id\"", "operator": "eq", "value": "1" }] });
    let page = console.post("/api/rows/read", &query).await;
    assert_eq!(page["rows"], json!([["1", "<b>\u{202e}\u{1}\n"]]));
    // The SQL shown to the user has the same effect when it is run.
    let client = console.database.connect("postgres").await;
    let rows = client
        .query(page["sql"].as_str().expect("SQL"), &[])
        .await
        .expect("valid SQL");
    assert_eq!(rows.len(), 1);

    for wrong in [
        json!({ "table": oid, "sort": [{ "column": "1; drop table x" }] }),
        json!({ "table": oid, "filters": [{ "column": "id\"", "operator": "= 1 or", "value": "1" }] }),
        json!({ "table": oid, "columns": ["id\" from pg_authid --"] }),
        json!({ "table": oid, "after": "x' or true" }),
    ] {
        let (status, error) = console.refused("/api/rows/read", &wrong).await;
        assert_eq!((status, &error["code"]), (422, &json!("invalid")), "{wrong}");
    }
    for wrong in ["0", "1 or true", "pg_authid"] {
        let (status, _) = console
            .refused("/api/rows/read", &json!({ "table": wrong }))
            .await;
        assert_eq!(status, 404, "{wrong}");
    }
}

#[tokio::test]
async fn console_060_rows_are_viewed_as_a_caller_of_the_api() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table mine (id int primary key, owner uuid);
             insert into mine values (1, '00000000-0000-0000-0000-000000000001'), (2, null);
             alter table mine enable row level security;
             grant select on mine to anon, authenticated;
             create policy own on mine for select to authenticated using (owner = auth.uid())",
        )
        .await;
    let oid = console.oid("mine").await;
    for (subject, expected) in [
        (json!({ "kind": "admin" }), vec!["1", "2"]),
        (json!({ "kind": "anon" }), vec![]),
        (json!({ "kind": "service_role" }), vec!["1", "2"]),
        (
            json!({ "kind": "user", "id": "00000000-0000-0000-0000-000000000001" }),
            vec!["1"],
        ),
        (
            json!({ "kind": "claims", "claims": { "role": "authenticated", "sub": "00000000-0000-0000-0000-000000000002" } }),
            vec![],
        ),
    ] {
        let page = console
            .post("/api/rows/read", &json!({ "table": oid, "subject": subject }))
            .await;
        assert_eq!(first_column(&page), expected, "{subject}");
        let count = console
            .post("/api/rows/count", &json!({ "table": oid, "subject": subject }))
            .await;
        assert_eq!(count["count"], expected.len(), "{subject}");
        let cell =
            json!({ "table": oid, "row": { "key": ["2"], "xmin": "0" }, "column": "id", "subject": subject });
        let whole = console.send("/api/rows/cell", &cell).await;
        assert_eq!(whole.status().is_success(), expected.contains(&"2"), "{subject}");
    }
    // A viewer must not see more by choosing another role than by the viewer's own login, and no request may run as
    // `postgres`.
    let viewers = TestConsole::start_for_viewers().await;
    viewers.sql("create table t (id int)").await;
    let oid = viewers.oid("t").await;
    let (status, _) = viewers
        .refused(
            "/api/rows/read",
            &json!({ "table": oid, "subject": { "kind": "service_role" } }),
        )
        .await;
    assert_eq!(status, 403);
    let claims = json!({ "kind": "claims", "claims": { "role": "postgres" } });
    let (status, _) = console
        .refused("/api/rows/read", &json!({ "table": oid, "subject": claims }))
        .await;
    assert_ne!(status, 200);
}

#[tokio::test]
async fn console_169_viewers_read_the_columns_that_their_login_may_see() {
    let console = TestConsole::start_for_viewers().await;
    console
        .sql("insert into auth.users (id, email, encrypted_password) values ('00000000-0000-0000-0000-000000000001', 'a@example.com', 'hash')")
        .await;
    let users = console.oid("auth.users").await;
    let page = console.post("/api/rows/read", &json!({ "table": users })).await;
    let names: Vec<&str> = page["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|column| column["name"].as_str())
        .collect();
    assert!(
        names.contains(&"email") && !names.contains(&"encrypted_password"),
        "{names:?}"
    );
    assert!(!page.to_string().contains("hash"));
    let secret = json!({ "table": users, "columns": ["encrypted_password"] });
    let (status, error) = console.refused("/api/rows/read", &secret).await;
    assert_eq!((status, &error["code"]), (403, &json!("42501")));
}
