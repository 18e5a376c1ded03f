//! Textlocal. Source: <https://api.txtlocal.com/docs/sendsms>.

use actix_web::{HttpResponse, web};
use selvedge_mail::inbox::{TextChannel, TextMessage, find_code};
use serde::Deserialize;
use serde_json::json;

use super::state::{MessagesState, sender_or, with_plus};

/// The fields of the form that auth sends.
#[derive(Debug, Deserialize)]
pub(super) struct MessageForm {
    #[serde(default)]
    sender: String,
    message: String,
    numbers: String,
}

/// `POST /send` → 200; `status` in the body is `success`.
pub(super) async fn send_message(
    state: web::Data<MessagesState>,
    form: web::Form<MessageForm>,
) -> HttpResponse {
    let form = form.into_inner();
    // Textlocal responds with status 200 to everything; auth reads the status in the body.
    let id = uuid::Uuid::new_v4().simple().to_string();
    let response = json!({
        "num_messages": 1,
        "messages": [{"id": id, "recipient": form.numbers}],
        "status": "success",
    });
    state.inbox.deliver_text(TextMessage {
        from: sender_or(&form.sender, "Textlocal"),
        to: with_plus(&form.numbers),
        code: find_code(&form.message),
        text: form.message,
        channel: TextChannel::Sms,
    });
    HttpResponse::Ok().json(response)
}
