//! `POST /signup`: a new user by e-mail or phone and password, or an anonymous one. Source: Auth contract §2.3.

use actix_web::HttpResponse;
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::session_response::respond_with_session;
use crate::error::AuthError;
use crate::flows::sign_up::{self, SignUp, SignUpBody, SignUpOutcome};
use crate::protection::captcha;
use crate::request::{AuthRequest, Json};
use crate::state::rate_limits::LimitedEndpoint;
use crate::user::{User, format_timestamp};

/// `POST /signup?redirect_to=` → 200 with a User without session while the address must be confirmed, with a session
/// under autoconfirm and for anonymous users.
///
/// # Errors
/// 400 `validation_failed`, `captcha_failed`, `email_provider_disabled` or `phone_provider_disabled`; 422
/// `signup_disabled`, `weak_password`, `user_already_exists` or `anonymous_provider_disabled`; 429
/// `over_request_rate_limit`, `over_email_send_rate_limit` or `over_sms_send_rate_limit`; 500 "Database error saving
/// new user" when a trigger of the project raises; whatever the hook `before_user_created` refuses with.
pub(crate) async fn sign_up(
    request: AuthRequest,
    Json(body): Json<SignUpBody>,
) -> Result<HttpResponse, AuthError> {
    captcha::check_captcha(&request, &body.gotrue_meta_security).await?;
    if body.email.is_empty() && body.phone.is_empty() {
        let tokens = sign_up::sign_in_anonymously(&request, body.data).await?;
        return Ok(respond_with_session(&tokens));
    }
    request.check_rate_limit(LimitedEndpoint::Signup)?;
    Ok(match sign_up::sign_up(&request, body).await? {
        SignUpOutcome::Session(tokens) => respond_with_session(&tokens),
        SignUpOutcome::AwaitsConfirmation(user) => respond_with_user(&user),
        SignUpOutcome::AlreadyRegistered(sign_up) => respond_with_decoy(&request, &sign_up),
    })
}

/// 200 with a user whose address awaits its confirmation.
fn respond_with_user(user: &User) -> HttpResponse {
    let no_metadata = json!({});
    let mut body = user.body();
    if user.invited_at.is_some() {
        // Whoever signs up with an invited address need not own it, so the invitation's data is not shown.
        body.user_metadata = &no_metadata;
        body.identities = Some(&[]);
    }
    HttpResponse::Ok().json(body)
}

/// Response to a sign-up for an address that is registered already. It has the members of a new user with a random
/// id, so that the sender cannot tell the difference by its form.
#[derive(Serialize)]
struct DecoyUser<'a> {
    id: Uuid,
    aud: &'a str,
    role: &'a str,
    email: &'a str,
    phone: &'a str,
    confirmation_sent_at: &'a str,
    app_metadata: Value,
    user_metadata: &'a Map<String, Value>,
    /// Always empty. Compat: this is how applications detect a registered address.
    identities: [Value; 0],
    created_at: &'a str,
    updated_at: &'a str,
    is_anonymous: bool,
}

/// 200 with a made-up user that holds nothing of the existing one.
fn respond_with_decoy(request: &AuthRequest, sign_up: &SignUp) -> HttpResponse {
    let now = format_timestamp(request.now());
    let provider = if sign_up.is_by_phone() { "phone" } else { "email" };
    HttpResponse::Ok().json(DecoyUser {
        // A new id for each response: a constant one would mark the response as made up.
        id: Uuid::new_v4(),
        aud: &request.info.audience,
        role: "",
        email: &sign_up.email,
        phone: &sign_up.phone,
        confirmation_sent_at: &now,
        app_metadata: json!({ "provider": provider, "providers": [provider] }),
        user_metadata: &sign_up.data,
        identities: [],
        created_at: &now,
        updated_at: &now,
        is_anonymous: false,
    })
}
