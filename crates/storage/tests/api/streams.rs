//! Bodies that break off, have another length than declared, or are larger than memory.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use reqwest::Method;

use crate::support::TestApp;

/// The service with a public bucket `b`.
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

/// Waits until bytes of an upload are on disk; panics after a minute.
async fn wait_for_incoming_bytes(app: &TestApp) {
    let incoming = app.root().join("incoming");
    for _ in 0..6000 {
        if crate::support::files_below(&incoming) > 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the upload never began");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_082_an_aborted_upload_keeps_the_old_object_and_leaves_no_blob() {
    let app = app_with_bucket().await;
    app.service_role().upload("b/x", "old").await.ok();

    // A body that ends before its Content-Length, and a chunked body without its last chunk.
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
        wait_for_incoming_bytes(&app).await;
        drop(socket);
        app.settle(1).await;
    }

    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "old");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_082_an_aborted_form_leaves_no_row_and_no_blob() {
    let app = app_with_bucket().await;
    let mut body = b"--bo\r\ncontent-disposition: form-data; name=\"\"; filename=\"f\"\r\n\r\n".to_vec();
    body.extend(vec![b'x'; 600_000]);

    let socket = begin_upload(
        &app,
        "content-type: multipart/form-data; boundary=bo\r\ncontent-length: 9000000",
        &body,
    );
    wait_for_incoming_bytes(&app).await;
    drop(socket);

    app.settle(0).await;
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_085_a_chunked_body_is_aborted_at_the_size_limit() {
    let app = TestApp::start_with(|config| selvedge_storage::StorageConfig {
        file_size_limit_bytes: 1_000_000,
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    let chunks = (0..100).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 16_384])));
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));

    let response = app
        .service_role()
        .request(Method::POST, "/object/b/x")
        .header("content-type", "text/plain")
        .body(body)
        .send()
        .await;

    response.is(400, "413", "EntityTooLarge");
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_085_a_declared_length_above_the_limit_is_refused_before_the_body() {
    let app = app_with_bucket().await;

    let mut socket = begin_upload(
        &app,
        "content-type: text/plain\r\ncontent-length: 60000000",
        b"only a few bytes",
    );

    let response = tokio::task::spawn_blocking(move || {
        let mut response = vec![0; 4096];
        let read = socket.read(&mut response).expect("a response");
        String::from_utf8_lossy(&response[..read]).into_owned()
    })
    .await
    .expect("the thread lives");
    assert!(
        response.starts_with("HTTP/1.1 400") && response.contains("EntityTooLarge"),
        "{response}"
    );
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_084_memory_stays_constant_during_a_large_transfer() {
    let app = TestApp::start_with(|config| selvedge_storage::StorageConfig {
        file_size_limit_bytes: 1 << 30,
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    // Much more than the allowed growth, so that buffering the body would be noticed. Other tests of this process run at the
    // same time, and their memory counts here, too.
    let megabytes = 256;
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
    let mut response = reqwest::get(app.url("/object/public/b/x"))
        .await
        .expect("a response");
    let mut received = 0;
    while let Some(chunk) = response.chunk().await.expect("the body is whole") {
        received += chunk.len();
    }

    assert_eq!(received, megabytes << 20);
    let grown = uploaded.max(resident_megabytes()).saturating_sub(before);
    assert!(grown < 128, "grew by {grown} MiB");
}

/// Memory of this process in MiB, which runs server and client.
fn resident_megabytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: usize = status
        .split(' ')
        .nth(1)
        .expect("resident")
        .parse()
        .expect("a number");
    // A page has 4 KiB.
    pages * 4 / 1024
}
