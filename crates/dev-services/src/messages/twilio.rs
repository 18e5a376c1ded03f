//! Twilio's Programmable Messaging: SMS and WhatsApp.
//!
//! Source: <https://www.twilio.com/docs/messaging/api/message-resource> and, for the number that is refused,
//! <https://www.twilio.com/docs/iam/test-credentials>.

use actix_web::{HttpResponse, web};
use selvedge_mail::inbox::{TextChannel, TextMessage, find_code};
use serde::Deserialize;
use serde_json::{Value, json};

use super::state::{MessagesState, sender_or, with_plus};

/// Twilio's test number that no message reaches, so that an application can be tried with a message that fails.
const INVALID_NUMBER: &str = "+15005550001";

/// The fields of the form that auth sends.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct MessageForm {
    to: String,
    from: String,
    body: String,
    content_sid: String,
    content_variables: String,
}

/// `POST /2010-04-01/Accounts/{account}/Messages.json` → 201 with the message, or 400 with Twilio's error.
pub(super) async fn send_message(
    state: web::Data<MessagesState>,
    form: web::Form<MessageForm>,
) -> HttpResponse {
    let form = form.into_inner();
    let (channel, to) = match form.to.strip_prefix("whatsapp:") {
        Some(number) => (TextChannel::Whatsapp, with_plus(number)),
        None => (TextChannel::Sms, with_plus(&form.to)),
    };
    if to == INVALID_NUMBER {
        return refuse_number(&to);
    }
    // WhatsApp requires an approved template for the first message to a user; such requests have no body text.
    let (text, code) = if form.content_sid.is_empty() {
        let code = find_code(&form.body);
        (form.body, code)
    } else {
        describe_template(&form.content_sid, &form.content_variables)
    };
    let from = form.from.trim_start_matches("whatsapp:");
    let id = new_twilio_id("SM");
    let response = json!({
        "sid": id, "status": "queued", "to": form.to, "from": form.from, "body": text,
        "error_code": null, "error_message": null,
    });
    state.inbox.deliver_text(TextMessage {
        from: sender_or(from, "Twilio"),
        to,
        text,
        code,
        channel,
    });
    HttpResponse::Created().json(response)
}

/// Text and code of a message from an approved template. Its words are known to Twilio alone, so the text names the template and
/// what is filled in.
fn describe_template(id: &str, variables: &str) -> (String, Option<String>) {
    let values: Value = serde_json::from_str(variables).unwrap_or_default();
    // Auth fills in the code as the first variable, the only one that templates for codes have.
    let code = values["1"].as_str().map(str::to_owned);
    let filled_in = values.as_object().map_or_else(String::new, |values| {
        let pairs = values
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap_or_default()));
        pairs.collect::<Vec<_>>().join(", ")
    });
    (format!("{filled_in} (template {id})"), code)
}

/// Twilio's answer to a number that does not exist.
fn refuse_number(number: &str) -> HttpResponse {
    HttpResponse::BadRequest().json(json!({
        "code": 21211,
        "message": format!("The 'To' number {number} is not a valid phone number."),
        "more_info": "https://www.twilio.com/docs/errors/21211",
        "status": 400,
    }))
}

/// An id in the form of Twilio's: two letters for the kind, and 32 hexadecimal digits.
pub(super) fn new_twilio_id(kind: &str) -> String {
    format!("{kind}{}", uuid::Uuid::new_v4().simple())
}
