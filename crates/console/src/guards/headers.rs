//! Headers of every response (CONSOLE-012): no other page may frame, open or read the console.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// The policy of everything that is not the page, which sets its own with a nonce. Where a browser shows such a response
/// as a document, nothing in it may load or run.
const NO_CONTENT_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// Keeps rows and names of users out of caches, such as that on the browser's disk.
pub(super) fn forbid_storing(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

/// Sets the headers. What a handler has set itself stays, such as the page's policy, and how long a file may be kept.
pub(super) fn apply(headers: &mut HeaderMap) {
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(NO_CONTENT_POLICY),
        );
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        forbid_storing(headers);
    }
}
