//! Exports rows as files.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::Response;
use serde_json::{Value, json};

use crate::support::TestConsole;

/// Asks for a ticket, and begins its download.
async fn download(console: &TestConsole, body: &Value) -> Response {
    let ticket = console.post("/api/rows/export", body).await;
    let path = format!(
        "/api/rows/export/{}",
        ticket["ticket"].as_str().expect("a ticket")
    );
    console.get(&path).send().await.expect("a response")
}

/// Exports rows, and returns the whole file.
async fn export(console: &TestConsole, body: &Value) -> String {
    let response = download(console, body).await;
    let status = response.status();
    let file = response.bytes().await.expect("a body");
    let file = String::from_utf8(file.to_vec()).expect("UTF-8");
    assert_eq!(status, 200, "{file}");
    file
}

const CELLS: &str = "create table cells (id int8 primary key, a text, n int, doc jsonb);
    insert into cells values (9223372036854775807, '=1+1', -5, '{\"k\": [1]}'), (2, E'x,\"y\"\\\\\\nz', null, null), (3, '', 0, 'null')";

#[tokio::test]
async fn console_058_rows_are_exported_in_each_format_with_the_filters_and_the_order_of_the_grid() {
    let console = TestConsole::start().await;
    console.sql(CELLS).await;
    let oid = console.oid("cells").await;
    let sort = json!([{ "column": "id", "descending": true }]);
    let body = |format: &str| json!({ "table": oid, "format": format, "sort": sort });

    assert_eq!(
        export(&console, &body("csv")).await,
        "id,a,n,doc\n9223372036854775807,=1+1,-5,\"{\"\"k\"\": [1]}\"\n3,\"\",0,null\n2,\"x,\"\"y\"\"\\\nz\",,\n"
    );
    let spreadsheet = export(&console, &body("spreadsheet")).await;
    assert!(
        spreadsheet.starts_with("\u{feff}id,a,n,doc\n9223372036854775807,'=1+1,-5,"),
        "{spreadsheet}"
    );
    let rows: Value = serde_json::from_str(&export(&console, &body("json")).await).expect("JSON");
    assert_eq!(rows.as_array().map(Vec::len), Some(3));
    assert_eq!(
        rows[2],
        json!({ "id": 2, "a": "x,\"y\"\\\nz", "n": null, "doc": null })
    );

    let filtered = json!({
        "table": oid, "format": "csv", "columns": ["id"],
        "filters": [{ "column": "a", "operator": "eq", "value": "x,\"y\"\\\nz" }],
    });
    assert_eq!(export(&console, &filtered).await, "id\n2\n");
    let none = json!({ "table": oid, "format": "json", "filters": [{ "column": "id", "operator": "eq", "value": "7" }] });
    let none: Value = serde_json::from_str(&export(&console, &none).await).expect("JSON");
    assert_eq!(none, json!([]));

    let inserts = export(&console, &body("sql")).await;
    let sum = "select md5(string_agg(c::text, '|' order by id)) from cells c";
    let before = console.value(sum).await;
    console.sql(&format!("truncate cells; {inserts}")).await;
    assert_eq!(console.value(sum).await, before);
}

#[tokio::test]
async fn console_058_a_ticket_works_once_and_the_answer_names_a_safe_file_and_is_audited() {
    let console = TestConsole::start().await;
    console.sql("create table \"a\"\"/../b\" (id int)").await;
    let oid = console.oid("\"a\"\"/../b\"").await;
    let ticket = console
        .post("/api/rows/export", &json!({ "table": oid, "format": "csv" }))
        .await;
    let path = format!(
        "/api/rows/export/{}",
        ticket["ticket"].as_str().expect("a ticket")
    );

    let first = console.get(&path).send().await.expect("a response");
    let second = console.get(&path).send().await.expect("a response");

    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 404));
    assert_eq!(
        first.headers()["content-disposition"],
        "attachment; filename=\"a_____b.csv\""
    );
    let audited = "select count(*)::text from selvedge_console.audit where action = 'rows.export'";
    assert_eq!(console.value(audited).await, "1");
}

#[tokio::test]
async fn console_058_exports_show_no_more_than_the_login_or_the_subject_may_read() {
    let console = TestConsole::start_for_viewers().await;
    console
        .sql(
            "create table notes (id int); insert into notes values (1), (2);
             alter table notes enable row level security; grant select on notes to anon;
             create policy one on notes for select to anon using (id = 1)",
        )
        .await;
    let oid = console.oid("notes").await;
    let body = |kind: &str| json!({ "table": oid, "format": "csv", "subject": { "kind": kind } });
    assert_eq!(export(&console, &body("anon")).await, "id\n1\n");
    assert_eq!(export(&console, &body("admin")).await, "id\n1\n2\n");
    let (status, _) = console.refused("/api/rows/export", &body("service_role")).await;
    assert_eq!(status, 403);

    let tokens = console.oid("auth.refresh_tokens").await;
    let response = download(&console, &json!({ "table": tokens, "format": "csv" })).await;
    assert!(response.status().is_client_error(), "{}", response.status());
}

/// Resident memory of this process, which also runs the console.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("a line");
    line.split_whitespace()
        .nth(1)
        .and_then(|kb| kb.parse().ok())
        .expect("a number")
}

#[tokio::test]
async fn console_058_half_a_gigabyte_passes_in_bounded_memory_and_a_client_that_leaves_ends_the_backend() {
    let console = TestConsole::start().await;
    console
        .sql("create view many as select i as id, repeat('x', 1000) as a from generate_series(1, 500000) i")
        .await;
    let body = json!({ "table": console.oid("many").await, "format": "json" });
    let before = resident_kb();
    let mut stream = download(&console, &body).await.bytes_stream();
    let (mut bytes, mut rows, mut most) = (0, 0, before);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.expect("a whole file");
        rows += chunk.iter().filter(|byte| **byte == b'{').count();
        if bytes / 10_000_000 != (bytes + chunk.len()) / 10_000_000 {
            most = most.max(resident_kb());
        }
        bytes += chunk.len();
    }
    assert_eq!(rows, 500_000);
    println!("{bytes} bytes, {} kB more memory", most.saturating_sub(before));
    // Other tests of this process, some with cells of 50 MB, run meanwhile and count, too.
    assert!(
        most.saturating_sub(before) < 300 * 1024,
        "{} kB more for {bytes} bytes",
        most.saturating_sub(before)
    );

    let mut stream = download(&console, &body).await.bytes_stream();
    stream.next().await.expect("a chunk").expect("a whole chunk");
    let running = "select count(*)::text from pg_stat_activity
        where datname = current_database() and query like 'copy (%' and state = 'active'";
    assert_eq!(console.value(running).await, "1");
    drop(stream);
    let gone = Instant::now();
    while console.value(running).await != "0" {
        assert!(gone.elapsed() < Duration::from_secs(1), "the backend goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("ended after {:?}", gone.elapsed());
}
