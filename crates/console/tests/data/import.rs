//! Imports CSV files into tables.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use reqwest::{Body, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::form_urlencoded;

use super::support::{TestConsole, resident_kb};

/// Rows of the table, in the order of their ids.
const ROWS: &str = "select coalesce(string_agg(notes::text, ' ' order by id), '') from notes";

async fn start() -> (TestConsole, String) {
    let console = TestConsole::start().await;
    console
        .sql("create table notes (id int primary key, a text, n numeric)")
        .await;
    let oid = console.oid("notes").await;
    (console, oid)
}

fn request(console: &TestConsole, query: &[(&str, &str)]) -> RequestBuilder {
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(query)
        .finish();
    console.request(Method::POST, &format!("/api/rows/import?{query}"))
}

/// Imports a file with titles, and returns status and answer.
async fn import(
    console: &TestConsole,
    oid: &str,
    more: &[(&str, &str)],
    file: impl Into<Body>,
) -> (u16, Value) {
    let mut query = vec![("table", oid), ("header", "true")];
    if !more.iter().any(|(name, _)| *name == "columns") {
        query.push(("columns", r#"["id","a","n"]"#));
    }
    query.extend_from_slice(more);
    let response = request(console, &query)
        .body(file)
        .send()
        .await
        .expect("a response");
    let status = response.status().as_u16();
    (status, response.json().await.expect("JSON"))
}

#[tokio::test]
async fn console_059_a_file_is_imported_with_its_quotes_nulls_columns_and_encoding() {
    let (console, oid) = start().await;
    let file = "id,a,n\n1,\"x,\"\"y\"\"\nz\",1.50\n2,,\n3,\"\",\n";
    let (status, answer) = import(&console, &oid, &[], file).await;
    assert_eq!((status, answer), (200, json!({ "rows": 3 })));
    assert_eq!(
        console.value(ROWS).await,
        "(1,\"x,\"\"y\"\"\nz\",1.50) (2,,) (3,\"\",)"
    );

    console.sql("truncate notes").await;
    let mapped = [
        ("columns", r#"["n",null,"id"]"#),
        ("delimiter", ";"),
        ("null", "-"),
    ];
    let (status, answer) = import(
        &console,
        &oid,
        &mapped,
        "n;x;id\r\n7;\"left\r\nout\";1\r\n-;;2\r\n",
    )
    .await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(console.value(ROWS).await, "(1,,7) (2,,)");

    console.sql("truncate notes").await;
    let utf_16: Vec<u8> = "\u{feff}id,a,n\n1,€é,\n"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    for (encoding, file) in [
        ("utf-16", utf_16),
        ("windows-1252", b"id,a,n\n2,\x80\xe9,\n".to_vec()),
        ("utf-8", "\u{feff}id,a,n\n3,€é,\n".as_bytes().to_vec()),
    ] {
        let (status, answer) = import(&console, &oid, &[("encoding", encoding)], file).await;
        assert_eq!(status, 200, "{encoding}: {answer}");
    }
    assert_eq!(console.value(ROWS).await, "(1,€é,) (2,€é,) (3,€é,)");
    let audited = "select string_agg(target || ' ' || rows || ' ' || result, ', ' order by id)
        from selvedge_console.selvedge_audit where action = 'rows.import'";
    let one = "public.notes 1 ok";
    assert_eq!(
        console.value(audited).await,
        format!("public.notes 3 ok, public.notes 2 ok, {one}, {one}, {one}")
    );
}

#[tokio::test]
async fn console_059_a_fault_is_named_by_line_and_column_and_nothing_is_imported() {
    let (console, oid) = start().await;
    console.sql("alter table notes add check (n > 0)").await;
    for (file, line, column, code) in [
        ("id,a,n\n1,\"x\ny\",1\n2,x,many\n", json!(4), json!("n"), "22P02"),
        ("id,a,n\n1,x,1\n2,x\n", json!(3), Value::Null, "22P04"),
        ("id,a,n\n1,x,1\n2,x,1,more\n", json!(3), Value::Null, "22P04"),
        ("id,a,n\n1,x,1\n2,\"x,1\n", json!(4), Value::Null, "22P04"),
        ("id,a,n\n1,x,1\n1,x,1\n", json!(3), Value::Null, "23505"),
        ("id,a,n\n1,x,1\n2,x,-1\n", json!(3), Value::Null, "23514"),
        ("id,a,n\n1,x,1\n,x,1\n", json!(3), json!("id"), "23502"),
        ("id,a,n\n1,x,1\n\\.\n2,x,1\n", json!(4), Value::Null, "invalid"),
    ] {
        let (status, error) = import(&console, &oid, &[], file).await;
        assert_eq!((status, &error["code"]), (422, &json!(code)), "{file}: {error}");
        assert_eq!(
            (&error["line"], &error["column"]),
            (&line, &column),
            "{file}: {error}"
        );
        assert_eq!(console.value(ROWS).await, "", "{file}");
    }
    let (status, error) = import(&console, &oid, &[], b"id,a,n\n1,\xe9,1\n".to_vec()).await;
    assert_eq!((status, &error["line"]), (422, &json!(2)), "{error}");

    let left_out = [("columns", r#"["id",null,"n"]"#)];
    let file = "id,a,n\n1,\"x\ny\nz\",1\n2,x,many\n";
    let (status, error) = import(&console, &oid, &left_out, file).await;
    assert_eq!((status, &error["line"]), (422, &json!(5)), "{error}");
    let (status, _) = import(&console, &oid, &[("columns", "[null]")], "id\n1\n").await;
    assert_eq!(status, 422);
    let (status, _) = import(&console, &oid, &[("delimiter", "€")], "id\n1\n").await;
    assert_eq!(status, 422);
    assert_eq!(console.value(ROWS).await, "");
}

#[tokio::test]
async fn console_059_an_upload_that_is_lost_or_cancelled_half_way_leaves_nothing_behind() {
    let (console, oid) = start().await;
    let mut connection = TcpStream::connect(("127.0.0.1", console.port))
        .await
        .expect("a connection");
    let head = format!(
        "POST /api/rows/import?table={oid}&header=true&columns=%5B%22id%22,%22a%22,%22n%22%5D HTTP/1.1\r\n\
         Host: 127.0.0.1:{}\r\nx-selvedge-console: 1\r\nsec-fetch-site: same-origin\r\ncontent-length: 1000000\r\n\r\n\
         id,a,n\n1,x,1\n2,x,1\n",
        console.port
    );
    connection.write_all(head.as_bytes()).await.expect("sent");
    let running = "select count(*)::text from pg_stat_activity
        where datname = current_database() and query like 'copy %notes%' and state = 'active'";
    let begun = Instant::now();
    while console.value(running).await != "1" {
        assert!(begun.elapsed() < Duration::from_secs(10), "it does not begin");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(connection);
    let gone = Instant::now();
    while console.value(running).await != "0" {
        assert!(gone.elapsed() < Duration::from_secs(5), "the backend goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(console.value(ROWS).await, "");

    let mut half = TcpStream::connect(("127.0.0.1", console.port))
        .await
        .expect("a connection");
    half.write_all(head.as_bytes()).await.expect("sent");
    half.shutdown().await.expect("closed for writing");
    let mut answer = String::new();
    half.read_to_string(&mut answer).await.ok();
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(console.value(ROWS).await, "");
}

#[tokio::test]
async fn console_059_viewers_and_other_pages_import_nothing() {
    let console = TestConsole::start_for_viewers().await;
    console
        .sql("create table notes (id int primary key, a text, n numeric)")
        .await;
    let oid = console.oid("notes").await;
    let (status, _) = import(&console, &oid, &[], "id,a,n\n1,x,1\n").await;
    assert_eq!(status, 403);
    let foreign = request(&console, &[("table", &oid), ("columns", r#"["id"]"#)])
        .header("origin", "http://evil.example")
        .body("1\n");
    assert_eq!(foreign.send().await.expect("a response").status(), 403);
    assert_eq!(console.value(ROWS).await, "");
}

#[tokio::test]
async fn console_059_two_hundred_megabytes_pass_in_bounded_memory() {
    let (console, oid) = start().await;
    console.sql("alter table notes set unlogged").await;
    let before = resident_kb();
    let cell = "x".repeat(1000);
    let pieces = stream::iter(0..200_u32).map(move |piece| {
        let rows: String = (0..1000)
            .map(|row| format!("{},{cell},1\n", piece * 1000 + row))
            .collect();
        Ok::<_, std::io::Error>(Bytes::from(rows))
    });
    let query = [("table", oid.as_str()), ("columns", r#"["id","a","n"]"#)];
    let sent = request(&console, &query).body(Body::wrap_stream(pieces)).send();
    let mut sent = std::pin::pin!(sent);
    let mut most = before;
    let response = loop {
        tokio::select! {
            response = &mut sent => break response.expect("a response"),
            () = tokio::time::sleep(Duration::from_millis(50)) => most = most.max(resident_kb()),
        }
    };
    assert_eq!(
        response.json::<Value>().await.expect("JSON"),
        json!({ "rows": 200_000 })
    );
    println!("{} kB more memory", most - before);
    // The memory also grows by other tests of this process, some with cells of 50 MB and an export of 500 MB.
    assert!(most - before < 300 * 1024, "{} kB more", most - before);
}

#[tokio::test]
async fn console_059_refused_rows_are_skipped_and_returned_with_their_lines() {
    let (console, oid) = start().await;
    console
        .sql(
            "alter table notes add check (n > 0), alter a type varchar(5);
             create table others (note int references notes deferrable initially deferred)",
        )
        .await;
    let rejects = [("rejects", "true")];
    let file = "id,a,n\n1,x,1\n2,\"two\nli\",many\n3,x\n4,too long,1\n\n1,x,1\n5,x,-1\n,x,1\n6,\"\",\n";
    let (status, answer) = import(&console, &oid, &rejects, file).await;
    assert_eq!((status, &answer["rows"]), (200, &json!(2)), "{answer}");
    assert_eq!(console.value(ROWS).await, "(1,x,1) (6,\"\",)");
    let left_out: Vec<(i64, &Value)> = answer["rejects"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|reject| (reject["line"].as_i64().expect("a line"), &reject["values"]))
        .collect();
    assert_eq!(
        left_out,
        [
            (3, &json!(["2", "two\nli", "many"])),
            (5, &json!(["3,x"])),
            (6, &json!(["4", "too long", "1"])),
            (8, &json!(["1", "x", "1"])),
            (9, &json!(["5", "x", "-1"])),
            (10, &json!([null, "x", "1"])),
        ],
        "{answer}"
    );
    let audited = "select string_agg(rows || ' ' || result, ', ') from selvedge_console.selvedge_audit
        where action = 'rows.import'";
    assert_eq!(console.value(audited).await, "2 ok");

    let oid = console.oid("others").await;
    let mapped = [("rejects", "true"), ("columns", r#"["note"]"#)];
    let (_, answer) = import(&console, &oid, &mapped, "note\n1\n7\n6\n").await;
    assert_eq!(
        (&answer["rows"], &answer["rejects"][0]["line"]),
        (&json!(2), &json!(3)),
        "{answer}"
    );
}

#[tokio::test]
async fn console_059_few_refused_rows_among_many_are_skipped_and_too_many_reject_the_file() {
    let (console, oid) = start().await;
    let rejects = [("rejects", "true")];
    let row = |id: i32| match id {
        1 | 7000 | 12_000 => format!("{id},x,none\n"),
        _ => format!("{id},x,1\n"),
    };
    let file: String = (1..=12_000).map(row).collect();
    let (_, answer) = import(&console, &oid, &rejects, format!("id,a,n\n{file}")).await;
    let lines: Vec<&Value> = answer["rejects"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|reject| &reject["line"])
        .collect();
    assert_eq!(answer["rows"], json!(11_997));
    assert_eq!(lines, [&json!(2), &json!(7001), &json!(12_001)]);

    console.sql("truncate notes").await;
    let (status, error) = import(&console, &oid, &rejects, "id,a,n\n1,x,1\n2,\"x,1\n3,x,1\n").await;
    assert_eq!(
        (status, &error["line"]),
        (422, &json!(3)),
        "an open quote: {error}"
    );
    // One row more than may be refused, and the line with the column names.
    let all_wrong = "1,2\n".repeat(10_002);
    let (status, error) = import(&console, &oid, &rejects, all_wrong).await;
    assert_eq!(status, 422, "{error}");
    assert_eq!(console.value(ROWS).await, "", "nothing of either file");
}
