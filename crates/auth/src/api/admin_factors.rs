//! `/admin/users/{id}/factors`: an administrator looks at, renames and removes second factors. Source: Auth contract §2.15.

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::admin_get_user::find;
use crate::accounts;
use crate::error::AuthError;
use crate::mfa;
use crate::request::{Admin, Json, RequestInfo, text};
use crate::rules::address::parse_phone;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, FactorType};

/// What an administrator sends to change a factor; what is empty stays.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FactorBody {
    #[serde(deserialize_with = "text")]
    friendly_name: String,
    #[serde(deserialize_with = "text")]
    phone: String,
}

/// `GET /admin/users/{id}/factors` → the second factors, `[]` when there are none.
pub(crate) async fn list_factors(
    state: web::Data<AuthState>,
    _: Admin,
    id: web::Path<String>,
) -> Result<HttpResponse, AuthError> {
    let client = state.client().await?;
    let user = find(&client, &id).await?;
    Ok(HttpResponse::Ok().json(user.factors))
}

/// `PUT /admin/users/{id}/factors/{factor_id}` → the factor.
pub(crate) async fn update_factor(
    state: web::Data<AuthState>,
    info: RequestInfo,
    admin: Admin,
    path: web::Path<(String, String)>,
    Json(body): Json<FactorBody>,
) -> Result<HttpResponse, AuthError> {
    let (user_id, factor_id) = path.into_inner();
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = find(&db, &user_id).await?;
    let factor = mfa::get_factor(&db, user.id, &factor_id).await?;
    let phone = match factor.kind {
        FactorType::Phone if !body.phone.is_empty() => Some(parse_phone(&body.phone)?),
        _ => None,
    };
    let name = Some(body.friendly_name.as_str()).filter(|name| !name.is_empty());
    factors::update(&db, factor.id, name, phone.as_deref(), state.now())
        .await
        .map_err(|error| conflict(error.into(), name.unwrap_or_default()))?;
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    let traits = json!({"user_id": user.id, "factor_id": factor.id, "factor_type": factor.kind.as_str()});
    accounts::log_as(&state, &db, &info, actor, Action::FactorUpdated, traits).await?;
    let shown = shown(&db, user.id, factor.id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(shown))
}

/// `DELETE /admin/users/{id}/factors/{factor_id}` → the factor that was.
pub(crate) async fn delete_factor(
    state: web::Data<AuthState>,
    info: RequestInfo,
    _: Admin,
    path: web::Path<(String, String)>,
) -> Result<HttpResponse, AuthError> {
    let (user_id, factor_id) = path.into_inner();
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = find(&db, &user_id).await?;
    let factor = mfa::get_factor(&db, user.id, &factor_id).await?;
    let shown = shown(&db, user.id, factor.id).await?;
    factors::delete(&db, factor.id).await?;
    factors::downgrade_sessions(&db, user.id, factor.id).await?;
    // Compat: the entry names the owner of the factor, not who deleted it.
    let traits = json!({"user_id": user.id, "factor_id": factor.id});
    accounts::log_with(&state, &db, &info, &user, Action::FactorDeleted, traits).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(shown))
}

/// One factor as the user's list shows it.
async fn shown(db: &impl GenericClient, user_id: Uuid, factor_id: Uuid) -> Result<Value, AuthError> {
    let user = accounts::get(db, user_id).await?;
    let id = factor_id.to_string();
    let found = user.factors.as_array().into_iter().flatten();
    Ok(found
        .into_iter()
        .find(|factor| factor["id"] == id.as_str())
        .cloned()
        .unwrap_or_default())
}

/// Two factors of a user have neither a name nor a number in common.
fn conflict(error: AuthError, name: &str) -> AuthError {
    match error
        .db_error()
        .and_then(|db| db.constraint().map(str::to_owned))
        .as_deref()
    {
        Some("mfa_factors_user_friendly_name_unique") => AuthError::coded(
            422,
            "mfa_factor_name_conflict",
            format!("A factor with the friendly name {name:?} for this user already exists"),
        ),
        Some("unique_phone_factor_per_user") => AuthError::coded(
            422,
            "mfa_verified_factor_exists",
            "A phone factor with this number already exists",
        ),
        _ => error,
    }
}
