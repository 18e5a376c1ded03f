//! `POST /realtime/v1/api/broadcast/{topic}/events/{event}[?private=true]`: one message.
//!
//! `persist` is refused with 400: broadcasts are not stored.
//! Body `application/json` (any value) or `application/octet-stream`; 202 without a body. 403 for a private topic that the
//! caller may not write to, 415 for other types of content (REALTIME-030).

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use percent_encoding::percent_decode_str;
use selvedge_gateway::{Caller, sent_path};
use serde::de::IgnoredAny;

use super::caller::{ApiCaller, accepted, read_limited};
use super::error::ApiError;
use crate::broadcast::{Broadcast, Content};
use crate::frame::Encoding;
use crate::state::Shared;
use crate::topic::Topic;

const TOO_LARGE: ApiError = ApiError::InvalidField("payload", "Payload size exceeds tenant limit");

/// Handles one broadcast. The body is the payload itself; event and topic come from the path.
pub(super) async fn broadcast_single(
    request: HttpRequest,
    payload: web::Payload,
    shared: web::Data<Shared>,
) -> Result<HttpResponse, ApiError> {
    let (topic, event) = topic_and_event(sent_path(request.uri())).ok_or(ApiError::NoRoute)?;
    let caller = ApiCaller::identify(&request, &shared)?;
    if asks_for_persistence(request.query_string()) {
        return Err(ApiError::NotStored);
    }
    let encoding = encoding_of(&request)?;
    // The token is checked before the body is read, so strangers cannot make the server buffer megabytes.
    let body = read_limited(
        payload,
        shared.config.max_payload_bytes,
        &Caller::extract(&request),
    )
    .await?;
    let payload = body.ok_or(TOO_LARGE)?;
    if encoding == Encoding::Json && serde_json::from_slice::<IgnoredAny>(&payload).is_err() {
        return Err(ApiError::BodyNotReadable);
    }
    // Compat: only the exact text `private=true` makes a broadcast private; with `private=1` it is public.
    let is_private = request
        .query_string()
        .split('&')
        .any(|pair| pair == "private=true");
    if is_private
        && !caller
            .may_broadcast(&shared, &topic)
            .await
            .map_err(ApiError::Check)?
    {
        return Err(ApiError::Unauthorized(StatusCode::FORBIDDEN));
    }
    let content = Content::User {
        event,
        encoding,
        payload,
        meta: String::new(),
    };
    shared.event_rate.count(1);
    shared.broadcast(Broadcast::new(Topic::new(&topic, is_private), content));
    Ok(accepted(&shared))
}

/// Whether the query has `persist` or `persist[ttl]`, in whatever form: the caller would take a message for stored that is not.
fn asks_for_persistence(query: &str) -> bool {
    let names = query
        .split('&')
        .map(|pair| pair.split('=').next().unwrap_or(pair));
    names
        .map(|name| percent_decode_str(name).decode_utf8_lossy())
        .any(|name| name == "persist" || name.starts_with("persist["))
}

/// Reads topic and event from the path as it was sent. The router's path is already decoded, so there a `%2F` inside a
/// name would look like a separator.
fn topic_and_event(path: &str) -> Option<(String, String)> {
    let (_, rest) = path.split_once("/broadcast/")?;
    let mut parts = rest.split('/');
    let (topic, events, event) = (parts.next()?, parts.next()?, parts.next()?);
    if events != "events" || parts.next().is_some() {
        return None;
    }
    let decode = |text: &str| percent_decode_str(text).decode_utf8().ok().map(String::from);
    let names = (decode(topic)?, decode(event)?);
    (!names.0.is_empty() && !names.1.is_empty()).then_some(names)
}

/// Returns the encoding of a content type; parameters such as `charset` are ignored.
fn encoding_of(request: &HttpRequest) -> Result<Encoding, ApiError> {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    match content_type.split(';').next().unwrap_or_default().trim() {
        "application/json" => Ok(Encoding::Json),
        "application/octet-stream" => Ok(Encoding::Bytes),
        _ => Err(ApiError::UnsupportedMediaType),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_211_persist_is_found_in_every_form() {
        for query in [
            "persist=true",
            "private=true&persist%5Bttl%5D=60",
            "persist[ttl]=x&private=true",
            "persist",
            "%70ersist=1",
        ] {
            assert!(asks_for_persistence(query), "{query}");
        }
        for query in ["", "private=true", "persistent=1", "x=persist"] {
            assert!(!asks_for_persistence(query), "{query}");
        }
    }

    #[test]
    fn realtime_030_encoded_slashes_are_part_of_topic_and_event_names() {
        let path = "/realtime/v1/api/broadcast/a%20b%3Ac%2F%E2%9C%93/events/e%20v%2F1";

        assert_eq!(
            topic_and_event(path),
            Some(("a b:c/✓".to_owned(), "e v/1".to_owned()))
        );
        for path in [
            "/api/broadcast/x",
            "/api/broadcast/x/events",
            "/api/broadcast/x/events/",
            "/api/broadcast/x/y/z",
        ] {
            assert_eq!(topic_and_event(path), None, "{path}");
        }
    }
}
