//! The Content-Security-Policy of the site's pages.

use actix_web::http::header::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use sha2::{Digest, Sha256};

/// Allows the site's own scripts and the inline scripts of `index.html` (by hash), connections to the site and the API
/// (also by WebSocket), and images from anywhere over HTTPS, and from
/// `picture_origin`, which draws pictures of invented people by plain HTTP. Other sites may not frame the page, which prevents
/// clickjacking.
pub(super) fn content_security_policy(
    page: &str,
    api_origin: &str,
    picture_origin: Option<&str>,
) -> HeaderValue {
    let scripts: String = inline_scripts(page)
        .iter()
        .map(|script| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(script))))
        .collect();
    let socket_origin = api_origin.replacen("http", "ws", 1);
    let pictures = picture_origin.map_or_else(String::new, |origin| format!(" {origin}"));
    let policy = format!(
        "default-src 'self'; script-src 'self'{scripts}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob: https: {api_origin}{pictures}; font-src 'self' data:; \
         connect-src 'self' ws: wss: {api_origin} {socket_origin}; media-src 'self' blob: {api_origin}; \
         object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'self'"))
}

/// The texts between `<script>` (without `src`) and `</script>`.
fn inline_scripts(page: &str) -> Vec<String> {
    let tag = Regex::new(r"(?s)<script([^>]*)>(.*?)</script>").expect("a valid pattern");
    tag.captures_iter(page)
        .filter(|found| !found[1].contains("src=") && !found[2].is_empty())
        .map(|found| found[2].to_owned())
        .collect()
}
