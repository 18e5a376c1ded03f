//! `/admin/users/{id}/factors`: an administrator lists, renames and deletes the second factors of a user. Source:
//! Auth contract §2.15.

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::admin_get_user::{find_user, lock_user};
use crate::error::{AuthError, MfaError};
use crate::flows::accounts;
use crate::flows::mfa;
use crate::request::{Admin, AuthRequest, Json, read_text};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, FactorType};
use crate::user::FactorBody;
use crate::validation::address::parse_phone;

/// Body of PUT: `{friendly_name?, phone?}`; an empty or missing member keeps its value. `phone` counts for phone
/// factors only.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FactorUpdate {
    #[serde(deserialize_with = "read_text")]
    friendly_name: String,
    #[serde(deserialize_with = "read_text")]
    phone: String,
}

/// `GET /admin/users/{id}/factors` → 200 with an array of Factors, `[]` when there are none.
///
/// # Errors
/// 404 `user_not_found`, or `validation_failed` for an id that is not a UUID.
pub(crate) async fn list_factors(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let client = state.connect().await?;
    let user = find_user(&client, &id).await?;
    Ok(HttpResponse::Ok().json(user.factors))
}

/// `PUT /admin/users/{id}/factors/{factor_id}` → 200 with the Factor.
///
/// # Errors
/// 400 `validation_failed` for a bad number; 404 `user_not_found` or `mfa_factor_not_found`; 422
/// `mfa_factor_name_conflict` or `mfa_verified_factor_exists` when another factor of the user has the name or number.
pub(crate) async fn update_factor(
    request: AuthRequest,
    admin: Admin,
    path: web::Path<(String, String)>,
    Json(body): Json<FactorUpdate>,
) -> Result<HttpResponse, AuthError> {
    let (user_id, factor_id) = path.into_inner();
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = lock_user(&db, &user_id).await?;
    let factor = mfa::get_factor(&db, user.id, &factor_id).await?;
    let phone = match factor.kind {
        FactorType::Phone if !body.phone.is_empty() => Some(parse_phone(&body.phone)?),
        _ => None,
    };
    let name = Some(body.friendly_name.as_str()).filter(|name| !name.is_empty());
    factors::update(&db, factor.id, name, phone.as_deref(), request.now())
        .await
        .map_err(|error| map_unique_violation(error.into(), name.unwrap_or_default()))?;
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    let traits = json!({"user_id": user.id, "factor_id": factor.id, "factor_type": factor.kind.as_str()});
    accounts::log_action_with_traits(&request, &db, actor, Action::FactorUpdated, traits).await?;
    let response = find_factor_body(&db, user.id, factor.id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(response))
}

/// `DELETE /admin/users/{id}/factors/{factor_id}` → 200 with the Factor as it was. Sessions that verified it fall
/// back to `aal1`.
///
/// # Errors
/// 404 `user_not_found` or `mfa_factor_not_found`.
pub(crate) async fn delete_factor(
    request: AuthRequest,
    _: Admin,
    path: web::Path<(String, String)>,
) -> Result<HttpResponse, AuthError> {
    let (user_id, factor_id) = path.into_inner();
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = lock_user(&db, &user_id).await?;
    let factor = mfa::get_factor(&db, user.id, &factor_id).await?;
    let response = find_factor_body(&db, user.id, factor.id).await?;
    factors::delete(&db, factor.id).await?;
    // Access tokens that were issued before keep `aal2` until they expire; this service itself reads the session's
    // row.
    factors::downgrade_sessions(&db, user.id, factor.id).await?;
    // Compat: the entry names the owner of the factor, not who deleted it.
    let traits = json!({"user_id": user.id, "factor_id": factor.id});
    accounts::log_user_action(&request, &db, &user, Action::FactorDeleted, traits).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(response))
}

/// The JSON of one factor, from the same query as the list, so that both have the same members.
async fn find_factor_body(
    db: &impl GenericClient,
    user_id: Uuid,
    factor_id: Uuid,
) -> Result<FactorBody, AuthError> {
    let user = accounts::reload_user(db, user_id).await?;
    let mut factors = user.factors.into_iter();
    factors
        .find(|factor| factor.id == factor_id)
        .ok_or(MfaError::FactorNotFound.into())
}

/// Maps the unique violations of `auth.mfa_factors` to their error codes; other errors pass unchanged. Names and
/// numbers are unique per user.
fn map_unique_violation(error: AuthError, name: &str) -> AuthError {
    match error
        .db_error()
        .and_then(|db| db.constraint().map(str::to_owned))
        .as_deref()
    {
        Some("mfa_factors_user_friendly_name_unique") => MfaError::NameConflict(name.to_owned()).into(),
        Some("unique_phone_factor_per_user") => MfaError::PhoneFactorExists.into(),
        _ => error,
    }
}
