//! `DELETE /admin/users/{id}`: deletes a user, or with `should_soft_delete` keeps an anonymised row. Source: Auth
//! contract §2.15, AUTH-060.

use actix_web::{HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::admin_get_user::lock_user;
use super::response_bodies::EmptyBody;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::request::{Admin, AuthRequest, OptionalJson};
use crate::store::audit::{Action, Actor};
use crate::store::user_access::{self, AccessEnd};
use crate::store::users;

/// Length of the replacement for a phone number: E.164 numbers have at most 15 digits, and columns of projects may be
/// limited to that.
const LONGEST_PHONE: usize = 15;

/// The optional body: `{should_soft_delete?}`, false by default.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DeleteBody {
    should_soft_delete: Option<bool>,
}

/// `DELETE /admin/users/{id}`, administrators only → 200 `{}`.
///
/// A hard deletion removes the row and, by cascades of the database, everything that refers to it. A soft deletion
/// replaces addresses by hashes, clears metadata and password, and ends all that could sign the user in; a second one changes
/// nothing.
///
/// # Errors
/// 404 `user_not_found`, or `validation_failed` for an id that is not a UUID.
pub(crate) async fn delete_user(
    request: AuthRequest,
    admin: Admin,
    id: web::Path<String>,
    OptionalJson(body): OptionalJson<DeleteBody>,
) -> Result<HttpResponse, AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = lock_user(&db, &id).await?;
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    // Logged before the deletion, while the row that the entry names still exists.
    accounts::log_action(&request, &db, actor, Action::UserDeleted).await?;
    let now = request.now();
    if body.should_soft_delete != Some(true) {
        // Not all tables have foreign keys that would delete their rows with the user's.
        user_access::end(&db, user.id, AccessEnd::AccountGone, now).await?;
        users::delete(&db, user.id).await?;
    // A second soft deletion would hash the hashes again.
    } else if user.deleted_at.is_none() {
        let (email, mut phone) = (
            hash_address(user.id, &user.email),
            hash_address(user.id, &user.phone),
        );
        if let Some(phone) = &mut phone {
            phone.truncate(LONGEST_PHONE);
        }
        users::soft_delete(&db, user.id, email.as_deref(), phone.as_deref(), now).await?;
        user_access::end(&db, user.id, AccessEnd::AccountGone, now).await?;
    }
    db.commit().await?;
    Ok(HttpResponse::Ok().json(EmptyBody {}))
}

/// The base64url SHA-256 of user id and address, which replaces the address: unique, and the address cannot be read
/// from it. `None` for an empty address.
fn hash_address(id: Uuid, address: &str) -> Option<String> {
    (!address.is_empty()).then(|| URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{id}{address}"))))
}
