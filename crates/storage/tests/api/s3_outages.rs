//! The S3 server is down, overloaded or full: clients get a clear 5xx, nothing is half-written, and everything works
//! again afterwards.

use std::time::Duration;

use aws_sdk_s3::primitives::ByteStream;
use bytes::Bytes;
use reqwest::Method;
use selvedge_storage::{StorageConfig, SweepOptions, sweep};
use serde_json::json;

use crate::faulty_s3_proxy::{Fault, FaultyS3Proxy};
use crate::s3_client::{refusal, refused, service};
use crate::support::{Response, Store, TestApp, serve};
use crate::tus_client::{OFFSET_STREAM, metadata, tus};

/// The service with its bucket behind a faulty proxy, and one object in it.
async fn app() -> (TestApp, FaultyS3Proxy) {
    let store = Store::on_s3();
    let s3 = store.s3_backend.as_ref().expect("an S3 server");
    let proxy = FaultyS3Proxy::open(s3.endpoint.as_deref().expect("it has an address")).await;
    let endpoint = proxy.endpoint();
    let app = TestApp::start_on(store, |config| StorageConfig {
        s3_backend: config.s3_backend.map(|s3| selvedge_storage::S3BackendConfig {
            endpoint: Some(endpoint),
            // No retries, so that a test need not wait for them.
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
    (app, proxy)
}

/// HTTP status, `statusCode` and `code` of an error response.
fn error_of(response: &Response) -> (u16, String, String) {
    response.error()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_086_an_unavailable_store_answers_503_and_keeps_existing_objects() {
    let (app, proxy) = app().await;
    let owner = app.service_role();
    // Larger than what is buffered in memory.
    let large = "x".repeat(700_000);

    for (fault, code) in [(Fault::Down, "S3Error"), (Fault::SlowDown, "SlowDown")] {
        proxy.set_fault(fault).await;
        let unavailable = (503, "503".to_owned(), code.to_owned());
        let both = json!({"bucketId": "b", "sourceKey": "old", "destinationKey": "new"});

        assert_eq!(error_of(&owner.upload("b/new", "new").await), unavailable);
        assert_eq!(error_of(&owner.upload("b/new", &large).await), unavailable);
        assert_eq!(error_of(&owner.upsert("b/old", "new").await), unavailable);
        assert_eq!(
            error_of(&owner.post("/object/copy", both.clone()).await),
            unavailable
        );
        assert_eq!(error_of(&owner.post("/object/move", both).await), unavailable);
        let read = app.nobody().get("/object/public/b/old").await;
        assert_eq!(error_of(&read), unavailable);
        assert_eq!(read.header("cache-control"), Some("no-store"));
        let rendered = app.nobody().get("/render/image/public/b/old?width=9").await;
        assert_eq!(error_of(&rendered), unavailable);
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
        // HEAD and lists need only the rows.
        assert_eq!(app.nobody().head("/object/public/b/old").await.status, 200);
        assert_eq!(owner.list("b", "").await.names(), ["old"]);

        proxy.set_fault(Fault::None).await;
        assert_eq!(app.nobody().get("/object/public/b/old").await.ok().text(), "old");
        owner.upload("b/after", "after").await.ok();
        owner.delete("/object/b/after").await.ok();
        // A removal that falls due while the store is down again is left to the sweep.
        app.settle(1).await;
    }
    assert_eq!(app.store.unfinished(), 0, "nothing is half-written");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_086_a_full_store_refuses_writes_and_serves_reads() {
    let (app, proxy) = app().await;
    let owner = app.service_role();
    proxy.set_fault(Fault::Full).await;

    for body in ["new".to_owned(), "x".repeat(700_000)] {
        let refused = owner.upload("b/new", &body).await;
        assert_eq!(
            error_of(&refused),
            (507, "507".to_owned(), "InsufficientStorage".to_owned())
        );
    }
    assert_eq!(app.nobody().get("/object/public/b/old").await.ok().text(), "old");
    assert_eq!(app.store.unfinished(), 0, "nothing is half-written");
    owner.delete("/object/b/old").await.ok();

    proxy.set_fault(Fault::None).await;
    owner.upload("b/new", "new").await.ok();
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_an_outage_during_a_large_upload_leaves_no_blob() {
    let (app, proxy) = app().await;
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
        // More than the first part of a multipart upload.
        for piece in 0..20 {
            if piece == 18 {
                proxy.set_fault(Fault::Down).await;
            }
            if chunks.send(Bytes::from(vec![b'x'; 1 << 20])).await.is_err() {
                break;
            }
        }
        drop(chunks);
    };

    let (response, ()) = futures_util::future::join(sending, feeding).await;

    assert_eq!(error_of(&response), (503, "503".to_owned(), "S3Error".to_owned()));
    proxy.set_fault(Fault::None).await;
    assert_eq!(app.nobody().get("/object/public/b/old").await.ok().text(), "old");
    assert_eq!(app.store.unfinished(), 0, "nothing is half-written");
    // The multipart upload could not be aborted while the store was down; the sweep aborts it.
    let running = serve(|role| app.database.config(role), app.store.config()).await;
    let at_once = SweepOptions {
        older_than: Duration::ZERO,
        remove_many: true,
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
