//! Versions of objects in a bucket that keeps none: what asks for one gets the only one, or is refused, never other bytes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::s3_client::{refusal, refused, service};
use crate::support::{Client, TestApp};

/// The id of a version that no object has.
const UNKNOWN_VERSION: &str = "00000000-0000-4000-8000-000000000000";

/// The service with a public bucket `b` and the object `b/f/a`; returns its version.
async fn app_with_object() -> (TestApp, String) {
    let app = TestApp::start_with(|config| selvedge_storage::StorageConfig {
        image_transformation: true,
        ..config
    })
    .await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app.service_role().upload("b/f/a", "one").await.ok();
    let version = version_of(&app.service_role(), "f/a").await;
    (app, version)
}

async fn version_of(client: &Client<'_>, key: &str) -> String {
    let info = client.get(&format!("/object/info/b/{key}")).await.ok().json();
    info["version"].as_str().expect("a version").to_owned()
}

/// Every route that reads the bytes or the details of an object.
const READS: [&str; 6] = [
    "object",
    "object/public",
    "object/authenticated",
    "object/info",
    "object/info/public",
    "object/info/authenticated",
];

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_205_only_the_version_that_an_object_has_is_read() {
    let (app, version) = app_with_object().await;
    let client = app.service_role();

    for route in READS {
        let path = |version: &str| format!("/{route}/b/f/a?versionId={version}&cacheNonce=1");
        client.get(&path(&version)).await.ok();
        for other in [UNKNOWN_VERSION, "", "x", "null"] {
            let refused = client.get(&path(other)).await;
            refused.is(400, "404", "NoSuchKey");
        }
        assert!(client.head(&path(&version)).await.status.is_success(), "{route}");
        assert!(
            client.head(&path(UNKNOWN_VERSION)).await.status.is_client_error(),
            "{route}"
        );
    }
    for route in ["render/image/public", "render/image/authenticated"] {
        let refused = client
            .get(&format!("/{route}/b/f/a?width=5&versionId={UNKNOWN_VERSION}"))
            .await;
        refused.is(400, "404", "NoSuchKey");
    }
    client.upsert("b/f/a", "two").await.ok();
    client
        .get(&format!("/object/b/f/a?versionId={version}"))
        .await
        .is(400, "404", "NoSuchKey");
    assert_eq!(client.get("/object/b/f/a").await.ok().text(), "two");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_219_a_url_that_is_signed_for_a_version_opens_no_other_one() {
    let (app, version) = app_with_object().await;
    let client = app.service_role();
    let sign = async |body: Value| client.post("/object/sign/b/f/a", body).await;

    sign(json!({"expiresIn": 60, "versionId": UNKNOWN_VERSION}))
        .await
        .is(400, "404", "NoSuchKey");
    let bound = sign(json!({"expiresIn": 60, "versionId": version})).await.ok();
    let bound = bound.json()["signedURL"].as_str().expect("a URL").to_owned();
    let null = json!({"expiresIn": 60, "versionId": null});
    let free = sign(null).await.ok();
    let free = free.json()["signedURL"].as_str().expect("a URL").to_owned();
    let picture = json!({"expiresIn": 60, "versionId": version, "transform": {"width": 5}});
    let picture = sign(picture).await.ok();
    let picture = picture.json()["signedURL"].as_str().expect("a URL").to_owned();
    assert_eq!(app.nobody().get(&bound).await.ok().text(), "one");
    // Nobody has signed what the query says.
    let added = app
        .nobody()
        .get(&format!("{free}&versionId={UNKNOWN_VERSION}"))
        .await;
    assert_eq!(added.ok().text(), "one");

    client.upsert("b/f/a", "two").await.ok();

    app.nobody().get(&bound).await.is(400, "404", "NoSuchKey");
    app.nobody().get(&picture).await.is(400, "404", "NoSuchKey");
    let newer = version_of(&client, "f/a").await;
    let changed = app.nobody().get(&format!("{bound}&versionId={newer}")).await;
    changed.is(400, "404", "NoSuchKey");
    assert_eq!(app.nobody().get(&free).await.ok().text(), "two");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_211_212_a_version_that_an_object_does_not_have_deletes_nothing() {
    let (app, version) = app_with_object().await;
    let client = app.service_role();
    client.upload("b/c", "plain").await.ok();
    let remove = async |entries: Value| {
        let request = client.request(Method::DELETE, "/object/b");
        request.json(json!({"prefixes": entries})).send().await
    };

    let one = client
        .delete(&format!("/object/b/f/a?versionId={UNKNOWN_VERSION}"))
        .await;
    one.is(400, "404", "NoSuchKey");
    let entry = |version: &str| json!({"path": "f/a", "versionId": version});
    assert_eq!(
        remove(json!([entry(UNKNOWN_VERSION)])).await.ok().json(),
        json!([])
    );
    remove(json!(["c", {"path": "f/a"}]))
        .await
        .is(400, "400", "InvalidRequest");
    assert_eq!(app.count("select count(*) from storage.objects").await, 2);

    let mixed = remove(json!(["c", entry(&version), entry(UNKNOWN_VERSION), "none"]))
        .await
        .ok();
    assert_eq!(mixed.names(), ["c", "f/a"]);
    app.settle(0).await;

    client.upload("b/f/a", "again").await.ok();
    let version = version_of(&client, "f/a").await;
    client
        .delete(&format!("/object/b/f/a?versionId={version}"))
        .await
        .ok();
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_222_a_version_opens_nothing_that_policies_hide() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    app.service_role().upload("b/a", "x").await.ok();
    let version = version_of(&app.service_role(), "a").await;
    let ana = app.user("ana");

    let path = format!("/object/authenticated/b/a?versionId={version}");
    ana.get(&path).await.is(400, "404", "NoSuchKey");
    let signed = ana.post("/object/sign/b/a", json!({"expiresIn": 60, "versionId": version}));
    signed.await.is(400, "404", "NoSuchKey");
    let entries = json!({"prefixes": [{"path": "a", "versionId": version}]});
    let removed = ana
        .request(Method::DELETE, "/object/b")
        .json(entries)
        .send()
        .await;
    assert_eq!(removed.ok().json(), json!([]));
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_217_218_copies_and_moves_take_only_the_version_that_they_name() {
    let (app, version) = app_with_object().await;
    let client = app.service_role();
    let relocate = async |action: &str, to: &str, version: &str| {
        let body =
            json!({"bucketId": "b", "sourceKey": "f/a", "destinationKey": to, "sourceVersionId": version});
        client.post(&format!("/object/{action}"), body).await
    };

    for action in ["copy", "move"] {
        relocate(action, "to", UNKNOWN_VERSION)
            .await
            .is(400, "404", "NoSuchKey");
    }
    client.get("/object/b/to").await.is(400, "404", "NoSuchKey");
    relocate("copy", "copy", &version).await.ok();
    relocate("move", "moved", &version).await.ok();

    for key in ["copy", "moved"] {
        assert_eq!(client.get(&format!("/object/b/{key}")).await.ok().text(), "one");
    }
    client.get("/object/b/f/a").await.is(400, "404", "NoSuchKey");
    let copy = service(&app)
        .copy_object()
        .bucket("b")
        .key("c")
        .copy_source(format!("b/copy?versionId={UNKNOWN_VERSION}"));
    assert_eq!(refusal(copy.send().await), refused(404, "NoSuchVersion"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_214_lists_of_earlier_versions_and_markers_are_empty() {
    let (app, _) = app_with_object().await;
    let client = app.service_role();
    let kinds = ["exclude", "include", "only"];

    for noncurrent in kinds {
        for markers in kinds {
            let body = json!({"prefix": "f/", "noncurrentVersions": noncurrent, "deleteMarkers": markers});
            let expected: usize = if noncurrent == "only" || markers == "only" {
                0
            } else {
                1
            };
            let first = client.post("/object/list/b", body.clone()).await.ok().json();
            let second = client.post("/object/list-v2/b", body).await.ok().json();
            let lengths = [
                first.as_array().map(Vec::len),
                second["objects"].as_array().map(Vec::len),
            ];
            assert_eq!(lengths, [Some(expected); 2], "{noncurrent} {markers}");
            assert_eq!(second["hasNext"], false);
        }
    }
    for bad in [json!("all"), json!(null), json!(true)] {
        for list in ["list", "list-v2"] {
            for field in ["noncurrentVersions", "deleteMarkers"] {
                let mut body = json!({"prefix": ""});
                body[field] = bad.clone();
                let refused = client.post(&format!("/object/{list}/b"), body).await;
                refused.is(400, "400", "InvalidRequest");
            }
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_216_exact_matches_have_no_wildcards_and_mind_the_case() {
    let (app, _) = app_with_object().await;
    let client = app.service_role();
    for key in ["f/a.txt", "f/ab", "F/a", "f/a/deeper"] {
        client.upload(&format!("b/{key}"), "x").await.ok();
    }
    let first = async |prefix: &str, search: &str| {
        let body = json!({"prefix": prefix, "search": search, "exactMatch": true});
        client.post("/object/list/b", body).await.ok().names()
    };
    let second = async |prefix: &str, delimiter: bool| {
        let body = json!({"prefix": prefix, "exactMatch": true, "with_delimiter": delimiter});
        let page = client.post("/object/list-v2/b", body).await.ok().json();
        assert_eq!((&page["folders"], &page["hasNext"]), (&json!([]), &json!(false)));
        let objects = page["objects"].as_array().expect("a list").clone();
        let names = objects
            .iter()
            .map(|object| object["name"].as_str().expect("a name").to_owned());
        names.collect::<Vec<_>>()
    };

    assert_eq!(first("f/a", "").await, ["a"]);
    assert_eq!(first("f", "a").await, ["a"]);
    for none in ["f/", "f", "f/_", "f/%", "F/A", ""] {
        assert!(first(none, "").await.is_empty(), "{none}");
        assert!(second(none, false).await.is_empty(), "{none}");
    }
    assert_eq!(second("f/a", false).await, ["f/a"]);
    assert_eq!(second("f/a.txt", true).await, ["f/a.txt"]);
}
