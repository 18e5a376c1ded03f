//! `PUT /admin/users/{id}`: immediate, without mails. Source: Auth contract §2.15, AUTH-059, AUTH-064.

use actix_web::{HttpResponse, web};
use chrono::{DateTime, Utc};
use deadpool_postgres::Transaction;
use serde_json::Value;

use super::admin_create_user::{AdminUserBody, ban_end, name_conflict, optional_phone};
use super::admin_get_user::find;
use crate::accounts;
use crate::error::AuthError;
use crate::leaked_passwords;
use crate::request::{Admin, Json, RequestInfo};
use crate::rules::address::parse_email;
use crate::rules::password_hash::PasswordHash;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::{phones, sessions, users};
use crate::user::User;

/// What the body means for this user; empty texts change nothing.
struct Change {
    email: String,
    phone: String,
    encrypted_password: Option<String>,
    ban: Option<Option<DateTime<Utc>>>,
}

/// `PUT /admin/users/{id}`
pub(crate) async fn update_user(
    state: web::Data<AuthState>,
    info: RequestInfo,
    admin: Admin,
    id: web::Path<String>,
    Json(body): Json<AdminUserBody>,
) -> Result<HttpResponse, AuthError> {
    let user = {
        let client = state.client().await?;
        find(&client, &id).await?
    };
    let change = Change {
        email: if body.email.is_empty() {
            String::new()
        } else {
            parse_email(&body.email)?
        },
        phone: optional_phone(&body.phone)?,
        encrypted_password: new_password(&state, &body).await?,
        ban: ban_end(&body.ban_duration, state.now())?,
    };
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    change_addresses(&state, &db, &user, &change, &body)
        .await
        .map_err(name_conflict)?;
    change_rest(&state, &db, &user, &change, body).await?;
    accounts::log(
        &state,
        &db,
        &info,
        Actor::Admin {
            role: &admin.role,
            subject: &user,
        },
        Action::UserModified,
    )
    .await?;
    let user = accounts::get(&db, user.id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(user.body()))
}

async fn new_password(state: &AuthState, body: &AdminUserBody) -> Result<Option<String>, AuthError> {
    match (&body.password, body.password_hash.as_str()) {
        (Some(_), hash) if !hash.is_empty() => Err(AuthError::invalid(
            "Only a password or a password hash should be provided",
        )),
        (Some(password), _) => {
            leaked_passwords::check(state, password).await?;
            Ok(Some(state.hasher.hash(password).await?))
        }
        (None, "") => Ok(None),
        (None, hash) if PasswordHash::parse(hash).is_some() => Ok(Some(hash.to_owned())),
        (None, _) => Err(AuthError::invalid("Provided password hash is not supported")),
    }
}

async fn change_addresses(
    state: &AuthState,
    db: &Transaction<'_>,
    user: &User,
    change: &Change,
    body: &AdminUserBody,
) -> Result<(), AuthError> {
    let now = state.now();
    if !change.email.is_empty() && change.email != user.email {
        if users::is_email_taken(db, &change.email, &user.aud, user.id).await? {
            return Err(AuthError::EmailExists);
        }
        users::set_email(db, user.id, &change.email, now).await?;
        let is_verified = body.email_confirm || user.is_confirmed();
        users::upsert_email_identity(db, user.id, &change.email, is_verified, now).await?;
        users::refresh_providers(db, user.id).await?;
    }
    if body.email_confirm && !user.is_confirmed() {
        users::confirm_email(db, user.id, now).await?;
    }
    if !change.phone.is_empty() && change.phone != user.phone {
        phones::set(db, user.id, &change.phone, now).await?;
        let is_verified = body.phone_confirm || user.is_phone_confirmed();
        phones::upsert_identity(db, user.id, &change.phone, is_verified, now).await?;
    }
    if body.phone_confirm && user.phone_confirmed_at.is_none() {
        phones::confirm(db, user.id, now).await?;
    }
    Ok(())
}

async fn change_rest(
    state: &AuthState,
    db: &Transaction<'_>,
    user: &User,
    change: &Change,
    body: AdminUserBody,
) -> Result<(), AuthError> {
    let now = state.now();
    if let Some(hash) = &change.encrypted_password {
        users::set_password(db, user.id, hash, now).await?;
        users::clear_tokens_after_password(db, user.id, now).await?;
        sessions::delete_of_user(db, user.id).await?;
    }
    if let Some(data) = body.user_metadata {
        users::merge_user_metadata(db, user.id, &Value::Object(data), now).await?;
    }
    if let Some(data) = body.app_metadata {
        users::merge_app_metadata(db, user.id, &Value::Object(data), now).await?;
    }
    if !body.role.is_empty() {
        users::set_role(db, user.id, &body.role, now).await?;
    }
    if let Some(until) = change.ban {
        users::set_ban(db, user.id, until).await?;
    }
    Ok(())
}
