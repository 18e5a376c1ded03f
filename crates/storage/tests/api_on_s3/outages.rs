//! The S3 server is down, overloaded or full: clients learn it by a clear 5xx, nothing is half-written, and all is well when
//! it comes back.

use std::time::Duration;

use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use reqwest::Method;
use selvedge_storage::{StorageConfig, SweepOptions, sweep};
use serde_json::json;

use crate::gate::{Gate, Weather};
use crate::s3_client::{refusal, refused, service};
use crate::support::{Response, Store, TestApp, serve};
use crate::tus_client::{OFFSET_STREAM, metadata, tus};

/// The service with its bucket behind a gate, and one object in it.
async fn app() -> (TestApp, Gate) {
    let store = Store::new();
    let s3 = store.s3_backend.as_ref().expect("an S3 server");
    let gate = Gate::open(s3.endpoint.as_deref().expect("it has an address")).await;
    let endpoint = gate.endpoint();
    let app = TestApp::start_on(store, |config| StorageConfig {
        s3_backend: config.s3_backend.map(|s3| selvedge_storage::S3BackendConfig {
            endpoint: Some(endpoint),
            attempts: 1,
            ..s3
        }),
        image_transformation: true,
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app.service_role().upload("b/old", "old").await.ok();
    (app, gate)
}

/// Status, `statusCode` and code of an answer.
fn said(answer: &Response) -> (u16, String, String) {
    answer.error()
}

#[actix_web::test]
async fn store_086_a_store_that_fails_is_said_clearly_and_harms_nothing() {
    let (app, gate) = app().await;
    let owner = app.service_role();
    // Longer than what waits in memory.
    let large = "x".repeat(700_000);

    for (weather, code) in [(Weather::Down, "S3Error"), (Weather::SlowDown, "SlowDown")] {
        gate.turn(weather).await;
        let unavailable = (503, "503".to_owned(), code.to_owned());
        let both = json!({"bucketId": "b", "sourceKey": "old", "destinationKey": "new"});

        assert_eq!(said(&owner.upload("b/new", "new").await), unavailable);
        assert_eq!(said(&owner.upload("b/new", &large).await), unavailable);
        assert_eq!(said(&owner.upsert("b/old", "new").await), unavailable);
        assert_eq!(said(&owner.post("/object/copy", both.clone()).await), unavailable);
        assert_eq!(said(&owner.post("/object/move", both).await), unavailable);
        let read = app.nobody().get("/object/public/b/old").await;
        assert_eq!(said(&read), unavailable);
        assert_eq!(read.header("cache-control"), Some("no-store"));
        let rendered = app.nobody().get("/render/image/public/b/old?width=9").await;
        assert_eq!(said(&rendered), unavailable);
        let in_pieces = tus(&owner, Method::POST, "/upload/resumable")
            .header("upload-length", "3")
            .header("upload-metadata", &metadata("new"))
            .header("content-type", OFFSET_STREAM)
            .body("new")
            .send()
            .await;
        assert_eq!(in_pieces.status, 503, "{}", in_pieces.text());
        let s3 = service(&app);
        assert_eq!(
            refusal(s3.get_object().bucket("b").key("old").send().await),
            refused(503, code)
        );
        let put = s3
            .put_object()
            .bucket("b")
            .key("new")
            .body(ByteStream::from_static(b"new"));
        assert_eq!(refusal(put.send().await), refused(503, code));
        // What the rows know needs no store.
        assert_eq!(app.nobody().head("/object/public/b/old").await.status, 200);
        assert_eq!(owner.list("b", "").await.names(), ["old"]);

        gate.turn(Weather::Fair).await;
        assert_eq!(app.nobody().get("/object/public/b/old").await.ok().text(), "old");
        owner.upload("b/after", "after").await.ok();
        owner.delete("/object/b/after").await.ok();
    }
    assert_eq!(app.store.unfinished(), 0, "nothing is half-written");
    app.settle(1).await;
}

#[actix_web::test]
async fn store_086_a_full_store_refuses_writes_and_serves_reads() {
    let (app, gate) = app().await;
    let owner = app.service_role();
    gate.turn(Weather::Full).await;

    for body in ["new".to_owned(), "x".repeat(700_000)] {
        let refused = owner.upload("b/new", &body).await;
        assert_eq!(
            said(&refused),
            (507, "507".to_owned(), "InsufficientStorage".to_owned())
        );
    }
    assert_eq!(app.nobody().get("/object/public/b/old").await.ok().text(), "old");
    assert_eq!(app.store.unfinished(), 0, "nothing is half-written");
    owner.delete("/object/b/old").await.ok();

    gate.turn(Weather::Fair).await;
    owner.upload("b/new", "new").await.ok();
    app.settle(1).await;
}

#[actix_web::test]
async fn store_081_a_store_that_fails_in_the_middle_of_a_large_upload_leaves_nothing() {
    let (app, gate) = app().await;
    let owner = app.service_role();
    let (chunks, body) = tokio::sync::mpsc::channel::<Bytes>(1);
    let body = futures_util::stream::unfold(body, async |mut body| {
        Some((std::io::Result::Ok(body.recv().await?), body))
    });
    let sending = owner
        .request(Method::PUT, "/object/b/old")
        .header("content-type", "text/plain")
        .body(reqwest::Body::wrap_stream(body))
        .send();
    let feeding = async {
        // More than the first part of a multipart upload, and what comes after it.
        for piece in 0..20 {
            if piece == 18 {
                gate.turn(Weather::Down).await;
            }
            if chunks.send(Bytes::from(vec![b'x'; 1 << 20])).await.is_err() {
                break;
            }
        }
        drop(chunks);
    };

    let (answer, ()) = futures_util::future::join(sending, feeding).await;

    assert_eq!(said(&answer), (503, "503".to_owned(), "S3Error".to_owned()));
    gate.turn(Weather::Fair).await;
    assert_eq!(app.nobody().get("/object/public/b/old").await.ok().text(), "old");
    assert_eq!(app.store.unfinished(), 0, "nothing is half-written");
    // The parts that had come could not be given up while the store was down: that is the sweeper's.
    let running = serve(|role| app.database.config(role), app.store.config()).await;
    let at_once = SweepOptions {
        older_than: Duration::ZERO,
        ..SweepOptions::default()
    };
    sweep(&running.storage, &at_once)
        .await
        .expect("swept")
        .expect("alone");
    let clean = sweep(&running.storage, &at_once)
        .await
        .expect("swept")
        .expect("alone");
    assert_eq!((clean.blobs, clean.orphans, clean.unfinished), (1, 0, 0));
}
