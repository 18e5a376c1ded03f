//! Shares of unfinished uploads, their expiry, and what becomes of them with their bucket.

use std::time::Duration;

use aws_sdk_s3::primitives::ByteStream;
use reqwest::Method;
use selvedge_storage::StorageConfig;
use serde_json::json;

use crate::s3_client::{refusal, refused, service, user};
use crate::support::{Client, TestApp};
use crate::tus_client::{OFFSET_STREAM, app_with, content, create, creation, metadata, patch, path_of, tus};

/// Everybody who is signed in may write and read every object, and the anonymous role may write.
const OPEN: &str = "create policy w on storage.objects for insert to anon, authenticated with check (true);
    create policy r on storage.objects for select to anon, authenticated using (true);
    create policy u on storage.objects for update to authenticated using (true)";

/// The service with a bucket `b` in which everybody writes, and this share.
async fn app_with_share(uploads: u64, bytes: u64) -> TestApp {
    let app = app_with(|config| StorageConfig {
        unfinished_uploads: Some(uploads),
        unfinished_upload_bytes: Some(bytes),
        ..config
    })
    .await;
    app.sql(OPEN).await;
    app
}

/// Begins a resumable upload; returns the status.
async fn begin(client: &Client<'_>, key: &str) -> u16 {
    creation(client, key, 10).send().await.status.as_u16()
}

/// Begins a resumable upload with a token that this client has signed; returns the status.
async fn begin_signed_upload(app: &TestApp, signer: &Client<'_>, key: &str) -> u16 {
    let signed = signer
        .post(&format!("/object/upload/sign/b/{key}"), json!({}))
        .await
        .ok();
    let token = signed.json()["token"].as_str().expect("a token").to_owned();
    let upload = tus(&app.nobody(), Method::POST, "/upload/resumable/sign")
        .header("x-signature", &token)
        .header("upload-length", "10")
        .header("upload-metadata", &metadata(key));
    upload.send().await.status.as_u16()
}

/// Begins an S3 multipart upload; returns its id.
async fn begin_s3(s3: &aws_sdk_s3::Client, key: &str) -> String {
    let upload = s3.create_multipart_upload().bucket("b").key(key).send().await;
    upload.expect("begun").upload_id().expect("an id").to_owned()
}

/// Sends a part of an S3 multipart upload.
async fn send_part(
    s3: &aws_sdk_s3::Client,
    (key, id): (&str, &str),
    number: i32,
    size: usize,
) -> Result<
    aws_sdk_s3::operation::upload_part::UploadPartOutput,
    aws_sdk_s3::error::SdkError<aws_sdk_s3::operation::upload_part::UploadPartError>,
