//! `POST /factors/{id}/verify`: verifies the response to a challenge of a second factor and raises the session to
//! `aal2`. Source: Auth contract §2.12.

use actix_web::{HttpResponse, web};

use super::session_response::respond_with_session;
use crate::error::AuthError;
use crate::flows::verify_factor::{self, VerifyFactorBody};
use crate::request::{AuthRequest, Json, SignedIn};
use crate::state::rate_limits::LimitedEndpoint;

/// `POST /factors/{id}/verify` → 200 with a session at `aal2`. The user's other sessions below `aal2` end.
///
/// # Errors
/// 400 `bad_json` for a challenge id that is not a UUID, `validation_failed` for an empty code or a malformed credential;
/// 403 `mfa_verification_rejected` by the hook; 404 `mfa_factor_not_found`; 422 `mfa_factor_not_found` for an unknown
/// challenge, `mfa_ip_address_mismatch`, `mfa_challenge_expired`, `mfa_verification_failed` or
/// `mfa_…_verify_not_enabled`; 403 `otp_expired` when the SMS provider rejects the code; 429 `over_request_rate_limit`,
/// also after 20 wrong codes for the factor.
pub(crate) async fn verify_factor(
    request: AuthRequest,
    caller: SignedIn,
    id: web::Path<String>,
    Json(body): Json<VerifyFactorBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::FactorVerify)?;
    let tokens = verify_factor::verify_factor(&request, &caller, &id, &body).await?;
    Ok(respond_with_session(&tokens))
}
