//! The console beside the API of `start`.

use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};

use crate::support::{Ports, Project, Running};

const MIGRATION: &str = "
    create table notes (id int primary key); insert into notes values (1), (2), (3);
    grant select on notes to anon;
";

/// A request of the console's own page.
fn ask_console(port: u16, path: &str) -> RequestBuilder {
    reqwest::Client::new()
        .get(format!("http://127.0.0.1:{port}{path}"))
        .header("x-selvedge-console", "1")
        .header("sec-fetch-site", "same-origin")
}

/// Sends a request to the API, and returns its id in the log.
async fn request_id(running: &Running, path: &str) -> String {
    let response = reqwest::get(running.url(path)).await.expect("a response");
    let id = response.headers().get("x-request-id").expect("an id");
    id.to_str().expect("text").to_owned()
}

async fn logged(port: u16, id: &str) -> Value {
    let response: Response = ask_console(port, &format!("/api/logs/{id}"))
        .send()
        .await
        .expect("a response");
    response.json().await.expect("JSON")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn console_130_a_requests_statements_are_kept_for_errors_and_while_a_tail_is_open() {
    let project = Project::new();
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    let port = Ports::free().api;
    let mut arguments = project.start_arguments();
    arguments.retain(|argument| argument != "--no-studio");
    arguments.extend(["--studio-port".to_owned(), port.to_string()]);
    let running = project.spawn(&arguments, &[]);
    running.wait_until_ready().await;

    let quick = request_id(&running, "/rest/v1/notes?id=gte.7654321").await;
    let details = logged(port, &quick).await;
    assert_eq!(
        (&details["kept"], &details["statements"]),
        (&json!(false), &json!([]))
    );

    let failed = request_id(&running, "/rest/v1/notes?id=eq.nonsense").await;
    let details = logged(port, &failed).await;
    assert_eq!(details["kept"], true, "{details}");
    let statement = &details["statements"][0];
    let shape = statement["shape"].as_str().expect("a text");
    assert!(shape.contains("notes") && shape.contains("$1"), "{shape}");
    assert!(!shape.contains("nonsense"), "{shape}");
    assert_eq!(statement["rows"], Value::Null);

    let tail = ask_console(port, "/api/logs/tail").send().await.expect("a tail");
    let followed = request_id(&running, "/rest/v1/notes?id=gte.2").await;
    let details = logged(port, &followed).await;
    assert_eq!(details["kept"], true, "{details}");
    assert_eq!(details["statements"][0]["rows"], 2, "{details}");
    assert!(details["statements"][0]["ms"].as_f64().is_some_and(|ms| ms > 0.0));
    drop(tail);
}

/// What SQL is answered by a request of the extension http, or its error.
async fn ask_by_sql(database: &tokio_postgres::Client, url: &str, header: &str) -> String {
    let sent = "select left(concat(status, ' ', content), 200) from extensions.http((
        'GET', $1, array[extensions.http_header('sec-fetch-site', 'same-origin'), extensions.http_header($2, '1')], null, null
      )::extensions.http_request)";
    match database.query_one(sent, &[&url, &header]).await {
        Ok(row) => row.get(0),
        Err(error) => error.as_db_error().expect(url).message().to_owned(),
    }
}

/// Both serve whoever reaches them: the console as its local admin, the inbox with every mail.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn console_011_sql_reaches_neither_the_console_without_sign_in_nor_the_inbox() {
    let project = Project::new();
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    let port = Ports::free().api;
    let mut arguments = project.start_arguments();
    arguments.retain(|argument| argument != "--no-studio");
    arguments.extend(["--studio-port".to_owned(), port.to_string()]);
    let running = project.spawn(&arguments, &[]);
    running.wait_until_ready().await;
    let database = project.database().await;
    database
        .batch_execute("create extension http schema extensions")
        .await
        .expect("postgres may");
    let page = ask_console(port, "/api/settings")
        .send()
        .await
        .expect("a response");
    assert_eq!(page.status(), 200);

    let inbox = running.ports.inbox;
    for url in [
        format!("http://127.0.0.1:{port}/api/settings"),
        format!("http://localhost:{port}/api/settings"),
        format!("http://0.0.0.0:{port}/api/settings"),
        format!("http://[::ffff:127.0.0.1]:{port}/api/settings"),
        format!("http://127.0.0.1:{inbox}/api/v1/messages"),
    ] {
        let answer = ask_by_sql(&database, &url, "x-plain").await;
        assert!(answer.contains("is not called at this port"), "{url}: {answer}");
    }
    // Ports of other projects are not known. Their console and inbox refuse what SQL sends, and the console's headers are not sent.
    for (port, path) in [(port, "/api/settings"), (inbox, "/api/v1/messages")] {
        let marked = ask_console(port, path).header("x-selvedge-sender", "sql").send();
        assert_eq!(marked.await.expect("a response").status(), 403, "{path}");
    }
    let header = ask_by_sql(&database, &running.url("/"), "X-Selvedge-Console").await;
    assert!(header.contains("is the console's"), "{header}");
    let own = ask_by_sql(&database, &running.url("/auth/v1/health"), "x-plain").await;
    assert!(own.starts_with("200 ") || own.starts_with("401 "), "{own}");
}
