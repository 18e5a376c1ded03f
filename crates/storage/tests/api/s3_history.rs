//! Versions in the S3 protocol, and by resumable and signed uploads.

use aws_sdk_s3::types::{BucketVersioningStatus, Delete, ObjectIdentifier, VersioningConfiguration};
use serde_json::json;

use crate::object_history::{app_with_versions, check_invariants};
use crate::s3_client::{refusal, refused, service, text, user};
use crate::tus_client::{create, patch};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_226_229_s3_makes_versions_and_markers_and_reads_them() {
    let app = app_with_versions().await;
    let s3 = service(&app);
    let put = async |body: &str| {
        let put = s3.put_object().bucket("b").key("a").body(text(body)).send().await;
        put.expect("stored").version_id().expect("a version").to_owned()
    };
    let (first, second) = (put("one").await, put("two").await);
    let read = async |version: Option<&str>| {
        let get = s3
            .get_object()
            .bucket("b")
            .key("a")
            .set_version_id(version.map(str::to_owned));
        let got = get.send().await?;
        Ok::<_, aws_sdk_s3::Error>(
            String::from_utf8(got.body.collect().await.expect("bytes").to_vec()).expect("text"),
        )
    };
    assert_eq!(read(Some(&first)).await.expect("read"), "one");
    assert_eq!(read(None).await.expect("read"), "two");
    let copy = s3
        .copy_object()
        .bucket("b")
        .key("c")
        .copy_source(format!("b/a?versionId={first}"));
    assert!(copy.send().await.expect("copied").version_id().is_some());

    let deleted = s3
        .delete_object()
        .bucket("b")
        .key("a")
        .send()
        .await
        .expect("deleted");
    let marker = deleted.version_id().expect("a version").to_owned();
    assert_eq!(deleted.delete_marker(), Some(true));
    assert!(read(None).await.is_err());
    let keys = s3.list_objects_v2().bucket("b").send().await.expect("listed");
    assert_eq!(keys.contents().len(), 1, "plain lists show current objects");
    let listed = s3
        .list_object_versions()
        .bucket("b")
        .prefix("a")
        .send()
        .await
        .expect("listed");
    let versions: Vec<_> = listed
        .versions()
        .iter()
        .map(|entry| entry.version_id().expect("an id"))
        .collect();
    assert_eq!(versions, [second.as_str(), first.as_str()]);
    assert_eq!(listed.delete_markers()[0].version_id(), Some(marker.as_str()));
    assert_eq!(listed.delete_markers()[0].is_latest(), Some(true));

    let undo = s3
        .delete_object()
        .bucket("b")
        .key("a")
        .version_id(&marker)
        .send()
        .await
        .expect("undone");
    assert_eq!(undo.delete_marker(), Some(true));
    assert_eq!(read(None).await.expect("read"), "two");
    let entry = |version: &str| {
        ObjectIdentifier::builder()
            .key("a")
            .version_id(version)
            .build()
            .expect("an entry")
    };
    let delete = Delete::builder()
        .objects(entry(&first))
        .objects(entry(&second))
        .build()
        .expect("a list");
    let answer = s3
        .delete_objects()
        .bucket("b")
        .delete(delete)
        .send()
        .await
        .expect("deleted");
    assert_eq!((answer.deleted().len(), answer.errors().len()), (2, 0));
    assert!(read(None).await.is_err());
    check_invariants(&app).await;
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_229_pages_of_versions_and_the_status_of_buckets() {
    let app = app_with_versions().await;
    let s3 = service(&app);
    for n in 0..5 {
        let put = s3.put_object().bucket("b").key("d/a").body(text(&n.to_string()));
        put.send().await.expect("stored");
    }
    let (mut found, mut key, mut version) = (Vec::new(), None, None);
    loop {
        let page = s3.list_object_versions().bucket("b").max_keys(2);
        let page = page
            .set_key_marker(key)
            .set_version_id_marker(version)
            .send()
            .await
            .expect("listed");
        found.extend(
            page.versions()
                .iter()
                .map(|entry| entry.version_id().expect("an id").to_owned()),
        );
        (key, version) = (
            page.next_key_marker().map(str::to_owned),
            page.next_version_id_marker().map(str::to_owned),
        );
        if page.is_truncated() != Some(true) {
            break;
        }
    }
    let count = found.len();
    found.sort_unstable();
    found.dedup();
    assert_eq!((count, found.len()), (5, 5));
    let prefixes = s3
        .list_object_versions()
        .bucket("b")
        .delimiter("/")
        .send()
        .await
        .expect("listed");
    assert_eq!(prefixes.common_prefixes()[0].prefix(), Some("d/"));

    let set = async |client: &aws_sdk_s3::Client, status: BucketVersioningStatus| {
        let status = VersioningConfiguration::builder().status(status).build();
        client
            .put_bucket_versioning()
            .bucket("b")
            .versioning_configuration(status)
            .send()
            .await
    };
    set(&s3, BucketVersioningStatus::Suspended).await.expect("paused");
    let status = s3
        .get_bucket_versioning()
        .bucket("b")
        .send()
        .await
        .expect("a status");
    assert_eq!(status.status(), Some(&BucketVersioningStatus::Suspended));
    let refused_to_users = set(&user(&app, "ana"), BucketVersioningStatus::Enabled).await;
    assert_eq!(refusal(refused_to_users), refused(403, "AccessDenied"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_225_resumable_and_signed_uploads_make_versions() {
    let app = app_with_versions().await;
    let client = app.service_role();
    client.upload("b/a", "one").await.ok();
    let first = client.version("a").await;
    let signed = client
        .request(reqwest::Method::POST, "/object/upload/sign/b/a")
        .header("x-upsert", "true");
    let signed = signed.json(json!({})).send().await.ok().json();
    let url = signed["url"].as_str().expect("a URL").to_owned();
    let put = app
        .nobody()
        .request(reqwest::Method::PUT, &url)
        .header("x-upsert", "true");
    put.header("content-type", "text/plain")
        .body("two")
        .send()
        .await
        .ok();

    assert_eq!(client.read("a").await.as_deref(), Some("two"));
    assert_eq!(client.read_version("a", &first).await.as_deref(), Some("one"));
    let path = create(&client, "t", 3).await;
    patch(&client, &path, 0, b"tus").await;
    assert_eq!(client.read("t").await.as_deref(), Some("tus"));
    let versioned = "select count(*) from storage.objects where is_versioned";
    assert_eq!(app.count(versioned).await, 3);
}
