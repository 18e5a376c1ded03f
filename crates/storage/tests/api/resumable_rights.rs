//! Permission for resumable uploads, and manipulated upload ids and metadata.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Method;
use serde_json::json;

use crate::tus_client::{OFFSET_STREAM, app, create, creation, metadata, patch, path_of, tus};

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_090_resumable_uploads_obey_the_policies() {
    let app = app().await;
    app.sql(
        "create policy own on storage.objects for insert to authenticated \
         with check (bucket_id = 'b' and (storage.foldername(name))[1] = auth.uid()::text \
         and (metadata ->> 'mimetype') like 'image/%' and (metadata ->> 'contentLength')::int < 1000)",
    )
    .await;
    let ana = app.user("ana");
    let key = format!("{}/me.png", crate::support::user_id("ana"));
    let typed = |key: &str, kind: &str, length: &str| {
        tus(&ana, Method::POST, "/upload/resumable")
            .header("upload-length", length)
            .header(
                "upload-metadata",
                &format!("{},contentType {}", metadata(key), STANDARD.encode(kind)),
            )
    };

    let refused = [
        typed(&key, "text/html", "3").send().await,
        typed(&key, "image/png", "1000").send().await,
        typed("elsewhere/me.png", "image/png", "3").send().await,
        creation(&ana, &key, 3).send().await,
    ];
    let path = path_of(&typed(&key, "image/png", "3").send().await);
    let foreign = patch(&app.user("bob"), &path, 0, b"bob").await;
    let anonymous = patch(&app.anon(), &path, 0, b"non").await;
    let ended = tus(&app.user("bob"), Method::DELETE, &path).send().await;
    let own = patch(&ana, &path, 0, b"ana").await;

    for response in refused.iter().chain([&foreign, &anonymous, &ended]) {
        assert_eq!(
            (response.status.as_u16(), response.text().as_str()),
            (403, "new row violates row-level security policy")
        );
    }
    assert_eq!(own.status, 204);
    let owner = app
        .database
        .superuser()
        .await
        .query_one("select owner_id from storage.objects", &[])
        .await
        .expect("one row");
    assert_eq!(owner.get::<_, String>(0), crate::support::user_id("ana"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_090_losing_permission_during_an_upload_stops_it() {
    let app = app().await;
    app.sql(
        "create policy all_in on storage.objects for insert to authenticated with check (bucket_id = 'b')",
    )
    .await;
    let ana = app.user("ana");
    let path = create(&ana, "x", 6).await;
    assert_eq!(patch(&ana, &path, 0, b"abc").await.status, 204);

    // Permission is checked for every request, not only when the upload begins.
    app.sql("drop policy all_in on storage.objects").await;

    assert_eq!(patch(&ana, &path, 3, b"def").await.status, 403);
    assert_eq!(app.count("select count(*) from storage.objects").await, 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_064_upload_ids_and_metadata_cannot_leave_the_bucket() {
    let app = app().await;
    let client = app.service_role();
    let path = create(&client, "x", 3).await;
    let id = path.rsplit('/').next().expect("an id");
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(id).expect("base64url")).expect("text");
    let version = decoded.rsplit('/').next().expect("a version").to_owned();

    // Bucket and key in the id come from the client. They must match the row of the upload.
    for forged in [
        format!("b/other/{version}"),
        format!("c/x/{version}"),
        format!("b/../x/{version}"),
        format!("../b/x/{version}"),
        format!("b/x/../{version}"),
        "b/x/../../etc/passwd".to_owned(),
    ] {
        let path = format!("/upload/resumable/{}", URL_SAFE_NO_PAD.encode(&forged));
        let response = patch(&client, &path, 0, b"abc").await;
        assert!(
            [400, 404].contains(&response.status.as_u16()),
            "{forged}: {}",
            response.status
        );
    }
    for (key, kind) in [
        ("../up", "text/plain"),
        ("a\u{0}b", "text/plain"),
        ("ok", "text/plain\r\nx: y"),
    ] {
        let response = tus(&client, Method::POST, "/upload/resumable")
            .header("upload-length", "3")
            .header(
                "upload-metadata",
                &format!("{},contentType {}", metadata(key), STANDARD.encode(kind)),
            )
            .send()
            .await;
        assert!(
            [400, 415].contains(&response.status.as_u16()),
            "{key:?}: {}",
            response.status
        );
    }
    assert_eq!(app.store.blobs(), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_051_resumable_uploads_store_user_metadata() {
    let app = app().await;
    let client = app.service_role();
    let response = tus(&client, Method::POST, "/upload/resumable")
        .header("upload-length", "3")
        .header(
            "upload-metadata",
            &format!(
                "{},metadata {}",
                metadata("x"),
                STANDARD.encode(r#"{"by":"ana"}"#)
            ),
        )
        .header("content-type", OFFSET_STREAM)
        .body("abc")
        .send()
        .await;
    assert_eq!(response.status, 201);

    let info = client.get("/object/info/b/x").await.ok().json();

    assert_eq!(info["metadata"], json!({"by": "ana"}));
    assert_eq!(info["content_type"], "application/octet-stream");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_066_an_upload_that_names_no_type_is_checked_as_bytes() {
    let app = app().await;
    app.sql("update storage.buckets set allowed_mime_types = '{image/png}' where id = 'b'")
        .await;
    let client = app.service_role();

    let refused = creation(&client, "x", 3).send().await;
    app.sql("update storage.buckets set allowed_mime_types = '{application/*}' where id = 'b'")
        .await;
    let created = creation(&client, "x", 3).send().await;

    assert_eq!(
        (refused.status.as_u16(), created.status.as_u16()),
        (415, 201),
        "{}",
        refused.text()
    );
}
