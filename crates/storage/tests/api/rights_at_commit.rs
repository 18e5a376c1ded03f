//! Rights and limits are asked again when the bytes of an upload have arrived, on each way by which objects are written.

use std::io::{Read, Write};
use std::net::TcpStream;

use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use reqwest::Method;
use selvedge_storage::{SweepOptions, sweep};

use crate::s3_client::{refusal, user};
use crate::support::{TestApp, files_below, user_id};
use crate::tus_client::{create, patch};

/// The service with a bucket `b`, into which signed-in people write while the sequence `asked` has not passed `allowed`.
async fn app() -> TestApp {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name, public) values ('b', 'b', true); \
         create sequence public.asked; create table public.allowed (times bigint); insert into allowed values (1000); \
         create function public.still_may() returns boolean language sql volatile security definer \
           as $$ select nextval('public.asked') <= (select times from public.allowed) $$; \
         create policy counted on storage.objects for insert to authenticated with check (public.still_may()); \
         create policy seen on storage.objects for select to authenticated using (true); \
         create policy own on storage.objects for update to authenticated using (owner_id = auth.uid()::text)",
    )
    .await;
    app
}

/// The ways in.
#[derive(Debug, Clone, Copy)]
enum Way {
    Body,
    Upsert,
    Form,
    Resumable,
    S3Put,
    S3Multipart,
    Copy,
}

