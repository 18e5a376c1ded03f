//! The `Content-Encoding` of objects: stored on every way in, sent on every way out, and never applied.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use crate::s3_client::{app_with_bucket, service, text};
use crate::support::{Part, TestApp};
use crate::tus_client::{OFFSET_STREAM, creation, metadata};

/// Not what any coding would make: the service must not look into it.
const BYTES: &str = "neither gzip nor br";

/// The `contentEncoding` of an object's row.
async fn stored(app: &TestApp, key: &str) -> Option<String> {
    let superuser = app.database.superuser().await;
    let row = superuser
        .query_one(
            "select metadata ->> 'contentEncoding' from storage.objects where name = $1",
            &[&key],
        )
        .await;
    row.expect("a row").get(0)
}

/// What GET sends: the encoding and the bytes.
async fn read(app: &TestApp, path: &str) -> (Option<String>, String) {
    let response = app.service_role().get(path).await.ok();
    (
        response.header("content-encoding").map(str::to_owned),
        response.text(),
    )
}

fn encoded(coding: &str) -> (Option<String>, String) {
    (Some(coding.to_owned()), BYTES.to_owned())
}

async fn upload_everywhere(app: &TestApp) {
    let client = app.service_role();
    let raw = client
        .upload_request("b/raw", BYTES)
        .header("content-encoding", "br");
    raw.send().await.ok();
    let put = client
        .request(Method::PUT, "/object/b/put")
        .header("content-encoding", "gzip");
    let put = put.header("content-type", "text/plain").body(BYTES);
    put.send().await.ok();
    let file = |name| Part::File {
        name,
        content_type: Some("text/plain"),
        bytes: BYTES.as_bytes(),
    };
    let field = Part::Field("contentEncoding", "br");
    client.upload_form("b/form", &[field, file("")]).await.ok();
    let field = Part::Field("contentEncoding", "gzip");
    client.upload_form("b/behind", &[file(""), field]).await.ok();
    let signed = client.post("/object/upload/sign/b/signed", json!({})).await.ok();
    let path = signed.json()["url"].as_str().expect("a URL").to_owned();
    let signed = app
        .nobody()
        .request(Method::PUT, &path)
        .header("content-encoding", "br");
    signed
        .header("content-type", "text/plain")
        .body(BYTES)
        .send()
        .await
        .ok();
    let tus = creation(&client, "tus", BYTES.len()).header("content-type", OFFSET_STREAM);
    let pairs = format!("{},contentEncoding {}", metadata("tus"), STANDARD.encode("gzip"));
    let tus = tus.replace_header("upload-metadata", &pairs).body(BYTES);
    assert_eq!(tus.send().await.status, 201);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_240_an_encoding_is_stored_by_every_upload_and_sent_with_the_same_bytes() {
    let app = app_with_bucket().await;
    upload_everywhere(&app).await;

    for (key, coding) in [
        ("raw", "br"),
        ("put", "gzip"),
        ("form", "br"),
        ("behind", "gzip"),
        ("signed", "br"),
        ("tus", "gzip"),
    ] {
        assert_eq!(stored(&app, key).await.as_deref(), Some(coding), "{key}");
        for route in ["object", "object/public", "object/authenticated"] {
            assert_eq!(
                read(&app, &format!("/{route}/b/{key}")).await,
                encoded(coding),
                "{route} {key}"
            );
        }
    }
    let head = app.nobody().head("/object/public/b/raw").await.ok();
    assert_eq!(head.header("content-encoding"), Some("br"));
    let range = app
        .nobody()
        .request(Method::GET, "/object/public/b/raw")
        .header("range", "bytes=0-6");
    let range = range.send().await;
    assert_eq!((range.status.as_u16(), range.text().as_str()), (206, "neither"));
    assert_eq!(range.header("content-encoding"), Some("br"));
    let url = app
        .service_role()
        .post("/object/sign/b/raw", json!({"expiresIn": 60}))
        .await
        .ok();
    let path = url.json()["signedURL"].as_str().expect("a URL").to_owned();
    assert_eq!(read(&app, &path).await, encoded("br"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_240_s3_stores_and_sends_an_encoding_without_that_of_its_chunks() {
    let app = app_with_bucket().await;
    let s3 = service(&app);
    let put = s3.put_object().bucket("b").key("put").content_encoding("gzip");
    put.body(text(BYTES)).send().await.expect("stored");
    let chunked = s3
        .put_object()
        .bucket("b")
        .key("chunked")
        .content_encoding("aws-chunked, br");
    chunked.body(text(BYTES)).send().await.expect("stored");
    let begun = s3
        .create_multipart_upload()
        .bucket("b")
        .key("parts")
        .content_encoding("br");
    let begun = begun.send().await.expect("begun");
    let id = begun.upload_id().expect("an id");
    let part = s3
        .upload_part()
        .bucket("b")
        .key("parts")
        .upload_id(id)
        .part_number(1);
    let part = part.body(text(BYTES)).send().await.expect("a part");
    let part = aws_sdk_s3::types::CompletedPart::builder()
        .part_number(1)
        .set_e_tag(part.e_tag().map(str::to_owned))
        .build();
    let parts = aws_sdk_s3::types::CompletedMultipartUpload::builder()
        .parts(part)
        .build();
    let done = s3
        .complete_multipart_upload()
        .bucket("b")
        .key("parts")
        .upload_id(id);
    done.multipart_upload(parts).send().await.expect("an object");
    let copy = s3.copy_object().bucket("b").key("copy").copy_source("b/put");
    copy.send().await.expect("copied");
    let copy = s3
        .copy_object()
        .bucket("b")
        .key("replaced")
        .copy_source("b/put")
        .metadata_directive("REPLACE".into());
    copy.send().await.expect("copied");

    for (key, coding) in [
        ("put", Some("gzip")),
        ("chunked", Some("br")),
        ("parts", Some("br")),
        ("copy", Some("gzip")),
        ("replaced", None),
    ] {
        let got = s3.get_object().bucket("b").key(key).send().await.expect("read");
        assert_eq!(got.content_encoding(), coding, "{key}");
        let head = s3.head_object().bucket("b").key(key).send().await.expect("read");
        assert_eq!(head.content_encoding(), coding, "{key}");
        assert_eq!(stored(&app, key).await.as_deref(), coding, "{key}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_241_info_copies_and_moves_keep_an_encoding_or_replace_it() {
    let app = app_with_bucket().await;
    let client = app.service_role();
    let upload = client
        .upload_request("b/a", BYTES)
        .header("content-encoding", "gzip");
    upload.send().await.ok();
    client.upload("b/plain", BYTES).await.ok();
    let copy = async |to: &str, change: Value| {
        let mut body = json!({"bucketId": "b", "sourceKey": "a", "destinationKey": to});
        if !change.is_null() {
            body["copyMetadata"] = json!(false);
            body["metadata"] = change;
        }
        client.post("/object/copy", body).await.ok();
    };
    copy("same", json!(null)).await;
    copy("kept", json!({"cacheControl": "max-age=1"})).await;
    copy("other", json!({"contentEncoding": "br"})).await;
    copy("none", json!({"contentEncoding": ""})).await;
    let moved = json!({"bucketId": "b", "sourceKey": "a", "destinationKey": "moved"});
    client.post("/object/move", moved).await.ok();

    for (key, coding) in [
        ("plain", json!(null)),
        ("same", json!("gzip")),
        ("kept", json!("gzip")),
        ("other", json!("br")),
        ("none", json!(null)),
        ("moved", json!("gzip")),
    ] {
        let info = client.get(&format!("/object/info/b/{key}")).await.ok().json();
        assert_eq!(info["content_encoding"], coding, "{key}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_242_an_encoding_that_cannot_be_a_header_is_refused() {
    let app = app_with_bucket().await;
    let client = app.service_role();
    let bad = "gzip\r\nset-cookie: a=b";
    let file = Part::File {
        name: "",
        content_type: Some("text/plain"),
        bytes: b"x",
    };
    let long = "x".repeat(256);
    let tus = creation(&client, "tus", 1).header("content-type", OFFSET_STREAM);
    let pairs = format!("{},contentEncoding {}", metadata("tus"), STANDARD.encode(bad));
    client.upload("b/a", "x").await.ok();
    let copy = json!({"bucketId": "b", "sourceKey": "a", "destinationKey": "c", "copyMetadata": false,
                      "metadata": {"contentEncoding": bad}});

    let parts = [Part::Field("contentEncoding", bad), file];
    let form = client.upload_form("b/form", &parts);
    form.await.is(400, "400", "InvalidParameter");
    let raw = client
        .upload_request("b/raw", "x")
        .header("content-encoding", &long);
    raw.send().await.is(400, "400", "InvalidParameter");
    client
        .post("/object/copy", copy)
        .await
        .is(400, "400", "InvalidParameter");
    let tus = tus
        .replace_header("upload-metadata", &pairs)
        .body("x")
        .send()
        .await;
    assert_eq!(tus.status, 400, "{}", tus.text());
    app.settle(1).await;
    assert_eq!(app.count("select count(*) from storage.objects").await, 1);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_242_codings_of_frames_and_blank_ones_are_not_stored() {
    let app = app_with_bucket().await;
    let client = app.service_role();
    let gzip = client
        .upload_request("b/a", BYTES)
        .header("content-encoding", "gzip");
    gzip.send().await.ok();
    for bad in ["chunked", "gzip, chunked", ";", "x y z"] {
        let raw = client
            .upload_request("b/raw", "x")
            .header("content-encoding", bad);
        raw.send().await.is(400, "400", "InvalidParameter");
    }
    let copy = json!({"bucketId": "b", "sourceKey": "a", "destinationKey": "c", "copyMetadata": false,
                      "metadata": {"contentEncoding": "  "}});
    client.post("/object/copy", copy).await.ok();
    assert_eq!(read(&app, "/object/b/c").await.0, None);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_240_a_copy_of_the_bytes_without_their_encoding_is_not_current() {
    let app = app_with_bucket().await;
    let client = app.service_role();
    client.upload("b/a", BYTES).await.ok();
    let broken = client.get("/object/b/a").await;
    let encoded = client
        .upload_request("b/a", BYTES)
        .header("x-upsert", "true")
        .header("content-encoding", "gzip");
    encoded.send().await.ok();

    let ask = async |etag: &str| {
        let call = client
            .request(Method::GET, "/object/b/a")
            .header("if-none-match", etag);
        call.send().await
    };
    let mended = ask(broken.header("etag").unwrap()).await;
    assert_eq!(
        (mended.status.as_u16(), mended.header("content-encoding")),
        (200, Some("gzip"))
    );
    let again = ask(mended.header("etag").unwrap()).await;
    assert_eq!(again.status, 304);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_243_244_every_error_has_a_code_and_a_missing_object_keeps_its_own() {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name) values ('b', 'b')")
        .await;
    app.service_role().upload("b/a", "x").await.ok();

    let missing = app.service_role().get("/object/info/b/none").await;
    missing.is(400, "404", "NoSuchKey");
    let hidden = app.user("ana").get("/object/info/b/a").await;
    hidden.is(400, "404", "NoSuchKey");
    for (method, path) in [
        (Method::GET, "/object/none/a"),
        (Method::GET, "/object/b/"),
        (Method::GET, "/nowhere"),
        (Method::POST, "/bucket"),
        (Method::POST, "/object/list/b"),
        (Method::GET, "/object/sign/b/a?token=x"),
        (Method::DELETE, "/object/b/none"),
        (Method::GET, "/render/image/sign/b/a"),
        (Method::PUT, "/object/b/%"),
    ] {
        let response = app.user("ana").request(method, path).send().await;
        assert!(response.status.is_client_error(), "{path}");
        let code = response.json()["code"].clone();
        assert!(
            code.as_str().is_some_and(|code| !code.is_empty()),
            "{path}: {code}"
        );
    }
}
