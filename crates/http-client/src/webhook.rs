//! Signatures of calls, as Standard Webhooks defines them: the receiver learns who called, and that the body is unchanged.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use hyper::header::HeaderName;
use sha2::Sha256;

use crate::Call;

/// Base 64 for keys, which projects write with and without padding.
const KEY_BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A key for the HMAC signature of webhook calls.
#[derive(Clone)]
pub struct WebhookKey(Vec<u8>);

impl WebhookKey {
    /// Reads the base 64 that is written after `v1,whsec_`; `None` when it is malformed or empty.
    pub fn decode(text: &str) -> Option<Self> {
        let key = KEY_BASE64.decode(text).ok().filter(|key| !key.is_empty());
        key.map(Self)
    }

    /// The signature `v1,<base 64>`: HMAC-SHA-256 over id, timestamp and body, separated by dots.
    pub fn sign(&self, id: &str, timestamp: &str, body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

impl std::fmt::Debug for WebhookKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without its bytes, because debug output ends up in logs.
        formatter.write_str("WebhookKey")
    }
}

/// Starts a POST of JSON with one signature for each key, so that keys can be rotated. The response must not be
/// compressed, because limits count bytes as they arrive.
pub fn signed_post(url: &str, keys: &[WebhookKey], id: &str, body: &str) -> Call {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let timestamp = now.as_secs().to_string();
    let signatures: Vec<String> = keys.iter().map(|key| key.sign(id, &timestamp, body)).collect();
    let named = HeaderName::from_static;
    Call::post(url, "application/json", body.to_owned())
        .header(named("webhook-id"), id)
        .header(named("webhook-timestamp"), &timestamp)
        .header(named("webhook-signature"), &signatures.join(" "))
        .header(named("accept-encoding"), "identity")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_080_signatures_follow_standard_webhooks() {
        // The example of the specification's reference libraries.
        let key = WebhookKey::decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a key");

        let signature = key.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            "{\"test\": 2432232314}",
        );

        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
