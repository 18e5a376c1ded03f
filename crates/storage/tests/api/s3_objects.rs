//! Buckets and objects through the S3 protocol, with the AWS SDK.

use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{BucketCannedAcl, Delete, MetadataDirective, ObjectIdentifier};
use serde_json::json;

use crate::s3_client::{refusal, refused, service, user};
use crate::support::{TestApp, user_id};

async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

fn text(text: &str) -> ByteStream {
    ByteStream::from(text.as_bytes().to_vec())
}

#[actix_web::test]
async fn store_095_buckets_are_made_listed_and_removed() {
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

#[actix_web::test]
async fn store_095_objects_make_the_round_trip_between_both_protocols() {
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

#[actix_web::test]
async fn store_095_limits_and_names_hold_here_too() {
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

#[actix_web::test]
async fn store_095_listings_page_in_both_versions() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    for key in ["a.txt", "dir/1", "dir/2", "dir_x/1", "e & <f>", "z"] {
        let key = key.replace(['<', '>'], "'");
        s3.put_object()
            .bucket("b")
            .key(key)
            .body(text("x"))
            .send()
            .await
            .expect("stored");
    }

    let all = s3.list_objects_v2().bucket("b").send().await.expect("listed");
    let keys: Vec<_> = all.contents().iter().filter_map(|o| o.key()).collect();
    assert_eq!(keys, ["a.txt", "dir/1", "dir/2", "dir_x/1", "e & 'f'", "z"]);
    assert_eq!(all.contents()[0].size(), Some(1));
    assert!(all.contents()[0].last_modified().is_some() && all.contents()[0].e_tag().is_some());

    let (mut seen, mut token) = (Vec::new(), None);
    loop {
        let page = s3
            .list_objects_v2()
            .bucket("b")
            .delimiter("/")
            .max_keys(2)
            .encoding_type(aws_sdk_s3::types::EncodingType::Url)
            .set_continuation_token(token)
            .send()
            .await
            .expect("listed");
        seen.extend(page.contents().iter().filter_map(|o| o.key()).map(str::to_owned));
        seen.extend(
            page.common_prefixes()
                .iter()
                .filter_map(|p| p.prefix())
                .map(str::to_owned),
        );
        assert_eq!(
            page.key_count(),
            Some((page.contents().len() + page.common_prefixes().len()) as i32)
        );
        token = page.next_continuation_token().map(str::to_owned);
        if token.is_none() {
            break;
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, ["a.txt", "dir/", "dir_x/", "e%20%26%20%27f%27", "z"]);

    let below = s3
        .list_objects_v2()
        .bucket("b")
        .prefix("dir/")
        .start_after("dir/1")
        .send()
        .await
        .expect("listed");
    assert_eq!(
        below
            .contents()
            .iter()
            .filter_map(|o| o.key())
            .collect::<Vec<_>>(),
        ["dir/2"]
    );
    let first = s3
        .list_objects()
        .bucket("b")
        .delimiter("/")
        .max_keys(2)
        .send()
        .await
        .expect("listed");
    assert_eq!(
        (first.is_truncated(), first.next_marker()),
        (Some(true), Some("dir/"))
    );
    let second = s3
        .list_objects()
        .bucket("b")
        .delimiter("/")
        .marker("dir/")
        .send()
        .await
        .expect("listed");
    assert_eq!(
        second
            .contents()
            .iter()
            .filter_map(|o| o.key())
            .collect::<Vec<_>>(),
        ["e & 'f'", "z"]
    );
    let prefixes: Vec<_> = second
        .common_prefixes()
        .iter()
        .filter_map(|p| p.prefix())
        .collect();
    assert_eq!(prefixes, ["dir_x/"]);
    assert_eq!(
        refusal(s3.list_objects_v2().bucket("none").send().await),
        refused(404, "NoSuchBucket")
    );
    let broken = s3
        .list_objects_v2()
        .bucket("b")
        .continuation_token("%")
        .send()
        .await;
    assert_eq!(refusal(broken), refused(400, "InvalidParameter"));
}

#[actix_web::test]
async fn store_095_copies_keep_or_replace_what_describes_them() {
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

#[actix_web::test]
async fn store_096_a_session_token_brings_the_users_policies() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('docs', 'docs');
         create policy own on storage.objects for all to authenticated
           using (bucket_id = 'docs' and (storage.foldername(name))[1] = auth.uid()::text)
           with check (bucket_id = 'docs' and (storage.foldername(name))[1] = auth.uid()::text)",
    )
    .await;
    let (ana, bob) = (user(&app, "ana"), user(&app, "bob"));
    let mine = format!("{}/x", user_id("ana"));

    ana.put_object()
        .bucket("docs")
        .key(&mine)
        .body(text("private"))
        .send()
        .await
        .expect("her own folder");
    assert_eq!(
        refusal(
            bob.put_object()
                .bucket("docs")
                .key(&mine)
                .body(text("no"))
                .send()
                .await
        ),
        refused(403, "AccessDenied")
    );
    ana.get_object()
        .bucket("docs")
        .key(&mine)
        .send()
        .await
        .expect("her own");
    assert_eq!(
        refusal(bob.get_object().bucket("docs").key(&mine).send().await),
        refused(404, "NoSuchKey")
    );
    assert_eq!(
        refusal(
            bob.copy_object()
                .bucket("docs")
                .key("x")
                .copy_source(format!("docs/{mine}"))
                .send()
                .await
        ),
        refused(404, "NoSuchKey")
    );
    assert!(
        bob.list_objects_v2()
            .bucket("docs")
            .send()
            .await
            .expect("listed")
            .contents()
            .is_empty()
    );
    assert!(
        bob.list_buckets()
            .send()
            .await
            .expect("listed")
            .buckets()
            .is_empty()
    );
    assert_eq!(
        refusal(bob.delete_object().bucket("docs").key(&mine).send().await),
        refused(403, "AccessDenied")
    );
    let object = |key: &str| ObjectIdentifier::builder().key(key).build().expect("a key");
    let delete = Delete::builder()
        .objects(object(&mine))
        .objects(object("never"))
        .build()
        .expect("a list");
    let answer = bob
        .delete_objects()
        .bucket("docs")
        .delete(delete.clone())
        .send()
        .await
        .expect("answered");
    assert_eq!(answer.errors()[0].code(), Some("AccessDenied"));
    assert_eq!(answer.deleted()[0].key(), Some("never"));

    let owner = app
        .service_role()
        .post("/object/list/docs", json!({"prefix": user_id("ana")}))
        .await;
    assert_eq!(owner.names(), ["x"]);
    let answer = ana
        .delete_objects()
        .bucket("docs")
        .delete(delete)
        .send()
        .await
        .expect("answered");
    assert_eq!((answer.errors().len(), answer.deleted().len()), (0, 2));
    app.settle(0).await;
}
