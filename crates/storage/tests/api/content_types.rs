//! Types that a browser would run: what every way in refuses, and what every way out sends.

use aws_sdk_s3::primitives::ByteStream;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::json;

use crate::s3_client::{refusal, user};
use crate::support::{Part, SANDBOX, TestApp};
use crate::tus_client::tus;

/// Types of which browsers take another one than the first, and what else is no type.
const MALFORMED: [&str; 8] = [
    "image/png, image/svg+xml",
    "image/png;, image/svg+xml",
    "image/png;,TEXT/HTML",
    "image/png; a=b, text/xsl",
    "image/png; a=\"b\", text/html",
    "image/png; a=\"b, text/html",
    "image/png,",
    "image",
];

/// Types of documents in which browsers run scripts, or may one day.
const ACTIVE: [&str; 14] = [
    "image/svg+xml",
    "IMAGE/SVG+XML; charset=utf-8",
    "TEXT/HTML",
    "text/xml",
    "text/xsl",
    "text/rdf",
    "application/xhtml+xml",
    "application/mathml+xml",
    "application/vnd.wap.xhtml+xml",
    "application/javascript",
    "multipart/x-mixed-replace; boundary=b",
    "multipart/related; type=\"text/xml\"",
    "message/rfc822",
    "unknown/unknown",
];

