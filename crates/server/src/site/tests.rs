//! The site as browsers see it.

use actix_web::http::header;
use actix_web::test::TestRequest;
use actix_web::{App, body, test, web};

use super::*;

async fn get(path: &str, headers: &[(&str, &str)]) -> (u16, header::HeaderMap, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("assets")).unwrap();
    std::fs::write(
        folder.path().join("index.html"),
        "<script>go()</script><meta content=\"%SELVEDGE_PUBLISHABLE_KEY%\">",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("assets/app-1a2b.js"),
        "let a = 1;\n".repeat(500),
    )
    .unwrap();
    std::fs::write(folder.path().join("logo.svg"), "<svg/>").unwrap();
    let site = Site::load(folder.path(), "sb_publishable_x", "http://127.0.0.1:54321").unwrap();
    site.compress();
    let app = test::init_service(
        App::new()
            .app_data(web::Data::from(site))
            .default_service(web::to(serve)),
    )
    .await;
    let mut request = TestRequest::get().uri(path);
    for (name, value) in headers {
        request = request.insert_header((*name, *value));
    }
    let response = test::call_service(&app, request.to_request()).await;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    (
        status,
        headers,
        body::to_bytes(response.into_body()).await.unwrap().to_vec(),
    )
}

fn text<'a>(headers: &'a header::HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[actix_web::test]
async fn the_page_carries_the_key_and_a_policy_and_is_revalidated() {
    let (status, headers, page) = get("/", &[]).await;

    assert_eq!(status, 200);
    assert!(
        String::from_utf8(page)
            .unwrap()
            .contains("content=\"sb_publishable_x\"")
    );
    assert_eq!(text(&headers, "cache-control"), "no-cache");
    let policy = text(&headers, "content-security-policy");
    assert!(
        policy.contains("script-src 'self' 'sha256-") && policy.contains("ws://127.0.0.1:54321"),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'none'"));
    let (status, ..) = get("/", &[("if-none-match", text(&headers, "etag"))]).await;
    assert_eq!(status, 304);
}

#[actix_web::test]
async fn hashed_assets_are_compressed_and_immutable() {
    let plain = get("/assets/app-1a2b.js", &[]).await;
    let brotli = get("/assets/app-1a2b.js", &[("accept-encoding", "gzip, br;q=0.9")]).await;
    let gzip = get("/assets/app-1a2b.js", &[("accept-encoding", "gzip, br;q=0")]).await;

    assert_eq!(
        text(&plain.1, "cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(text(&plain.1, "content-type"), "text/javascript; charset=utf-8");
    assert_eq!(
        (
            text(&brotli.1, "content-encoding"),
            text(&gzip.1, "content-encoding")
        ),
        ("br", "gzip")
    );
    assert!(brotli.2.len() < plain.2.len() / 4 && gzip.2.len() < plain.2.len() / 4);
    let mut unpacked = Vec::new();
    brotli::BrotliDecompress(&mut &brotli.2[..], &mut unpacked).unwrap();
    assert_eq!(unpacked, plain.2);
}

#[actix_web::test]
async fn navigations_fall_back_to_the_page_and_missing_assets_do_not() {
    let accept = [("accept", "text/html,application/xhtml+xml")];

    let deep = get("/outfits/3?tab=likes", &accept).await;
    let asset = get("/assets/gone.js", &accept).await;
    let fetched = get("/data.json", &[("accept", "*/*")]).await;

    assert_eq!(
        (deep.0, text(&deep.1, "content-type")),
        (200, "text/html; charset=utf-8")
    );
    assert_eq!((asset.0, fetched.0), (404, 404));
    assert_eq!(get("/logo.svg", &[]).await.0, 200);
}

#[actix_web::test]
async fn paths_do_not_leave_the_folder() {
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
        "//etc/passwd",
    ] {
        assert_eq!(get(path, &[]).await.0, 404, "{path}");
    }
}

#[actix_web::test]
async fn a_folder_without_a_page_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();

    let message = Site::load(folder.path(), "k", "http://x")
        .err()
        .unwrap()
        .to_string();

    assert!(message.contains("build the site first"), "{message}");
}
