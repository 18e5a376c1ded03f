//! A TUS client for tests.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use selvedge_storage::StorageConfig;
use serde_json::json;

use crate::support::{Client, Request, Response, TestApp};

/// Content type of a request with bytes of the upload.
pub(crate) const OFFSET_STREAM: &str = "application/offset+octet-stream";

/// The service with a public bucket `b` and changed settings.
pub(crate) async fn app_with(settings: impl FnOnce(StorageConfig) -> StorageConfig) -> TestApp {
    let app = TestApp::start_with(settings).await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

/// The service with a public bucket `b`.
pub(crate) async fn app() -> TestApp {
    app_with(|config| config).await
}

/// `Upload-Metadata` for an object of the bucket `b`.
pub(crate) fn metadata(key: &str) -> String {
    metadata_in("b", key)
}

/// `Upload-Metadata` for an object of a bucket.
pub(crate) fn metadata_in(bucket: &str, key: &str) -> String {
    format!(
        "bucketName {},objectName {}",
        STANDARD.encode(bucket),
        STANDARD.encode(key)
    )
}

/// A request of the protocol.
pub(crate) fn tus(client: &Client<'_>, method: Method, path: &str) -> Request {
    client.request(method, path).header("tus-resumable", "1.0.0")
}

/// The request that begins an upload.
pub(crate) fn creation(client: &Client<'_>, key: &str, length: usize) -> Request {
    tus(client, Method::POST, "/upload/resumable")
        .header("upload-length", &length.to_string())
        .header("upload-metadata", &metadata(key))
}

/// The path of a created upload, without the service's prefix.
pub(crate) fn path_of(response: &Response) -> String {
    assert_eq!(response.status, 201, "{}", response.text());
    let location = response.header("location").expect("a location");
    let (_, path) = location.split_once("/storage/v1").expect("the public prefix");
    path.to_owned()
}

/// Begins an upload; returns its path.
pub(crate) async fn create(client: &Client<'_>, key: &str, length: usize) -> String {
    path_of(&creation(client, key, length).send().await)
}

/// Sends the next bytes.
pub(crate) async fn patch(client: &Client<'_>, path: &str, offset: usize, bytes: &[u8]) -> Response {
    tus(client, Method::PATCH, path)
        .header("upload-offset", &offset.to_string())
        .header("content-type", OFFSET_STREAM)
        .body(bytes.to_vec())
        .send()
        .await
}

/// The offset that the service reports.
pub(crate) async fn offset(client: &Client<'_>, path: &str) -> usize {
    let response = tus(client, Method::HEAD, path).send().await;
    assert_eq!(response.status, 200);
    response
        .header("upload-offset")
        .and_then(|text| text.parse().ok())
        .expect("an offset")
}

/// Bytes in which every position has another value, so that mixed-up chunks are noticed.
pub(crate) fn content(size: usize) -> Vec<u8> {
    (0..size as u32)
        // Knuth's multiplicative hash: neighbouring positions get unrelated bytes.
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect()
}

/// Sends the head of a PATCH and a part of its body on a raw connection.
pub(crate) fn begin_patch(app: &TestApp, path: &str, offset: usize, length: usize, body: &[u8]) -> TcpStream {
    let token = app
        .keys
        .sign_hs256(&json!({"role": "service_role"}))
        .expect("signs");
    let mut socket = TcpStream::connect(app.address).expect("the server listens");
    let head = format!(
        "PATCH /storage/v1{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ntus-resumable: 1.0.0\r\n\
         upload-offset: {offset}\r\ncontent-type: {OFFSET_STREAM}\r\ncontent-length: {length}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).expect("the server reads");
    socket.write_all(body).expect("the server reads");
    socket
}

/// Waits until a query on the table of uploads returns true.
pub(crate) async fn until(app: &TestApp, condition: &str) {
    let query = format!("select count(*) from storage.resumable_uploads where {condition}");
    for _ in 0..6000 {
        if app.count(&query).await > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {condition}");
}
