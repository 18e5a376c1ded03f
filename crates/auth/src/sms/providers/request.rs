//! What the code for all messaging services shares: the message, the HTTP call with its limits, and the parsing of JSON
//! responses.

use std::time::Duration;

use serde_json::Value;

use crate::http_client::{Call, CallResponse, HttpClient};
use crate::sms::channel::Channel;

/// How long a service may take to respond; the client's request waits for it.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// A message with its rendered text.
pub(in crate::sms) struct TextMessage<'a> {
    /// Digits without `+`.
    pub(in crate::sms) phone: &'a str,
    pub(in crate::sms) text: &'a str,
    /// The code in the text, for services that render a template themselves (WhatsApp through Twilio).
    pub(in crate::sms) code: &'a str,
    pub(in crate::sms) channel: Channel,
}

/// Sends a request to a messaging service. Every status counts as a response.
///
/// # Errors
/// A text for the client: the service cannot be reached, is too slow, or its response is too large.
pub(super) async fn send_request(http: &HttpClient, call: Call) -> Result<CallResponse, String> {
    let call = call.timeout(TIMEOUT).max_response_bytes(MAX_RESPONSE_BYTES);
    http.send(call).await.map_err(|error| error.to_string())
}

/// Parses the body of a response with any status; null when it is not JSON. Services describe errors in it.
pub(super) fn parse_body(response: &CallResponse) -> Value {
    serde_json::from_slice(&response.body).unwrap_or_default()
}

/// Returns the configured URL of a service, or the service's own, without a trailing slash.
pub(super) fn choose_base_url<'a>(configured: &'a Option<String>, default: &'a str) -> &'a str {
    configured.as_deref().unwrap_or(default).trim_end_matches('/')
}

/// Reads a message id, which some services send as a number.
pub(super) fn read_id(value: &Value) -> Option<String> {
    value
        .as_str()
        .map(str::to_owned)
        .or_else(|| value.as_u64().map(|id| id.to_string()))
}

/// Returns the service's error text, or a text with its status when there is none.
pub(super) fn error_text(value: &Value, response: &CallResponse) -> String {
    value.as_str().map_or_else(
        || format!("the provider responded with status {}", response.status),
        str::to_owned,
    )
}
