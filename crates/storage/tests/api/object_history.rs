//! Buckets that keep versions: what is replaced or deleted stays readable by its version, and comes back.

use reqwest::Method;
use selvedge_storage::{SweepOptions, sweep};
use serde_json::{Value, json};

use crate::support::{Client, TestApp};

/// The service with a public bucket `b` that keeps versions.
pub(crate) async fn app_with_versions() -> TestApp {
    let app = TestApp::start().await;
    let body = json!({"name": "b", "public": true, "versioning_status": "ENABLED"});
    app.service_role().post("/bucket", body).await.ok();
    app
}

impl Client<'_> {
    pub(crate) async fn set_versioning(&self, status: &str) {
        let body = json!({ "versioning_status": status });
        self.put("/bucket/b", body).await.ok();
    }

    /// The version of the current object.
    pub(crate) async fn version(&self, key: &str) -> String {
        let info = self.get(&format!("/object/info/b/{key}")).await.ok().json();
        info["version"].as_str().expect("a version").to_owned()
    }

    /// The bytes of a version.
    pub(crate) async fn read_version(&self, key: &str, version: &str) -> Option<String> {
        let response = self.get(&format!("/object/b/{key}?versionId={version}")).await;
        response.status.is_success().then(|| response.text())
    }

    /// The bytes of the current object.
    pub(crate) async fn read(&self, key: &str) -> Option<String> {
        let response = self.get(&format!("/object/b/{key}")).await;
        response.status.is_success().then(|| response.text())
    }

    pub(crate) async fn remove_entries(&self, entries: Value) -> Value {
        let request = self.request(Method::DELETE, "/object/b");
        request
            .json(json!({ "prefixes": entries }))
            .send()
            .await
            .ok()
            .json()
    }
}

/// Stores these texts one after the other; returns their versions.
pub(crate) async fn store(client: &Client<'_>, key: &str, texts: &[&str]) -> Vec<String> {
    let mut versions = Vec::new();
    for text in texts {
        client.upsert(&format!("b/{key}"), text).await.ok();
        versions.push(client.version(key).await);
    }
    versions
}

