//! Which headers of a proxied request and its response are passed on. All others are dropped, so that the page cannot send a
//! key, a host or a client address, and no cookie or CORS header returns.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

const REQUEST: [&str; 20] = [
    "accept",
    "accept-encoding",
    "accept-profile",
    "cache-control",
    "content-encoding",
    "content-language",
    "content-length",
    "content-profile",
    "content-type",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "prefer",
    "range",
    "range-unit",
    "x-client-info",
    "x-metadata",
    "x-region",
    "x-supabase-api-version",
    "x-upsert",
];

const RESPONSE: [&str; 17] = [
    "accept-ranges",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-location",
    "content-profile",
    "content-range",
    "content-type",
    "etag",
    "last-modified",
    "link",
    "preference-applied",
    "proxy-status",
    "retry-after",
    "server-timing",
    "x-relay-error",
    "x-total-count",
];

/// The beginnings of the headers of resumable uploads (TUS), which are passed on in both directions.
const UPLOAD_PREFIXES: [&str; 2] = ["tus-", "upload-"];

/// Selects the headers of a request that the service gets.
pub(super) fn request(sent: &HeaderMap) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    pick(sent, &REQUEST)
}

/// Selects the headers of a service's response that the page gets.
pub(super) fn response(received: &HeaderMap) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    pick(received, &RESPONSE)
}

fn pick(headers: &HeaderMap, list: &[&str]) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    headers
        .iter()
        .filter(|(name, _)| {
            let name = name.as_str();
            list.contains(&name) || UPLOAD_PREFIXES.iter().any(|start| name.starts_with(start))
        })
        .map(|(name, value)| (name.clone(), value.clone()))
}

/// Rewrites the location of a new upload to a path below `/api/proxy`.
pub(super) fn location(received: &HeaderMap) -> Option<HeaderValue> {
    let location = received.get("location")?.to_str().ok()?;
    let (_, below) = location.split_once("/storage/v1/")?;
    HeaderValue::from_str(&format!("/api/proxy/storage/{below}")).ok()
}
