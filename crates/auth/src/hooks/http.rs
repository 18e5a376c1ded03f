//! Calls hooks over HTTP, signed as Standard Webhooks defines it: at most three attempts within five seconds in all.
//! Source: Auth contract §4.5.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::HookError;
use crate::http_client::{Call, CallError, CallResponse, HttpClient, WebhookKey, signed_post};

/// Attempts per call.
const MAX_ATTEMPTS: u32 = 3;
/// Limit for all attempts together, which a user waits for at a sign-in.
const TOTAL_LIMIT: Duration = Duration::from_secs(5);
/// Pause between two attempts that could not connect.
const RETRY_PAUSE: Duration = Duration::from_secs(2);
/// Limit of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 200 * 1024;

/// Calls the hook and returns its JSON; null for 204.
///
/// # Errors
/// 422 when the hook is too slow, unreachable or responds too much; 400 when its response is not JSON; 500 for any
/// other status.
pub(super) async fn call_endpoint(
    http: &HttpClient,
    url: &str,
    secrets: &[SecretString],
    input: &Value,
) -> Result<Value, HookError> {
    let body = input.to_string();
    let deadline = Instant::now() + TOTAL_LIMIT;
    for attempt in 1..=MAX_ATTEMPTS {
        let left = deadline.saturating_duration_since(Instant::now());
        let call = build_signed_call(url, secrets, &body)
            .timeout(left)
            .max_response_bytes(MAX_RESPONSE_BYTES);
        match http.send(call).await {
            Ok(response) => match read_response(&response)? {
                Some(output) => return Ok(output),
                None if attempt == MAX_ATTEMPTS => {
                    return Err(HookError::Unavailable);
                }
                None => {}
            },
            Err(CallError::TooLarge { .. }) => {
                return Err(HookError::ResponseTooLarge {
                    limit_bytes: MAX_RESPONSE_BYTES,
                });
            }
            // Not repeated: the attempt's time limit was all that was left for the call.
            Err(CallError::Timeout { .. }) => return Err(TIMEOUT),
            // Nobody waits for attempts that would be refused in the same way.
            Err(error @ (CallError::Private { .. } | CallError::BadUrl)) => {
                tracing::warn!(%error, "a hook is not called");
                return Err(HookError::TimeoutAfterRetry);
            }
            Err(error) => {
                tracing::warn!(%error, attempt, "a hook could not be reached");
                if attempt == MAX_ATTEMPTS {
                    return Err(HookError::TimeoutAfterRetry);
                }
                if Instant::now() + RETRY_PAUSE >= deadline {
                    return Err(TIMEOUT);
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
    Err(TIMEOUT)
}

/// The request of one attempt. Each has its own id.
fn build_signed_call(url: &str, secrets: &[SecretString], body: &str) -> Call {
    let keys: Vec<WebhookKey> = secrets
        .iter()
        .filter_map(|secret| WebhookKey::decode(secret.expose_secret()))
        .collect();
    signed_post(url, &keys, &Uuid::new_v4().to_string(), body)
}

/// Reads the response; `None` when the hook asks for another attempt by `Retry-After`.
fn read_response(response: &CallResponse) -> Result<Option<Value>, HookError> {
    let header = |name: &str| response.headers.get(name).and_then(|value| value.to_str().ok());
    match response.status {
        204 => Ok(Some(Value::Null)),
        200 | 202 => {
            let content_type = header("content-type").unwrap_or_default();
            let media_type = content_type.split(';').next().unwrap_or_default().trim();
            if !media_type.eq_ignore_ascii_case("application/json") {
                return Err(if media_type.is_empty() {
                    HookError::MissingContentType
                } else {
                    HookError::NotJson(content_type.to_owned())
                });
            }
            serde_json::from_slice(&response.body)
                .map(Some)
                .map_err(|_| HookError::MalformedOutput)
        }
        429 | 503 if header("retry-after").is_some_and(|after| !after.is_empty()) => Ok(None),
        429 | 503 => Err(HookError::Unavailable),
        400 => Err(HookError::InvalidPayload),
        401 => Err(HookError::NeedsAuthorization),
        status => Err(HookError::UnexpectedStatus(status)),
    }
}

const TIMEOUT: HookError = HookError::Timeout {
    seconds: TOTAL_LIMIT.as_secs(),
};
