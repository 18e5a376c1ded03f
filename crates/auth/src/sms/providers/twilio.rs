//! Twilio's two services: Programmable Messaging sends our text, Verify generates, sends and checks a code of its own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::AUTHORIZATION;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::request::{TextMessage, choose_base_url, error_text, parse_body, read_id, send_request};
use crate::config::TwilioConfig;
use crate::http_client::{Call, CallResponse, HttpClient};
use crate::sms::channel::Channel;

/// Sends a message by SMS or WhatsApp with Programmable Messaging; returns its id (`sid`).
///
/// # Errors
/// Twilio's error text with its link to more information, its status, or why it could not be called.
pub(super) async fn send_message(
    http: &HttpClient,
    account: &TwilioConfig,
    text: &TextMessage<'_>,
) -> Result<Option<String>, String> {
    let sender = &account.message_service_sid;
    let (to, from) = match text.channel {
        Channel::Sms => (format!("+{}", text.phone), sender.clone()),
        Channel::Whatsapp => {
            // Twilio wants the prefix `whatsapp:` before numbers, but not before the id of a messaging service.
            let is_number = sender
                .trim_start_matches('+')
                .bytes()
                .all(|byte| byte.is_ascii_digit());
            let from = if is_number {
                format!("whatsapp:{sender}")
            } else {
                sender.clone()
            };
            (format!("whatsapp:+{}", text.phone), from)
        }
    };
    let variables = json!({ "1": text.code }).to_string();
    let mut fields = vec![
        ("To", to.as_str()),
        ("Channel", text.channel.as_str()),
        ("From", from.as_str()),
    ];
    // WhatsApp allows a business to start a conversation only with an approved template, which Twilio renders.
    if text.channel == Channel::Whatsapp && !account.content_sid.is_empty() {
        fields.push(("ContentSid", &account.content_sid));
        fields.push(("ContentVariables", &variables));
    } else {
        fields.push(("Body", text.text));
    }
    let url = format!(
        "{}/2010-04-01/Accounts/{}/Messages.json",
        choose_base_url(&account.base_url, "https://api.twilio.com"),
        account.account_sid
    );
    let response = send_request(http, with_credentials(account, Call::post_form(url, &fields))).await?;
    let body = parse_body(&response);
    if !matches!(response.status, 200 | 201) {
        return Err(twilio_error(&body, &response));
    }
    if matches!(body["status"].as_str(), Some("failed" | "undelivered")) {
        return Err(error_text(&body["error_message"], &response));
    }
    Ok(read_id(&body["sid"]))
}

/// Starts a verification with Twilio Verify: Twilio generates a code of its own and sends it, so `text.code` is not
/// used. Returns the verification's id.
///
/// # Errors
/// Twilio's error text with its link to more information, its status, or why it could not be called.
pub(super) async fn start_verification(
    http: &HttpClient,
    account: &TwilioConfig,
    text: &TextMessage<'_>,
) -> Result<Option<String>, String> {
    let to = format!("+{}", text.phone);
    let fields = [("To", to.as_str()), ("Channel", text.channel.as_str())];
    let body = send_verify_request(http, account, "Verifications", &fields).await?;
    Ok(read_id(&body["sid"]))
}

/// Asks Twilio Verify whether `code` is the one that it has sent to `phone`.
///
/// # Errors
/// Twilio's error text, or why it could not be called.
pub(in crate::sms) async fn check_verification(
    http: &HttpClient,
    account: &TwilioConfig,
    phone: &str,
    code: &str,
) -> Result<bool, String> {
    let to = format!("+{phone}");
    let fields = [("To", to.as_str()), ("Code", code)];
    let body = send_verify_request(http, account, "VerificationCheck", &fields).await?;
    Ok(body["status"] == "approved" && body["valid"] == true)
}

/// Sends a form to a resource of the Verify service; returns the body of a successful response.
async fn send_verify_request(
    http: &HttpClient,
    account: &TwilioConfig,
    path: &str,
    fields: &[(&str, &str)],
) -> Result<Value, String> {
    let url = format!(
        "{}/v2/Services/{}/{path}",
        choose_base_url(&account.base_url, "https://verify.twilio.com"),
        account.message_service_sid
    );
    let response = send_request(http, with_credentials(account, Call::post_form(url, fields))).await?;
    let body = parse_body(&response);
    if matches!(response.status, 200 | 201) {
        Ok(body)
    } else {
        Err(twilio_error(&body, &response))
    }
}

/// Adds HTTP Basic authentication with account id and secret.
fn with_credentials(account: &TwilioConfig, call: Call) -> Call {
    let pair = format!("{}:{}", account.account_sid, account.auth_token.expose_secret());
    call.header(AUTHORIZATION, &format!("Basic {}", STANDARD.encode(pair)))
}

/// Builds the error text that GoTrue builds from Twilio's `message` and `more_info`.
fn twilio_error(body: &Value, response: &CallResponse) -> String {
    let more = body["more_info"].as_str().unwrap_or_default();
    format!(
        "{} More information: {more}",
        error_text(&body["message"], response)
    )
}
