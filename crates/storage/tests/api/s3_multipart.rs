//! Multipart uploads through the S3 protocol, with the AWS SDK.

use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};

use crate::s3_client::{refusal, refused, service, user};
use crate::support::TestApp;

/// The service with a public bucket `b`.
async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

/// Begins an upload with a type and user metadata; returns its id.
async fn begin(s3: &Client, key: &str) -> String {
    let upload = s3
        .create_multipart_upload()
        .bucket("b")
        .key(key)
        .content_type("text/css")
        .metadata("a", "1")
        .send()
        .await
        .expect("begun");
    upload.upload_id().expect("an id").to_owned()
}

/// Uploads a part; returns it as a completion names it.
async fn part(s3: &Client, key: &str, id: &str, number: i32, bytes: &[u8]) -> CompletedPart {
    let part = s3
        .upload_part()
        .bucket("b")
        .key(key)
        .upload_id(id)
        .part_number(number)
        .body(ByteStream::from(bytes.to_vec()))
        .send()
        .await
        .expect("uploaded");
    CompletedPart::builder()
        .part_number(number)
        .set_e_tag(part.e_tag().map(str::to_owned))
        .build()
}

/// The list of parts in the request that completes an upload.
fn list(parts: &[CompletedPart]) -> CompletedMultipartUpload {
    CompletedMultipartUpload::builder()
        .set_parts(Some(parts.to_vec()))
        .build()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_parts_uploaded_in_any_order_become_one_object() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    let (first, second) = (vec![b'1'; 5 << 20], b"second".to_vec());
    let id = begin(&s3, "big").await;

    let last = part(&s3, "big", &id, 7, &second).await;
    part(&s3, "big", &id, 2, b"replaced").await;
    let start = part(&s3, "big", &id, 2, &first).await;
    let parts = s3
        .list_parts()
        .bucket("b")
        .key("big")
        .upload_id(&id)
        .send()
        .await
        .expect("listed");
    let numbers: Vec<_> = parts
        .parts()
        .iter()
        .map(|p| (p.part_number(), p.size()))
        .collect();
    assert_eq!(numbers, [(Some(2), Some(5 << 20)), (Some(7), Some(6))]);
    let page = s3
        .list_parts()
        .bucket("b")
        .key("big")
        .upload_id(&id)
        .max_parts(1)
        .send()
        .await
        .expect("listed");
    assert_eq!(
        (page.is_truncated(), page.next_part_number_marker()),
        (Some(true), Some("2"))
    );
    let uploads = s3
        .list_multipart_uploads()
        .bucket("b")
        .send()
        .await
        .expect("listed");
    assert_eq!(uploads.uploads()[0].upload_id(), Some(id.as_str()));

    let wrong = CompletedPart::builder().part_number(2).e_tag("\"0\"").build();
    let complete = |parts: &[CompletedPart]| {
        s3.complete_multipart_upload()
            .bucket("b")
            .key("big")
            .upload_id(&id)
            .multipart_upload(list(parts))
            .send()
    };
    assert_eq!(refusal(complete(&[wrong]).await), refused(400, "InvalidPart"));
    assert_eq!(
        refusal(complete(&[last.clone(), start.clone()]).await),
        refused(400, "InvalidPartOrder")
    );
    let done = complete(&[start, last]).await.expect("completed");
    assert!(done.e_tag().expect("a tag").ends_with("-2\""));

    let object = s3.get_object().bucket("b").key("big").send().await.expect("read");
    assert_eq!(object.content_type(), Some("text/css"));
    assert_eq!(object.metadata().expect("some")["a"], "1");
    assert_eq!(
        object.body.collect().await.expect("whole").into_bytes(),
        [first, second].concat()
    );
    assert_eq!(
        app.count("select count(*) from storage.s3_multipart_uploads")
            .await,
        0
    );
    assert_eq!(refusal(complete(&[]).await), refused(404, "NoSuchUpload"));
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_aborting_a_multipart_upload_removes_its_parts() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    let id = begin(&s3, "x").await;
    part(&s3, "x", &id, 1, b"one").await;
    part(&s3, "x", &id, 2, b"two").await;

    let elsewhere = s3
        .abort_multipart_upload()
        .bucket("b")
        .key("y")
        .upload_id(&id)
        .send()
        .await;
    assert_eq!(refusal(elsewhere), refused(404, "NoSuchUpload"));
    s3.abort_multipart_upload()
        .bucket("b")
        .key("x")
        .upload_id(&id)
        .send()
        .await
        .expect("aborted");

    let late = s3
        .upload_part()
        .bucket("b")
        .key("x")
        .upload_id(&id)
        .part_number(3)
        .send()
        .await;
    assert_eq!(refusal(late), refused(404, "NoSuchUpload"));
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_parts_can_be_copied_from_ranges() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    s3.put_object()
        .bucket("b")
        .key("from")
        .body(ByteStream::from_static(b"0123456789"))
        .send()
        .await
        .expect("stored");
    let id = begin(&s3, "to").await;
    let copy = |range: &str| {
        s3.upload_part_copy()
            .bucket("b")
            .key("to")
            .upload_id(&id)
            .part_number(1)
            .copy_source("b/from")
            .copy_source_range(range)
            .send()
    };

    assert_eq!(refusal(copy("bytes=5-10").await), refused(400, "InvalidRange"));
    let copied = copy("bytes=2-4").await.expect("copied");
    let etag = copied
        .copy_part_result()
        .and_then(|r| r.e_tag())
        .map(str::to_owned);
    let parts = [CompletedPart::builder().part_number(1).set_e_tag(etag).build()];
    s3.complete_multipart_upload()
        .bucket("b")
        .key("to")
        .upload_id(&id)
        .multipart_upload(list(&parts))
        .send()
        .await
        .expect("completed");

    assert_eq!(app.nobody().get("/object/public/b/to").await.text(), "234");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_all_parts_together_obey_the_size_limit() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, file_size_limit) values ('b', 'b', 10)")
        .await;
    let s3 = service(&app);
    let id = begin(&s3, "x").await;
    part(&s3, "x", &id, 1, b"1234567").await;

    let send = |bytes: &'static [u8]| {
        s3.upload_part()
            .bucket("b")
            .key("x")
            .upload_id(&id)
            .part_number(2)
            .body(ByteStream::from_static(bytes))
            .send()
    };
    assert_eq!(
        refusal(send(b"12345678901").await),
        refused(413, "EntityTooLarge")
    );
    // Small enough on its own, but not together with the first part.
    assert_eq!(refusal(send(b"1234").await), refused(413, "EntityTooLarge"));
    send(b"123").await.expect("ten bytes");
    // Replaces the first part, whose bytes are then ignored.
    part(&s3, "x", &id, 1, b"7654321").await;
    app.settle(2).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_096_every_step_of_a_multipart_upload_obeys_the_policies() {
    let app = app_with_bucket().await;
    app.sql(
        "create policy w on storage.objects for insert to authenticated with check (name = 'mine');
         create policy r on storage.objects for select to authenticated using (name = 'mine');
         create policy u on storage.objects for update to authenticated using (name = 'mine')",
    )
    .await;
    let ana = user(&app, "ana");
    let other = ana
        .create_multipart_upload()
        .bucket("b")
        .key("other")
        .send()
        .await;
    assert_eq!(refusal(other), refused(403, "AccessDenied"));
    let id = begin(&ana, "mine").await;
    let one = part(&ana, "mine", &id, 1, b"one").await;
    app.sql("drop policy w on storage.objects").await;

    let more = ana
        .upload_part()
        .bucket("b")
        .key("mine")
        .upload_id(&id)
        .part_number(2)
        .send()
        .await;
    assert_eq!(refusal(more), refused(403, "AccessDenied"));
    let complete = ana
        .complete_multipart_upload()
        .bucket("b")
        .key("mine")
        .upload_id(&id);
    assert_eq!(
        refusal(complete.multipart_upload(list(&[one])).send().await),
        refused(403, "AccessDenied")
    );
    assert_eq!(
        refusal(
            ana.abort_multipart_upload()
                .bucket("b")
                .key("mine")
                .upload_id(&id)
                .send()
                .await
        ),
        refused(403, "AccessDenied")
    );
}
