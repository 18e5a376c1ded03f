//! `MessageBird`: `POST /messages` with a form and an access key in the header.

use hyper::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};

use super::request::{TextMessage, choose_base_url, error_text, parse_body, read_id, send_request};
use crate::http_client::{Call, HttpClient};

/// Sends a message with originator, access key and base URL of the configuration; returns its id.
///
/// # Errors
/// `MessageBird`'s error text, its status, or why it could not be called.
pub(super) async fn send_message(
    http: &HttpClient,
    (originator, access_key, url): (&str, &SecretString, &Option<String>),
    text: &TextMessage<'_>,
) -> Result<Option<String>, String> {
    let fields = [
        ("originator", originator),
        ("body", text.text),
        ("recipients", text.phone),
        ("type", "sms"),
        ("datacoding", "unicode"),
    ];
    let url = format!(
        "{}/messages",
        choose_base_url(url, "https://rest.messagebird.com")
    );
    let key = format!("AccessKey {}", access_key.expose_secret());
    let call = Call::post_form(url, &fields).header(AUTHORIZATION, &key);
    let response = send_request(http, call).await?;
    let body = parse_body(&response);
    if !(200..300).contains(&response.status) {
        return Err(error_text(&body["errors"][0]["description"], &response));
    }
    // A success status may still mean that the message went to nobody.
    match body["recipients"]["totalSentCount"].as_u64() {
        Some(0) => Err("no message was sent".to_owned()),
        _ => Ok(read_id(&body["id"])),
    }
}
