//! `POST /invite`: creates a user, or invites an unconfirmed one again, by mail. Source: Auth contract §2.15, AUTH-062.

use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::AuthError;
use crate::flows::accounts::{self, Account};
use crate::mailer;
use crate::request::{Admin, AuthRequest, Json, read_new_metadata, read_text};
use crate::store::audit::{Action, Actor};
use crate::store::{contested_accounts, users};
use crate::user::User;
use crate::validation::address::parse_email;

/// Body of `POST /invite`: `{email, data?}`. `data` becomes the user's `user_metadata`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InviteBody {
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_new_metadata")]
    data: Map<String, Value>,
}

/// `POST /invite?redirect_to=`, administrators only → 200 with the User, whose `invited_at` is set.
///
/// A repeated invitation is not subject to the pause of 60 seconds between mails. Users who exist already keep their
/// metadata.
///
/// # Errors
/// 400 `validation_failed` for a bad address, 422 `email_exists` for a confirmed user, 429
/// `over_email_send_rate_limit` for the limit of the whole instance, 500 "Error sending invite email".
pub(crate) async fn invite_user(
    request: AuthRequest,
    admin: Admin,
    Json(body): Json<InviteBody>,
) -> Result<HttpResponse, AuthError> {
    let email = parse_email(&body.email)?;
    // The slot is taken before the connection: requests that wait for a free mail slot must not use up the pool.
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = match accounts::find_for_administrator(&request, &db, &email).await? {
        // An account that has proven the address at a provider has another one, to which the mail would go.
        Some(user) if user.is_confirmed() || user.email.to_lowercase() != email => {
            return Err(AuthError::EmailExists);
        }
        // The lock orders concurrent invitations, of which each replaces the token of the one before.
        Some(user) => {
            let user = users::lock_by_id(&db, user.id).await?;
            let is_open = |user: &User| {
                !user.is_confirmed() && !user.only_claims_email() && user.email.to_lowercase() == email
            };
            let user = user.filter(is_open);
            let user = user.ok_or(AuthError::EmailExists)?;
            contested_accounts::contest(&db, &user, request.now()).await?;
            user
        }
        None => {
            let account = Account {
                email: &email,
                data: body.data,
                keeps_metadata: true,
                bare_identity: true,
                ..Account::default()
            };
            accounts::create_user(&request, &db, account).await?
        }
    };
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    accounts::log_action(&request, &db, actor, Action::UserInvited).await?;
    mailer::send_invite(&request, &db, &user).await?;
    let user = accounts::reload_user(&db, user.id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(user.body()))
}
