//! Versions of objects in the S3 protocol: each object has one, called `null`.

use aws_sdk_s3::types::{Delete, ObjectIdentifier};

use crate::s3_client::{app_with_bucket, refusal, refused, service, text};

/// Stores these keys in bucket `b`.
async fn store(s3: &aws_sdk_s3::Client, keys: &[&str]) {
    for key in keys {
        let put = s3.put_object().bucket("b").key(*key).body(text("x"));
        put.send().await.expect("stored");
    }
}

/// The requests of `rclone purge`: it reads that versioning is suspended and therefore lists and deletes versions.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_a_bucket_is_purged_by_its_versions() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    store(&s3, &["a", "d/b", "d/e/c"]).await;

    let listed = s3
        .list_object_versions()
        .bucket("b")
        .delimiter("")
        .prefix("")
        .max_keys(1000);
    let listed = listed.send().await.expect("listed");
    assert_eq!(listed.is_truncated(), Some(false));
    for version in listed.versions() {
        assert_eq!(
            (version.version_id(), version.is_latest()),
            (Some("null"), Some(true))
        );
        assert_eq!(version.size(), Some(1));
        assert!(version.last_modified().is_some() && version.e_tag().is_some());
        let delete = s3
            .delete_object()
            .bucket("b")
            .set_key(version.key().map(str::to_owned));
        let delete = delete.set_version_id(version.version_id().map(str::to_owned));
        delete.send().await.expect("deleted");
    }
    s3.delete_bucket().bucket("b").send().await.expect("empty");

    assert_eq!(listed.versions().len(), 3);
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_lists_of_versions_have_pages_and_prefixes() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    store(&s3, &["a", "d/b", "d/e/c", "z"]).await;

    let (mut keys, mut prefixes, mut marker) = (Vec::new(), Vec::new(), None);
    loop {
        let page = s3.list_object_versions().bucket("b").delimiter("/").max_keys(1);
        let page = page.set_key_marker(marker).send().await.expect("listed");
        keys.extend(
            page.versions()
                .iter()
                .filter_map(|entry| entry.key().map(str::to_owned)),
        );
        prefixes.extend(
            page.common_prefixes()
                .iter()
                .filter_map(|entry| entry.prefix().map(str::to_owned)),
        );
        marker = page.next_key_marker().map(str::to_owned);
        assert_eq!(marker.is_some(), page.is_truncated() == Some(true));
        if marker.is_none() {
            break;
        }
    }

    assert_eq!(keys, ["a", "z"]);
    assert_eq!(prefixes, ["d/"]);
    let missing = s3.list_object_versions().bucket("none").send().await;
    assert_eq!(refusal(missing), refused(404, "NoSuchBucket"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_a_version_that_an_object_does_not_have_is_neither_read_nor_deleted() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    store(&s3, &["a"]).await;
    let other = "3HL4kqtJvjVBH40Nrjfkd";

    let read = s3
        .get_object()
        .bucket("b")
        .key("a")
        .version_id(other)
        .send()
        .await;
    assert_eq!(refusal(read), refused(404, "NoSuchVersion"));
    let deleted = s3
        .delete_object()
        .bucket("b")
        .key("a")
        .version_id(other)
        .send()
        .await;
    assert_eq!(refusal(deleted), refused(404, "NoSuchVersion"));
    let object = |version: &str| {
        let object = ObjectIdentifier::builder().key("a").version_id(version);
        object.build().expect("a key")
    };
    let delete_all = async |version: &str| {
        let list = Delete::builder()
            .objects(object(version))
            .build()
            .expect("a list");
        s3.delete_objects()
            .bucket("b")
            .delete(list)
            .send()
            .await
            .expect("an answer")
    };
    let refused_entry = delete_all(other).await;
    assert_eq!(refused_entry.errors()[0].code(), Some("NoSuchVersion"));
    s3.get_object()
        .bucket("b")
        .key("a")
        .version_id("null")
        .send()
        .await
        .expect("it is still there");

    let gone = delete_all("null").await;
    assert_eq!(gone.deleted()[0].version_id(), Some("null"));
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_lists_and_objects_have_the_same_date() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    store(&s3, &["a"]).await;
    // Changing the row alone, such as its user metadata, does not change the bytes.
    app.sql("update storage.objects set updated_at = now() + interval '1 hour', user_metadata = '{}'")
        .await;

    let listed = s3.list_objects_v2().bucket("b").send().await.expect("listed");
    let head = s3
        .head_object()
        .bucket("b")
        .key("a")
        .send()
        .await
        .expect("it is there");
    let in_list = listed.contents()[0].last_modified().expect("a date").secs();
    assert_eq!(in_list, head.last_modified().expect("a date").secs());

    // Without a date in the metadata, that of the row serves.
    app.sql("update storage.objects set metadata = metadata - 'lastModified', updated_at = '2020-01-02T03:04:05Z'")
        .await;
    let listed = s3.list_objects_v2().bucket("b").send().await.expect("listed");
    let updated: i64 = app
        .count("select extract(epoch from date_trunc('second', updated_at))::bigint from storage.objects")
        .await;
    assert_eq!(
        listed.contents()[0].last_modified().expect("a date").secs(),
        updated
    );
}
