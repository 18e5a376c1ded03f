//! Hooks over HTTP, signed as Standard Webhooks describe it: three tries, five seconds for all of them.

use std::time::Duration;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use hyper::header::HeaderName;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::Sha256;
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::AuthError;
use crate::http_client::{Answer, Call, CallError, HttpClient};

const TRIES: u32 = 3;
const WHOLE_LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_secs(2);
const LARGEST_ANSWER_BYTES: usize = 200 * 1024;

/// Keys are written with and without padding.
const KEY_TEXT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of a key, written after `whsec_`.
pub(crate) fn decode_key(text: &str) -> Option<Vec<u8>> {
    KEY_TEXT.decode(text).ok().filter(|key| !key.is_empty())
}

/// Calls the hook; null when it has nothing to say.
///
/// # Errors
/// 422 when it is too slow, unreachable or answers too much, 400 when the answer is not JSON, 500 for any other status.
pub(super) async fn call(
    http: &HttpClient,
    url: &str,
    secrets: &[SecretString],
    input: &Value,
) -> Result<Value, AuthError> {
    let body = input.to_string();
    let deadline = Instant::now() + WHOLE_LIMIT;
    for attempt in 1..=TRIES {
        let left = deadline.saturating_duration_since(Instant::now());
        let call = signed(url, secrets, &body)
            .timeout(left)
            .largest(LARGEST_ANSWER_BYTES);
        match http.send(call).await {
            Ok(answer) => match read(&answer)? {
                Some(output) => return Ok(output),
                None if attempt == TRIES => {
                    return Err(internal("Service currently unavailable due to hook"));
                }
                None => {}
            },
            Err(CallError::TooLarge { .. }) => {
                return Err(AuthError::coded(
                    422,
                    "hook_payload_over_size_limit",
                    format!("Payload size exceeded size limit of {LARGEST_ANSWER_BYTES} bytes"),
                ));
            }
            Err(CallError::Timeout { .. }) => return Err(timeout()),
            Err(error) => {
                tracing::warn!(%error, attempt, "a hook could not be reached");
                if attempt == TRIES {
                    return Err(AuthError::coded(
                        422,
                        "hook_timeout_after_retry",
                        "Failed to reach hook after maximum retries",
                    ));
                }
                if Instant::now() + PAUSE >= deadline {
                    return Err(timeout());
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    Err(timeout())
}

/// One try: an id of its own, and one signature per key.
fn signed(url: &str, secrets: &[SecretString], body: &str) -> Call {
    let id = Uuid::new_v4().to_string();
    let timestamp = chrono::Utc::now().timestamp().to_string();
    let signatures: Vec<String> = secrets
        .iter()
        .filter_map(|secret| decode_key(secret.expose_secret()))
        .map(|key| signature(&key, &id, &timestamp, body))
        .collect();
    let named = HeaderName::from_static;
    Call::post(url, "application/json", body.to_owned())
        .header(named("webhook-id"), &id)
        .header(named("webhook-timestamp"), &timestamp)
        .header(named("webhook-signature"), &signatures.join(" "))
        .header(named("accept-encoding"), "identity")
}

fn signature(key: &[u8], id: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// What the answer says; `None` to ask again.
fn read(answer: &Answer) -> Result<Option<Value>, AuthError> {
    let header = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
    match answer.status {
        204 => Ok(Some(Value::Null)),
        200 | 202 => {
            let content_type = header("content-type").unwrap_or_default();
            let media_type = content_type.split(';').next().unwrap_or_default().trim();
            if !media_type.eq_ignore_ascii_case("application/json") {
                let text = if media_type.is_empty() {
                    "Invalid Content-Type: Missing Content-Type header".to_owned()
                } else {
                    format!("Invalid JSON response. Received content-type: {content_type}")
                };
                return Err(AuthError::coded(400, "hook_payload_invalid_content_type", text));
            }
            serde_json::from_slice(&answer.body)
                .map(Some)
                .map_err(|_| internal("Error unmarshaling JSON output."))
        }
        429 | 503 if header("retry-after").is_some_and(|after| !after.is_empty()) => Ok(None),
        429 | 503 => Err(internal("Service currently unavailable due to hook")),
        400 => Err(internal("Invalid payload sent to hook")),
        401 => Err(internal("Hook requires authorization token")),
        status => Err(internal(format!(
            "Unexpected status code returned from hook: {status}"
        ))),
    }
}

fn internal(text: impl Into<std::borrow::Cow<'static, str>>) -> AuthError {
    AuthError::coded(500, "unexpected_failure", text)
}

fn timeout() -> AuthError {
    let seconds = WHOLE_LIMIT.as_secs();
    AuthError::coded(
        422,
        "hook_timeout",
        format!("Failed to reach hook within maximum time of {seconds} seconds"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_standard_webhooks() {
        // The example of the specification's reference libraries.
        let key = decode_key("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a key");

        let signature = signature(
            &key,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            "{\"test\": 2432232314}",
        );

        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