/// No key has more than one current row, and none more than one that was written without versions.
pub(crate) async fn check_invariants(app: &TestApp) {
    let doubles = "select count(*) from (select from storage.objects group by bucket_id, name \
                   having count(*) filter (where archived_at is null) > 1 or count(*) filter (where not is_versioned) > 1) d";
    assert_eq!(app.count(doubles).await, 0);
    let sizes = "select count(*) from storage.objects where is_delete_marker and metadata is not null";
    assert_eq!(app.count(sizes).await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_200_201_202_the_status_of_a_bucket_and_what_may_follow_it() {
    let app = TestApp::start().await;
    let client = app.service_role();
    let create = async |status: Value| {
        client
            .post("/bucket", json!({"name": "n", "versioning_status": status}))
            .await
    };
    create(json!("SUSPENDED"))
        .await
        .is(400, "400", "InvalidParameter");
    for bad in [json!("enabled"), json!(true), json!(null)] {
        create(bad).await.is(400, "400", "InvalidRequest");
    }
    client.post("/bucket", json!({"name": "n"})).await.ok();
    let status = async || client.get("/bucket/n").await.ok().json()["versioning_status"].clone();
    let update = async |status: &str| {
        client
            .put("/bucket/n", json!({ "versioning_status": status }))
            .await
    };

    assert_eq!(status().await, "DISABLED");
    let pause = update("SUSPENDED").await;
    pause.is(400, "400", "InvalidParameter");
    let words = ["versioning status", "DISABLED", "SUSPENDED"];
    assert!(
        words.iter().all(|word| pause.message().contains(word)),
        "{}",
        pause.message()
    );
    for next in [
        "DISABLED",
        "ENABLED",
        "ENABLED",
        "SUSPENDED",
        "ENABLED",
        "SUSPENDED",
    ] {
        update(next).await.ok();
        assert_eq!(status().await, next);
    }
    update("DISABLED").await.is(400, "400", "InvalidParameter");
    client.put("/bucket/n", json!({"public": true})).await.ok();
    assert_eq!(status().await, "SUSPENDED");
    let listed = client.get("/bucket").await.ok().json();
    assert_eq!(listed[0]["versioning_status"], "SUSPENDED");
    let by_sql = app.database.superuser().await;
    let refused = by_sql.batch_execute("update storage.buckets set versioning_status = 'DISABLED'");
    assert!(refused.await.is_err());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_203_204_what_an_upload_replaces_stays_under_its_version() {
    let app = app_with_versions().await;
    let client = app.service_role();

    let versions = store(&client, "a", &["one", "two", "three"]).await;

    assert_eq!(client.read("a").await.as_deref(), Some("three"));
    for (version, text) in versions.iter().zip(["one", "two", "three"]) {
        for route in ["object", "object/public", "object/authenticated"] {
            let path = format!("/{route}/b/a?versionId={version}");
            assert_eq!(client.get(&path).await.ok().text(), text, "{route}");
            assert!(client.head(&path).await.status.is_success(), "{route}");
        }
        for route in ["object/info", "object/info/public", "object/info/authenticated"] {
            let info = client
                .get(&format!("/{route}/b/a?versionId={version}"))
                .await
                .ok()
                .json();
            assert_eq!(
                (&info["version"], &info["size"]),
                (&json!(version), &json!(text.len()))
            );
            assert_eq!(info["archived_at"].is_null(), text == "three");
            assert_eq!(info["is_versioned"], true);
        }
    }
    client
        .upload("b/a", "four")
        .await
        .is(400, "409", "KeyAlreadyExists");
    assert_eq!(client.read("a").await.as_deref(), Some("three"));
    client.delete("/object/b/a").await.ok();
    client.upload("b/a", "four").await.ok();
    assert_eq!(client.read("a").await.as_deref(), Some("four"));
    check_invariants(&app).await;
    app.settle(4).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_206_207_while_versioning_is_off_or_paused_a_key_has_one_slot() {
    let app = TestApp::start().await;
    let client = app.service_role();
    client
        .post("/bucket", json!({"name": "b", "public": true}))
        .await
        .ok();
    let before = store(&client, "a", &["lost", "before"]).await;
    client.set_versioning("ENABLED").await;
    assert_eq!(
        client.read_version("a", &before[1]).await.as_deref(),
        Some("before")
    );

    let kept = store(&client, "a", &["one"]).await;
    assert_eq!(
        client.read_version("a", &before[1]).await.as_deref(),
        Some("before")
    );
    client.set_versioning("SUSPENDED").await;
    let paused = store(&client, "a", &["paused", "paused again"]).await;

    assert_eq!(
        client.read_version("a", &before[1]).await,
        None,
        "its slot was used"
    );
    assert_eq!(client.read_version("a", &paused[0]).await, None);
    assert_eq!(client.read_version("a", &kept[0]).await.as_deref(), Some("one"));
    client.delete("/object/b/a").await.ok();
    assert_eq!(client.read("a").await, None);
    assert_eq!(
        client.read_version("a", &paused[1]).await,
        None,
        "the marker took the slot"
    );
    client.upload("b/a", "after").await.ok();
    let after = client.version("a").await;
    client.set_versioning("ENABLED").await;
    store(&client, "a", &["last"]).await;
    assert_eq!(client.read_version("a", &after).await.as_deref(), Some("after"));
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_208_209_210_a_marker_hides_the_key_everywhere_until_it_is_deleted() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let versions = store(&client, "f/a", &["one", "two"]).await;

    client.delete("/object/b/f/a").await.ok();

    for route in ["object", "object/public", "object/info"] {
        client
            .get(&format!("/{route}/b/f/a"))
            .await
            .is(400, "404", "NoSuchKey");
        assert!(
            client
                .head(&format!("/{route}/b/f/a"))
                .await
                .status
                .is_client_error()
        );
    }
    assert_eq!(client.list("b", "").await.ok().names(), Vec::<String>::new());
    let sign = client.post("/object/sign/b/f/a", json!({"expiresIn": 60}));
    sign.await.is(400, "404", "NoSuchKey");
    client.delete("/object/b/f/a").await.is(400, "404", "NoSuchKey");
    assert_eq!(
        client.read_version("f/a", &versions[1]).await.as_deref(),
        Some("two")
    );
    let markers = json!({"prefix": "f/a", "exactMatch": true, "deleteMarkers": "only"});
    let marker = client.post("/object/list/b", markers).await.ok().json()[0]["version"].clone();
    let marker = marker.as_str().expect("a version").to_owned();
    assert_eq!(client.read_version("f/a", &marker).await, None);

    client
        .delete(&format!("/object/b/f/a?versionId={marker}"))
        .await
        .ok();
    assert_eq!(client.read("f/a").await.as_deref(), Some("two"));
    client
        .delete(&format!("/object/b/f/a?versionId={}", versions[1]))
        .await
        .ok();
    assert_eq!(client.read("f/a").await.as_deref(), Some("one"));
    client
        .delete(&format!("/object/b/f/a?versionId={}", versions[0]))
        .await
        .ok();
    assert_eq!(client.read("f/a").await, None);
    check_invariants(&app).await;
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_211_212_213_bulk_deletion_answers_markers_and_removed_versions() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let versions = store(&client, "a", &["one", "two", "three"]).await;
    client.upload("b/c", "c").await.ok();

    let entries = json!([{"path": "a", "versionId": versions[1]}, "c", "never", {"path": "a", "versionId": versions[1]}]);
    let answer = client.remove_entries(entries).await;

    let rows: Vec<_> = answer.as_array().expect("a list").iter().collect();
    let summary: Vec<_> = rows
        .iter()
        .map(|row| (row["name"].as_str(), row["is_delete_marker"] == true))
        .collect();
    assert_eq!(
        summary,
        [(Some("c"), true), (Some("never"), true), (Some("a"), false)]
    );
    assert_eq!(rows[2]["version"], versions[1]);
    assert_eq!(client.read("a").await.as_deref(), Some("three"));
    assert_eq!(
        client.read_version("a", &versions[0]).await.as_deref(),
        Some("one")
    );
    app.settle(3).await;
    let undo = json!([{"path": "c", "versionId": rows[0]["version"]}, {"path": "never", "versionId": rows[1]["version"]}]);
    assert_eq!(
        client.remove_entries(undo).await.as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(client.read("c").await.as_deref(), Some("c"));
    assert_eq!(client.read("never").await, None);
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_217_218_copies_and_moves_from_a_version() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let versions = store(&client, "a", &["one", "two", "three"]).await;
    let relocate = async |action: &str, to: &str, version: Option<&str>, upsert: &str| {
        let mut body = json!({"bucketId": "b", "sourceKey": "a", "destinationKey": to});
        if let Some(version) = version {
            body["sourceVersionId"] = json!(version);
        }
        let request = client.request(Method::POST, &format!("/object/{action}"));
        request.header("x-upsert", upsert).json(body).send().await
    };

    relocate("copy", "copy", Some(&versions[0]), "false").await.ok();
    assert_eq!(client.read("copy").await.as_deref(), Some("one"));
    relocate("copy", "a", Some(&versions[0]), "false")
        .await
        .is(400, "409", "KeyAlreadyExists");
    relocate("copy", "a", Some(&versions[0]), "true").await.ok();
    assert_eq!(client.read("a").await.as_deref(), Some("one"), "restored");
    assert_eq!(
        client.read_version("a", &versions[2]).await.as_deref(),
        Some("three")
    );

    relocate("move", "copy", None, "false")
        .await
        .is(400, "409", "ResourceAlreadyExists");
    relocate("move", "one", Some(&versions[1]), "false").await.ok();
    assert_eq!(client.read("one").await.as_deref(), Some("two"));
    assert_eq!(
        client.read_version("a", &versions[1]).await,
        None,
        "it left the source"
    );
    let current = client.version("a").await;
    relocate("move", "moved", None, "false").await.ok();
    assert_eq!(client.read("moved").await.as_deref(), Some("one"));
    assert_eq!(client.read("a").await, None);
    assert_eq!(
        client.read_version("a", &current).await.as_deref(),
        Some("one"),
        "history stays"
    );
    relocate("copy", "x", None, "false")
        .await
        .is(400, "404", "NoSuchKey");
    check_invariants(&app).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_219_220_urls_of_a_version_outlive_the_key() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let versions = store(&client, "a", &["one", "two"]).await;
    let body = json!({"expiresIn": 60, "versionId": versions[0]});
    let signed = client.post("/object/sign/b/a", body).await.ok().json();
    let signed = signed["signedURL"].as_str().expect("a URL").to_owned();

    client.delete("/object/b/a").await.ok();

    assert_eq!(app.nobody().get(&signed).await.ok().text(), "one");
    let public = format!("/object/public/b/a?versionId={}", versions[1]);
    assert_eq!(app.nobody().get(&public).await.ok().text(), "two");
    let entry = json!([{"path": "a", "versionId": versions[0]}]);
    client.remove_entries(entry).await;
    app.nobody().get(&signed).await.is(400, "404", "NoSuchKey");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_221_a_bucket_with_history_is_not_empty_until_it_is_emptied() {
    let app = app_with_versions().await;
    let client = app.service_role();
    store(&client, "a", &["one", "two"]).await;
    client.delete("/object/b/a").await.ok();

    client
        .delete("/bucket/b")
        .await
        .is(400, "409", "ResourceNotEmpty");
    client.post("/bucket/b/empty", json!({})).await.ok();

    app.settle(0).await;
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
    client.delete("/bucket/b").await.ok();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_224_writers_of_one_key_leave_every_version_and_one_current_row() {
    let app = app_with_versions().await;
    let client = app.service_role();

    let uploads = (0..12).map(|n| {
        let client = &client;
        async move {
            client
                .upsert("b/a", &format!("text {n}"))
                .await
                .status
                .is_success()
        }
    });
    let stored = futures_util::future::join_all(uploads).await;
    assert!(stored.iter().all(|stored| *stored));
    let versions = "select count(*) from storage.objects where name = 'a'";
    assert_eq!(app.count(versions).await, 12);
    check_invariants(&app).await;

    let steps = (0..12).map(|n| {
        let client = &client;
        async move {
            match n % 3 {
                0 => client.upsert("b/a", "again").await.status,
                1 => client.delete("/object/b/a").await.status,
                _ => client.remove("b", &["a"]).await.status,
            }
        }
    });
    for status in futures_util::future::join_all(steps).await {
        assert!(!status.is_server_error(), "{status}");
    }
    check_invariants(&app).await;
    let live = "select count(*) from storage.objects where name = 'a' and archived_at is null";
    assert_eq!(app.count(live).await, 1);
    let bytes = "select count(*) from storage.objects where not is_delete_marker";
    app.settle(usize::try_from(app.count(bytes).await).unwrap()).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_227_sums_count_all_bytes_and_listings_in_sql_only_current_objects() {
    let app = app_with_versions().await;
    let client = app.service_role();
    store(&client, "f/a", &["one", "two", "three"]).await;
    store(&client, "f/b", &["x"]).await;
    client.delete("/object/b/f/b").await.ok();

    let sum = "select size from storage.get_size_by_bucket() where bucket_id = 'b'";
    assert_eq!(app.count(sum).await, 12);
    for listing in [
        "select count(*) from storage.search('f/', 'b')",
        "select count(*) from storage.search_by_timestamp('f/', 'b', 10, 2, '', 'asc', 'created_at', '')",
        "select count(*) from storage.list_objects_with_delimiter('b', 'f/', '/')",
    ] {
        assert_eq!(app.count(listing).await, 1, "{listing}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_228_a_sweep_keeps_the_bytes_of_versions() {
    let app = app_with_versions().await;
    let client = app.service_role();
    let versions = store(&client, "a", &["one", "two"]).await;
    client.delete("/object/b/a").await.ok();

    let all = SweepOptions {
        older_than: std::time::Duration::ZERO,
        ..SweepOptions::default()
    };
    let report = sweep(&app.storage, &all).await.expect("swept").expect("alone");

    assert_eq!((report.orphans, report.lost), (0, 0));
    assert_eq!(
        client.read_version("a", &versions[0]).await.as_deref(),
        Some("one")
    );
}