/// The service with a public bucket `b` for pictures and a public bucket `open`, and users who may do everything.
async fn app() -> TestApp {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name, public, allowed_mime_types)
           values ('b', 'b', true, '{image/*}'), ('open', 'open', true, null);
         create policy \"all\" on storage.objects to authenticated using (true) with check (true)",
    )
    .await;
    app
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_033_malformed_types_are_refused_on_every_way_in() {
    let app = app().await;
    let (ana, s3) = (app.user("ana"), user(&app, "ana"));
    app.service_role().upload("open/source", "x").await.ok();

    for kind in MALFORMED {
        for bucket in ["b", "open"] {
            let path = format!("/object/{bucket}/x");
            let body = ana.request(Method::POST, &path).header("content-type", kind);
            assert_eq!(body.body("x").send().await.status, 400, "{kind}");
            let file = |content_type| Part::File {
                name: "",
                content_type,
                bytes: b"x",
            };
            let target = format!("{bucket}/x");
            let part = ana.upload_form(&target, &[file(Some(kind))]).await;
            assert_eq!(part.status, 400, "{kind}");
            let field = [Part::Field("contentType", kind), file(None)];
            assert_eq!(ana.upload_form(&target, &field).await.status, 400, "{kind}");
            let metadata = [("bucketName", bucket), ("objectName", "x"), ("contentType", kind)]
                .map(|(name, value)| format!("{name} {}", STANDARD.encode(value)));
            let resumable = tus(&ana, Method::POST, "/upload/resumable")
                .header("upload-length", "1")
                .header("upload-metadata", &metadata.join(","))
                .send()
                .await;
            assert!(
                (400..=415).contains(&resumable.status.as_u16()),
                "{kind}: {}",
                resumable.status
            );
            let copy = json!({
                "bucketId": "open", "sourceKey": "source", "destinationBucket": bucket, "destinationKey": "x",
                "copyMetadata": false, "metadata": {"mimetype": kind},
            });
            assert_eq!(ana.post("/object/copy", copy).await.status, 400, "{kind}");
            let put = s3.put_object().bucket(bucket).key("x").content_type(kind);
            assert_eq!(
                refusal(put.body(ByteStream::from_static(b"x")).send().await).0,
                415,
                "{kind}"
            );
            let multipart = s3
                .create_multipart_upload()
                .bucket(bucket)
                .key("x")
                .content_type(kind);
            assert_eq!(refusal(multipart.send().await).0, 415, "{kind}");
        }
    }

    assert_eq!(
        app.count("select count(*) from storage.objects where name = 'x'")
            .await,
        0
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_037_active_types_are_sandboxed_on_every_way_out_and_pictures_are_not() {
    let app = app().await;
    let service = app.service_role();
    let inert = [
        "image/png",
        "image/webp",
        "video/mp4",
        "application/pdf",
        "text/plain; charset=utf-8",
    ];

    for (kind, policy) in ACTIVE
        .map(|kind| (kind, Some(SANDBOX)))
        .into_iter()
        .chain(inert.map(|kind| (kind, None)))
    {
        let upload = service
            .request(Method::PUT, "/object/open/x")
            .header("content-type", kind);
        upload.body("<script>1</script>").send().await.ok();
        let signed = service
            .post("/object/sign/open/x", json!({"expiresIn": 60}))
            .await
            .json();
        let signed = signed["signedURL"].as_str().expect("a URL").to_owned();

        for path in ["/object/public/open/x", "/object/authenticated/open/x", &signed] {
            let got = service.get(path).await.ok();
            assert_eq!(got.header("content-type"), Some(kind), "{path}");
            assert_eq!(got.header("content-security-policy"), policy, "{kind} {path}");
            assert_eq!(got.header("x-content-type-options"), Some("nosniff"), "{path}");
        }
        let s3 = crate::s3_client::service(&app);
        let presigned = s3.get_object().bucket("open").key("x").presigned(
            aws_sdk_s3::presigning::PresigningConfig::expires_in(std::time::Duration::from_secs(60))
                .expect("a duration"),
        );
        let got = reqwest::get(presigned.await.expect("signed").uri())
            .await
            .expect("a response");
        let sent = got
            .headers()
            .get("content-security-policy")
            .map(|value| value.to_str().expect("text"));
        assert_eq!(sent, policy, "{kind}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_037_types_that_older_versions_stored_are_served_as_bytes() {
    let app = app().await;
    app.service_role().upload("open/x", "<svg/>").await.ok();
    for kind in MALFORMED {
        // Compat: HTML becomes text wherever it is mentioned.
        let served = if kind.contains("text/html") {
            "text/plain"
        } else {
            "application/octet-stream"
        };
        let kind = kind.replace('"', "\\\"");
        app.sql(&format!(
            "update storage.objects set metadata = metadata || '{{\"mimetype\": \"{kind}\"}}' where name = 'x'"
        ))
        .await;

        let got = app.nobody().get("/object/public/open/x").await.ok();

        assert_eq!(got.header("content-type"), Some(served), "{kind}");
        assert_eq!(got.header("content-security-policy"), Some(SANDBOX), "{kind}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_066_names_that_end_like_a_placeholder_have_the_limits_of_the_bucket() {
    let app = app().await;
    app.sql("update storage.buckets set file_size_limit = 4 where id = 'b'")
        .await;
    let (ana, s3) = (app.user("ana"), user(&app, "ana"));
    app.service_role().upload("open/a", "<html></html>").await.ok();
    app.service_role().upload("open/empty", "").await.ok();

    for (key, source) in [
        ("x.emptyFolderPlaceholder", "a"),
        (".emptyFolderPlaceholder", "a"),
        ("x.emptyFolderPlaceholder", "empty"),
    ] {
        for operation in ["copy", "move"] {
            let body = json!({
                "bucketId": "open", "sourceKey": source, "destinationBucket": "b", "destinationKey": key,
            });
            let response = ana.post(&format!("/object/{operation}"), body).await;
            assert_eq!(response.status, 400, "{operation} {source} to {key}");
        }
    }
    let upload = s3
        .create_multipart_upload()
        .bucket("b")
        .key("x.emptyFolderPlaceholder")
        .content_type("text/html");
    assert_eq!(refusal(upload.send().await).0, 415);
    let placeholder = s3
        .create_multipart_upload()
        .bucket("b")
        .key(".emptyFolderPlaceholder")
        .content_type("text/html");
    let id = placeholder
        .send()
        .await
        .expect("any type")
        .upload_id
        .expect("an id");
    let part = s3
        .upload_part()
        .bucket("b")
        .key(".emptyFolderPlaceholder")
        .upload_id(id)
        .part_number(1);
    assert_eq!(
        refusal(part.body(ByteStream::from_static(b"x")).send().await),
        (413, "EntityTooLarge".to_owned())
    );

    // The placeholder itself may have any type, and takes it to no other name.
    let page = ana
        .request(Method::POST, "/object/b/f/.emptyFolderPlaceholder")
        .header("content-type", "text/html");
    page.send().await.ok();
    for (operation, key, status) in [
        ("copy", "f/page.html", 400),
        ("move", "f/page.html", 400),
        ("move", "g/.emptyFolderPlaceholder", 200),
    ] {
        let body = json!({"bucketId": "b", "sourceKey": "f/.emptyFolderPlaceholder", "destinationKey": key});
        let response = ana.post(&format!("/object/{operation}"), body).await;
        assert_eq!(response.status, status, "{operation} to {key}");
    }
}
