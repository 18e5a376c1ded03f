//! Bodies that break off, lie about their length, or never end.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use reqwest::Method;

use crate::support::TestApp;

async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

/// Sends the head of an upload and a part of its body on a raw connection.
fn begin_upload(app: &TestApp, headers: &str, body: &[u8]) -> TcpStream {
    let token = app
        .keys
        .sign_hs256(&serde_json::json!({"role": "service_role"}))
        .expect("signs");
    let mut socket = TcpStream::connect(app.address).expect("the server listens");
    let head = format!(
        "POST /storage/v1/object/b/x HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nx-upsert: true\r\n{headers}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).expect("the server reads");
    socket.write_all(body).expect("the server reads");
    socket
}

async fn until_something_is_incoming(app: &TestApp) {
    let incoming = app.root().join("incoming");
    for _ in 0..500 {
        if crate::support::files_below(&incoming) > 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the upload never began");
}

#[actix_web::test]
async fn store_082_an_aborted_upload_leaves_nothing() {
    let app = app_with_bucket().await;
    app.service_role().upload("b/x", "old").await.ok();

    for headers in [
        "content-type: text/plain\r\ncontent-length: 10000000",
        "content-type: text/plain\r\ntransfer-encoding: chunked",
    ] {
        let body = if headers.contains("chunked") {
            let mut body = format!("{:x}\r\n", 600_000).into_bytes();
            body.extend(vec![b'x'; 600_000]);
            body.extend_from_slice(b"\r\n");
            body
        } else {
            vec![b'x'; 600_000]
        };
        let socket = begin_upload(&app, headers, &body);
        until_something_is_incoming(&app).await;
        drop(socket);
        app.settle(1).await;
    }

    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "old");
}

#[actix_web::test]
async fn store_082_an_aborted_form_leaves_nothing() {
    let app = app_with_bucket().await;
    let mut body = b"--bo\r\ncontent-disposition: form-data; name=\"\"; filename=\"f\"\r\n\r\n".to_vec();
    body.extend(vec![b'x'; 600_000]);

    let socket = begin_upload(
        &app,
        "content-type: multipart/form-data; boundary=bo\r\ncontent-length: 9000000",
        &body,
    );
    until_something_is_incoming(&app).await;
    drop(socket);

    app.settle(0).await;
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
}

#[actix_web::test]
async fn store_085_a_body_without_length_is_cut_off_at_the_limit() {
    let app = TestApp::start_with(|config| selvedge_storage::StorageConfig {
        file_size_limit_bytes: 1_000_000,
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let chunks = (0..100).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 16_384])));
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));

    let answer = app
        .service_role()
        .request(Method::POST, "/object/b/x")
        .header("content-type", "text/plain")
        .body(body)
        .send()
        .await;

    answer.is(400, "413", "EntityTooLarge");
    app.settle(0).await;
}

#[actix_web::test]
async fn store_085_a_declared_length_above_the_limit_is_refused_before_the_body() {
    let app = app_with_bucket().await;

    let mut socket = begin_upload(
        &app,
        "content-type: text/plain\r\ncontent-length: 60000000",
        b"only a few bytes",
    );

    let answer = tokio::task::spawn_blocking(move || {
        let mut answer = vec![0; 4096];
        let read = socket.read(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer[..read]).into_owned()
    })
    .await
    .expect("the thread lives");
    assert!(
        answer.starts_with("HTTP/1.1 400") && answer.contains("EntityTooLarge"),
        "{answer}"
    );
    app.settle(0).await;
}

#[actix_web::test]
async fn store_084_memory_stays_flat_while_a_large_file_passes() {
    let app = TestApp::start_with(|config| selvedge_storage::StorageConfig {
        file_size_limit_bytes: 1 << 30,
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    let megabytes = 128;
    let chunk = Bytes::from(vec![7; 1 << 20]);
    let chunks = (0..megabytes).map(move |_| Ok::<_, std::io::Error>(chunk.clone()));
    let before = resident_megabytes();

    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
    app.service_role()
        .request(Method::POST, "/object/b/x")
        .body(body)
        .send()
        .await
        .ok();
    let uploaded = resident_megabytes();
    let mut answer = reqwest::get(app.url("/object/public/b/x"))
        .await
        .expect("an answer");
    let mut received = 0;
    while let Some(chunk) = answer.chunk().await.expect("the body is whole") {
        received += chunk.len();
    }

    assert_eq!(received, megabytes << 20);
    let grown = uploaded.max(resident_megabytes()).saturating_sub(before);
    assert!(grown < 40, "grew by {grown} MiB");
}

fn resident_megabytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize = status
        .split(' ')
        .nth(1)
        .expect("resident")
        .parse()
        .expect("a number");
    pages * 4 / 1024
}
