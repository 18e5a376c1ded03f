//! `/passkeys` and `/admin/users/{id}/passkeys`: list, rename and delete passkeys. Source: Auth contract
//! §2.13, §2.15.

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::admin_get_user::{find_user, lock_user};
use super::response_bodies::PasskeyBody;
use crate::after_commit;
use crate::error::{AuthError, PasskeyError};
use crate::flows::accounts;
use crate::flows::locked_caller;
use crate::request::{Admin, AuthRequest, Json, SignedIn, read_text};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::passkeys::{self, Passkey};
use crate::user::User;

/// Longest `friendly_name`, in characters.
const LONGEST_NAME_CHARS: usize = 120;

/// Body of `PATCH /passkeys/{id}`: `{friendly_name}`, which must not be empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RenameBody {
    #[serde(deserialize_with = "read_text")]
    friendly_name: String,
}

/// Refuses callers who may not manage passkeys. A user with a second factor must have verified it in this session,
/// because a passkey signs in without it.
///
/// # Errors
/// 403 `insufficient_aal`, or `no_authorization` for anonymous users.
pub(super) fn check_management(caller: &SignedIn) -> Result<(), AuthError> {
    caller.check_permanent()?;
    if caller.lacks_second_factor() {
        return Err(PasskeyError::NeedsAal2.into());
    }
    Ok(())
}

/// `GET /passkeys` → 200 `[{id, friendly_name?, created_at, last_used_at?}]`.
pub(crate) async fn list_passkeys(
    state: web::Data<AuthState>,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    let client = state.connect().await?;
    let found = passkeys::list_by_user(&client, caller.user.id).await?;
    Ok(HttpResponse::Ok().json(render_passkeys(&found)))
}

/// `PATCH /passkeys/{id}` `{friendly_name}` → 200 with the passkey.
///
/// # Errors
/// 400 `validation_failed` for an empty or long name, 403 `no_authorization` or `insufficient_aal`, 404
/// `validation_failed` for an unknown passkey.
pub(crate) async fn rename_passkey(
    request: AuthRequest,
    caller: SignedIn,
    id: web::Path<String>,
    Json(body): Json<RenameBody>,
) -> Result<HttpResponse, AuthError> {
    check_management(&caller)?;
    let id = parse_passkey_id(&id)?;
    if body.friendly_name.is_empty() {
        return Err(AuthError::invalid("friendly_name is required"));
    }
    if body.friendly_name.chars().count() > LONGEST_NAME_CHARS {
        return Err(AuthError::invalid("friendly_name must be 120 characters or less"));
    }
    let user = &caller.user;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    check_locked(&request, &db, &caller).await?;
    let passkey = passkeys::rename(&db, user.id, id, &body.friendly_name, request.now())
        .await?
        .ok_or(NOT_FOUND)?;
    let traits = json!({ "passkey_id": id });
    accounts::log_action_with_traits(&request, &db, Actor::User(user), Action::PasskeyUpdated, traits)
        .await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(PasskeyBody::new(&passkey)))
}

/// `DELETE /passkeys/{id}` → 204.
///
/// # Errors
/// 403 `no_authorization` or `insufficient_aal`, 404 `validation_failed` for an unknown passkey.
pub(crate) async fn delete_passkey(
    request: AuthRequest,
    caller: SignedIn,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    check_management(&caller)?;
    let id = parse_passkey_id(&id)?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    check_locked(&request, &db, &caller).await?;
    remove_passkey(&request, &db, (&caller.user, id), Actor::User(&caller.user)).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Refuses a caller whose session has ended, or who has a second factor that this session has not shown, since the request was
/// checked. The user's row stays locked.
///
/// # Errors
/// 403 `session_not_found`, `user_banned` or `insufficient_aal`.
async fn check_locked(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &SignedIn,
) -> Result<(), AuthError> {
    let locked = locked_caller::lock_caller(request, db, caller).await?;
    match locked.lacks_second_factor() {
        true => Err(PasskeyError::NeedsAal2.into()),
        false => Ok(()),
    }
}

/// `GET /admin/users/{id}/passkeys` → 200 like [`list_passkeys`].
///
/// # Errors
/// 404 `user_not_found`, or `validation_failed` for an id that is not a UUID.
pub(crate) async fn list_passkeys_of_user(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let client = state.connect().await?;
    let user = find_user(&client, &id).await?;
    let found = passkeys::list_by_user(&client, user.id).await?;
    Ok(HttpResponse::Ok().json(render_passkeys(&found)))
}

/// `DELETE /admin/users/{id}/passkeys/{passkey_id}` → 204.
///
/// # Errors
/// 404 `user_not_found`, or `validation_failed` for an unknown passkey.
pub(crate) async fn delete_passkey_of_user(
    request: AuthRequest,
    admin: Admin,
    path: web::Path<(String, String)>,
) -> Result<HttpResponse, AuthError> {
    let (user_id, id) = path.into_inner();
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = lock_user(&db, &user_id).await?;
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    let id = parse_passkey_id(&id)?;
    remove_passkey(&request, &db, (&user, id), actor).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Deletes a passkey of the user, who is told, and logs it.
///
/// # Errors
/// 404 `validation_failed` when the user has no such passkey.
async fn remove_passkey(
    request: &AuthRequest,
    db: &Transaction<'_>,
    (user, id): (&User, Uuid),
    actor: Actor<'_>,
) -> Result<(), AuthError> {
    if !passkeys::delete(db, user.id, id).await? {
        return Err(NOT_FOUND);
    }
    after_commit::record_passkey_change(request, user, MailKind::PasskeyRemoved);
    let traits = json!({"user_id": user.id, "passkey_id": id});
    accounts::log_action_with_traits(request, db, actor, Action::PasskeyDeleted, traits).await
}

/// Compat: upstream responds 404 with the code `validation_failed`, not `webauthn_credential_not_found`.
const NOT_FOUND: AuthError = AuthError::InvalidPathId("Passkey not found");

/// Reads the id; a malformed one is treated like an unknown passkey.
fn parse_passkey_id(id: &str) -> Result<Uuid, AuthError> {
    id.parse().map_err(|_| NOT_FOUND)
}

fn render_passkeys(passkeys: &[Passkey]) -> Vec<PasskeyBody<'_>> {
    passkeys.iter().map(PasskeyBody::new).collect()
}
