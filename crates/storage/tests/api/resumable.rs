//! Resumable uploads by raw requests: what the protocol's clients do, and what attackers do.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use reqwest::Method;
use selvedge_storage::StorageConfig;
use serde_json::json;

use crate::support::{Client, Request, Response, TestApp};

const OFFSET_STREAM: &str = "application/offset+octet-stream";

async fn app_with(settings: impl FnOnce(StorageConfig) -> StorageConfig) -> TestApp {
    let app = TestApp::start_with(settings).await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

async fn app() -> TestApp {
    app_with(|config| config).await
}

/// `Upload-Metadata` for an object of the bucket `b`.
pub(crate) fn metadata(key: &str) -> String {
    format!(
        "bucketName {},objectName {}",
        STANDARD.encode("b"),
        STANDARD.encode(key)
    )
}

fn tus(client: &Client<'_>, method: Method, path: &str) -> Request {
    client.request(method, path).header("tus-resumable", "1.0.0")
}

fn creation(client: &Client<'_>, key: &str, length: usize) -> Request {
    tus(client, Method::POST, "/upload/resumable")
        .header("upload-length", &length.to_string())
        .header("upload-metadata", &metadata(key))
}

/// The path of a created upload, behind the service's prefix.
fn path_of(response: &Response) -> String {
    assert_eq!(response.status, 201, "{}", response.text());
    let location = response.header("location").expect("a location");
    let (_, path) = location.split_once("/storage/v1").expect("the public prefix");
    path.to_owned()
}

async fn create(client: &Client<'_>, key: &str, length: usize) -> String {
    path_of(&creation(client, key, length).send().await)
}

async fn patch(client: &Client<'_>, path: &str, offset: usize, bytes: &[u8]) -> Response {
    tus(client, Method::PATCH, path)
        .header("upload-offset", &offset.to_string())
        .header("content-type", OFFSET_STREAM)
        .body(bytes.to_vec())
        .send()
        .await
}

async fn offset(client: &Client<'_>, path: &str) -> usize {
    let response = tus(client, Method::HEAD, path).send().await;
    assert_eq!(response.status, 200);
    response
        .header("upload-offset")
        .and_then(|text| text.parse().ok())
        .expect("an offset")
}

pub(crate) fn content(size: usize) -> Vec<u8> {
    (0..size as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect()
}

#[actix_web::test]
async fn store_087_pieces_become_the_object() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(700_001);

    let path = create(&client, "a/b.bin", bytes.len()).await;
    for (number, piece) in bytes.chunks(300_000).enumerate() {
        let answer = patch(&client, &path, number * 300_000, piece).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
        let last = number == 2;
        assert_eq!(answer.header("tus-complete"), last.then_some("1"));
        assert_eq!(answer.header("upload-expires").is_some(), !last);
    }

    let read = app.nobody().get("/object/public/b/a/b.bin").await.ok();
    assert_eq!(read.body, bytes);
    assert_eq!(offset(&client, &path).await, bytes.len());
    app.settle(1).await;
    assert_eq!(
        app.count("select count(*) from storage.resumable_pieces").await,
        0
    );
}

#[actix_web::test]
async fn store_087_creation_may_bring_bytes_or_none_at_all() {
    let app = app().await;
    let client = app.service_role();

    let first = creation(&client, "x", 10)
        .header("content-type", OFFSET_STREAM)
        .body("01234")
        .send()
        .await;
    let whole = creation(&client, "y", 5)
        .header("content-type", OFFSET_STREAM)
        .body("01234")
        .send()
        .await;
    let empty = creation(&client, "z", 0).send().await;

    assert_eq!(first.header("upload-offset"), Some("5"));
    assert_eq!(first.header("tus-complete"), None);
    assert_eq!(patch(&client, &path_of(&first), 5, b"56789").await.status, 204);
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "0123456789");
    assert_eq!(whole.header("tus-complete"), Some("1"));
    assert_eq!(empty.header("tus-complete"), Some("1"));
    assert_eq!(app.nobody().get("/object/public/b/z").await.ok().body, b"");
    app.settle(3).await;
}

