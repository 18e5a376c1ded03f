//! Hostile requests: paths, lengths, slow bodies, and types that a browser would run.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use reqwest::Method;
use selvedge_storage::StorageConfig;

use crate::support::{SANDBOX, TestApp};

/// The service with a public bucket `b`.
async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

/// Sends raw bytes and returns the response, read until it is complete or the connection is closed.
async fn raw(app: &TestApp, request: &str) -> String {
    let request = request.replace("TOKEN", app.service_role().token());
    let address: SocketAddr = app.address;
    // A raw socket, because HTTP clients normalise paths and refuse to send malformed requests.
    let conversation = move || {
        let mut socket = TcpStream::connect(address).expect("the server listens");
        socket
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a socket");
        socket.write_all(request.as_bytes()).expect("the server reads");
        let mut response = vec![0; 64 * 1024];
        let read = socket.read(&mut response).unwrap_or(0);
        String::from_utf8_lossy(&response[..read]).into_owned()
    };
    tokio::task::spawn_blocking(conversation)
        .await
        .expect("the thread lives")
}

/// A raw PUT request; `raw` replaces `TOKEN` by a token of the service role.
fn put(path: &str, headers: &str, body: &str) -> String {
    format!(
        "PUT /storage/v1{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer TOKEN\r\n{headers}\r\n\r\n{body}"
    )
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_064_no_spelling_of_a_path_reaches_another_bucket() {
    let app = app_with_bucket().await;
    for path in [
        "/object/b/../../etc/passwd",
        "/object/b/%2e%2e/%2e%2e/etc/passwd",
        "/object/b/..%2f..%2fetc%2fpasswd",
        "/object/b/a/%2e%2e/b",
        "/object/b/..\\..\\x",
        "/object/b/%00",
        "/object/b/a%00b",
        "/object/b/%c0%ae%c0%ae/x",
        "/object/b/%e2%80%ae",
        "/object/b/%",
        "/object/b/%2",
        "/object/..%2fb/x",
        "/object/%2e%2e/x",
    ] {
        let response = raw(&app, &put(path, "content-length: 1", "x")).await;
        assert!(response.starts_with("HTTP/1.1 4"), "{path}: {response}");
    }
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_061_a_key_of_1024_bytes_is_accepted_and_a_longer_one_refused() {
    let app = app_with_bucket().await;
    // 1024 bytes: 511, a slash and 512.
    let longest = format!("{}/{}", "d".repeat(511), "k".repeat(512));

    app.service_role()
        .upload(&format!("b/{longest}"), "deep")
        .await
        .ok();

    let read = app
        .nobody()
        .get(&format!("/object/public/b/{longest}"))
        .await
        .ok();
    assert_eq!(read.text(), "deep");
    let moved = serde_json::json!({"bucketId": "b", "sourceKey": longest, "destinationKey": "short"});
    app.service_role().post("/object/move", moved).await.ok();
    app.service_role()
        .upload(&format!("b/{longest}k"), "deeper")
        .await
        .is(400, "400", "InvalidKey");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_082_a_body_shorter_or_longer_than_declared_stores_nothing() {
    let app = app_with_bucket().await;

    // Two lengths in one request are how requests are smuggled past proxies (RFC 9112 §6.3), so the server must refuse
    // them.
    let two_lengths = put("/object/b/x", "content-length: 3\r\ncontent-length: 5", "abcde");
    assert!(raw(&app, &two_lengths).await.starts_with("HTTP/1.1 400"));
    let both = put(
        "/object/b/x",
        "content-length: 3\r\ntransfer-encoding: chunked",
        "3\r\nabc\r\n0\r\n\r\n",
    );
    let smuggled = raw(&app, &both).await;
    let negative = raw(&app, &put("/object/b/x", "content-length: -1", "abc")).await;
    assert!(negative.starts_with("HTTP/1.1 400"), "{negative}");
    let broken = raw(
        &app,
        &put("/object/b/x", "transfer-encoding: chunked", "zz\r\nabc\r\n"),
    )
    .await;
    assert!(!broken.starts_with("HTTP/1.1 200"), "{broken}");

    // Whichever of the two lengths is used, at most one complete body may be stored.
    let stored = app.count("select count(*) from storage.objects").await;
    assert_eq!(
        stored,
        i64::from(smuggled.starts_with("HTTP/1.1 200")),
        "{smuggled}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_082_an_idle_upload_is_aborted() {
    let app = TestApp::start_with(|config| StorageConfig {
        upload_idle_timeout: Duration::from_secs(1),
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;

    let response = raw(&app, &put("/object/b/x", "content-length: 1000000", "only this")).await;

    assert!(
        response.is_empty() || response.starts_with("HTTP/1.1 499"),
        "{response}"
    );
    app.settle(0).await;
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
    // The key is not blocked by the aborted upload.
    app.service_role().upload("b/x", "quick").await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_037_html_and_svg_are_served_without_scripts_and_origin() {
    let app = app_with_bucket().await;
    let page = "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    for (kind, served) in [
        ("text/html", "text/plain"),
        ("text/html; charset=utf-8", "text/plain"),
        ("image/svg+xml", "image/svg+xml"),
        ("application/xhtml+xml", "application/xhtml+xml"),
        // Compat: only the lower-case type becomes text/plain; the sandbox applies to every spelling.
        ("TEXT/HTML", "TEXT/HTML"),
        ("text/xml", "text/xml"),
    ] {
        app.service_role()
            .request(Method::PUT, "/object/b/x")
            .header("content-type", kind)
            .body(page)
            .send()
            .await
            .ok();

        let got = app.nobody().get("/object/public/b/x").await.ok();

        assert_eq!(got.header("content-type"), Some(served), "{kind}");
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"), "{kind}");
        assert_eq!(got.header("content-security-policy"), Some(SANDBOX), "{kind}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_036_file_names_cannot_inject_response_headers() {
    let app = app_with_bucket().await;
    app.service_role().upload("b/x", "x").await.ok();

    let got = app
        .nobody()
        .get("/object/public/b/x?download=a%0d%0aset-cookie:%20b=c%22;%20filename=evil.exe")
        .await
        .ok();
    assert_eq!(got.header("set-cookie"), None);
    let disposition = got.header("content-disposition").expect("it is a download");
    assert!(
        !disposition.contains('"') && disposition.matches("filename=").count() == 1,
        "{disposition}"
    );
    for header in ["cache-control: a\u{1}b", "content-type: text/x\u{b}y"] {
        let response = raw(
            &app,
            &put("/object/b/y", &format!("{header}\r\ncontent-length: 1"), "x"),
        )
        .await;
        assert!(response.starts_with("HTTP/1.1 400"), "{header:?}: {response}");
    }
}
