//! Calls hooks over HTTP, signed as Standard Webhooks defines it: at most three attempts within five seconds in all.
//! Source: Auth contract §4.5.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use hyper::header::HeaderName;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::Sha256;
use tokio::time::Instant;
use uuid::Uuid;

use crate::crypto::webhook_key::decode_key;
use crate::error::HookError;
use crate::http_client::{Call, CallError, CallResponse, HttpClient};

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

/// The request of one attempt. Each has its own id, and one signature per configured key, so that keys can be
/// rotated. The response must not be compressed: the size limit counts bytes as they arrive.
fn build_signed_call(url: &str, secrets: &[SecretString], body: &str) -> Call {
    let id = Uuid::new_v4().to_string();
    let timestamp = chrono::Utc::now().timestamp().to_string();
    let signatures: Vec<String> = secrets
        .iter()
        .filter_map(|secret| decode_key(secret.expose_secret()))
        .map(|key| sign_message(&key, &id, &timestamp, body))
        .collect();
    let named = HeaderName::from_static;
    Call::post(url, "application/json", body.to_owned())
        .header(named("webhook-id"), &id)
        .header(named("webhook-timestamp"), &timestamp)
        .header(named("webhook-signature"), &signatures.join(" "))
        .header(named("accept-encoding"), "identity")
}

/// The signature `v1,<base 64>`: HMAC-SHA-256 over id, timestamp and body, separated by dots (Standard Webhooks).
fn sign_message(key: &[u8], id: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_080_signatures_follow_standard_webhooks() {
        // The example of the specification's reference libraries.
        let key = decode_key("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a key");

        let signature = sign_message(
            &key,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            "{\"test\": 2432232314}",
        );

        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
