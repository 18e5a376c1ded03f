//! Errors while rows are read and edited: slow statements, dropped columns, very long values.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::TestConsole;

#[tokio::test]
async fn console_030_a_slow_page_times_out_with_a_hint() {
    let console = TestConsole::start().await;
    console
        .sql("create view slow as select 1 as id from pg_sleep(60)")
        .await;
    let oid = console.oid("slow").await;
    let begun = Instant::now();

    let (status, error) = console.refused("/api/rows/read", &json!({ "table": oid })).await;

    assert_eq!((status, &error["code"]), (422, &json!("57014")), "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("5 s")));
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn console_054_changes_of_a_dropped_column_are_refused_as_a_whole() {
    let console = TestConsole::start().await;
    console
        .sql("create table t (id int primary key, a text, b text); insert into t values (1, 'a', 'b'), (2, 'a', 'b')")
        .await;
    let oid = console.oid("t").await;
    let page = console.post("/api/rows/read", &json!({ "table": oid })).await;
    let ids = page["ids"].as_array().expect("ids");
    let update = |row: &Value, column: &str| json!({ "kind": "update", "table": oid, "row": row, "base": {}, "values": { column: { "value": "mine" } } });
    console.sql("alter table t drop column b").await;

    let changes = json!([update(&ids[0], "a"), update(&ids[1], "b")]);
    let (status, error) = console
        .refused("/api/rows/apply", &json!({ "changes": changes }))
        .await;

    assert_eq!(
        (status, &error["change"], &error["column"]),
        (422, &json!(1), &json!("b")),
        "{error}"
    );
    assert_eq!(
        console.value("select string_agg(a, ',') from t").await,
        "a,a",
        "the change before it is not applied either"
    );
    // Rows can be read without the column; a change that still names it is refused.
    let page = console.post("/api/rows/read", &json!({ "table": oid })).await;
    assert_eq!(page["rows"], json!([["1", "a"], ["2", "a"]]));
    let (status, error) = console
        .refused("/api/rows/read", &json!({ "table": oid, "columns": ["id", "b"] }))
        .await;
    assert_eq!(status, 422, "{error}");
}

#[tokio::test]
async fn console_173_a_row_with_a_very_long_value_can_be_edited_without_reading_it() {
    let console = TestConsole::start().await;
    // PostgreSQL compresses the value to two megabytes.
    console
        .sql("create table heavy (id int primary key, note text, other text); insert into heavy values (1, repeat('x', 150000000), 'a')")
        .await;
    let oid = console.oid("heavy").await;
    let page = console.post("/api/rows/read", &json!({ "table": oid })).await;
    assert_eq!(
        page["cuts"],
        json!([{ "row": 0, "column": "note", "bytes": 150_000_000 }])
    );

    let cell = json!({ "table": oid, "row": page["ids"][0], "column": "note" });
    let (status, error) = console.refused("/api/rows/cell", &cell).await;
    assert_eq!((status, &error["code"]), (422, &json!("invalid")));
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("Export")));

    let update = json!({ "kind": "update", "table": oid, "row": page["ids"][0], "base": { "other": "a" }, "values": { "other": { "value": "b" } } });
    let applied = console
        .post("/api/rows/apply", &json!({ "changes": [update] }))
        .await;
    assert!(
        applied.to_string().len() < 20_000,
        "the long value is not sent back whole"
    );
    let stored = "select length(note) || other from heavy";
    assert_eq!(console.value(stored).await, "150000000b");
}
