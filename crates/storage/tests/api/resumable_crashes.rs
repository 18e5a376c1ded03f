//! The server process is killed at random moments of a resumable upload and started again: no acknowledged byte is
//! lost.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use crate::crashes::{Server, token};
use crate::support::TestApp;
use crate::tus_client::{content, metadata};

/// Sends a request of the protocol without a body.
async fn send(
    server: &Server,
    method: reqwest::Method,
    path: &str,
    headers: &[(&str, &str)],
) -> reqwest::Response {
    let mut request = reqwest::Client::new()
        .request(method, format!("http://{}/storage/v1{path}", server.address))
        .bearer_auth(token())
        .header("tus-resumable", "1.0.0");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.expect("a response")
}

/// A header of a response; panics when it is missing.
fn header(response: &reqwest::Response, name: &str) -> String {
    let value = response
        .headers()
        .get(name)
        .unwrap_or_else(|| panic!("no {name}"));
    value.to_str().expect("text").to_owned()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_an_acknowledged_offset_survives_kill_9() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    let store = &app.store;
    let bytes = content(6_000_000);
    let mut server = Server::start(&app.database, store);
    let created = send(
        &server,
        reqwest::Method::POST,
        "/upload/resumable",
        &[
            ("upload-length", &bytes.len().to_string()),
            ("upload-metadata", &metadata("x")),
        ],
    )
    .await;
    let location = header(&created, "location");
    let path = location
        .split_once("/storage/v1")
        .expect("the prefix")
        .1
        .to_owned();

    let mut acknowledged = 0;
    for round in 0_u64..5 {
        // One chunk is acknowledged; the process is killed in the middle of the next.
        let end = (acknowledged + 400_000).min(bytes.len());
        let response = reqwest::Client::new()
            .patch(format!("http://{}/storage/v1{path}", server.address))
            .bearer_auth(token())
            .header("tus-resumable", "1.0.0")
            .header("upload-offset", acknowledged.to_string())
            .header("content-type", "application/offset+octet-stream")
            .body(bytes[acknowledged..end].to_vec())
            .send()
            .await
            .expect("a response");
        assert_eq!(response.status(), 204);
        acknowledged = end;
        let mut socket = TcpStream::connect(&server.address).expect("it listens");
        let head = format!(
            "PATCH /storage/v1{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ntus-resumable: 1.0.0\r\n\
             upload-offset: {acknowledged}\r\ncontent-type: application/offset+octet-stream\r\ncontent-length: {}\r\n\r\n",
            token(),
            bytes.len() - acknowledged
        );
        socket.write_all(head.as_bytes()).expect("it reads");
        socket
            .write_all(&bytes[acknowledged..acknowledged + 500_000])
            .expect("it reads");
        tokio::time::sleep(Duration::from_millis(round * 37 % 150)).await;
        drop(server);
        server = Server::start(&app.database, store);

        let head = send(&server, reqwest::Method::HEAD, &path, &[]).await;
        assert_eq!(head.status(), 200);
        let reached: usize = header(&head, "upload-offset").parse().expect("a number");
        assert!(
            reached >= acknowledged,
            "{reached} of {acknowledged} acknowledged"
        );
        acknowledged = reached;
    }

    // The last byte is sent, and the process is killed about when the object is committed.
    for delay_ms in [0, 3, 10, 30, 100] {
        let request = reqwest::Client::new()
            .patch(format!("http://{}/storage/v1{path}", server.address))
            .bearer_auth(token())
            .header("tus-resumable", "1.0.0")
            .header("x-upsert", "true")
            .header("upload-offset", acknowledged.to_string())
            .header("content-type", "application/offset+octet-stream")
            .body(bytes[acknowledged..].to_vec());
        let sending = actix_web::rt::spawn(request.send());
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        drop(server);
        let _ = sending.await;
        server = Server::start(&app.database, store);
        let head = send(&server, reqwest::Method::HEAD, &path, &[]).await;
        let reached: usize = header(&head, "upload-offset").parse().expect("a number");
        assert!(reached >= acknowledged);
        acknowledged = reached;
    }
    if acknowledged < bytes.len() {
        let response = reqwest::Client::new()
            .patch(format!("http://{}/storage/v1{path}", server.address))
            .bearer_auth(token())
            .header("tus-resumable", "1.0.0")
            .header("upload-offset", acknowledged.to_string())
            .header("content-type", "application/offset+octet-stream")
            .body(bytes[acknowledged..].to_vec())
            .send()
            .await
            .expect("a response");
        assert_eq!(response.status(), 204);
    }

    let read = send(&server, reqwest::Method::GET, "/object/public/b/x", &[]).await;
    assert_eq!(read.bytes().await.expect("whole"), bytes);
    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
    assert_eq!(
        app.count("select count(*) from storage.resumable_pieces").await,
        0
    );
    let etag = app
        .database
        .superuser()
        .await
        .query_one("select metadata ->> 'eTag', version from storage.objects", &[])
        .await
        .expect("one row");
    use md5::Digest;
    assert_eq!(
        etag.get::<_, String>(0),
        format!("\"{}\"", hex::encode(md5::Md5::digest(&bytes)))
    );
    let version: String = etag.get(1);
    assert!(store.find_blob(&version).is_some());
    assert_eq!(store.unfinished(), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_another_node_can_continue_and_the_first_records_nothing_more() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    let store = &app.store;
    let nodes = [
        Server::start(&app.database, store),
        Server::start(&app.database, store),
    ];
    let bytes = content(1_000_000);
    let created = send(
        &nodes[0],
        reqwest::Method::POST,
        "/upload/resumable",
        &[
            ("upload-length", &bytes.len().to_string()),
            ("upload-metadata", &metadata("x")),
        ],
    )
    .await;
    let location = header(&created, "location");
    let path = location
        .split_once("/storage/v1")
        .expect("the prefix")
        .1
        .to_owned();
    // The creation has set a writer. It is cleared, so that a new value shows that the PATCH has begun.
    app.sql("update storage.resumable_uploads set writer = null")
        .await;
    let mut hanging = TcpStream::connect(&nodes[0].address).expect("it listens");
    let head = format!(
        "PATCH /storage/v1{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ntus-resumable: 1.0.0\r\n\
         upload-offset: 0\r\ncontent-type: application/offset+octet-stream\r\ncontent-length: {}\r\n\r\n",
        token(),
        bytes.len()
    );
    hanging.write_all(head.as_bytes()).expect("it reads");
    // Other bytes than those of the real content, so that they are recognised if they were mixed in.
    hanging.write_all(&vec![b'?'; 300_000]).expect("it reads");
    while app
        .count("select count(*) from storage.resumable_uploads where writer is not null")
        .await
        == 0
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    // Whether or not those bytes were recorded, the other node continues from the recorded offset.
    let reached = async || -> usize {
        let head = send(&nodes[1], reqwest::Method::HEAD, &path, &[]).await;
        header(&head, "upload-offset").parse().expect("a number")
    };
    let offset = loop {
        let offset = reached().await;
        assert!(offset == 0 || offset == 300_000, "{offset}");
        let mine = reqwest::Client::new()
            .patch(format!("http://{}/storage/v1{path}", nodes[1].address))
            .bearer_auth(token())
            .header("tus-resumable", "1.0.0")
            .header("upload-offset", offset.to_string())
            .header("content-type", "application/offset+octet-stream")
            .body(bytes[offset..].to_vec())
            .send()
            .await
            .expect("a response");
        match mine.status().as_u16() {
            204 => break offset,
            // The first node has written its bytes to a blob and tries to record them.
            409 => {}
            other => panic!("{other}"),
        }
    };
    hanging
        .write_all(&vec![b'?'; bytes.len() - 300_000])
        .expect("it reads");
    let response = tokio::task::spawn_blocking(move || {
        let mut response = vec![0; 4096];
        let read = std::io::Read::read(&mut hanging, &mut response).expect("a response");
        String::from_utf8_lossy(&response[..read]).into_owned()
    })
    .await
    .expect("the thread lives");

    assert!(response.starts_with("HTTP/1.1 423"), "{response}");
    let read = send(&nodes[1], reqwest::Method::GET, "/object/public/b/x", &[]).await;
    let read = read.bytes().await.expect("whole");
    assert_eq!(read[offset..], bytes[offset..]);
    assert_eq!(read.len(), bytes.len());
}

/// Waits until this many statements of the test's database wait for a lock.
async fn wait_for_blocked(app: &TestApp, count: i64) {
    let query = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    for _ in 0..3000 {
        if app.count(query).await >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing waits");
}

/// The last bytes go to one node, and while it commits the object, the client asks another one for the offset: the second
/// node finds a full upload without an object and makes it, too.
async fn finish_on_two_nodes(upsert: &'static str) {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    let store = &app.store;
    let nodes = [
        Server::start(&app.database, store),
        Server::start(&app.database, store),
    ];
    let bytes = content(300_000);
    let created = send(
        &nodes[0],
        reqwest::Method::POST,
        "/upload/resumable",
        &[
            ("upload-length", &bytes.len().to_string()),
            ("upload-metadata", &metadata("x")),
            ("x-upsert", upsert),
        ],
    )
    .await;
    let location = header(&created, "location");
    let path = location
        .split_once("/storage/v1")
        .expect("the prefix")
        .1
        .to_owned();
    let append = |offset: usize, end: usize| {
        reqwest::Client::new()
            .patch(format!("http://{}/storage/v1{path}", nodes[0].address))
            .bearer_auth(token())
            .header("tus-resumable", "1.0.0")
            .header("x-upsert", upsert)
            .header("upload-offset", offset.to_string())
            .header("content-type", "application/offset+octet-stream")
            .body(bytes[offset..end].to_vec())
            .send()
    };
    assert_eq!(append(0, 100_000).await.expect("a response").status(), 204);

    // Rows with bytes wait for a lock of this test; the version '1' belongs to questions about permissions.
    let blocker = app.database.superuser().await;
    blocker
        .batch_execute(
            "create function public.wait_for_test() returns trigger language plpgsql as \
               $$ begin perform pg_advisory_xact_lock(7); return new; end $$; \
             create trigger wait_for_test before insert on storage.objects for each row \
               when (new.version <> '1') execute function public.wait_for_test(); \
             select pg_advisory_lock(7)",
        )
        .await
        .expect("locks");
    let last = actix_web::rt::spawn(append(100_000, bytes.len()));
    wait_for_blocked(&app, 1).await;
    let head = async { send(&nodes[1], reqwest::Method::HEAD, &path, &[]).await };
    let unblock = async {
        wait_for_blocked(&app, 2).await;
        blocker
            .batch_execute("select pg_advisory_unlock(7)")
            .await
            .expect("unlocks");
    };
    let (head, ()) = tokio::join!(head, unblock);

    let last = last.await.expect("the task lives").expect("a response");
    assert_eq!((last.status().as_u16(), head.status().as_u16()), (204, 200));
    assert_eq!(header(&head, "upload-offset"), bytes.len().to_string());
    // What is removed is removed in the background; the object's bytes are not among it.
    app.settle(1).await;
    let read = send(&nodes[1], reqwest::Method::GET, "/object/public/b/x", &[]).await;
    assert_eq!(read.status(), 200);
    assert_eq!(read.bytes().await.expect("whole"), bytes);
    let left = "select count(*) from storage.resumable_pieces";
    assert_eq!(app.count(left).await, 0);
    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
    let again = send(&nodes[1], reqwest::Method::DELETE, &path, &[]).await;
    assert!(
        again.status().is_client_error(),
        "a finished upload stays finished"
    );
    assert_eq!(app.store.blobs(), 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_two_nodes_that_finish_one_upload_make_one_object() {
    finish_on_two_nodes("false").await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_two_nodes_that_finish_one_upload_with_upsert_lose_no_bytes() {
    finish_on_two_nodes("true").await;
}
