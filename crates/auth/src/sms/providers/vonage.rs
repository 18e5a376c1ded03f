//! Vonage: `POST /sms/json` with a form that contains API key and secret. The body has a status per message,
//! and `"0"` is success; the HTTP status is 200 in both cases.

use secrecy::{ExposeSecret, SecretString};

use super::request::{TextMessage, choose_base_url, error_text, parse_body, read_id, send_request};
use crate::http_client::{Call, HttpClient};

/// Sends a message with sender, API key, API secret and base URL of the configuration; returns its id.
///
/// # Errors
/// Vonage's error text, its status, or why it could not be called.
pub(super) async fn send_message(
    http: &HttpClient,
    (from, api_key, api_secret, url): (&str, &str, &SecretString, &Option<String>),
    text: &TextMessage<'_>,
) -> Result<Option<String>, String> {
    // With the type `text` Vonage replaces characters outside of the GSM alphabet by question marks.
    let kind = if text.text.is_ascii() { "text" } else { "unicode" };
    let fields = [
        ("from", from),
        ("to", text.phone),
        ("text", text.text),
        ("type", kind),
        ("api_key", api_key),
        ("api_secret", api_secret.expose_secret()),
    ];
    let url = format!("{}/sms/json", choose_base_url(url, "https://rest.nexmo.com"));
    let response = send_request(http, Call::post_form(url, &fields)).await?;
    let body = parse_body(&response);
    let first = &body["messages"][0];
    if first["status"] == "0" {
        Ok(read_id(&first["message-id"]))
    } else {
        Err(error_text(&first["error-text"], &response))
    }
}
