//! Reading a request's body from the connection, within limits of size and time.

use actix_web::http::header;
use actix_web::{HttpRequest, web};
use bytes::Bytes;
use selvedge_gateway::{BodyError, BodyForm, BodyLimits, Caller};
use selvedge_memory::MemoryBudget;

use crate::config::RestConfig;
use crate::error::{RequestError, RestError};

/// Reads the whole body; GET, HEAD and OPTIONS have none.
///
/// # Errors
/// 413 above `body_limit_bytes`, 408 after `body_pause` without data or `body_duration` in all, 400 for broken framing,
/// 503 when there is no memory left.
pub(crate) async fn read_body(
    http: &HttpRequest,
    payload: web::Payload,
    config: &RestConfig,
    memory: &MemoryBudget,
) -> Result<Bytes, RestError> {
    if matches!(http.method().as_str(), "GET" | "HEAD" | "OPTIONS") {
        return Ok(Bytes::new());
    }
    let too_large = || RequestError::BodyTooLarge(config.body_limit_bytes);
    // Refused by its announced length, so that a client need not send what will not be read.
    if announces_more_than(http, config.body_limit_bytes) {
        return Err(too_large().into());
    }
    let limits = BodyLimits {
        bytes: config.body_limit_bytes,
        pause: Some(config.body_pause),
        duration: Some(config.body_duration),
        form: BodyForm::Bytes,
        memory,
        client: Caller::client_of(http),
    };
    selvedge_gateway::read_body(payload, limits)
        .await
        .map_err(|error| match error {
            BodyError::TooLarge => too_large().into(),
            BodyError::TooSlow => RequestError::BodyTooSlow.into(),
            BodyError::OutOfMemory => RestError::OutOfMemory { is_committed: false },
            BodyError::Broken(_) => {
                RequestError::Body("The request body could not be read".to_owned()).into()
            }
        })
}

/// Whether `Content-Length` exceeds the limit.
fn announces_more_than(http: &HttpRequest, limit: usize) -> bool {
    let announced = http.headers().get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.trim().parse::<u64>().ok());
    announced.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit))
}