> {
    s3.upload_part()
        .bucket("b")
        .key(key)
        .upload_id(id)
        .part_number(number)
        .body(ByteStream::from(vec![b'x'; size]))
        .send()
        .await
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_101_a_user_has_a_share_of_unfinished_uploads_of_both_protocols() {
    let app = app_with_share(3, u64::MAX >> 1).await;
    let (ana, bob) = (app.user("ana"), app.user("bob"));
    let first = create(&ana, "1", 10).await;
    begin_s3(&user(&app, "ana"), "2").await;
    assert_eq!(begin(&ana, "3").await, 201);

    let more = creation(&ana, "4", 10).send().await;
    let more_s3 = user(&app, "ana")
        .create_multipart_upload()
        .bucket("b")
        .key("5")
        .send()
        .await;

    assert_eq!(
        (more.status.as_u16(), more.text().as_str()),
        (
            429,
            "Too many unfinished uploads; finish or abort some of them first"
        )
    );
    assert_eq!(refusal(more_s3), refused(429, "SlowDown"));
    assert_eq!(begin(&bob, "4").await, 201, "another user has a share of his own");
    for n in 0..5 {
        assert_eq!(begin(&app.service_role(), &format!("s{n}")).await, 201);
    }
    // A finished upload makes room, and so does an aborted one.
    assert_eq!(patch(&ana, &first, 0, &content(10)).await.status, 204);
    let next = create(&ana, "6", 10).await;
    assert_eq!(begin(&ana, "7").await, 429);
    assert_eq!(tus(&ana, Method::DELETE, &next).send().await.status, 204);
    assert_eq!(begin(&ana, "7").await, 201);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_101_callers_without_a_user_share_by_their_address() {
    let app = app_with_share(2, u64::MAX >> 1).await;
    let guest = |id: &str| app.with_claims(json!({"role": "authenticated", "sub": id, "is_anonymous": true}));
    assert_eq!(begin(&app.anon(), "1").await, 201);
    // Anybody becomes another anonymous user at any time.
    assert_eq!(
        begin(&guest("4f4b1c5e-0000-4000-8000-000000000001"), "2").await,
        201
    );

    let third = begin(&guest("4f4b1c5e-0000-4000-8000-000000000002"), "3").await;

    assert_eq!((third, begin(&app.anon(), "4").await), (429, 429));
    assert_eq!(begin_signed_upload(&app, &app.service_role(), "5").await, 429);
    assert_eq!(begin(&app.user("ana"), "6").await, 201);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_101_upload_tokens_of_anonymous_users_count_by_the_address_of_the_bearer() {
    let app = app_with_share(2, u64::MAX >> 1).await;
    let guest = |n: u8| {
        let id = format!("4f4b1c5e-0000-4000-8000-00000000000{n}");
        app.with_claims(json!({"role": "authenticated", "sub": id, "is_anonymous": true}))
    };
    let ana = app.user("ana");

    let mut statuses = Vec::new();
    for (key, signer) in [("1", guest(1)), ("2", guest(2)), ("3", guest(3)), ("4", ana)] {
        statuses.push(begin_signed_upload(&app, &signer, key).await);
    }

    // Anybody becomes another anonymous user at any time; a user of an address or a telephone number has a share of his own.
    assert_eq!(statuses, [201, 201, 429, 201]);
    assert_eq!(begin(&app.anon(), "5").await, 429);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_101_a_user_has_a_share_of_the_bytes_of_unfinished_uploads() {
    let app = app_with_share(100, 100).await;
    let (ana, s3) = (app.user("ana"), user(&app, "ana"));
    let path = create(&ana, "1", 70).await;
    assert_eq!(patch(&ana, &path, 0, &content(60)).await.status, 204);
    let id = begin_s3(&s3, "2").await;

    // Refused by the length that the request declares.
    assert_eq!(
        refusal(send_part(&s3, ("2", &id), 1, 50).await),
        refused(429, "SlowDown")
    );
    send_part(&s3, ("2", &id), 1, 30).await.expect("30 bytes");
    let other = create(&ana, "3", 70).await;
    let refused_piece = patch(&ana, &other, 0, &content(20)).await;
    assert_eq!(refused_piece.status, 429, "{}", refused_piece.text());
    // What was sent before stays, and the upload goes on once there is room.
    assert_eq!(patch(&ana, &path, 60, &content(10)).await.status, 204);
    assert_eq!(patch(&ana, &other, 0, &content(20)).await.status, 204);
    // A part that replaces another counts in its place.
    send_part(&s3, ("2", &id), 1, 70)
        .await
        .expect("in place of 30 bytes");
    assert_eq!(begin(&ana, "4").await, 201);
    send_part(&s3, ("2", &id), 2, 10)
        .await
        .expect("the last 10 bytes");
    assert_eq!(begin(&ana, "5").await, 429);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_101_many_requests_at_once_do_not_pass_the_share() {
    let app = app_with_share(8, u64::MAX >> 1).await;
    let ana = app.user("ana");
    let keys: Vec<String> = (0..60).map(|n| n.to_string()).collect();

    let statuses = futures_util::future::join_all(keys.iter().map(|key| begin(&ana, key))).await;

    let begun = statuses.iter().filter(|status| **status == 201).count();
    // Requests that run at the same moment do not see each other: at most as many as two workers have connections.
    assert!((8..=8 + 16).contains(&begun), "{begun} uploads");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_102_emptying_a_bucket_aborts_its_unfinished_uploads() {
    let app = app_with(|config| config).await;
    app.sql("insert into storage.buckets (id, name) values ('c', 'c')")
        .await;
    let (s3, client) = (service(&app), app.service_role());
    let id = begin_s3(&s3, "x").await;
    send_part(&s3, ("x", &id), 1, 10).await.expect("a part");
    send_part(&s3, ("x", &id), 2, 10).await.expect("a part");
    begin_s3(&s3, "without parts").await;
    let resumable = create(&client, "y", 20).await;
    assert_eq!(patch(&client, &resumable, 0, &content(10)).await.status, 204);
    let done = create(&client, "z", 10).await;
    assert_eq!(patch(&client, &done, 0, &content(10)).await.status, 204);
    let elsewhere = s3.create_multipart_upload().bucket("c").key("x").send().await;
    elsewhere.expect("begun");

    client.post("/bucket/b/empty", json!({})).await.ok();

    assert_eq!(
        refusal(send_part(&s3, ("x", &id), 3, 10).await),
        refused(404, "NoSuchUpload")
    );
    assert_eq!(patch(&client, &resumable, 10, &content(10)).await.status, 404);
    assert_eq!(
        app.count("select count(*) from storage.s3_multipart_uploads where bucket_id = 'b'")
            .await,
        0
    );
    assert_eq!(
        app.count("select count(*) from storage.s3_multipart_uploads")
            .await,
        1
    );
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_102_deleting_a_bucket_aborts_its_unfinished_uploads() {
    let app = app_with(|config| config).await;
    app.sql(OPEN).await;
    app.sql(
        "create policy see on storage.buckets for select to authenticated using (true);
         create policy remove on storage.buckets for delete to authenticated
           using (auth.uid()::text = (select o.owner_id from storage.buckets o where o.id = buckets.id));",
    )
    .await;
    app.sql(&format!(
        "update storage.buckets set owner_id = '{}' where id = 'b'",
        crate::support::user_id("ana")
    ))
    .await;
    let s3 = service(&app);
    let mut ids = Vec::new();
    // More than one transaction removes.
    for n in 0..25 {
        ids.push(begin_s3(&s3, &format!("x{n}")).await);
    }
    send_part(&s3, ("x3", &ids[3]), 1, 10).await.expect("a part");
    let resumable = create(&app.user("bob"), "y", 20).await;
    assert_eq!(
        patch(&app.user("bob"), &resumable, 0, &content(10)).await.status,
        204
    );

    // Whoever may not delete the bucket aborts nothing.
    app.user("bob")
        .delete("/bucket/b")
        .await
        .is(400, "404", "NoSuchBucket");
    assert_eq!(
        app.count("select count(*) from storage.s3_multipart_uploads")
            .await,
        25
    );
    app.user("ana").delete("/bucket/b").await.ok();

    assert_eq!(
        app.count("select count(*) from storage.s3_multipart_uploads")
            .await,
        0
    );
    assert_eq!(
        app.count("select count(*) from storage.resumable_uploads").await,
        0
    );
    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_102_the_s3_protocol_deletes_a_bucket_with_unfinished_uploads() {
    let app = app_with(|config| config).await;
    let s3 = service(&app);
    let id = begin_s3(&s3, "x").await;
    send_part(&s3, ("x", &id), 1, 10).await.expect("a part");
    app.service_role().upload("b/kept", "an object").await.ok();

    let refusal_of_objects = refusal(s3.delete_bucket().bucket("b").send().await);
    assert_eq!(refusal_of_objects, refused(409, "ResourceNotEmpty"));
    send_part(&s3, ("x", &id), 2, 10)
        .await
        .expect("nothing was aborted");
    app.service_role().remove("b", &["kept"]).await.ok();
    s3.delete_bucket().bucket("b").send().await.expect("deleted");

    app.settle(0).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_102_multipart_uploads_expire_when_no_part_comes_any_more() {
    let app = app_with(|config| StorageConfig {
        resumable_sweep_interval: Duration::from_millis(50),
        ..config
    })
    .await;
    let s3 = service(&app);
    let (old, fed) = (begin_s3(&s3, "old").await, begin_s3(&s3, "fed").await);
    begin_s3(&s3, "without parts").await;
    begin_s3(&s3, "new").await;
    send_part(&s3, ("old", &old), 1, 10).await.expect("a part");
    app.sql(
        "update storage.s3_multipart_uploads_parts set created_at = now() - interval '25 hours';
         update storage.s3_multipart_uploads set created_at = now() - interval '25 hours' where key <> 'new' and key <> 'fed'",
    )
    .await;
    send_part(&s3, ("fed", &fed), 1, 10).await.expect("a part");
    app.sql(
        "update storage.s3_multipart_uploads set created_at = now() - interval '9 days' where key = 'fed'",
    )
    .await;

    let left = "select count(*) from storage.s3_multipart_uploads";
    for _ in 0..1000 {
        if app.count(left).await == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    assert_eq!(app.count(&format!("{left} where key in ('fed', 'new')")).await, 2);
    assert_eq!(app.count(left).await, 2);
    send_part(&s3, ("fed", &fed), 2, 10).await.expect("it goes on");
    app.settle(2).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_102_one_expiry_removes_more_uploads_than_a_list_holds() {
    let app = app_with(|config| StorageConfig {
        resumable_sweep_interval: Duration::from_millis(500),
        ..config
    })
    .await;
    let client = app.service_role();
    let with_bytes = path_of(
        &creation(&client, "x", 10)
            .header("content-type", OFFSET_STREAM)
            .body(content(5))
            .send()
            .await,
    );
    app.sql(
        "insert into storage.resumable_uploads (version, bucket_id, key, length, upload_metadata, cache_control, expires_at)
         select gen_random_uuid(), 'b', n::text, 5, '', '', now() - interval '1 second' from generate_series(1, 450) n;
         update storage.resumable_uploads set expires_at = now() where key = 'x'",
    )
    .await;
    let left = "select count(*) from storage.resumable_uploads";

    // The first removal that begins leaves nothing to a second one.
    let mut counts = Vec::new();
    for _ in 0..2000 {
        counts.push(app.count(left).await);
        if counts.last() == Some(&0) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    assert_eq!(counts.last(), Some(&0));
    assert_eq!(tus(&client, Method::HEAD, &with_bytes).send().await.status, 404);
    app.settle(0).await;
}
