//! `DELETE /user/identities/{identity_id}`: removes one of several ways to sign in from the caller's account. Source:
//! Auth contract §2.10, AUTH-083, AUTH-084.

use actix_web::{HttpResponse, web};
use uuid::Uuid;

use super::authorize::check_linking;
use super::response_bodies::EmptyBody;
use crate::error::AuthError;
use crate::flows::{linked_identities, locked_caller};
use crate::request::{AuthRequest, SignedIn};

/// `DELETE /user/identities/{identity_id}` → 200 `{}`. The id is the `identity_id` of the User's identities, not
/// their `id`.
///
/// # Errors
/// 404 `manual_linking_disabled`, or `validation_failed` for an id that is not a UUID; 401 `insufficient_aal` when the
/// session lacks the user's second factor; 403 `unexpected_audience`; 422 `user_sso_managed`, `identity_not_found`, `single_identity_not_deletable` or `email_conflict_identity_not_deletable`.
pub(crate) async fn unlink_identity(
    request: AuthRequest,
    caller: SignedIn,
    path: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    check_linking(&request.state)?;
    let id: Uuid = path
        .parse()
        .map_err(|_| AuthError::InvalidPathId("identity_id must be an UUID"))?;
    // `X-JWT-AUD` may name another audience, whose identities this user must not touch.
    if caller.user.aud != request.info.audience {
        return Err(AuthError::UnexpectedAudience);
    }
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    // The lock keeps two requests at once from unlinking the last two identities.
    let caller = locked_caller::lock_caller(&request, &db, &caller).await?;
    linked_identities::unlink_identity(&request, &db, &caller, id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(EmptyBody {}))
}
