//! `GET /admin/users/{id}`. Source: Auth contract §2.15.

use actix_web::{HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use uuid::Uuid;

use crate::error::AuthError;
use crate::request::Admin;
use crate::state::AuthState;
use crate::store::users;
use crate::user::User;

/// `GET /admin/users/{id}`, administrators only → 200 with the User.
pub(crate) async fn get_user(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let client = state.connect().await?;
    let user = find_user(&client, &id).await?;
    Ok(HttpResponse::Ok().json(user.body()))
}

/// Like [`find_user`], with the row locked until the transaction ends: a decision about what the user has, such as a factor, would
/// otherwise be one about what they had.
///
/// # Errors
/// Those of [`find_user`].
pub(crate) async fn lock_user(db: &Transaction<'_>, id: &str) -> Result<User, AuthError> {
    let known = find_user(db, id).await?;
    users::lock_by_id(db, known.id)
        .await?
        .ok_or(AuthError::UserNotFound("User not found"))
}

/// The user that the path names.
///
/// # Errors
/// 404 `validation_failed` for an id that is not a UUID, 404 `user_not_found`.
pub(crate) async fn find_user(db: &impl GenericClient, id: &str) -> Result<User, AuthError> {
    let id: Uuid = id
        .parse()
        .map_err(|_| AuthError::InvalidPathId("user_id must be an UUID"))?;
    users::find_by_id(db, id)
        .await?
        .ok_or(AuthError::UserNotFound("User not found"))
}
