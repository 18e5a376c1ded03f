//! Sweeps find orphaned blobs and lost objects, and leave running uploads alone.

use std::time::Duration;

use selvedge_storage::{SweepOptions, adopt_store, sweep};

use crate::s3_client::service;
use crate::support::{Store, TestApp, serve};

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

#[actix_web::rt::test(system = "selvedge_testing::System")]
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
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

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_two_projects_on_one_prefix_sweep_nothing() {
    let first = TestApp::start_on(Store::on_s3(), |config| config).await;
    let second = TestApp::start_on(first.store.shared_on_s3(), |config| config).await;
    let looks = SweepOptions {
        remove_blobs: false,
        ..at_once()
    };
    for app in [&first, &second] {
        app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
            .await;
    }
    first.service_role().upload("b/kept", "kept").await.ok();
    let alone = sweep(&first.storage, &at_once())
        .await
        .expect("swept")
        .expect("alone");

    let refused = sweep(&second.storage, &at_once()).await;
    let refused_now = sweep(&first.storage, &at_once()).await;
    let looked = sweep(&second.storage, &looks)
        .await
        .expect("looked")
        .expect("alone");

    assert_eq!((alone.blobs, alone.orphans), (1, 0));
    let error = refused.expect_err("the other database has objects there");
    let message = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(
        message.contains("selvedge/owners/") && message.contains("(renewed 0 minutes ago)"),
        "{message}"
    );
    assert!(refused_now.is_err());
    // To the second database every object of the first one is an orphan.
    assert_eq!((looked.orphans, looked.others.len()), (1, 1));
    assert_eq!(first.nobody().get("/object/public/b/kept").await.text(), "kept");
}

/// A copy of the database has the same cluster and number, as after a restore to an earlier point.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_a_copy_of_the_database_removes_nothing_until_it_adopts_the_store() {
    let app = TestApp::start_on(Store::on_s3(), |config| config).await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app.service_role().upload("b/before", "before").await.ok();
    sweep(&app.storage, &at_once()).await.expect("swept");
    let superuser = app.database.superuser().await;
    let earlier = superuser
        .query_one("select tokens from _selvedge.selvedge_object_stores", &[])
        .await
        .expect("a token")
        .get::<_, Vec<String>>(0);
    // What a process does that begins now, and what is written since the point to which the copy was restored.
    let production = serve(|role| app.database.config(role), app.store.config()).await;
    sweep(&production.storage, &at_once()).await.expect("swept");
    app.service_role().upload("b/since", "since").await.ok();

    superuser
        .execute(
            "update _selvedge.selvedge_object_stores set tokens = $1",
            &[&earlier],
        )
        .await
        .expect("as it was");
    superuser
        .batch_execute("begin; set local storage.allow_delete_query = 'true'; delete from storage.objects where name = 'since'; commit")
        .await
        .expect("as it was");
    let copy = serve(|role| app.database.config(role), app.store.config()).await;
    let refused = sweep(&copy.storage, &at_once()).await;
    let refused_again = sweep(&app.storage, &at_once()).await;
    let kept = app.store.blobs();
    adopt_store(&copy.storage).await.expect("adopted");
    let adopted = sweep(&copy.storage, &at_once())
        .await
        .expect("swept")
        .expect("alone");

    let error = refused.expect_err("the bytes may be production's");
    let message = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(message.contains("a copy of this database"), "{message}");
    assert!(refused_again.is_err());
    assert_eq!((kept, adopted.orphans), (2, 1));
}

/// A clone of a disk or a virtual machine knows the original's newest token, and nothing tells it that it is a copy while the original is stopped.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_a_new_process_deletes_no_bytes_for_good_that_a_copy_may_have() {
    let original = TestApp::start_on(Store::on_s3(), |config| config).await;
    original
        .sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    original.service_role().upload("b/shared", "shared").await.ok();
    sweep(&original.storage, &at_once()).await.expect("swept");
    let TestApp { database, store, .. } = original;
    let superuser = database.superuser().await;
    superuser
        .batch_execute("create table rows as select * from storage.objects")
        .await
        .expect("what the original has");
    let clone = TestApp::start_on_database(database, store, |config| config).await;

    clone.service_role().delete("/object/b/shared").await.ok();
    clone.settle(0).await;
    let trashed = clone.store.trashed();
    // Dates of the store are in seconds.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    clone.service_role().upload("b/own", "own").await.ok();
    clone.service_role().delete("/object/b/own").await.ok();
    clone.settle(0).await;
    let trashed_later = clone.store.trashed();
    superuser
        .batch_execute(
            "set session_replication_role = replica; \
             insert into storage.objects (bucket_id, name, version, metadata) \
             select bucket_id, name, version, metadata from rows",
        )
        .await
        .expect("the original's row");
    let swept = sweep(&clone.storage, &at_once())
        .await
        .expect("swept")
        .expect("alone");

    assert_eq!((trashed, trashed_later), (1, 1));
    assert_eq!((swept.recovered, swept.lost), (1, 0));
    let shared = clone.nobody().get("/object/public/b/shared").await;
    assert_eq!(shared.text(), "shared");
}