#[actix_web::test]
async fn store_087_the_length_may_come_later() {
    let app = app_with(|config| StorageConfig {
        file_size_limit_bytes: 100,
        ..config
    })
    .await;
    let client = app.service_role();
    let created = tus(&client, Method::POST, "/upload/resumable")
        .header("upload-defer-length", "1")
        .header("upload-metadata", &metadata("later"))
        .send()
        .await;
    let path = path_of(&created);

    assert_eq!(patch(&client, &path, 0, b"hello ").await.status, 204);
    let head = tus(&client, Method::HEAD, &path).send().await;
    let last = |length: &str| {
        tus(&client, Method::PATCH, &path)
            .header("upload-offset", "6")
            .header("upload-length", length)
            .header("content-type", OFFSET_STREAM)
            .body("world")
    };
    let too_short = last("3").send().await;
    let too_long = last("101").send().await;
    let done = last("11").send().await;
    let too_much = tus(&client, Method::PATCH, &path)
        .header("upload-offset", "11")
        .header("content-type", OFFSET_STREAM)
        .body("!")
        .header("x-upsert", "true")
        .send()
        .await;

    assert_eq!(head.header("upload-defer-length"), Some("1"));
    assert_eq!(head.header("upload-length"), None);
    assert_eq!((too_short.status.as_u16(), too_long.status.as_u16()), (400, 413));
    assert_eq!(
        (done.status.as_u16(), done.header("tus-complete")),
        (204, Some("1"))
    );
    assert_eq!(too_much.status, 413);
    assert_eq!(
        app.nobody().get("/object/public/b/later").await.text(),
        "hello world"
    );
}

#[actix_web::test]
async fn store_088_a_body_without_length_ends_at_the_declared_one() {
    let app = app().await;
    let client = app.service_role();
    let path = create(&client, "x", 100_000).await;
    let chunks = (0..100).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 10_000])));

    let answer = tus(&client, Method::PATCH, &path)
        .header("upload-offset", "0")
        .header("content-type", OFFSET_STREAM)
        .body(reqwest::Body::wrap_stream(futures_util::stream::iter(chunks)))
        .send()
        .await;

    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (413, "upload's size exceeded\n")
    );
    assert_eq!(offset(&client, &path).await, 0);
    app.settle(0).await;
}

/// Sends the head of a PATCH and a part of its body on a raw connection.
fn begin_patch(app: &TestApp, path: &str, offset: usize, length: usize, body: &[u8]) -> TcpStream {
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

/// Waits for something that the table of uploads will say.
async fn until(app: &TestApp, condition: &str) {
    let query = format!("select count(*) from storage.resumable_uploads where {condition}");
    for _ in 0..1000 {
        if app.count(&query).await > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {condition}");
}

#[actix_web::test]
async fn store_089_what_came_before_a_cut_counts() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(3_000_000);
    let path = create(&client, "x", bytes.len()).await;

    let socket = begin_patch(&app, &path, 0, bytes.len(), &bytes[..900_000]);
    drop(socket);
    until(&app, "received = 900000").await;

    assert_eq!(offset(&client, &path).await, 900_000);
    assert_eq!(
        patch(&client, &path, 900_000, &bytes[900_000..]).await.status,
        204
    );
    assert_eq!(app.nobody().get("/object/public/b/x").await.body, bytes);
}

#[actix_web::test]
async fn store_089_a_connection_that_still_hangs_is_taken_over() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(2_000_000);
    let path = create(&client, "x", bytes.len()).await;
    app.sql("update storage.resumable_uploads set writer = null")
        .await;
    let hanging = begin_patch(&app, &path, 0, bytes.len(), &bytes[..600_000]);
    until(&app, "writer is not null").await;

    let reached = offset(&client, &path).await;
    assert!(reached <= 600_000, "{reached}");
    assert_eq!(
        patch(&client, &path, reached, &bytes[reached..]).await.status,
        204
    );

    drop(hanging);
    assert_eq!(app.nobody().get("/object/public/b/x").await.body, bytes);
    app.settle(1).await;
}

#[actix_web::test]
async fn store_089_a_slow_upload_is_safe_before_it_ends() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(500_000);
    let path = create(&client, "x", bytes.len()).await;

    let slow = begin_patch(&app, &path, 0, bytes.len(), &bytes[..100_000]);
    until(&app, "received = 100000").await;

    drop(slow);
    let rest = patch(&client, &path, 100_000, &bytes[100_000..]).await;
    assert_eq!(rest.status, 204, "{}", rest.text());
    assert_eq!(app.nobody().get("/object/public/b/x").await.body, bytes);
}

#[actix_web::test]
async fn store_089_clients_in_parallel_cannot_mix_their_bytes() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(4_000_000);
    let path = create(&client, "x", bytes.len()).await;

    let attempts = (0..6).map(|_| patch(&client, &path, 0, &bytes));
    let statuses: Vec<u16> = futures_util::future::join_all(attempts)
        .await
        .iter()
        .map(|answer| answer.status.as_u16())
        .collect();
    let mut reached = offset(&client, &path).await;
    while reached < bytes.len() {
        patch(&client, &path, reached, &bytes[reached..]).await;
        reached = offset(&client, &path).await;
    }

    assert!(
        statuses.iter().all(|status| [204, 409, 423].contains(status)),
        "{statuses:?}"
    );
    assert_eq!(app.nobody().get("/object/public/b/x").await.body, bytes);
    app.settle(1).await;
}

