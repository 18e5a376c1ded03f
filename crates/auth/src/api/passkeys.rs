//! `/passkeys`: a user looks at, renames and removes passkeys; an administrator does the same for a user. Source: Auth contract
//! §2.13, §2.15.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::admin_get_user::find;
use crate::accounts;
use crate::error::AuthError;
use crate::request::{Admin, Json, RequestInfo, SignedIn, text};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::passkeys::{self, Passkey};

const LONGEST_NAME_BYTES: usize = 120;

/// What a client sends to rename one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RenameBody {
    #[serde(deserialize_with = "text")]
    friendly_name: String,
}

/// Refuses everything while the project has no passkeys.
///
/// # Errors
/// 404 `passkey_disabled`.
pub(crate) fn check_enabled(state: &AuthState) -> Result<(), AuthError> {
    if state.config.webauthn.passkeys_enabled {
        return Ok(());
    }
    Err(AuthError::coded(404, "passkey_disabled", "Passkeys are disabled"))
}

/// Who has a second factor must have shown it to add or remove a way around it.
///
/// # Errors
/// 403 `insufficient_aal`, or `no_authorization` for anonymous users.
pub(super) fn check_management(caller: &SignedIn) -> Result<(), AuthError> {
    caller.check_permanent()?;
    if caller.lacks_second_factor() {
        return Err(AuthError::coded(
            403,
            "insufficient_aal",
            "AAL2 session is required to manage passkeys when MFA is enabled",
        ));
    }
    Ok(())
}

/// `GET /passkeys`
pub(crate) async fn list(state: web::Data<AuthState>, caller: SignedIn) -> Result<HttpResponse, AuthError> {
    let client = state.client().await?;
    let found = passkeys::list_of_user(&client, caller.user.id).await?;
    Ok(HttpResponse::Ok().json(bodies(&found)))
}

/// `PATCH /passkeys/{id}` `{friendly_name}` → the passkey.
pub(crate) async fn rename(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    id: web::Path<String>,
    Json(body): Json<RenameBody>,
) -> Result<HttpResponse, AuthError> {
    let id = parse_id(&id)?;
    if body.friendly_name.is_empty() {
        return Err(AuthError::invalid("friendly_name is required"));
    }
    if body.friendly_name.len() > LONGEST_NAME_BYTES {
        return Err(AuthError::invalid("friendly_name must be 120 characters or less"));
    }
    let user = &caller.user;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let passkey = passkeys::rename(&db, user.id, id, &body.friendly_name, state.now())
        .await?
        .ok_or(NOT_FOUND)?;
    let traits = json!({ "passkey_id": id });
    accounts::log_as(
        &state,
        &db,
        &info,
        Actor::User(user),
        Action::PasskeyUpdated,
        traits,
    )
    .await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(passkey.body()))
}

/// `DELETE /passkeys/{id}` → 204
pub(crate) async fn delete(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    check_management(&caller)?;
    let id = parse_id(&id)?;
    remove(&state, &info, caller.user.id, id, Actor::User(&caller.user)).await
}

/// `GET /admin/users/{id}/passkeys`
pub(crate) async fn list_of_user(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let client = state.client().await?;
    let user = find(&client, &id).await?;
    let found = passkeys::list_of_user(&client, user.id).await?;
    Ok(HttpResponse::Ok().json(bodies(&found)))
}

/// `DELETE /admin/users/{id}/passkeys/{passkey_id}` → 204
pub(crate) async fn delete_of_user(
    state: web::Data<AuthState>,
    info: RequestInfo,
    admin: Admin,
    path: web::Path<(String, String)>,
) -> Result<HttpResponse, AuthError> {
    let (user_id, id) = path.into_inner();
    let user = {
        let client = state.client().await?;
        find(&client, &user_id).await?
    };
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    remove(&state, &info, user.id, parse_id(&id)?, actor).await
}

async fn remove(
    state: &AuthState,
    info: &RequestInfo,
    user_id: Uuid,
    id: Uuid,
    actor: Actor<'_>,
) -> Result<HttpResponse, AuthError> {
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    if !passkeys::delete(&db, user_id, id).await? {
        return Err(NOT_FOUND);
    }
    let traits = json!({"user_id": user_id, "passkey_id": id});
    accounts::log_as(state, &db, info, actor, Action::PasskeyDeleted, traits).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

const NOT_FOUND: AuthError = AuthError::InvalidPathId("Passkey not found");

fn parse_id(id: &str) -> Result<Uuid, AuthError> {
    id.parse().map_err(|_| NOT_FOUND)
}

fn bodies(passkeys: &[Passkey]) -> Vec<Value> {
    passkeys.iter().map(Passkey::body).collect()
}
