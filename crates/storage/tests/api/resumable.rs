//! Resumable uploads, by raw requests as TUS clients send them.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use selvedge_storage::StorageConfig;

use crate::support::Response;
use crate::tus_client::{
    OFFSET_STREAM, app, app_with, begin_patch, content, create, creation, metadata, offset, patch, path_of,
    tus, until,
};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_087_chunks_become_one_object() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(700_001);

    let path = create(&client, "a/b.bin", bytes.len()).await;
    for (number, piece) in bytes.chunks(300_000).enumerate() {
        let response = patch(&client, &path, number * 300_000, piece).await;
        assert_eq!(response.status, 204, "{}", response.text());
        let last = number == 2;
        assert_eq!(response.header("tus-complete"), last.then_some("1"));
        assert_eq!(response.header("upload-expires").is_some(), !last);
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_087_creation_works_with_and_without_first_bytes() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_087_the_length_may_be_deferred() {
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
    // Shorter than the six bytes received, longer than the limit of 100, and the right length.
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_088_a_chunked_body_may_not_exceed_the_declared_length() {
    let app = app().await;
    let client = app.service_role();
    let path = create(&client, "x", 100_000).await;
    let chunks = (0..100).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 10_000])));

    let response = tus(&client, Method::PATCH, &path)
        .header("upload-offset", "0")
        .header("content-type", OFFSET_STREAM)
        .body(reqwest::Body::wrap_stream(futures_util::stream::iter(chunks)))
        .send()
        .await;

    assert_eq!(
        (response.status.as_u16(), response.text().as_str()),
        (413, "upload's size exceeded\n")
    );
    assert_eq!(offset(&client, &path).await, 0);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_bytes_before_a_broken_connection_count() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(3_000_000);
    let path = create(&client, "x", bytes.len()).await;

    // The request announces all bytes, sends a part of them, and the connection is closed.
    let socket = begin_patch(&app, &path, 0, bytes.len(), &bytes[..900_000]);
    drop(socket);
    until(&app, "received > 0").await;

    // When the connection closes while its payload is full, actix-http discards the read buffer, which grows up to about 96
    // KiB. All bytes before those are recorded.
    let reached = offset(&client, &path).await;
    assert!((900_000 - 131_072..=900_000).contains(&reached), "{reached}");
    assert_eq!(
        patch(&client, &path, reached, &bytes[reached..]).await.status,
        204
    );
    assert_eq!(app.nobody().get("/object/public/b/x").await.body, bytes);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_a_new_request_takes_over_from_a_hanging_connection() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(2_000_000);
    let path = create(&client, "x", bytes.len()).await;
    // The creation has set a writer. It is cleared, so that a new value shows that the PATCH has begun.
    app.sql("update storage.resumable_uploads set writer = null")
        .await;
    // This connection stays open without sending more, as when a phone changes its network.
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_bytes_of_a_slow_upload_are_recorded_before_it_ends() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_parallel_writers_cannot_mix_their_bytes() {
    let app = app().await;
    let client = app.service_role();
    let bytes = content(4_000_000);
    let path = create(&client, "x", bytes.len()).await;

    let attempts = (0..6).map(|_| patch(&client, &path, 0, &bytes));
    let statuses: Vec<u16> = futures_util::future::join_all(attempts)
        .await
        .iter()
        .map(|response| response.status.as_u16())
        .collect();
    let mut reached = offset(&client, &path).await;
    while reached < bytes.len() {
        patch(&client, &path, reached, &bytes[reached..]).await;
        reached = offset(&client, &path).await;
    }

    assert!(
        // Completed, refused for a wrong offset, or taken over by another request.
        statuses.iter().all(|status| [204, 409, 423].contains(status)),
        "{statuses:?}"
    );
    assert_eq!(app.nobody().get("/object/public/b/x").await.body, bytes);
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_091_termination_removes_the_stored_bytes() {
    let app = app().await;
    let client = app.service_role();
    let path = create(&client, "x", 1_000_000).await;
    assert_eq!(patch(&client, &path, 0, &content(500_000)).await.status, 204);
    assert_eq!(app.store.blobs(), 1);

    let ended = tus(&client, Method::DELETE, &path).send().await;

    assert_eq!(ended.status, 204);
    assert_eq!(tus(&client, Method::HEAD, &path).send().await.status, 404);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_091_unfinished_uploads_expire_and_are_removed() {
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

    // Depending on whether the removal came before the request.
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_092_location_has_the_configured_host_or_that_of_the_connection() {
    let app = app().await;
    let client = app.service_role();
    // No proxy is configured, so these are the client's own.
    let direct = creation(&client, "x", 3)
        .header("forwarded", "host=evil.example.com;proto=https")
        .header("x-forwarded-proto", "https")
        .header("x-forwarded-host", "evil.example.com")
        .header("x-forwarded-port", "8443")
        .header("x-forwarded-prefix", "/evil")
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
    starts(&direct, &app.url("/upload/resumable/"));
    starts(&fixed, "https://files.example.com/storage/v1/upload/resumable/");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_087_tiny_chunks_are_merged_into_few_files() {
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_089_the_next_head_finishes_an_upload_whose_commit_failed() {
    let app = app_with(|config| StorageConfig {
        object_lock_timeout: Duration::from_millis(50),
        ..config
    })
    .await;
    let client = app.service_role();
    client.upload("b/x", "old").await.ok();
    let created = creation(&client, "x", 3).header("x-upsert", "true").send().await;
    let path = path_of(&created);
    let other = app.database.superuser().await;
    // Rows with bytes wait for a lock of this test; the version '1' belongs to questions about permissions.
    let wait = "create function public.wait_for_test() returns trigger language plpgsql as \
           $$ begin perform pg_advisory_xact_lock(7); return new; end $$; \
         create trigger wait_for_test before update on storage.objects for each row \
           when (new.version <> '1') execute function public.wait_for_test(); \
         select pg_advisory_lock(7)";
    other.batch_execute(wait).await.expect("locks");

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
    other
        .batch_execute("select pg_advisory_unlock(7)")
        .await
        .expect("unlocks");

    assert_eq!(offset(&client, &path).await, 3);
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "new");
    app.settle(1).await;
}