#[actix_web::test]
async fn store_091_termination_reclaims_what_was_stored() {
    let app = app().await;
    let client = app.service_role();
    let path = create(&client, "x", 1_000_000).await;
    assert_eq!(patch(&client, &path, 0, &content(500_000)).await.status, 204);
    assert_eq!(app.blobs(), 1);

    let ended = tus(&client, Method::DELETE, &path).send().await;

    assert_eq!(ended.status, 204);
    assert_eq!(tus(&client, Method::HEAD, &path).send().await.status, 404);
    app.settle(0).await;
}

#[actix_web::test]
async fn store_091_what_nobody_finishes_expires_and_is_swept() {
    let app = app_with(|config| StorageConfig {
        resumable_sweep_interval: Duration::from_millis(50),
        ..config
    })
    .await;
    let client = app.service_role();
    let path = create(&client, "x", 1_000_000).await;
    assert_eq!(patch(&client, &path, 0, &content(500_000)).await.status, 204);
    let other = create(&client, "y", 1_000).await;

    app.sql("update storage.resumable_uploads set expires_at = now() where key = 'x'")
        .await;
    let late = patch(&client, &path, 500_000, &content(500_000)).await;

    assert!([404, 410].contains(&late.status.as_u16()), "{}", late.status);
    app.settle(0).await;
    until(
        &app,
        "not exists (select from storage.resumable_uploads where key = 'x')",
    )
    .await;
    assert_eq!(tus(&client, Method::HEAD, &path).send().await.status, 404);
    assert_eq!(offset(&client, &other).await, 0);
}

#[actix_web::test]
async fn store_092_the_location_is_the_public_one() {
    let app = app().await;
    let client = app.service_role();
    let behind_proxy = creation(&client, "x", 3)
        .header("x-forwarded-proto", "https")
        .header("x-forwarded-host", "api.example.com")
        .header("x-forwarded-port", "8443")
        .send()
        .await;
    let configured = app_with(|config| StorageConfig {
        public_url: Some("https://files.example.com/".to_owned()),
        ..config
    })
    .await;
    let fixed = creation(&configured.service_role(), "x", 3)
        .header("x-forwarded-host", "evil.example.com")
        .send()
        .await;

    let starts = |response: &Response, start: &str| {
        let location = response.header("location").unwrap_or_default().to_owned();
        assert!(location.starts_with(start), "{location}");
    };
    starts(
        &behind_proxy,
        "https://api.example.com:8443/storage/v1/upload/resumable/",
    );
    starts(&fixed, "https://files.example.com/storage/v1/upload/resumable/");
}

#[actix_web::test]
async fn store_087_tiny_chunks_do_not_become_as_many_files() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(150 * 10);
    let path = create(&client, "x", bytes.len()).await;

    for (number, piece) in bytes.chunks(10).enumerate() {
        assert_eq!(patch(&client, &path, number * 10, piece).await.status, 204);
    }

    assert_eq!(app.nobody().get("/object/public/b/x").await.body, bytes);
    app.settle(1).await;
}

#[actix_web::test]
async fn store_089_an_upload_whose_last_step_failed_is_finished_by_the_next_look() {
    let app = app_with(|config| StorageConfig {
        object_lock_timeout: Duration::from_millis(50),
        ..config
    })
    .await;
    let client = app.service_role();
    client.upload("b/x", "old").await.ok();
    let created = creation(&client, "x", 3).header("x-upsert", "true").send().await;
    let path = path_of(&created);
    let mut other = app.database.superuser().await;
    let lock = other.transaction().await.expect("begins");
    lock.execute("select pg_advisory_xact_lock(hashtextextended('b/x', 0))", &[])
        .await
        .expect("locks");

    let last = tus(&client, Method::PATCH, &path)
        .header("upload-offset", "0")
        .header("content-type", OFFSET_STREAM)
        .header("x-upsert", "true")
        .body("new")
        .send()
        .await;
    assert_eq!(
        (last.status.as_u16(), last.text().as_str()),
        (503, "acquiring lock timeout")
    );
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "old");
    lock.rollback().await.expect("unlocks");

    assert_eq!(offset(&client, &path).await, 3);
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "new");
    app.settle(1).await;
}

