//! Kills the server during requests of the console, and checks that no request is half done afterwards.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_postgres::Client;

use crate::console_project::{ConsoleProject, kill};
use crate::support::wait_for_statement;

const MIGRATION: &str = "
    create table notes (id int primary key, body text);
    insert into notes values (1, 'as it was');
    create view many as select i as id, repeat('x', 1000) as body from generate_series(1, 2000000) i;
";

fn post(console: &ConsoleProject, path: &str, body: &Value) -> RequestBuilder {
    console.request(Method::POST, path).json(body)
}

async fn answer(request: RequestBuilder) -> Value {
    let response = request.send().await.expect("a response");
    response.json().await.expect("JSON")
}

async fn oid(database: &Client, table: &str) -> String {
    let sql = "select $1::text::regclass::oid::text";
    database.query_one(sql, &[&table]).await.expect("a table").get(0)
}

/// Sends the beginning of a file to the import endpoint, and never the rest.
async fn begin_import(port: u16, table: &str) -> TcpStream {
    let mut connection = TcpStream::connect(("127.0.0.1", port))
        .await
        .expect("a connection");
    let head = format!(
        "POST /api/rows/import?table={table}&header=true&columns=%5B%22id%22,%22body%22%5D HTTP/1.1\r\n\
         Host: 127.0.0.1:{port}\r\nx-selvedge-console: 1\r\nsec-fetch-site: same-origin\r\ncontent-length: 1000000\r\n\r\n\
         id,body\n2,imported\n3,imported\n"
    );
    connection.write_all(head.as_bytes()).await.expect("sent");
    connection
}

/// Returns the table's rows, and the actions and results in the audit log, newest first.
async fn read_state(console: &ConsoleProject, database: &Client) -> (String, String) {
    let rows = "select string_agg(id || ' ' || body, ', ' order by id) from notes";
    let rows = database.query_one(rows, &[]).await.expect("a row").get(0);
    let audit = answer(console.request(Method::GET, "/api/audit")).await;
    let entries = audit["entries"].as_array().expect("entries");
    let entries: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} {}", entry["action"], entry["result"]).replace('"', ""))
        .collect();
    (rows, entries.join(", "))
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn console_180_killed_imports_exports_and_row_changes_leave_nothing_half_done() {
    let console = ConsoleProject::new();
    console
        .project
        .write("migrations/20260101000000_notes.sql", MIGRATION);
    let mut running = console.start().await;
    let mut database = console.project.database().await;
    let notes = oid(&database, "notes").await;

    let _upload = begin_import(console.port, &notes).await;
    wait_for_statement(&database, "copy %notes").await;
    kill(running);
    running = console.start().await;
    database = console.project.database().await;
    assert_eq!(
        read_state(&console, &database).await,
        ("1 as it was".into(), String::new())
    );

    // The test holds a lock on a row, so the change waits between BEGIN and COMMIT.
    let page = answer(post(&console, "/api/rows/read", &json!({ "table": notes }))).await;
    let holder = console.project.database().await;
    holder
        .batch_execute("begin; select from notes where id = 1 for update")
        .await
        .expect("a lock");
    let change = json!({ "changes": [
        { "kind": "insert", "table": notes, "values": { "id": { "value": "9" } } },
        { "kind": "update", "table": notes, "row": page["ids"][0], "base": {}, "values": { "body": { "value": "mine" } } },
    ] });
    let applying = actix_web::rt::spawn(post(&console, "/api/rows/apply", &change).send());
    wait_for_statement(&database, "from %notes% for update").await;
    kill(running);
    assert!(
        applying.await.expect("a task").is_err(),
        "no answer says that it was applied"
    );
    running = console.start().await;
    database = console.project.database().await;
    assert_eq!(
        read_state(&console, &database).await,
        ("1 as it was".into(), String::new())
    );

    let many = oid(&database, "many").await;
    let body = json!({ "table": many, "format": "csv", "filters": [], "sort": [] });
    let ticket = answer(post(&console, "/api/rows/export", &body)).await;
    let path = format!(
        "/api/rows/export/{}",
        ticket["ticket"].as_str().expect("a ticket")
    );
    let response = console
        .request(Method::GET, &path)
        .send()
        .await
        .expect("a response");
    let mut file = response.bytes_stream();
    file.next().await.expect("a chunk").expect("a whole chunk");
    kill(running);
    let begun = Instant::now();
    let end = loop {
        match file.next().await {
            Some(Ok(_)) => assert!(begun.elapsed() < Duration::from_secs(30)),
            end => break end,
        }
    };
    assert!(
        end.is_some_and(|chunk| chunk.is_err()),
        "the file is broken off, not ended"
    );
    running = console.start().await;
    database = console.project.database().await;
    let expected = ("1 as it was".to_owned(), "rows.export started".to_owned());
    assert_eq!(
        read_state(&console, &database).await,
        expected,
        "the audit claims no end"
    );
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn console_180_changes_whose_answer_was_lost_in_a_kill_are_not_applied_twice() {
    let console = ConsoleProject::new();
    console
        .project
        .write("migrations/20260101000000_notes.sql", MIGRATION);
    let mut running = console.start().await;
    let notes = oid(&console.project.database().await, "notes").await;
    let request = json!({
        "request_id": "5f0d4f5c-6d5e-4a35-9d0a-0a3f5e3c1b05",
        "changes": [{ "kind": "insert", "table": notes, "values": { "id": { "value": "2" }, "body": { "value": "mine" } } }],
    });
    let mut first = answer(post(&console, "/api/rows/apply", &request)).await;
    kill(running);
    running = console.start().await;

    let repeated = answer(post(&console, "/api/rows/apply", &request)).await;

    first["repeated"] = json!(true);
    assert_eq!(repeated, first);
    let state = read_state(&console, &console.project.database().await).await;
    assert_eq!(
        state,
        ("1 as it was, 2 mine".to_owned(), "rows.insert ok".to_owned())
    );
    running.stop();
}
