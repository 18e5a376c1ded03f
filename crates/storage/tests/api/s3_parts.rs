//! `partNumber` on GET and HEAD: one part of an object, as it was uploaded.

use aws_sdk_s3::Client;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};

use crate::s3_client::{app_with_bucket, refusal, refused, service, text};

/// Uploads `b/parts` in parts with these contents.
async fn upload_parts(s3: &Client, contents: &[&str]) {
    let begun = s3
        .create_multipart_upload()
        .bucket("b")
        .key("parts")
        .send()
        .await
        .expect("begun");
    let id = begun.upload_id().expect("an id");
    let mut parts = Vec::new();
    for (number, content) in (1..).zip(contents) {
        let part = s3
            .upload_part()
            .bucket("b")
            .key("parts")
            .upload_id(id)
            .part_number(number);
        let part = part.body(text(content)).send().await.expect("uploaded");
        let named = CompletedPart::builder().part_number(number);
        parts.push(named.set_e_tag(part.e_tag().map(str::to_owned)).build());
    }
    let list = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
    let complete = s3
        .complete_multipart_upload()
        .bucket("b")
        .key("parts")
        .upload_id(id);
    complete.multipart_upload(list).send().await.expect("completed");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_a_part_of_an_object_is_read_by_its_number() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    upload_parts(&s3, &["first", "secon", "end"]).await;
    s3.copy_object()
        .bucket("b")
        .key("copy")
        .copy_source("b/parts")
        .send()
        .await
        .expect("copied");

    for key in ["parts", "copy"] {
        for (number, content, range) in [
            (1, "first", "bytes 0-4/13"),
            (2, "secon", "bytes 5-9/13"),
            (3, "end", "bytes 10-12/13"),
        ] {
            let read = s3
                .get_object()
                .bucket("b")
                .key(key)
                .part_number(number)
                .send()
                .await
                .expect("read");
            assert_eq!((read.parts_count(), read.content_range()), (Some(3), Some(range)));
            let bytes = read.body.collect().await.expect("bytes").into_bytes();
            assert_eq!(bytes, content, "{key} {number}");
            let head = s3
                .head_object()
                .bucket("b")
                .key(key)
                .part_number(number)
                .send()
                .await
                .expect("read");
            assert_eq!(
                (head.parts_count(), head.content_length()),
                (Some(3), Some(content.len() as i64))
            );
        }
        let beyond = s3.get_object().bucket("b").key(key).part_number(4).send().await;
        assert_eq!(refusal(beyond), refused(416, "InvalidPartNumber"));
    }
    let both = s3
        .get_object()
        .bucket("b")
        .key("parts")
        .part_number(1)
        .range("bytes=0-1")
        .send()
        .await;
    assert_eq!(refusal(both), refused(400, "InvalidRequest"));
    let zero = s3
        .get_object()
        .bucket("b")
        .key("parts")
        .part_number(0)
        .send()
        .await;
    assert_eq!(refusal(zero), refused(400, "InvalidParameter"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_095_an_object_uploaded_at_once_is_its_first_part() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    for (key, content) in [("whole", "bytes"), ("empty", "")] {
        s3.put_object()
            .bucket("b")
            .key(key)
            .body(text(content))
            .send()
            .await
            .expect("stored");
    }

    let read = s3
        .get_object()
        .bucket("b")
        .key("whole")
        .part_number(1)
        .send()
        .await
        .expect("read");
    assert_eq!(
        (read.parts_count(), read.content_range()),
        (None, Some("bytes 0-4/5"))
    );
    assert_eq!(read.body.collect().await.expect("bytes").into_bytes(), "bytes");
    let empty = s3
        .get_object()
        .bucket("b")
        .key("empty")
        .part_number(1)
        .send()
        .await
        .expect("read");
    assert_eq!((empty.content_length(), empty.content_range()), (Some(0), None));
    let second = s3
        .head_object()
        .bucket("b")
        .key("whole")
        .part_number(2)
        .send()
        .await;
    assert_eq!(
        second
            .expect_err("one part")
            .raw_response()
            .expect("a response")
            .status()
            .as_u16(),
        416
    );
}