#[actix_web::test]
async fn store_090_an_upload_is_no_way_around_the_policies() {
    let app = app().await;
    app.sql(
        "create policy own on storage.objects for insert to authenticated \
         with check (bucket_id = 'b' and (storage.foldername(name))[1] = auth.uid()::text \
         and (metadata ->> 'mimetype') like 'image/%' and (metadata ->> 'contentLength')::int < 1000)",
    )
    .await;
    let ana = app.user("ana");
    let key = format!("{}/me.png", crate::support::user_id("ana"));
    let typed = |key: &str, kind: &str, length: &str| {
        tus(&ana, Method::POST, "/upload/resumable")
            .header("upload-length", length)
            .header(
                "upload-metadata",
                &format!("{},contentType {}", metadata(key), STANDARD.encode(kind)),
            )
    };

    let refused = [
        typed(&key, "text/html", "3").send().await,
        typed(&key, "image/png", "1000").send().await,
        typed("elsewhere/me.png", "image/png", "3").send().await,
        creation(&ana, &key, 3).send().await,
    ];
    let path = path_of(&typed(&key, "image/png", "3").send().await);
    let foreign = patch(&app.user("bob"), &path, 0, b"bob").await;
    let anonymous = patch(&app.anon(), &path, 0, b"non").await;
    let ended = tus(&app.user("bob"), Method::DELETE, &path).send().await;
    let own = patch(&ana, &path, 0, b"ana").await;

    for answer in refused.iter().chain([&foreign, &anonymous, &ended]) {
        assert_eq!(
            (answer.status.as_u16(), answer.text().as_str()),
            (403, "new row violates row-level security policy")
        );
    }
    assert_eq!(own.status, 204);
    let owner = app
        .database
        .superuser()
        .await
        .query_one("select owner_id from storage.objects", &[])
        .await
        .expect("one row");
    assert_eq!(owner.get::<_, String>(0), crate::support::user_id("ana"));
}

#[actix_web::test]
async fn store_090_rights_that_end_during_the_upload_end_the_upload() {
    let app = app().await;
    app.sql(
        "create policy all_in on storage.objects for insert to authenticated with check (bucket_id = 'b')",
    )
    .await;
    let ana = app.user("ana");
    let path = create(&ana, "x", 6).await;
    assert_eq!(patch(&ana, &path, 0, b"abc").await.status, 204);

    app.sql("drop policy all_in on storage.objects").await;

    assert_eq!(patch(&ana, &path, 3, b"def").await.status, 403);
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
}

#[actix_web::test]
async fn store_064_ids_and_metadata_lead_nowhere_else() {
    let app = app().await;
    let client = app.service_role();
    let path = create(&client, "x", 3).await;
    let id = path.rsplit('/').next().expect("an id");
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(id).expect("base64url")).expect("text");
    let version = decoded.rsplit('/').next().expect("a version").to_owned();

    for forged in [
        format!("b/other/{version}"),
        format!("c/x/{version}"),
        format!("b/../x/{version}"),
        format!("../b/x/{version}"),
        format!("b/x/../{version}"),
        "b/x/../../etc/passwd".to_owned(),
    ] {
        let path = format!("/upload/resumable/{}", URL_SAFE_NO_PAD.encode(&forged));
        let answer = patch(&client, &path, 0, b"abc").await;
        assert!(
            [400, 404].contains(&answer.status.as_u16()),
            "{forged}: {}",
            answer.status
        );
    }
    for (key, kind) in [
        ("../up", "text/plain"),
        ("a\u{0}b", "text/plain"),
        ("ok", "text/plain\r\nx: y"),
    ] {
        let answer = tus(&client, Method::POST, "/upload/resumable")
            .header("upload-length", "3")
            .header(
                "upload-metadata",
                &format!("{},contentType {}", metadata(key), STANDARD.encode(kind)),
            )
            .send()
            .await;
        assert!(
            [400, 415].contains(&answer.status.as_u16()),
            "{key:?}: {}",
            answer.status
        );
    }
    assert_eq!(app.blobs(), 0);
}

#[actix_web::test]
async fn store_051_user_metadata_comes_along() {
    let app = app().await;
    let client = app.service_role();
    let answer = tus(&client, Method::POST, "/upload/resumable")
        .header("upload-length", "3")
        .header(
            "upload-metadata",
            &format!(
                "{},metadata {}",
                metadata("x"),
                STANDARD.encode(r#"{"by":"ana"}"#)
            ),
        )
        .header("content-type", OFFSET_STREAM)
        .body("abc")
        .send()
        .await;
    assert_eq!(answer.status, 201);

    let info = client.get("/object/info/b/x").await.ok().json();

    assert_eq!(info["metadata"], json!({"by": "ana"}));
    assert_eq!(info["content_type"], "application/octet-stream");
}
