//! Buckets and objects through the S3 protocol, with the AWS SDK.

use aws_sdk_s3::types::{BucketCannedAcl, MetadataDirective};
use serde_json::json;

use crate::s3_client::{app_with_bucket, refusal, refused, service, text};
use crate::support::TestApp;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_buckets_are_created_listed_and_deleted() {
    let app = TestApp::start().await;
    let s3 = service(&app);

    s3.create_bucket()
        .bucket("open")
        .acl(BucketCannedAcl::PublicRead)
        .send()
        .await
        .expect("created");
    let second = s3.create_bucket().bucket("closed").send().await.expect("created");
    assert_eq!(second.location(), Some("/closed"));
    assert_eq!(
        refusal(s3.create_bucket().bucket("open").send().await),
        refused(409, "BucketAlreadyExists")
    );

    let buckets = s3.list_buckets().send().await.expect("listed");
    let names: Vec<_> = buckets.buckets().iter().filter_map(|b| b.name()).collect();
    assert_eq!(names, ["closed", "open"]);
    assert!(buckets.buckets()[0].creation_date().is_some());
    assert!(
        app.service_role().get("/bucket/open").await.json()["public"]
            .as_bool()
            .expect("set")
    );
    s3.head_bucket().bucket("open").send().await.expect("it is there");
    let location = s3
        .get_bucket_location()
        .bucket("open")
        .send()
        .await
        .expect("known");
    assert_eq!(location.location_constraint().map(|l| l.as_str()), Some("local"));
    let versioning = s3
        .get_bucket_versioning()
        .bucket("open")
        .send()
        .await
        .expect("known");
    assert_eq!(versioning.status().map(|s| s.as_str()), Some("Suspended"));

    s3.put_object()
        .bucket("open")
        .key("x")
        .send()
        .await
        .expect("stored");
    assert_eq!(
        refusal(s3.delete_bucket().bucket("open").send().await),
        refused(409, "ResourceNotEmpty")
    );
    s3.delete_bucket().bucket("closed").send().await.expect("removed");
    assert_eq!(refusal(s3.head_bucket().bucket("closed").send().await).0, 404);
    assert_eq!(
        refusal(s3.put_object().bucket("closed").key("x").send().await),
        refused(404, "NoSuchBucket")
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_objects_are_shared_between_s3_and_rest() {
    let app = app_with_bucket().await;
    let s3 = service(&app);

    let put = s3
        .put_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .content_type("text/css")
        .cache_control("max-age=7")
        .metadata("colour", "blue")
        .body(text("hello"))
        .send()
        .await
        .expect("stored");
    // The MD5 of the bytes, as in S3 for objects from one request.
    assert_eq!(put.e_tag(), Some("\"5d41402abc4b2a76b9719d911017c592\""));

    let info = app
        .service_role()
        .get("/object/info/b/dir/a%20b+c(1).txt")
        .await
        .json();
    assert_eq!(info["content_type"], "text/css");
    assert_eq!(info["metadata"], json!({"colour": "blue"}));
    let got = s3
        .get_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .send()
        .await
        .expect("read");
    assert_eq!(got.content_type(), Some("text/css"));
    assert_eq!(got.cache_control(), Some("max-age=7"));
    assert_eq!(got.e_tag(), put.e_tag());
    assert_eq!(
        got.metadata().and_then(|m| m.get("colour")).map(String::as_str),
        Some("blue")
    );
    assert_eq!(got.body.collect().await.expect("whole").into_bytes(), "hello");
    let head = s3
        .head_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .send()
        .await
        .expect("there");
    assert_eq!((head.content_length(), head.e_tag()), (Some(5), put.e_tag()));

    let range = s3
        .get_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .range("bytes=1-3")
        .send()
        .await
        .expect("read");
    assert_eq!(range.content_range(), Some("bytes 1-3/5"));
    assert_eq!(range.body.collect().await.expect("whole").into_bytes(), "ell");
    let bad_range = s3
        .get_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .range("bytes=9-")
        .send()
        .await;
    assert_eq!(refusal(bad_range), refused(416, "InvalidRange"));
    let current = s3
        .get_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .if_none_match(put.e_tag().expect("a tag"));
    assert_eq!(refusal(current.send().await).0, 304);
    let other = s3
        .get_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .if_match("\"other\"")
        .send()
        .await;
    assert_eq!(refusal(other), refused(412, "PreconditionFailed"));

    let tags = s3
        .get_object_tagging()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .send()
        .await
        .expect("known");
    assert!(tags.tag_set().is_empty());
    s3.delete_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .send()
        .await
        .expect("gone");
    s3.delete_object()
        .bucket("b")
        .key("dir/a b+c(1).txt")
        .send()
        .await
        .expect("still gone");
    assert_eq!(
        refusal(s3.get_object().bucket("b").key("dir/a b+c(1).txt").send().await),
        refused(404, "NoSuchKey")
    );
    assert_eq!(refusal(s3.head_object().bucket("b").key("x").send().await).0, 404);
    assert_eq!(
        refusal(s3.get_object().bucket("none").key("x").send().await),
        refused(404, "NoSuchBucket")
    );
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_if_match_on_put_is_refused() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    s3.put_object()
        .bucket("b")
        .key("x")
        .body(text("old"))
        .send()
        .await
        .expect("stored");

    let overwrite = s3
        .put_object()
        .bucket("b")
        .key("x")
        .if_match("\"other\"")
        .body(text("new"));

    assert_eq!(refusal(overwrite.send().await), refused(501, "NotImplemented"));
    let kept = s3.get_object().bucket("b").key("x").send().await.expect("there");
    assert_eq!(kept.body.collect().await.expect("whole").to_vec(), b"old");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_s3_uploads_obey_limits_and_naming_rules() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name, file_size_limit, allowed_mime_types) \
         values ('b', 'b', 4, '{image/*}')",
    )
    .await;
    let s3 = service(&app);
    let put = |key: &str, kind: &str, body: &str| {
        s3.put_object()
            .bucket("b")
            .key(key)
            .content_type(kind)
            .body(text(body))
            .send()
    };

    assert_eq!(
        refusal(put("x", "text/plain", "x").await),
        refused(415, "InvalidMimeType")
    );
    assert_eq!(
        refusal(put("x", "image/png", "12345").await),
        refused(413, "EntityTooLarge")
    );
    assert_eq!(
        refusal(put("é", "image/png", "1").await),
        refused(400, "InvalidKey")
    );
    assert_eq!(
        refusal(put("a/../b", "image/png", "1").await),
        refused(400, "InvalidKey")
    );
    put("x", "image/png", "1234").await.expect("allowed");
    put("folder/", "image/png", "").await.expect("an empty folder");

    let names = app
        .service_role()
        .get("/object/info/b/folder/.emptyFolderPlaceholder")
        .await;
    assert_eq!(names.ok().json()["size"], 0);
    let fresh = s3
        .put_object()
        .bucket("b")
        .key("x")
        .content_type("image/png")
        .if_none_match("*")
        .send()
        .await;
    assert_eq!(refusal(fresh), refused(412, "PreconditionFailed"));
    app.settle(2).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_copies_keep_or_replace_metadata() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    s3.put_object()
        .bucket("b")
        .key("from x+y")
        .content_type("text/css")
        .metadata("a", "1")
        .body(text("bytes"))
        .send()
        .await
        .expect("stored");

    let copy = |key: &str| {
        s3.copy_object()
            .bucket("b")
            .key(key)
            .copy_source("b/from%20x%2By")
    };
    let kept = copy("kept").send().await.expect("copied");
    assert_eq!(
        kept.copy_object_result().and_then(|r| r.e_tag()),
        Some("\"4b3a6218bb3e3a7303e8a171a60fcf92\"")
    );
    copy("changed")
        .metadata_directive(MetadataDirective::Replace)
        .content_type("text/javascript")
        .metadata("b", "2")
        .send()
        .await
        .expect("copied");

    let kept = s3
        .head_object()
        .bucket("b")
        .key("kept")
        .send()
        .await
        .expect("there");
    assert_eq!(
        (kept.content_type(), kept.content_length()),
        (Some("text/css"), Some(5))
    );
    assert!(kept.metadata().expect("some").contains_key("a"));
    let changed = s3
        .head_object()
        .bucket("b")
        .key("changed")
        .send()
        .await
        .expect("there");
    assert_eq!(changed.content_type(), Some("text/javascript"));
    assert!(!changed.metadata().expect("some").contains_key("a"));
    assert_eq!(
        refusal(copy("no").copy_source_if_match("\"x\"").send().await),
        refused(412, "PreconditionFailed")
    );
    let missing = s3
        .copy_object()
        .bucket("b")
        .key("no")
        .copy_source("b/none")
        .send()
        .await;
    assert_eq!(refusal(missing), refused(404, "NoSuchKey"));
}
