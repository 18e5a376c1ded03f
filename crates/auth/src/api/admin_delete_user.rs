//! `DELETE /admin/users/{id}` `{should_soft_delete?}` → `{}`. Source: Auth contract §2.15, AUTH-060.

use actix_web::{HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::admin_get_user::find;
use crate::accounts;
use crate::error::AuthError;
use crate::request::{Admin, OptionalJson, RequestInfo};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::users;

/// Numbers have at most 15 digits, and projects' tables may know that.
const LONGEST_PHONE: usize = 15;

/// What an administrator sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DeleteBody {
    should_soft_delete: Option<bool>,
}

/// `DELETE /admin/users/{id}`
pub(crate) async fn delete_user(
    state: web::Data<AuthState>,
    info: RequestInfo,
    admin: Admin,
    id: web::Path<String>,
    OptionalJson(body): OptionalJson<DeleteBody>,
) -> Result<HttpResponse, AuthError> {
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = find(&db, &id).await?;
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    accounts::log(&state, &db, &info, actor, Action::UserDeleted).await?;
    if body.should_soft_delete != Some(true) {
        users::delete(&db, user.id).await?;
    } else if user.deleted_at.is_none() {
        let (email, mut phone) = (obscured(user.id, &user.email), obscured(user.id, &user.phone));
        if let Some(phone) = &mut phone {
            phone.truncate(LONGEST_PHONE);
        }
        users::soft_delete(&db, user.id, email.as_deref(), phone.as_deref(), state.now()).await?;
    }
    db.commit().await?;
    Ok(HttpResponse::Ok().json(json!({})))
}

/// An address that nobody can read back, and that stays unique.
fn obscured(id: Uuid, address: &str) -> Option<String> {
    (!address.is_empty()).then(|| URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{id}{address}"))))
}
