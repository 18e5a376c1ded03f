//! Responses of the site: pages, assets, caching, compression.

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
    let site = Site::load(
        folder.path(),
        "sb_publishable_x",
        "http://127.0.0.1:54321",
        None,
        None,
    )
    .unwrap();
    site.compress();
    let app = test::init_service(
        App::new()
            .app_data(web::Data::from(site))
            .default_service(web::to(serve_site)),
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
async fn index_html_contains_the_key_has_a_csp_and_is_revalidated_by_etag() {
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
async fn hashed_assets_are_compressed_and_cached_for_ever() {
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
async fn paths_of_pages_get_index_html_for_every_client_and_missing_files_a_404() {
    let accept = [("accept", "text/html,application/xhtml+xml")];

    let deep = get("/outfits/3?tab=likes", &accept).await;
    let asset = get("/assets/gone.js", &accept).await;
    let fetched = get("/data.json", &[("accept", "*/*")]).await;
    let crawled = get("/look/camel-hour", &[("accept", "*/*")]).await;
    let without_accept = get("/look/camel-hour", &[]).await;
    let dotted_name = get("/mira.k", &[("accept", "*/*")]).await;

    assert_eq!(
        (deep.0, text(&deep.1, "content-type")),
        (200, "text/html; charset=utf-8")
    );
    assert_eq!((asset.0, fetched.0), (404, 404));
    for page in [crawled, without_accept, dotted_name] {
        assert_eq!(
            (page.0, text(&page.1, "content-type")),
            (200, "text/html; charset=utf-8")
        );
    }
    assert_eq!(get("/logo.svg", &[]).await.0, 200);
}

#[actix_web::test]
async fn encoded_and_plain_dot_segments_do_not_leave_the_sites_folder() {
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/assets/..%2f..%2fCargo.toml",
    ] {
        assert_eq!(get(path, &[]).await.0, 404, "{path}");
    }
    let (_, _, body) = get("//etc/passwd", &[]).await;
    assert!(
        body.starts_with(b"<script>go()"),
        "a path without an extension gets index.html"
    );
}

#[actix_web::test]
async fn loading_a_folder_without_index_html_says_to_build_the_site() {
    let folder = tempfile::tempdir().unwrap();

    let message = Site::load(folder.path(), "k", "http://x", None, None)
        .err()
        .unwrap()
        .to_string();

    assert!(message.contains("build the site first"), "{message}");
}

#[actix_web::test]
async fn gw_109_links_of_a_site_that_lead_out_of_it_are_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("dist/assets")).unwrap();
    std::fs::create_dir(path("victim")).unwrap();
    std::fs::write(path("victim/id_ed25519"), "secret").unwrap();
    std::fs::write(path("dist/index.html"), "<p>hello</p>").unwrap();
    std::os::unix::fs::symlink("index.html", path("dist/404.html")).unwrap();
    let load = || Site::load(&path("dist"), "k", "http://x", None, None).map(|site| site.assets.len());

    let inside = load();
    assert_eq!(inside.unwrap(), 2);
    for (target, link) in [
        ("../victim", "dist/keys"),
        ("../../victim/id_ed25519", "dist/assets/app.js"),
    ] {
        std::os::unix::fs::symlink(target, path(link)).unwrap();
        let message = load().unwrap_err().to_string();
        assert!(message.contains("leads out of the site"), "{message}");
        std::fs::remove_file(path(link)).unwrap();
    }
    // A file without content that claims more than a machine has in memory.
    let large = std::fs::File::create(path("dist/film.mp4")).unwrap();
    large.set_len(1 << 40).unwrap();
    let message = load().unwrap_err().to_string();
    assert!(message.contains("film.mp4"), "{message}");
}