/// Writes an object as ana; returns the last status.
async fn write(app: &TestApp, way: Way, key: &str) -> u16 {
    let ana = app.user("ana");
    let s3 = user(app, "ana");
    let path = format!("b/{key}");
    match way {
        Way::Body => ana.upload(&path, "text").await.status.as_u16(),
        Way::Upsert => ana.upsert(&path, "text").await.status.as_u16(),
        Way::Form => {
            let form =
                "--x\r\ncontent-disposition: form-data; name=\"\"; filename=\"f\"\r\n\r\ntext\r\n--x--\r\n";
            let request = ana
                .request(Method::POST, &format!("/object/{path}"))
                .header("content-type", "multipart/form-data; boundary=x");
            request.body(form).send().await.status.as_u16()
        }
        Way::Resumable => {
            let upload = create(&ana, key, 4).await;
            patch(&ana, &upload, 0, b"text").await.status.as_u16()
        }
        Way::S3Put => {
            let put = s3
                .put_object()
                .bucket("b")
                .key(key)
                .body(crate::s3_client::text("text"));
            put.send()
                .await
                .map_or_else(|error| refusal::<(), _>(Err(error)).0, |_| 200)
        }
        Way::S3Multipart => {
            let begun = s3
                .create_multipart_upload()
                .bucket("b")
                .key(key)
                .send()
                .await
                .expect("begun");
            let id = begun.upload_id().expect("an id");
            let part = s3.upload_part().bucket("b").key(key).upload_id(id).part_number(1);
            let part = part
                .body(crate::s3_client::text("text"))
                .send()
                .await
                .expect("a part");
            let part = CompletedPart::builder()
                .part_number(1)
                .set_e_tag(part.e_tag().map(str::to_owned))
                .build();
            let parts = CompletedMultipartUpload::builder().parts(part).build();
            let complete = s3.complete_multipart_upload().bucket("b").key(key).upload_id(id);
            let completed = complete.multipart_upload(parts).send().await;
            completed.map_or_else(|error| refusal::<(), _>(Err(error)).0, |_| 200)
        }
        Way::Copy => {
            let body = serde_json::json!({
                "bucketId": "b", "sourceKey": "source", "destinationKey": key, "copyMetadata": true,
            });
            ana.post("/object/copy", body).await.status.as_u16()
        }
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_090_the_policies_are_asked_once_more_before_bytes_become_an_object() {
    let app = app().await;
    app.service_role().upload("b/source", "text").await.ok();
    // How often a way asks in all; the last time is behind the bytes.
    let ways = [
        (Way::Body, 2),
        (Way::Upsert, 2),
        (Way::Form, 2),
        (Way::Resumable, 3),
        (Way::S3Put, 2),
        (Way::S3Multipart, 4),
        (Way::Copy, 2),
    ];

    for (number, (way, times)) in ways.into_iter().enumerate() {
        app.sql("alter sequence asked restart; update allowed set times = 1000")
            .await;
        let written = write(&app, way, &format!("{number}/written")).await;
        let asked = app.count("select last_value from asked").await;
        app.sql(&format!(
            "alter sequence asked restart; update allowed set times = {}",
            times - 1
        ))
        .await;
        let refused = write(&app, way, &format!("{number}/refused")).await;

        assert!((200..300).contains(&written), "{way:?}: {written}");
        assert_eq!(asked, times, "{way:?}");
        assert!([400, 403].contains(&refused), "{way:?}: {refused}");
        let left = app
            .count("select count(*) from storage.objects where name like '%refused'")
            .await;
        assert_eq!(left, 0, "{way:?}");
    }
}

/// Sends the head of an upload and half of its body, and waits until they are on disk.
async fn begin_upload(app: &TestApp, headers: &str) -> TcpStream {
    let token = app.user("ana").token().to_owned();
    let mut socket = TcpStream::connect(app.address).expect("the server listens");
    let head = format!(
        "POST /storage/v1/object/b/x HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         content-type: text/plain\r\ncontent-length: 1200000\r\n{headers}\r\n"
    );
    socket.write_all(head.as_bytes()).expect("the server reads");
    socket.write_all(&[b'x'; 600_000]).expect("the server reads");
    let incoming = app.root().join("incoming");
    while files_below(&incoming) == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    socket
}

/// Sends the other half; returns the response.
fn end_upload(mut socket: TcpStream) -> String {
    socket.write_all(&[b'x'; 600_000]).expect("the server reads");
    let mut response = String::new();
    socket.read_to_string(&mut response).expect("a response");
    response
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_090_what_changes_while_bytes_arrive_counts() {
    let app = app().await;
    let changes = [
        ("update allowed set times = 0", "", "row-level security"),
        (
            "update storage.buckets set file_size_limit = 1000000",
            "",
            "exceeded the maximum",
        ),
        (
            "update storage.buckets set allowed_mime_types = '{image/png}'",
            "",
            "mime type",
        ),
        (
            "update storage.buckets set file_size_limit = 1000000",
            "x-upsert: true\r\n",
            "exceeded the maximum",
        ),
    ];
    for (change, headers, reason) in changes {
        let upload = begin_upload(&app, headers).await;
        app.sql(change).await;
        let response = end_upload(upload);

        assert!(response.contains(reason), "{change}: {response}");
        assert_eq!(app.count("select count(*) from storage.objects").await, 0);
        app.settle(0).await;
        app.sql(
            "update allowed set times = 1000; \
             update storage.buckets set file_size_limit = null, allowed_mime_types = null",
        )
        .await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_090_an_upload_replaces_no_object_that_somebody_else_makes_meanwhile() {
    let app = app().await;

    let upload = begin_upload(&app, "x-upsert: true\r\n").await;
    app.user("bob").upload("b/x", "of bob").await.ok();
    let response = end_upload(upload);

    assert!(response.contains("row-level security"), "{response}");
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "of bob");
    let owner = format!(
        "select count(*) from storage.objects where owner_id = '{}'",
        user_id("bob")
    );
    assert_eq!(app.count(&owner).await, 1);
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_advisory_locks_of_other_roles_keep_nobody_from_writing_or_sweeping() {
    let app = app().await;
    let anybody = app.database.superuser().await;
    anybody
        .batch_execute(
            "set role anon; select pg_advisory_lock(hashtextextended('b/x', 0)), pg_advisory_lock(7305473001)",
        )
        .await
        .expect("every role may take an advisory lock");

    let written = app.user("ana").upsert("b/x", "text").await;
    let swept = sweep(&app.storage, &SweepOptions::default()).await;

    written.ok();
    assert!(swept.expect("sweeps").is_some());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_081_writers_of_a_new_key_wait_for_each_other_and_leave_one_blob() {
    let app = app().await;
    let ana = app.user("ana");

    let writes = (0..8).map(|number| ana.upsert("b/new", ["a", "b"][number % 2]));
    let answers = futures_util::future::join_all(writes).await;

    for answer in answers {
        answer.ok();
    }
    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_042_a_move_is_asked_about_once_more_when_its_bytes_are_copied() {
    let app = app().await;
    app.sql(
        "drop policy own on storage.objects; \
         create policy counted_moves on storage.objects for update to authenticated using (public.still_may()) with check (true)",
    )
    .await;
    let ana = app.user("ana");
    ana.upload("b/x", "text").await.ok();
    let body = serde_json::json!({"bucketId": "b", "sourceKey": "x", "destinationKey": "y"});

    app.sql("alter sequence asked restart; update allowed set times = 1")
        .await;
    let refused = ana.post("/object/move", body.clone()).await;
    refused.is(400, "404", "NoSuchKey");
    assert_eq!(app.nobody().get("/object/public/b/x").await.text(), "text");
    app.settle(1).await;

    app.sql("alter sequence asked restart; update allowed set times = 2")
        .await;
    ana.post("/object/move", body).await.ok();
    assert_eq!(app.nobody().get("/object/public/b/y").await.text(), "text");
    app.settle(1).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_042_a_move_takes_no_object_that_somebody_else_stores_meanwhile() {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name) values ('b', 'b'); \
         create policy own on storage.objects for all to authenticated using (owner_id = auth.uid()::text)",
    )
    .await;
    let (ana, bob) = (app.user("ana"), app.user("bob"));
    // Behind the first question a move of a placeholder looks its bucket up, because placeholders have no limits.
    let source = "f/.emptyFolderPlaceholder";
    ana.upload(&format!("b/{source}"), "").await.ok();
    bob.upload("b/of bob", "of bob").await.ok();
    let other = app.database.superuser().await;
    // These triggers look buckets up as well, and do it in the first question.
    other
        .batch_execute(
            "alter table storage.objects disable trigger version_of_object; \
             alter table storage.objects disable trigger version_of_object_kept",
        )
        .await
        .expect("a superuser may");
    other
        .batch_execute("begin; lock table storage.buckets in access exclusive mode")
        .await
        .expect("a superuser may");

    let body = serde_json::json!({"bucketId": "b", "sourceKey": source, "destinationKey": "mine"});
    let replace = async {
        let waits = "select count(*) from pg_stat_activity where datname = current_database() \
                     and wait_event_type = 'Lock' and query like '%storage.buckets%'";
        while app.count(waits).await == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        // As if ana had deleted her object and bob had stored his at its key.
        let replaced = format!(
            "set local storage.allow_delete_query = 'true'; delete from storage.objects where name = '{source}'; \
             update storage.objects set name = '{source}' where name = 'of bob'; commit"
        );
        other.batch_execute(&replaced).await.expect("a superuser may");
    };
    let (moved, ()) = futures_util::join!(ana.post("/object/move", body), replace);

    moved.is(400, "404", "NoSuchKey");
    assert_eq!(
        bob.get(&format!("/object/b/{source}")).await.ok().text(),
        "of bob"
    );
}
