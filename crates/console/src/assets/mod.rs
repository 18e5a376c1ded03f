//! The browser half: files of `console/dist`, embedded in the binary in their brotli form.

mod embedded;

use std::io::Read as _;

use actix_web::http::{Method, header};
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use moka::sync::Cache;
use selvedge_gateway::accepts_coding;

use crate::error::ConsoleError;
use embedded::EmbeddedFile;

/// The page, which is sent for every path that is not a file: the router in the browser evaluates the path.
const INDEX: &str = "index.html";
/// Stands for the nonce of styles in the built page.
const NONCE_PLACEHOLDER: &str = "__CSP_NONCE__";

/// The page of a binary into which the browser half was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Selvedge console</title>\
    <h1>The console was not built into this program</h1>\
    <p>Build its page with <code>npm --prefix console ci &amp;&amp; npm --prefix console run build</code>, then build the \
    program again. <code>make build</code> does both.</p></html>";

/// `GET /…`: a file, or the page.
pub(crate) async fn serve(request: HttpRequest) -> Result<HttpResponse, ConsoleError> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(ConsoleError::not_found("There is no such endpoint"));
    }
    let name = request.match_info().as_str().trim_start_matches('/');
    if let Some(file) = find(name).filter(|file| file.name != INDEX) {
        return Ok(respond_file(&request, file));
    }
    // A missing file below assets/ belongs to an older page; the page itself would be read as a broken script.
    if name.starts_with("assets/") {
        return Err(ConsoleError::not_found("There is no such file"));
    }
    Ok(respond_page())
}

fn find(name: &str) -> Option<&'static EmbeddedFile> {
    let index = embedded::FILES
        .binary_search_by(|file| file.name.cmp(name))
        .ok()?;
    embedded::FILES.get(index)
}

/// Sends the page with a new nonce for the content security policy, which only allows the page's own styles.
fn respond_page() -> HttpResponse {
    // A nonce that repeats could be copied by injected markup, so each answer has its own and is not stored.
    let nonce = STANDARD.encode(random_bytes::<16>());
    let page = match find(INDEX) {
        Some(file) => String::from_utf8_lossy(&plain_form(file)).replace(NONCE_PLACEHOLDER, &nonce),
        None => NOT_BUILT.to_owned(),
    };
    HttpResponse::Ok()
        .insert_header((header::CONTENT_SECURITY_POLICY, page_policy(&nonce)))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .body(page)
}

/// Everything comes from this origin, scripts are files, and no script makes HTML out of text (trusted types). The one policy
/// that is named belongs to the frame without scripts in which a mail is shown.
fn page_policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' blob: data:; \
         font-src 'self'; connect-src 'self'; media-src 'self' blob:; frame-src 'self' blob:; worker-src 'self'; \
         manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types selvedge"
    )
}

fn respond_file(request: &HttpRequest, file: &'static EmbeddedFile) -> HttpResponse {
    // Vite puts a hash of the content into names below assets/: a changed file has a new name.
    let caching = if file.name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CACHE_CONTROL, caching))
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header((header::CONTENT_TYPE, content_type(file.name)));
    if file.is_brotli && accepts_coding(request.headers(), "br") {
        response.insert_header((header::CONTENT_ENCODING, "br"));
        return response.body(Bytes::from_static(file.content));
    }
    response.body(plain_form(file))
}

fn content_type(name: &str) -> String {
    let mime = mime_guess::from_path(name).first_or_octet_stream();
    let is_text = mime.type_() == "text" || matches!(mime.subtype().as_str(), "javascript" | "json");
    if is_text {
        format!("{mime}; charset=utf-8")
    } else {
        mime.to_string()
    }
}

/// The file uncompressed, for clients that do not read brotli. Only what such a client has asked for is kept.
fn plain_form(file: &'static EmbeddedFile) -> Bytes {
    static UNPACKED: std::sync::LazyLock<Cache<&'static str, Bytes>> =
        std::sync::LazyLock::new(|| Cache::new(64));
    if !file.is_brotli {
        return Bytes::from_static(file.content);
    }
    UNPACKED.get_with(file.name, || {
        let mut plain = Vec::new();
        brotli::Decompressor::new(file.content, 4096)
            .read_to_end(&mut plain)
            .expect("the build has compressed the file");
        plain.into()
    })
}

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes
}
