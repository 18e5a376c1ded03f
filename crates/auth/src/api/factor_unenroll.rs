//! `DELETE /factors/{id}`: removes a second factor; sessions that verified it fall back to `aal1`. Source: Auth
//! contract §2.12, AUTH-077, AUTH-078.

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use selvedge_mail::MailKind;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::error::{AuthError, MfaError};
use crate::flows::accounts;
use crate::flows::{locked_caller, mfa};
use crate::mailer::{self, Notice};
use crate::request::{AuthRequest, SignedIn};
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, FactorType};
use crate::store::recovery_codes;

/// Body of the response: the id of the deleted factor.
#[derive(Serialize)]
struct UnenrollResponse {
    id: Uuid,
}

/// `DELETE /factors/{id}` → 200 `{id}`. The user gets a notice by mail.
///
/// # Errors
/// 403 `no_authorization` for anonymous users, `session_not_found` for a token without a session; 404
/// `mfa_factor_not_found`; 422 `validation_failed` for recovery codes, `insufficient_aal` for a verified factor and a session at
/// `aal1`, `mfa_recovery_codes_sole_factor` when only recovery codes would be left.
pub(crate) async fn unenroll_factor(
    request: AuthRequest,
    caller: SignedIn,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let session = mfa::require_session(&caller)?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let locked = locked_caller::lock_caller(&request, &db, &caller).await?;
    let factor = mfa::get_factor(&db, caller.user.id, &id).await?;
    let codes = recovery_codes::find(&db, caller.user.id).await?;
    // A factor without its set, as a copy of the database may have it, verifies nothing and goes like any other.
    if factor.kind == FactorType::RecoveryCode && codes.is_some() {
        return Err(MfaError::RecoveryCodesNotUnenrolled.into());
    }
    // Otherwise a stolen password would be enough to remove the second factor.
    if factor.is_verified && locked.lacks_second_factor() {
        return Err(MfaError::UnenrollNeedsAal2.into());
    }
    if factor.is_verified && codes.is_some() {
        check_others(&db, caller.user.id, factor.id).await?;
    }
    factors::delete(&db, factor.id).await?;
    let mut traits = mfa::build_factor_traits(&factor);
    traits["session_id"] = json!(session.id);
    let actor = Actor::User(&caller.user);
    accounts::log_action_with_traits(&request, &db, actor, Action::FactorUnenrolled, traits).await?;
    factors::downgrade_sessions(&db, caller.user.id, factor.id).await?;
    db.commit().await?;
    // The mail may take a while, and the connection is not needed for it.
    drop(client);
    let notice = Notice {
        factor_type: factor.kind.as_str(),
        ..Notice::default()
    };
    mailer::notify_user(&request, &caller.user, MailKind::MfaFactorUnenrolled, notice).await;
    Ok(HttpResponse::Ok().json(UnenrollResponse { id: factor.id }))
}

/// Refuses to remove the last verified factor beside the recovery codes that the user has: they stand in for another one.
///
/// # Errors
/// 422 `mfa_recovery_codes_sole_factor`.
async fn check_others(db: &impl GenericClient, user_id: Uuid, removed: Uuid) -> Result<(), AuthError> {
    let factors = factors::list_by_user(db, user_id).await?;
    let has_other = factors
        .iter()
        .any(|factor| factor.is_verified && factor.id != removed && factor.kind != FactorType::RecoveryCode);
    if has_other {
        return Ok(());
    }
    Err(MfaError::RecoveryCodesWouldBeSole.into())
}
