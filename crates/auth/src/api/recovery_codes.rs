//! `/factors/recovery-codes`: single-use codes that stand in for a lost second factor. Source: AUTH-200 to AUTH-208.

use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::session_response::respond_with_session;
use crate::error::AuthError;
use crate::flows::mfa;
use crate::flows::recovery_codes::{self, NewCodes};
use crate::request::{AuthRequest, Json, OptionalJson, SignedIn, read_text};
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::factors::FactorType;

/// Longest `friendly_name`, in characters.
const LONGEST_NAME: usize = 1024;

/// The optional body of POST: `{friendly_name?}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GenerateBody {
    #[serde(deserialize_with = "read_text")]
    friendly_name: String,
}

/// Body of `…/verify`: `{code}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerifyBody {
    #[serde(deserialize_with = "read_text")]
    code: String,
}

/// New codes. No other response shows them.
#[derive(Serialize)]
struct CodesResponse<'a> {
    id: Uuid,
    #[serde(rename = "type")]
    kind: &'static str,
    friendly_name: &'a str,
    total: usize,
    codes: &'a [String],
}

/// `GET /factors/recovery-codes` → 200 `{id, type, total, remaining}`.
///
/// # Errors
/// 403 `no_authorization` for anonymous users, `session_not_found`; 404 `mfa_factor_not_found`.
pub(crate) async fn get_status(request: AuthRequest, caller: SignedIn) -> Result<HttpResponse, AuthError> {
    mfa::require_session(&caller)?;
    let (set, count) = recovery_codes::get_status(&request, &caller).await?;
    Ok(HttpResponse::Ok().json(json!({
        "id": set.factor_id, "type": FactorType::RecoveryCode.as_str(),
        "total": count.total, "remaining": count.remaining,
    })))
}

/// `POST /factors/recovery-codes` → 200 `{id, type, friendly_name, total, codes}`.
///
/// # Errors
/// 400 `bad_json`, `validation_failed` for a long name; 403 `no_authorization`, `session_not_found`, `insufficient_aal`; 422
/// `mfa_recovery_codes_enroll_not_enabled` before the body is looked at, and those of [`recovery_codes::generate`]; 429.
pub(crate) async fn generate_codes(
    request: AuthRequest,
    caller: SignedIn,
    body: Result<OptionalJson<GenerateBody>, AuthError>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::FactorChallenge)?;
    mfa::require_session(&caller)?;
    mfa::check_enroll_enabled(&request.state, FactorType::RecoveryCode)?;
    let OptionalJson(body) = body?;
    if body.friendly_name.chars().count() > LONGEST_NAME {
        return Err(AuthError::invalid("friendly_name is too long"));
    }
    let new = recovery_codes::generate(&request, &caller, &body.friendly_name).await?;
    Ok(respond_with_codes(&new))
}

/// `POST /factors/recovery-codes/verify` → 200 with a session at `aal2`. The user's other sessions below `aal2` end.
///
/// # Errors
/// 422 `mfa_recovery_codes_verify_not_enabled` before the body is looked at; 400 `bad_json`; 403 `no_authorization`,
/// `session_not_found`; those of [`recovery_codes::verify`]; 429 `over_request_rate_limit`.
pub(crate) async fn verify_code(
    request: AuthRequest,
    caller: SignedIn,
    body: Result<Json<VerifyBody>, AuthError>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::FactorVerify)?;
    mfa::require_session(&caller)?;
    mfa::check_verify_enabled(&request.state, FactorType::RecoveryCode)?;
    let Json(body) = body?;
    let tokens = recovery_codes::verify(&request, &caller, &body.code).await?;
    Ok(respond_with_session(&tokens))
}

/// `POST /factors/recovery-codes/regenerate` → 200 as [`generate_codes`], with the id and name of the set.
///
/// # Errors
/// 403 `no_authorization`, `session_not_found`, `insufficient_aal`; 404 `mfa_factor_not_found`; 422
/// `mfa_recovery_codes_enroll_not_enabled`; 429.
pub(crate) async fn regenerate_codes(
    request: AuthRequest,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::FactorChallenge)?;
    mfa::require_session(&caller)?;
    mfa::check_enroll_enabled(&request.state, FactorType::RecoveryCode)?;
    let new = recovery_codes::regenerate(&request, &caller).await?;
    Ok(respond_with_codes(&new))
}

/// `DELETE /factors/recovery-codes` → 200 `{id}`. The user gets a notice by mail.
///
/// # Errors
/// 403 `no_authorization`, `session_not_found`, `insufficient_aal`; 404 `mfa_factor_not_found`.
pub(crate) async fn delete_codes(request: AuthRequest, caller: SignedIn) -> Result<HttpResponse, AuthError> {
    mfa::require_session(&caller)?;
    let id = recovery_codes::delete(&request, &caller).await?;
    Ok(HttpResponse::Ok().json(json!({ "id": id })))
}

fn respond_with_codes(new: &NewCodes) -> HttpResponse {
    HttpResponse::Ok().json(CodesResponse {
        id: new.set.factor_id,
        kind: FactorType::RecoveryCode.as_str(),
        friendly_name: &new.set.friendly_name,
        total: new.codes.len(),
        codes: &new.codes,
    })
}
