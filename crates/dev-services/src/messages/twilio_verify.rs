//! Twilio Verify: generates codes, sends and checks them.
//!
//! Source: <https://www.twilio.com/docs/verify/api/verification> and
//! <https://www.twilio.com/docs/verify/api/verification-check>.

use actix_web::{HttpResponse, web};
use selvedge_mail::inbox::{TextChannel, TextMessage};
use serde::Deserialize;
use serde_json::json;

use super::state::MessagesState;
use super::twilio::new_twilio_id;
use super::verification::Check;

/// The form that starts a verification.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct StartForm {
    to: String,
    #[serde(default)]
    channel: String,
}

/// `POST /v2/Services/{service}/Verifications` → 201 with the pending verification.
pub(super) async fn start_verification(
    state: web::Data<MessagesState>,
    form: web::Form<StartForm>,
) -> HttpResponse {
    // The form has no code: with Verify, the application never learns it.
    let code = state.verifications.start(&form.to);
    let channel = match form.channel.as_str() {
        "whatsapp" => TextChannel::Whatsapp,
        _ => TextChannel::Sms,
    };
    state.inbox.deliver_text(TextMessage {
        from: "Twilio Verify".to_owned(),
        to: form.to.clone(),
        text: format!("Your verification code is: {code}"),
        code: Some(code),
        channel,
    });
    HttpResponse::Created().json(json!({
        "sid": new_twilio_id("VE"), "to": form.to, "channel": form.channel, "status": "pending", "valid": false,
    }))
}

/// The form that checks a code.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct CheckForm {
    to: String,
    code: String,
}

/// `POST /v2/Services/{service}/VerificationCheck` → 200, `approved` for the right code; 404 when no verification is open,
/// 429 after too many wrong codes.
pub(super) async fn check_verification(
    state: web::Data<MessagesState>,
    form: web::Form<CheckForm>,
) -> HttpResponse {
    let valid = match state.verifications.check(&form.to, &form.code) {
        Check::Right => true,
        Check::Wrong => false,
        Check::Missing => {
            return HttpResponse::NotFound().json(json!({
                "code": 20404,
                "message": "The requested resource was not found",
                "more_info": "https://www.twilio.com/docs/errors/20404",
                "status": 404,
            }));
        }
        Check::TooMany => {
            return HttpResponse::TooManyRequests().json(json!({
                "code": 60202,
                "message": "Max check attempts reached",
                "more_info": "https://www.twilio.com/docs/errors/60202",
                "status": 429,
            }));
        }
    };
    // A wrong code leaves the verification open, so that the person may try again.
    let status = if valid { "approved" } else { "pending" };
    HttpResponse::Ok().json(json!({
        "sid": new_twilio_id("VE"), "to": form.to, "status": status, "valid": valid,
    }))
}
