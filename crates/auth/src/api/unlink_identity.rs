//! `DELETE /user/identities/{identity_id}`: a user gives up one of several ways to sign in. Source: Auth contract §2.10,
//! AUTH-083, AUTH-084.

use actix_web::{HttpResponse, web};
use serde_json::json;
use uuid::Uuid;

use super::authorize::check_linking;
use crate::error::AuthError;
use crate::external_accounts;
use crate::request::{RequestInfo, SignedIn};
use crate::state::AuthState;
use crate::store::users;

pub(crate) async fn unlink_identity(
    state: web::Data<AuthState>,
    caller: SignedIn,
    info: RequestInfo,
    path: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    check_linking(&state)?;
    let id: Uuid = path
        .parse()
        .map_err(|_| AuthError::InvalidPathId("identity_id must be an UUID"))?;
    if caller.user.aud != info.audience {
        return Err(AuthError::UnexpectedAudience);
    }
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    // Two tabs must not take the last two identities at once.
    let user = users::lock_by_id(&db, caller.user.id).await?;
    let user = user.ok_or(AuthError::TokenUserNotFound)?;
    external_accounts::unlink(&state, &db, &info, &user, id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(json!({})))
}
