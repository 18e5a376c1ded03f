//! `PUT /user`: the caller changes their own address, password or metadata. Source: Auth contract §2.8.

use actix_web::HttpResponse;

use super::get_user::check_audience;
use crate::error::AuthError;
use crate::flows::update_user::{self, UpdateUserBody};
use crate::request::{AuthRequest, Json, SignedIn};
use crate::state::rate_limits::LimitedEndpoint;

/// `PUT /user?redirect_to=` → 200 with the User. A new address is `new_email` or `new_phone` until it is confirmed.
///
/// # Errors
/// 400 `validation_failed`, `reauthentication_needed`, `current_password_required`, `current_password_invalid` or
/// `phone_provider_disabled`; 401 `insufficient_aal`; 403 `not_admin` for `app_metadata`; 422 `email_exists`,
/// `phone_exists`, `weak_password`, `same_password`, `reauthentication_not_valid`, `user_sso_managed`, or
/// `validation_failed` for the password of an anonymous user; 429 `over_request_rate_limit`,
/// `over_email_send_rate_limit` or `over_sms_send_rate_limit`.
pub(crate) async fn update_user(
    request: AuthRequest,
    caller: SignedIn,
    Json(body): Json<UpdateUserBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::UpdateUser)?;
    check_audience(&request, &caller)?;
    let user = update_user::update_user(&request, &caller, body).await?;
    Ok(HttpResponse::Ok().json(user.body()))
}
