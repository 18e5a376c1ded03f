//! `POST /invite`: creates a user, or invites an unconfirmed one again, by mail. Source: Auth contract §2.15, AUTH-062.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::accounts::{self, Account};
use crate::error::AuthError;
use crate::letters;
use crate::request::{Admin, Json, RequestInfo, metadata, text};
use crate::rules::address::parse_email;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::users;

/// What an administrator sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InviteBody {
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "metadata")]
    data: Map<String, Value>,
}

/// `POST /invite`
pub(crate) async fn invite(
    state: web::Data<AuthState>,
    info: RequestInfo,
    admin: Admin,
    Json(body): Json<InviteBody>,
) -> Result<HttpResponse, AuthError> {
    let email = parse_email(&body.email)?;
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = match users::find_registered(&db, &email, &info.audience).await? {
        Some(user) if user.is_confirmed() => return Err(AuthError::EmailExists),
        Some(user) => users::lock_by_id(&db, user.id).await?.unwrap_or(user),
        None => {
            let account = Account {
                email: &email,
                data: body.data,
                keeps_metadata: true,
                bare_identity: true,
                ..Account::default()
            };
            accounts::create_user(&state, &db, &info, account).await?
        }
    };
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    accounts::log(&state, &db, &info, actor, Action::UserInvited).await?;
    letters::send_invite(&state, &db, &info, &user).await?;
    let user = accounts::get(&db, user.id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(user.body()))
}
