//! Errors while rows are read and edited: slow statements, dropped columns, very long values.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::support::{TestConsole, resident_kb};

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

#[tokio::test]
async fn console_173_a_cell_of_a_gigabyte_is_cut_and_refused_in_little_memory_and_its_row_is_edited() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table t (id int primary key, long text, a text);
             insert into t values (1, repeat('x', 1000000000), 'as it was'), (2, 'short', 'b')",
        )
        .await;
    let oid = console.oid("t").await;
    let before = resident_kb();

    let page = console.post("/api/rows/read", &json!({ "table": oid })).await;
    assert_eq!(
        page["cuts"],
        json!([{ "row": 0, "column": "long", "bytes": 1_000_000_000_u64 }])
    );
    let cell = json!({ "table": oid, "row": page["ids"][0], "column": "long" });
    let (status, error) = console.refused("/api/rows/cell", &cell).await;
    assert_eq!(status, 422, "{error}");
    let update = |row: &Value, column: &str, to: &str| json!({ "changes": [{ "kind": "update", "table": oid, "row": row, "base": {}, "values": { column: { "value": to } } }] });
    let applied = console
        .post("/api/rows/apply", &update(&page["ids"][0], "a", "edited"))
        .await;
    // The long value was not changed, so the other one's undo needs nothing of it.
    console
        .post("/api/rows/apply", &json!({ "changes": applied["undo"] }))
        .await;
    assert_eq!(console.value("select a from t where id = 1").await, "as it was");
    for format in ["csv", "spreadsheet", "json", "sql"] {
        let export = |filters: Value| json!({ "table": oid, "format": format, "filters": filters });
        let (status, error) = console.refused("/api/rows/export", &export(json!([]))).await;
        assert_eq!(status, 422);
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains("64 MB")),
            "{error}"
        );
        let others = json!([{ "column": "id", "operator": "eq", "value": "2" }]);
        let ticket = console.post("/api/rows/export", &export(others)).await;
        assert!(ticket["ticket"].is_string());
    }
    // A view is not searched, so its file is broken off before the row.
    console.sql("create view v as select * from t").await;
    let view = console.oid("v").await;
    let ticket = console
        .post("/api/rows/export", &json!({ "table": view, "format": "csv" }))
        .await;
    let path = format!(
        "/api/rows/export/{}",
        ticket["ticket"].as_str().expect("a ticket")
    );
    let response = console.request(Method::GET, &path).send().await;
    let file = match response {
        Ok(response) => response.bytes().await,
        Err(error) => Err(error),
    };
    assert!(file.is_err(), "the file is broken off, not ended");
    let more = resident_kb().saturating_sub(before);
    // Other tests of this process, some with cells of 50 MB, run meanwhile and count, too.
    assert!(more < 400_000, "{more} kB more");
}
