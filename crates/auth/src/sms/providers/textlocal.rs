//! Textlocal: `POST /send` with a form that contains the API key. `status` in the body says whether the message was
//! sent; the HTTP status does not.

use secrecy::{ExposeSecret, SecretString};

use super::request::{TextMessage, choose_base_url, error_text, parse_body, read_id, send_request};
use crate::http_client::{Call, HttpClient};

/// Sends a message with sender, API key and base URL of the configuration; returns its id.
///
/// # Errors
/// Textlocal's error text, its status, or why it could not be called.
pub(super) async fn send_message(
    http: &HttpClient,
    (sender, api_key, url): (&str, &SecretString, &Option<String>),
    text: &TextMessage<'_>,
) -> Result<Option<String>, String> {
    let fields = [
        ("sender", sender),
        ("apikey", api_key.expose_secret()),
        ("message", text.text),
        ("numbers", text.phone),
    ];
    let url = format!("{}/send", choose_base_url(url, "https://api.textlocal.in"));
    let response = send_request(http, Call::post_form(url, &fields)).await?;
    let body = parse_body(&response);
    if body["status"] == "success" {
        Ok(read_id(&body["messages"][0]["id"]))
    } else {
        Err(error_text(&body["errors"][0]["message"], &response))
    }
}
