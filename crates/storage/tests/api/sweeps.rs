//! Sweeps find orphaned blobs and lost objects, and leave running uploads alone.

use std::time::Duration;

use selvedge_storage::{SweepOptions, sweep};

use crate::s3_client::service;
use crate::support::TestApp;

/// Options that treat blobs of any age as orphans.
fn at_once() -> SweepOptions {
    SweepOptions {
        older_than: Duration::ZERO,
        ..SweepOptions::default()
    }
}

/// The service with a public bucket `b`.
async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

#[actix_web::test]
async fn store_081_a_sweep_removes_orphans_and_names_lost_objects() {
    let app = app_with_bucket().await;
    for key in ["kept", "orphaned", "lost"] {
        app.service_role().upload(&format!("b/{key}"), key).await.ok();
    }
    let upload = service(&app)
        .create_multipart_upload()
        .bucket("b")
        .key("m")
        .send()
        .await
        .expect("begun");
    service(&app)
        .upload_part()
        .bucket("b")
        .key("m")
        .set_upload_id(upload.upload_id().map(str::to_owned))
        .part_number(1)
        .body(b"part".to_vec().into())
        .send()
        .await
        .expect("uploaded");
    let superuser = app.database.superuser().await;
    let row = superuser
        .query_one("select version from storage.objects where name = 'lost'", &[])
        .await
        .expect("there");
    app.store.remove_blob(row.get(0));
    app.database
        .superuser()
        .await
        .batch_execute(
            "begin; set local storage.allow_delete_query = 'true'; \
             delete from storage.objects where name = 'orphaned'; commit; \
             insert into storage.objects (bucket_id, name) values ('b', 'by SQL')",
        )
        .await
        .expect("the SQL works");

    // With the default options the orphan is younger than 24 hours and stays.
    let young = sweep(&app.storage, &SweepOptions::default())
        .await
        .expect("swept")
        .expect("alone");
    // The blobs are those of `kept` and `orphaned`, and the part, whose row refers to it.
    assert_eq!((young.blobs, young.orphans, young.lost), (3, 0, 1));
    let looked = SweepOptions {
        remove_blobs: false,
        ..at_once()
    };
    let found = sweep(&app.storage, &looked).await.expect("swept").expect("alone");
    assert_eq!((found.orphans, found.orphan_bytes), (1, 8));
    let swept = sweep(&app.storage, &at_once())
        .await
        .expect("swept")
        .expect("alone");
    assert_eq!((swept.blobs, swept.orphans, swept.without_version), (3, 1, 1));
    assert_eq!(swept.lost_names, ["b/lost"]);
    assert_eq!(app.nobody().get("/object/public/b/kept").await.text(), "kept");
    app.nobody()
        .get("/object/public/b/lost")
        .await
        .is(400, "404", "NoSuchKey");

    let all = SweepOptions {
        remove_rows: true,
        ..at_once()
    };
    let swept = sweep(&app.storage, &all).await.expect("swept").expect("alone");
    assert_eq!((swept.orphans, swept.lost), (0, 1));
    let swept = sweep(&app.storage, &at_once())
        .await
        .expect("swept")
        .expect("alone");
    assert_eq!((swept.blobs, swept.lost), (2, 0));
}

#[actix_web::test]
async fn store_081_a_sweep_keeps_blobs_of_running_uploads() {
    let app = app_with_bucket().await;
    let patient = SweepOptions {
        older_than: Duration::from_secs(600),
        ..SweepOptions::default()
    };
    let writers = async {
        for round in 0..12 {
            let key = format!("b/{}", round % 3);
            app.service_role()
                .upsert(&key, &format!("round {round}"))
                .await
                .ok();
            let copy = serde_json::json!({"bucketId": "b", "sourceKey": format!("{}", round % 3),
                "destinationKey": format!("copy {round}")});
            app.service_role().post("/object/copy", copy).await.ok();
        }
    };
    let sweeps = async {
        for _ in 0..12 {
            let report = sweep(&app.storage, &patient)
                .await
                .expect("swept")
                .expect("alone");
            assert_eq!((report.orphans, report.lost), (0, 0));
        }
    };
    futures_util::future::join(writers, sweeps).await;

    for round in 0..12 {
        let text = app
            .nobody()
            .get(&format!("/object/public/b/copy%20{round}"))
            .await
            .ok()
            .text();
        assert_eq!(text, format!("round {round}"));
    }
}
