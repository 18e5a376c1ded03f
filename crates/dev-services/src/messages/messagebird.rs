//! `MessageBird`. Source: <https://developers.messagebird.com/api/sms-messaging/>.

use actix_web::{HttpResponse, web};
use selvedge_mail::inbox::{TextChannel, TextMessage, find_code};
use serde::Deserialize;
use serde_json::json;

use super::state::{MessagesState, sender_or, with_plus};

/// The fields of the form that auth sends.
#[derive(Debug, Deserialize)]
pub(super) struct MessageForm {
    #[serde(default)]
    originator: String,
    body: String,
    recipients: String,
}

/// `POST /messages` → 201 with the message.
pub(super) async fn send_message(
    state: web::Data<MessagesState>,
    form: web::Form<MessageForm>,
) -> HttpResponse {
    let form = form.into_inner();
    // Auth treats a message without recipients as a failure, so the count must be present.
    let response = json!({
        "id": uuid::Uuid::new_v4().simple().to_string(),
        "originator": form.originator,
        "body": form.body,
        "type": "sms",
        "recipients": {
            "totalCount": 1,
            "totalSentCount": 1,
            "items": [{"recipient": form.recipients, "status": "sent"}],
        },
    });
    state.inbox.deliver_text(TextMessage {
        from: sender_or(&form.originator, "MessageBird"),
        to: with_plus(&form.recipients),
        code: find_code(&form.body),
        text: form.body,
        channel: TextChannel::Sms,
    });
    HttpResponse::Created().json(response)
}
