//! Vonage. Source: <https://developer.vonage.com/en/api/sms>.

use actix_web::{HttpResponse, web};
use selvedge_mail::inbox::{TextChannel, TextMessage, find_code};
use serde::Deserialize;
use serde_json::json;

use super::state::{MessagesState, sender_or, with_plus};

/// The fields of the form that auth sends.
#[derive(Debug, Deserialize)]
pub(super) struct MessageForm {
    #[serde(default)]
    from: String,
    to: String,
    text: String,
}

/// `POST /sms/json` → 200; the message's status `0` means success.
pub(super) async fn send_message(
    state: web::Data<MessagesState>,
    form: web::Form<MessageForm>,
) -> HttpResponse {
    let form = form.into_inner();
    // Numbers in the response are texts, as Vonage writes them.
    let id = uuid::Uuid::new_v4().to_string();
    let response = json!({
        "message-count": "1",
        "messages": [{"to": form.to, "message-id": id, "status": "0"}],
    });
    state.inbox.deliver_text(TextMessage {
        from: sender_or(&form.from, "Vonage"),
        to: with_plus(&form.to),
        code: find_code(&form.text),
        text: form.text,
        channel: TextChannel::Sms,
    });
    HttpResponse::Ok().json(response)
}
