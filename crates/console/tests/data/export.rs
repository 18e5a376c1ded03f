//! Exports rows as files.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::{Client, Response};
use serde_json::{Value, json};

use super::support::{TestConsole, resident_kb};

/// Outcome and rows of each entry of the audit about exports.
const AUDITED: &str = "select string_agg(result || ' ' || coalesce(rows::text, '-'), ', ' order by id)
    from selvedge_console.selvedge_audit where action = 'rows.export'";

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

const CREATE_CELLS: &str = "create table cells (id int8 primary key, a text, n int, doc jsonb);
    insert into cells values (9223372036854775807, '=1+1', -5, '{\"k\": [1]}'), (2, E'x,\"y\"\\\\\\nz', null, null), (3, '', 0, 'null')";

#[tokio::test]
async fn console_058_rows_are_exported_in_each_format_with_the_filters_and_the_order_of_the_grid() {
    let console = TestConsole::start().await;
    console.sql(CREATE_CELLS).await;
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
async fn console_058_167_a_ticket_works_once_and_the_answer_names_a_safe_file_and_is_audited() {
    let console = TestConsole::start().await;
    console
        .sql("create table \"a\"\"/../b\" (id int); insert into \"a\"\"/../b\" values (7), (8)")
        .await;
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
    assert_eq!(first.text().await.expect("a body"), "id\n7\n8\n");
    assert_eq!(console.value(AUDITED).await, "started -, ok 2");
}

#[tokio::test]
async fn console_058_a_page_downloads_by_going_to_the_address_and_other_pages_cannot() {
    let console = TestConsole::start().await;
    console.sql("create table notes (id int)").await;
    let body = json!({ "table": console.oid("notes").await, "format": "csv" });
    let navigate = async |site: &str, path: String| {
        let request = Client::new().get(format!("http://127.0.0.1:{}{path}", console.port));
        let request = request
            .header("sec-fetch-site", site)
            .header("sec-fetch-mode", "navigate");
        request.send().await.expect("a response").status().as_u16()
    };
    let ticket = console.post("/api/rows/export", &body).await;
    let path = format!(
        "/api/rows/export/{}",
        ticket["ticket"].as_str().expect("a ticket")
    );
    for site in ["cross-site", "same-site", "none"] {
        assert_eq!(navigate(site, path.clone()).await, 403, "{site}");
    }
    assert_eq!(
        navigate("same-origin", "/api/rows/export/1".to_owned()).await,
        404
    );
    assert_eq!(
        navigate("same-origin", "/api/session".to_owned()).await,
        403,
        "only a ticket replaces the header"
    );
    assert_eq!(navigate("same-origin", path).await, 200);
}

#[tokio::test]
async fn console_058_what_cannot_be_exported_is_said_before_the_download() {
    let console = TestConsole::start().await;
    console.sql("create table notes (id int)").await;
    let body = json!({
        "table": console.oid("notes").await, "format": "csv",
        "filters": [{ "column": "id", "operator": "eq", "value": "one" }],
    });
    let (status, error) = console.refused("/api/rows/export", &body).await;
    assert_eq!((status, &error["code"]), (422, &json!("22P02")));
}

#[tokio::test]
async fn console_058_a_fault_among_the_rows_breaks_the_file_off_and_is_audited() {
    let console = TestConsole::start().await;
    console
        .sql("create view faulty as select 1 / (300000 - i) as id from generate_series(1, 300000) i")
        .await;
    let body = json!({ "table": console.oid("faulty").await, "format": "csv" });
    let response = download(&console, &body).await;
    assert_eq!(response.status(), 200);
    assert!(response.bytes().await.is_err(), "the body has no end");
    assert_eq!(console.value(AUDITED).await, "started -, failed 299999");
}

#[tokio::test]
async fn console_058_165_no_cell_of_a_spreadsheet_begins_a_formula_and_numbers_stay_numbers() {
    let console = TestConsole::start().await;
    console
        .sql(
            "create table cells (id int, a text);
             insert into cells values (1, '=1+1'), (2, '+1'), (3, '-1+2'), (4, '@sum(1)'), (5, E'\\t=1'), (6, E'\\r=1'),
               (7, E'\\n=1'), (8, '＝1'), (9, '＋1'), (10, '－1'), (11, '＠a'),
               (21, '-5'), (22, '-5e10'), (23, '-0.25'), (24, '-.5E-7'), (25, '1=1'), (26, ''), (27, null)",
        )
        .await;
    let body = json!({
        "table": console.oid("cells").await, "format": "spreadsheet", "sort": [{ "column": "id" }],
    });
    let mut expected =
        String::from("\u{feff}id,a\n1,'=1+1\n2,'+1\n3,'-1+2\n4,'@sum(1)\n5,'\t=1\n6,\"'\r=1\"\n");
    expected += "7,\"'\n=1\"\n8,'＝1\n9,'＋1\n10,'－1\n11,'＠a\n";
    expected += "21,-5\n22,-5e10\n23,-0.25\n24,-.5E-7\n25,1=1\n26,\"\"\n27,\n";
    assert_eq!(export(&console, &body).await, expected);
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
    let body = json!({ "table": tokens, "format": "csv" });
    let (status, error) = console.refused("/api/rows/export", &body).await;
    assert_eq!(
        (status, &error["message"]),
        (422, &json!("There is no column to export"))
    );
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
    // The memory also grows by other tests of this process, some with cells of 50 MB.
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
    // The entry is written after the statement has ended.
    let whole = "started -, ok 500000, started -";
    while console.value(AUDITED).await == whole {
        assert!(gone.elapsed() < Duration::from_secs(5), "no second entry");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let audited = console.value(AUDITED).await;
    assert!(
        audited.starts_with(&format!("{whole}, interrupted ")),
        "{audited}"
    );
}
