//! The services that send text messages, each in its own dialect of HTTP. Secrets travel in headers or the body, never in a URL.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::AUTHORIZATION;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::Channel;
use crate::config::{SmsProviderConfig, TwilioConfig};
use crate::http_client::{Answer, Call, HttpClient};

const LIMIT: Duration = Duration::from_secs(10);
const LARGEST_ANSWER_BYTES: usize = 64 * 1024;

/// A finished message.
pub(super) struct Text<'a> {
    /// Digits without `+`.
    pub(super) phone: &'a str,
    pub(super) text: &'a str,
    /// The code in it, for templates that are kept by the provider.
    pub(super) code: &'a str,
    pub(super) channel: Channel,
}

/// Sends the message; its id, where the provider gives one.
///
/// # Errors
/// What the provider said, or why it could not be asked.
pub(super) async fn send(
    http: &HttpClient,
    provider: &SmsProviderConfig,
    text: &Text<'_>,
) -> Result<Option<String>, String> {
    match provider {
        SmsProviderConfig::Twilio(account) => send_with_twilio(http, account, text).await,
        SmsProviderConfig::TwilioVerify(account) => start_with_twilio(http, account, text).await,
        SmsProviderConfig::Messagebird {
            originator,
            access_key,
            base_url,
        } => {
            let fields = [
                ("originator", originator.as_str()),
                ("body", text.text),
                ("recipients", text.phone),
                ("type", "sms"),
                ("datacoding", "unicode"),
            ];
            let url = format!("{}/messages", base(base_url, "https://rest.messagebird.com"));
            let key = format!("AccessKey {}", access_key.expose_secret());
            let reply = ask(http, Call::post_form(url, &fields).header(AUTHORIZATION, &key)).await?;
            let body = body_of(&reply);
            if !(200..300).contains(&reply.status) {
                return Err(said(&body["errors"][0]["description"], &reply));
            }
            match body["recipients"]["totalSentCount"].as_u64() {
                Some(0) => Err("no message was sent".to_owned()),
                _ => Ok(id(&body["id"])),
            }
        }
        SmsProviderConfig::Textlocal {
            sender,
            api_key,
            base_url,
        } => {
            let fields = [
                ("sender", sender.as_str()),
                ("apikey", api_key.expose_secret()),
                ("message", text.text),
                ("numbers", text.phone),
            ];
            let url = format!("{}/send", base(base_url, "https://api.textlocal.in"));
            let reply = ask(http, Call::post_form(url, &fields)).await?;
            let body = body_of(&reply);
            if body["status"] == "success" {
                Ok(id(&body["messages"][0]["id"]))
            } else {
                Err(said(&body["errors"][0]["message"], &reply))
            }
        }
        SmsProviderConfig::Vonage {
            from,
            api_key,
            api_secret,
            base_url,
        } => {
            let kind = if text.text.is_ascii() { "text" } else { "unicode" };
            let fields = [
                ("from", from.as_str()),
                ("to", text.phone),
                ("text", text.text),
                ("type", kind),
                ("api_key", api_key),
                ("api_secret", api_secret.expose_secret()),
            ];
            let url = format!("{}/sms/json", base(base_url, "https://rest.nexmo.com"));
            let reply = ask(http, Call::post_form(url, &fields)).await?;
            let body = body_of(&reply);
            let first = &body["messages"][0];
            if first["status"] == "0" {
                Ok(id(&first["message-id"]))
            } else {
                Err(said(&first["error-text"], &reply))
            }
        }
    }
}

async fn send_with_twilio(
    http: &HttpClient,
    account: &TwilioConfig,
    text: &Text<'_>,
) -> Result<Option<String>, String> {
    let sender = &account.message_service_sid;
    let (to, from) = match text.channel {
        Channel::Sms => (format!("+{}", text.phone), sender.clone()),
        Channel::Whatsapp => {
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
    if text.channel == Channel::Whatsapp && !account.content_sid.is_empty() {
        fields.push(("ContentSid", &account.content_sid));
        fields.push(("ContentVariables", &variables));
    } else {
        fields.push(("Body", text.text));
    }
    let url = format!(
        "{}/2010-04-01/Accounts/{}/Messages.json",
        base(&account.base_url, "https://api.twilio.com"),
        account.account_sid
    );
    let reply = ask(http, signed_in(account, Call::post_form(url, &fields))).await?;
    let body = body_of(&reply);
    if !matches!(reply.status, 200 | 201) {
        return Err(twilio_error(&body, &reply));
    }
    if matches!(body["status"].as_str(), Some("failed" | "undelivered")) {
        return Err(said(&body["error_message"], &reply));
    }
    Ok(id(&body["sid"]))
}

/// Twilio Verify: the provider makes the code.
async fn start_with_twilio(
    http: &HttpClient,
    account: &TwilioConfig,
    text: &Text<'_>,
) -> Result<Option<String>, String> {
    let to = format!("+{}", text.phone);
    let fields = [("To", to.as_str()), ("Channel", text.channel.as_str())];
    let reply = ask_verify(http, account, "Verifications", &fields).await?;
    Ok(id(&reply["sid"]))
}

/// Twilio Verify: the provider checks the code.
///
/// # Errors
/// What the provider said, or why it could not be asked.
pub(super) async fn check_with_twilio(
    http: &HttpClient,
    account: &TwilioConfig,
    phone: &str,
    code: &str,
) -> Result<bool, String> {
    let to = format!("+{phone}");
    let fields = [("To", to.as_str()), ("Code", code)];
    let reply = ask_verify(http, account, "VerificationCheck", &fields).await?;
    Ok(reply["status"] == "approved" && reply["valid"] == true)
}

async fn ask_verify(
    http: &HttpClient,
    account: &TwilioConfig,
    path: &str,
    fields: &[(&str, &str)],
) -> Result<Value, String> {
    let url = format!(
        "{}/v2/Services/{}/{path}",
        base(&account.base_url, "https://verify.twilio.com"),
        account.message_service_sid
    );
    let reply = ask(http, signed_in(account, Call::post_form(url, fields))).await?;
    let body = body_of(&reply);
    if matches!(reply.status, 200 | 201) {
        Ok(body)
    } else {
        Err(twilio_error(&body, &reply))
    }
}

fn signed_in(account: &TwilioConfig, call: Call) -> Call {
    let pair = format!("{}:{}", account.account_sid, account.auth_token.expose_secret());
    call.header(AUTHORIZATION, &format!("Basic {}", STANDARD.encode(pair)))
}

fn twilio_error(body: &Value, reply: &Answer) -> String {
    let more = body["more_info"].as_str().unwrap_or_default();
    format!("{} More information: {more}", said(&body["message"], reply))
}

async fn ask(http: &HttpClient, call: Call) -> Result<Answer, String> {
    let call = call.timeout(LIMIT).largest(LARGEST_ANSWER_BYTES);
    http.send(call).await.map_err(|error| error.to_string())
}

/// The body of an answer of any status; null when it is not JSON.
fn body_of(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_default()
}

fn base<'a>(configured: &'a Option<String>, default: &'a str) -> &'a str {
    configured.as_deref().unwrap_or(default).trim_end_matches('/')
}

fn id(value: &Value) -> Option<String> {
    value
        .as_str()
        .map(str::to_owned)
        .or_else(|| value.as_u64().map(|id| id.to_string()))
}

/// The provider's own words, else its status.
fn said(value: &Value, reply: &Answer) -> String {
    value.as_str().map_or_else(
        || format!("the provider answered {}", reply.status),
        str::to_owned,
    )
}
