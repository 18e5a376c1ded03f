//! Requests of the S3 protocol whose conditions or features must not be ignored.

use aws_sdk_s3::types::{
    CompletedMultipartUpload, CompletedPart, Delete, ObjectIdentifier, ObjectLockLegalHoldStatus,
    ObjectLockMode,
};
use aws_sdk_s3::{Client, primitives::DateTime};

use crate::s3_client::{app_with_bucket, refusal, refused, service, text};

async fn put(s3: &Client, key: &str, body: &str) {
    let put = s3.put_object().bucket("b").key(key).body(text(body));
    put.send().await.expect("stored");
}

async fn read(s3: &Client, key: &str) -> String {
    let got = s3.get_object().bucket("b").key(key).send().await.expect("there");
    let bytes = got.body.collect().await.expect("whole").to_vec();
    String::from_utf8(bytes).expect("text")
}

/// Uploads one part; returns the upload and its parts.
async fn begin(s3: &Client, key: &str, body: &str) -> (String, CompletedMultipartUpload) {
    let upload = s3.create_multipart_upload().bucket("b").key(key);
    let upload = upload.send().await.expect("begun");
    let id = upload.upload_id().expect("an id").to_owned();
    let part = s3
        .upload_part()
        .bucket("b")
        .key(key)
        .upload_id(&id)
        .part_number(1);
    let part = part.body(text(body)).send().await.expect("uploaded");
    let part = CompletedPart::builder()
        .part_number(1)
        .set_e_tag(part.e_tag().map(str::to_owned));
    (
        id,
        CompletedMultipartUpload::builder().parts(part.build()).build(),
    )
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_copies_and_completions_that_may_only_create_replace_nothing() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    put(&s3, "source", "new").await;
    put(&s3, "x", "old").await;
    let failed = || refused(412, "PreconditionFailed");

    let copy = |key: &str| {
        let copy = s3.copy_object().bucket("b").key(key).copy_source("b/source");
        copy.if_none_match("*").send()
    };
    assert_eq!(refusal(copy("x").await), failed());
    copy("y").await.expect("nothing was there");
    assert_eq!(refusal(copy("y").await), failed());
    let (id, parts) = begin(&s3, "x", "new").await;
    let complete = || {
        let complete = s3.complete_multipart_upload().bucket("b").key("x").upload_id(&id);
        complete.multipart_upload(parts.clone()).if_none_match("*").send()
    };
    assert_eq!(refusal(complete().await), failed());
    assert_eq!(
        (read(&s3, "x").await, read(&s3, "y").await),
        ("old".into(), "new".into())
    );

    s3.delete_object()
        .bucket("b")
        .key("x")
        .send()
        .await
        .expect("deleted");
    complete().await.expect("the upload is still there");
    assert_eq!(read(&s3, "x").await, "new");
    app.settle(3).await;
}

/// Of two uploads that may only create, and run at the same time, the unique index lets one succeed.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_of_completions_that_may_only_create_one_succeeds() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    let mut uploads = Vec::new();
    for n in 0..4 {
        uploads.push(begin(&s3, "x", &format!("text {n}")).await);
    }

    let completions = uploads.into_iter().map(|(id, parts)| {
        let complete = s3.complete_multipart_upload().bucket("b").key("x").upload_id(id);
        complete.multipart_upload(parts).if_none_match("*").send()
    });
    let completed = futures_util::future::join_all(completions).await;

    let (done, failed): (Vec<_>, Vec<_>) = completed.into_iter().partition(Result::is_ok);
    assert_eq!(done.len(), 1);
    for completion in failed {
        assert_eq!(refusal(completion), refused(412, "PreconditionFailed"));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_other_conditions_of_writes_and_deletions_are_refused() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    put(&s3, "source", "new").await;
    put(&s3, "x", "old").await;
    let (id, parts) = begin(&s3, "x", "new").await;
    let (tag, missing) = ("\"other\"", || refused(501, "NotImplemented"));

    let put = s3.put_object().bucket("b").key("x").body(text("new"));
    assert_eq!(refusal(put.if_none_match(tag).send().await), missing());
    let copy = s3.copy_object().bucket("b").key("x").copy_source("b/source");
    assert_eq!(refusal(copy.if_match(tag).send().await), missing());
    let complete = s3.complete_multipart_upload().bucket("b").key("x").upload_id(id);
    let complete = complete.multipart_upload(parts).if_match(tag);
    assert_eq!(refusal(complete.send().await), missing());
    let delete = || s3.delete_object().bucket("b").key("x");
    assert_eq!(refusal(delete().if_match(tag).send().await), missing());
    assert_eq!(refusal(delete().if_match_size(7).send().await), missing());
    let time = DateTime::from_secs(1);
    let by_time = delete().if_match_last_modified_time(time);
    assert_eq!(refusal(by_time.send().await), missing());

    let entry = || ObjectIdentifier::builder().key("x");
    for entry in [
        entry().e_tag(tag),
        entry().size(7),
        entry().last_modified_time(time),
    ] {
        let list = Delete::builder().objects(entry.build().expect("a key"));
        let list = list.build().expect("entries");
        let answer = s3.delete_objects().bucket("b").delete(list).send().await;
        let answer = answer.expect("an error for each key");
        let codes: Vec<_> = answer.errors().iter().map(|error| error.code()).collect();
        assert_eq!(codes, [Some("NotImplemented")]);
    }
    assert_eq!(read(&s3, "x").await, "old");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_encryption_by_the_clients_key_locks_and_appending_are_refused() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    put(&s3, "x", "old").await;
    let put = || s3.put_object().bucket("b").key("x").body(text("new"));
    let missing = || refused(501, "NotImplemented");

    let encrypted = put()
        .sse_customer_algorithm("AES256")
        .sse_customer_key("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
        .sse_customer_key_md5("hRasmdxgYDKV3nvbahU1MA==");
    assert_eq!(refusal(encrypted.send().await), missing());
    let locked = put().object_lock_mode(ObjectLockMode::Compliance);
    assert_eq!(refusal(locked.send().await), missing());
    let held = |status: ObjectLockLegalHoldStatus| put().object_lock_legal_hold_status(status).send();
    assert_eq!(refusal(held(ObjectLockLegalHoldStatus::On).await), missing());
    assert_eq!(refusal(put().write_offset_bytes(3).send().await), missing());
    let bucket = s3
        .create_bucket()
        .bucket("locked")
        .object_lock_enabled_for_bucket(true);
    assert_eq!(refusal(bucket.send().await), missing());
    assert_eq!(read(&s3, "x").await, "old");
    held(ObjectLockLegalHoldStatus::Off)
        .await
        .expect("no hold was asked for");
    assert_eq!(read(&s3, "x").await, "new");
}
