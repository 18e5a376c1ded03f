//! Reading a request's body from the connection, within limits of size and time.

use actix_web::http::header;
use actix_web::{HttpRequest, web};
use bytes::Bytes;
use selvedge_gateway::{BodyError, BodyLimits};

use crate::config::RestConfig;
use crate::error::RequestError;

/// Reads the whole body; GET, HEAD and OPTIONS have none.
///
/// # Errors
/// 413 above `body_limit_bytes`, 408 after `body_pause` without data or `body_duration` in all, 400 for broken framing.
pub(crate) async fn read_body(
    http: &HttpRequest,
    payload: web::Payload,
    config: &RestConfig,
) -> Result<Bytes, RequestError> {
    if matches!(http.method().as_str(), "GET" | "HEAD" | "OPTIONS") {
        return Ok(Bytes::new());
    }
    let too_large = || RequestError::BodyTooLarge(config.body_limit_bytes);
    // Refused by its announced length, so that a client need not send what will not be read.
    if announces_more_than(http, config.body_limit_bytes) {
        return Err(too_large());
    }
    let limits = BodyLimits {
        bytes: config.body_limit_bytes,
        pause: Some(config.body_pause),
        duration: Some(config.body_duration),
    };
    selvedge_gateway::read_body(payload, limits)
        .await
        .map_err(|error| match error {
            BodyError::TooLarge => too_large(),
            BodyError::TooSlow => RequestError::BodyTooSlow,
            BodyError::Broken(_) => RequestError::Body("The request body could not be read".to_owned()),
        })
}

/// Whether `Content-Length` exceeds the limit.
fn announces_more_than(http: &HttpRequest, limit: usize) -> bool {
    let announced = http.headers().get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.trim().parse::<u64>().ok());
    announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit))
}
