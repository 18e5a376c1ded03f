//! Downloads: headers, ranges, conditions, file names.

use reqwest::Method;
use serde_json::json;

use crate::support::{SANDBOX, TestApp};

/// The service with a public and a private bucket that each hold the object `r.txt`.
async fn app_with_object() -> TestApp {
    let app = TestApp::start().await;
    app.sql(
        "insert into storage.buckets (id, name, public) values ('pub', 'pub', true), ('priv', 'priv', false)",
    )
    .await;
    app.service_role()
        .upload("pub/r.txt", "0123456789abcdefghij")
        .await
        .ok();
    app.service_role().upload("priv/r.txt", "private").await.ok();
    app
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_002_and_003_public_routes_serve_only_public_buckets() {
    let app = app_with_object().await;

    let got = app.nobody().get("/object/public/pub/r.txt").await.ok();
    assert_eq!(
        (got.text().as_str(), got.header("content-type")),
        ("0123456789abcdefghij", Some("text/plain"))
    );

    let private = app.nobody().get("/object/public/priv/r.txt").await;
    private.is(400, "404", "NoSuchBucket");
    assert_eq!(private.message(), "Bucket not found");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_034_one_route_serves_public_and_private_buckets() {
    let app = app_with_object().await;

    assert_eq!(
        app.nobody().get("/object/pub/r.txt").await.ok().text(),
        "0123456789abcdefghij"
    );
    assert_eq!(
        app.service_role().get("/object/priv/r.txt").await.ok().text(),
        "private"
    );
    app.nobody()
        .get("/object/priv/r.txt")
        .await
        .is(400, "404", "NoSuchBucket");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_014_hidden_and_missing_objects_get_the_same_error() {
    let app = app_with_object().await;

    let hidden = app.user("ana").get("/object/priv/r.txt").await;
    let missing = app.user("ana").get("/object/priv/nope.txt").await;

    hidden.is(400, "404", "NoSuchKey");
    // Any difference would let callers find out which hidden keys exist.
    assert_eq!(hidden.body, missing.body);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_035_head_has_the_size_and_no_body() {
    let app = app_with_object().await;

    let head = app.nobody().head("/object/pub/r.txt").await.ok();
    assert_eq!((head.header("content-length"), head.body.len()), (Some("20"), 0));
    assert!(head.header("etag").is_some());

    let missing = app.nobody().head("/object/pub/nope").await;
    assert_eq!((missing.status.as_u16(), missing.body.len()), (400, 0));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_036_download_names_are_encoded() {
    let app = app_with_object().await;
    let disposition = async |query: &str| {
        let got = app
            .nobody()
            .get(&format!("/object/public/pub/r.txt{query}"))
            .await
            .ok();
        got.header("content-disposition").map(str::to_owned)
    };

    assert_eq!(disposition("").await, None);
    assert_eq!(disposition("?download").await.as_deref(), Some("attachment;"));
    assert_eq!(
        disposition("?download=x%20y.png").await.as_deref(),
        Some("attachment; filename=x%20y.png; filename*=UTF-8''x%20y.png")
    );
    let hostile = disposition("?download=a%0D%0ASet-Cookie:x=1%22")
        .await
        .expect("a name");
    assert!(!hostile.contains(['"', '\n', '\r']), "{hostile}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_037_html_is_text_and_active_types_are_sandboxed() {
    let app = app_with_object().await;
    for (name, content_type) in [
        ("h", "text/html"),
        ("c", "text/html; charset=utf-8"),
        ("u", "TEXT/HTML"),
        ("s", "image/svg+xml"),
    ] {
        let request = app
            .service_role()
            .request(Method::POST, &format!("/object/pub/{name}"));
        request
            .header("content-type", content_type)
            .body("<script>1</script>")
            .send()
            .await
            .ok();
    }

    for (name, served) in [
        ("h", "text/plain"),
        ("c", "text/plain"),
        ("u", "TEXT/HTML"),
        ("s", "image/svg+xml"),
    ] {
        let got = app.nobody().get(&format!("/object/public/pub/{name}")).await.ok();
        assert_eq!(got.header("content-type"), Some(served));
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(got.header("content-security-policy"), Some(SANDBOX));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_038_ranges_are_served_from_small_and_large_objects() {
    let app = app_with_object().await;
    // Larger than what a backend reads when it opens a blob, so that the range is streamed.
    let large: String = (0..40_000).map(|n| format!("{n:08}")).collect();
    app.service_role().upload("pub/large", &large).await.ok();
    let get = async |path: &str, range: &str| {
        app.nobody()
            .request(Method::GET, &format!("/object/public/pub/{path}"))
            .header("range", range)
            .send()
            .await
    };

    for (range, content, text) in [
        ("bytes=0-9", "bytes 0-9/20", "0123456789"),
        ("bytes=15-", "bytes 15-19/20", "fghij"),
        ("bytes=-3", "bytes 17-19/20", "hij"),
        ("bytes=10-99", "bytes 10-19/20", "abcdefghij"),
    ] {
        let got = get("r.txt", range).await;
        assert_eq!(
            (
                got.status.as_u16(),
                got.header("content-range"),
                got.text().as_str()
            ),
            (206, Some(content), text)
        );
    }
    for range in ["bytes=20-", "bytes=9-2", "bytes=-0", "bytes=0-1,3-4", "items=0-5"] {
        let got = get("r.txt", range).await;
        got.is(416, "416", "InvalidRange");
        assert_eq!(got.header("content-range"), Some("bytes */20"));
    }
    let got = get("large", "bytes=100000-300007").await;
    assert_eq!(got.text(), &large[100_000..=300_007]);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_038_if_range_of_another_version_returns_the_whole_object() {
    let app = app_with_object().await;
    let url = "/object/public/pub/r.txt";
    let head = app.nobody().head(url).await;
    let (etag, modified) = (head.header("etag"), head.header("last-modified"));
    let resume = async |version: &str| {
        let request = app
            .nobody()
            .request(Method::GET, url)
            .header("range", "bytes=15-");
        let got = request.header("if-range", version).send().await;
        (got.status.as_u16(), got.text())
    };

    for same in [etag.expect("a tag"), modified.expect("a date")] {
        assert_eq!(resume(same).await, (206, "fghij".to_owned()));
    }
    for other in ["\"other\"", "Sat, 08 Sep 2001 00:00:00 GMT"] {
        assert_eq!(resume(other).await, (200, "0123456789abcdefghij".to_owned()));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_039_conditional_requests_answer_304_for_a_current_copy() {
    let app = app_with_object().await;
    let first = app.nobody().get("/object/public/pub/r.txt").await.ok();
    let (tag, date) = (
        first.header("etag").expect("a tag"),
        first.header("last-modified").expect("a date"),
    );
    let get = async |name: &str, value: &str| {
        app.nobody()
            .request(Method::GET, "/object/public/pub/r.txt")
            .header(name, value)
            .send()
            .await
    };

    for (name, value) in [
        ("if-none-match", tag),
        ("if-none-match", "*"),
        ("if-modified-since", date),
    ] {
        let got = get(name, value).await;
        assert_eq!(
            (got.status.as_u16(), got.body.len(), got.header("etag")),
            (304, 0, Some(tag)),
            "{name}: {value}"
        );
    }
    for (name, value) in [
        ("if-none-match", "\"other\""),
        ("if-modified-since", "Tue, 01 Jan 2019 00:00:00 GMT"),
    ] {
        assert_eq!(get(name, value).await.status.as_u16(), 200, "{name}: {value}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_040_downloads_have_type_tag_and_cache_headers() {
    let app = app_with_object().await;

    let got = app.nobody().get("/object/public/pub/r.txt").await.ok();

    assert!(
        got.header("etag")
            // The 32 hex digits of an MD5, in quotes.
            .is_some_and(|tag| tag.starts_with('"') && tag.ends_with('"') && tag.len() == 34)
    );
    assert!(
        got.header("last-modified")
            .is_some_and(|date| date.ends_with("GMT"))
    );
    assert_eq!(got.header("accept-ranges"), Some("bytes"));
    assert_eq!(got.header("content-length"), Some("20"));
    assert_eq!(got.header("x-robots-tag"), Some("none"));
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_050_info_has_the_fields_of_the_contract() {
    let app = app_with_object().await;

    let info = app
        .service_role()
        .get("/object/info/priv/r.txt")
        .await
        .ok()
        .json();

    let fields: Vec<&String> = info.as_object().expect("an object").keys().collect();
    let expected = [
        "id",
        "name",
        "version",
        "bucket_id",
        "size",
        "content_type",
        "cache_control",
        "content_encoding",
        "archived_at",
        "is_delete_marker",
        "is_versioned",
        "etag",
        "metadata",
        "last_modified",
        "created_at",
    ];
    assert_eq!(fields, expected);
    assert_eq!(
        (&info["size"], &info["content_type"], &info["metadata"]),
        (&json!(7), &json!("text/plain"), &json!({}))
    );
    let created = info["created_at"].as_str().expect("a time");
    assert!(
        created.len() == 24 && created.ends_with('Z'),
        "STORE-078: {created}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_083_readers_see_complete_versions_during_overwrites() {
    let app = app_with_object().await;
    let texts: Vec<String> = (0..8).map(|n| n.to_string().repeat(200_000)).collect();
    app.service_role().upload("pub/x", &texts[0]).await.ok();
    let service = app.service_role();
    let writer = async {
        // Every overwrite removes the blob that a reader may be about to open.
        for text in texts.iter().cycle().take(40) {
            service
                .upload_request("pub/x", text)
                .header("x-upsert", "true")
                .send()
                .await
                .ok();
        }
    };
    let reader = async {
        for _ in 0..40 {
            let got = app.nobody().get("/object/public/pub/x").await.ok().text();
            assert!(texts.contains(&got), "{} bytes of no version", got.len());
        }
    };

    futures_util::join!(writer, reader);

    app.settle(3).await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_086_a_row_without_a_blob_is_reported_as_not_found() {
    let app = app_with_object().await;
    app.store.remove_all_blobs();

    let got = app.nobody().get("/object/public/pub/r.txt").await;

    got.is(400, "404", "NoSuchKey");
    assert_eq!(
        (got.message().as_str(), got.header("cache-control")),
        // Not cached, because the blob may be restored from a backup.
        ("The resource was not found", Some("no-store"))
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn store_086_metadata_written_by_sql_cannot_inject_headers() {
    let app = app_with_object().await;
    app.sql(
        "update storage.objects set metadata = metadata || '{\"mimetype\": \"text/x\\r\\nset-cookie: a=b\", \"cacheControl\": \"a\\nb\", \"eTag\": \"x\\ny\"}'
         where name = 'r.txt' and bucket_id = 'pub'",
    )
    .await;

    let got = app.nobody().get("/object/public/pub/r.txt").await.ok();

    assert_eq!(
        (got.header("content-type"), got.header("set-cookie")),
        (Some("application/octet-stream"), None)
    );
    assert_eq!((got.header("cache-control"), got.header("etag")), (None, None));
}