/// Staging that was made from a dump has rows with production's versions.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_objects_that_another_database_removes_keep_their_bytes() {
    let production = TestApp::start_on(Store::on_s3(), |config| config).await;
    let staging = TestApp::start_on(production.store.shared_on_s3(), |config| config).await;
    for app in [&production, &staging] {
        app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
            .await;
    }
    production.service_role().upload("b/photo", "photo").await.ok();
    sweep(&production.storage, &at_once()).await.expect("swept");
    let superuser = production.database.superuser().await;
    let row = superuser
        .query_one("select version, metadata::text from storage.objects", &[])
        .await
        .expect("there");
    let (version, metadata): (String, String) = (row.get(0), row.get(1));
    let copied = format!(
        "set session_replication_role = replica; insert into storage.objects (bucket_id, name, version, metadata) \
         values ('b', 'photo', '{version}', '{metadata}')"
    );
    let dump = staging.database.superuser().await;
    dump.batch_execute(&copied).await.expect("restored");

    staging.service_role().delete("/object/b/photo").await.ok();

    // Twice as long as a removal in the background waits for readers.
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let photo = production.nobody().get("/object/public/b/photo").await;
        assert_eq!(photo.ok().text(), "photo");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_many_orphans_are_removed_only_when_somebody_says_so_and_stay_in_the_trash() {
    let app = app_with_bucket().await;
    // More than one transaction removes.
    for number in 0..130 {
        app.service_role()
            .upload(&format!("b/{number}"), "bytes")
            .await
            .ok();
    }
    let superuser = app.database.superuser().await;
    superuser
        .batch_execute(
            "create table rows as select * from storage.objects; begin; set local storage.allow_delete_query = 'true'; \
             delete from storage.objects where name <> '0'; commit",
        )
        .await
        .expect("an empty database");
    let many = SweepOptions {
        remove_many: true,
        ..at_once()
    };

    let looks = SweepOptions {
        remove_blobs: false,
        ..at_once()
    };

    let looked = sweep(&app.storage, &looks).await.expect("looked").expect("alone");
    let refused = sweep(&app.storage, &at_once()).await;
    let kept = app.store.blobs();
    let swept = sweep(&app.storage, &many).await.expect("swept").expect("alone");
    let (left, trashed) = (app.store.blobs(), app.store.trashed());
    superuser
        .batch_execute(
            "set session_replication_role = replica; \
             insert into storage.objects (bucket_id, name, version, metadata) \
             select bucket_id, name, version, metadata from rows where name = '7'",
        )
        .await
        .expect("the row is back");
    let again = sweep(&app.storage, &many).await.expect("swept").expect("alone");
    let emptied = SweepOptions {
        keep_trash_for: Duration::ZERO,
        ..at_once()
    };
    let emptied = sweep(&app.storage, &emptied)
        .await
        .expect("swept")
        .expect("alone");

    let error = refused.expect_err("129 of 130 are too many");
    let message = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(message.contains("129 of 130"), "{message}");
    assert!(looked.has_many_orphans);
    assert_eq!((looked.removed, swept.removed), (0, 129));
    assert_eq!((kept, swept.orphans, left, trashed), (130, 129, 1, 129));
    assert_eq!((again.recovered, again.lost, again.trash_removed), (1, 0, 0));
    assert_eq!(app.nobody().get("/object/public/b/7").await.text(), "bytes");
    assert_eq!((emptied.trash_removed, app.store.trashed()), (128, 0));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_bytes_stay_while_another_row_has_their_version() {
    let app = app_with_bucket().await;
    app.service_role().upload("b/theirs", "their bytes").await.ok();
    // As a user could write it before the platform's file 0100.
    app.database
        .superuser()
        .await
        .batch_execute(
            "set session_replication_role = replica; \
             insert into storage.objects (bucket_id, name, version, metadata) \
             select 'b', 'forged', version, '{\"size\": \"lots\"}' from storage.objects where name = 'theirs'",
        )
        .await
        .expect("written without triggers");
    app.service_role().upload("b/other", "other").await.ok();

    app.service_role().delete("/object/b/forged").await.ok();
    app.service_role().delete("/object/b/other").await.ok();
    // The blob of `other` was behind that of `forged` in the queue.
    app.settle(1).await;
    let kept = app.nobody().get("/object/public/b/theirs").await;
    app.service_role().delete("/object/b/theirs").await.ok();

    assert_eq!(kept.text(), "their bytes");
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_a_size_that_is_no_number_breaks_no_sum() {
    let app = app_with_bucket().await;
    app.service_role().upload("b/real", "12345").await.ok();
    let superuser = app.database.superuser().await;
    superuser
        .batch_execute(
            "set session_replication_role = replica; insert into storage.objects (bucket_id, name, metadata) values \
             ('b', 'text', '{\"size\": \"lots\"}'), ('b', 'huge', '{\"size\": 1e40}'), ('b', 'none', null)",
        )
        .await
        .expect("written without triggers");

    let size = superuser
        .query_one("select size from storage.get_size_by_bucket()", &[])
        .await;
    let listed = app.service_role().list("b", "").await;

    assert_eq!(size.expect("a sum").get::<_, i64>(0), 5);
    assert_eq!(listed.names().len(), 4);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_072_emptying_keeps_what_was_overwritten_meanwhile() {
    let app = app_with_bucket().await;
    for key in ["old", "overwritten", "forged"] {
        app.service_role().upload(&format!("b/{key}"), key).await.ok();
    }
    // What happens between the first statement and a batch: an object that was there has new bytes. And a date that a user wrote.
    app.database
        .superuser()
        .await
        .batch_execute(
            "set session_replication_role = replica; \
             update storage.objects set updated_at = now() + interval '1 hour' where name = 'overwritten'; \
             update storage.objects set updated_at = 'infinity' where name = 'forged'",
        )
        .await
        .expect("written without triggers");

    app.service_role()
        .post("/bucket/b/empty", serde_json::json!({}))
        .await
        .ok();

    assert_eq!(app.service_role().list("b", "").await.names(), ["overwritten"]);
}
