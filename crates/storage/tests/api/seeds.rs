//! Seeding: the buckets of config.toml and their files.

use std::fs;

use selvedge_storage::{BucketSeed, SeedReport, seed_buckets};
use serde_json::json;

use crate::support::TestApp;

/// A folder with three files and a hidden one.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("items/small")).expect("ours");
    fs::write(folder.path().join("items/coat.webp"), b"coat").expect("ours");
    fs::write(folder.path().join("items/small/hat.png"), b"hat").expect("ours");
    fs::write(folder.path().join("readme.txt"), b"text").expect("ours");
    fs::write(folder.path().join(".hidden"), b"no").expect("ours");
    folder
}

/// A public bucket that is seeded from a folder.
fn images(folder: &tempfile::TempDir) -> BucketSeed {
    BucketSeed {
        id: "images".to_owned(),
        public: true,
        objects_path: Some(folder.path().to_owned()),
        ..BucketSeed::default()
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn seeded_files_are_served_under_their_relative_paths() {
    let app = TestApp::start().await;
    let folder = project();

    let report = app.seed(&[images(&folder)]).await;

    assert_eq!(
        report,
        SeedReport {
            buckets: 1,
            written: 3,
            unchanged: 0
        }
    );
    for (path, content_type, text) in [
        ("items/coat.webp", "image/webp", "coat"),
        ("items/small/hat.png", "image/png", "hat"),
        ("readme.txt", "text/plain", "text"),
    ] {
        let got = app
            .nobody()
            .get(&format!("/object/public/images/{path}"))
            .await
            .ok();
        assert_eq!(
            (got.text().as_str(), got.header("content-type")),
            (text, Some(content_type))
        );
        assert_eq!(got.header("cache-control"), Some("max-age=3600"));
    }
    app.nobody()
        .get("/object/public/images/.hidden")
        .await
        .is(400, "404", "NoSuchKey");
    assert_eq!(
        app.service_role()
            .get("/object/info/images/readme.txt")
            .await
            .ok()
            .json()["size"],
        json!(4)
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn seeding_again_writes_only_what_changed() {
    let app = TestApp::start().await;
    let folder = project();
    app.seed(&[images(&folder)]).await;
    let id = app
        .service_role()
        .get("/object/info/images/readme.txt")
        .await
        .json()["id"]
        .clone();

    fs::write(folder.path().join("readme.txt"), b"changed").expect("ours");
    let report = app
        .seed(&[BucketSeed {
            public: false,
            ..images(&folder)
        }])
        .await;

    assert_eq!(
        report,
        SeedReport {
            buckets: 1,
            written: 1,
            unchanged: 2
        }
    );
    let service = app.service_role();
    assert_eq!(
        service.get("/object/images/readme.txt").await.ok().text(),
        "changed"
    );
    assert_eq!(
        service.get("/object/info/images/readme.txt").await.json()["id"],
        id
    );
    app.nobody()
        .get("/object/public/images/readme.txt")
        .await
        .is(400, "404", "NoSuchBucket");
    app.settle(3).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_invalid_seed_file_is_named_and_nothing_changes() {
    let app = TestApp::start().await;
    let folder = project();
    let seed = BucketSeed {
        allowed_mime_types: vec!["image/*".to_owned()],
        ..images(&folder)
    };

    let error = seed_buckets(&app.storage, &[seed])
        .await
        .expect_err("the text is no image");

    let text = error.to_string();
    assert!(
        text.contains("readme.txt") && text.contains("text/plain"),
        "{text}"
    );
    assert_eq!(app.count("select count(*) from storage.buckets").await, 0);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn seeding_four_hundred_files_takes_less_than_the_time_limit() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    for n in 0..400 {
        fs::write(folder.path().join(format!("{n}.webp")), vec![n as u8; 20_000]).expect("ours");
    }
    let begun = std::time::Instant::now();

    let report = app.seed(&[images(&folder)]).await;

    assert_eq!(report.written, 400);
    assert!(
        // An `fsync` for each file would take longer on most disks; seeding syncs once.
        // The limit leaves room for a machine that is busy with other tests.
        begun.elapsed() < std::time::Duration::from_secs(40),
        "{:?}",
        begun.elapsed()
    );
}
