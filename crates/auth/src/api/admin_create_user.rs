//! `POST /admin/users`: creates a user without a mail and without a check of the password's strength. Source: Auth
//! contract §2.15, AUTH-056, AUTH-057.

use actix_web::HttpResponse;
use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::Transaction;
use selvedge_gateway::parse_go_duration_nanos;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::crypto::password_hash::PasswordHash;
use crate::error::AuthError;
use crate::flows::accounts::{self, Account};
use crate::hasher::generate_password;
use crate::request::{Admin, AuthRequest, Json, read_flag, read_text};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::{contested_accounts, ended_users, phones, users};
use crate::user::User;
use crate::validation::address::{parse_email, parse_phone};
use crate::validation::password;

/// Body of `POST /admin/users` and `PUT /admin/users/{id}`. `password` and `password_hash` (bcrypt, Argon2 or
/// Firebase scrypt) exclude each other. `ban_duration` is a Go duration such as `24h`, or `none`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AdminUserBody {
    #[serde(deserialize_with = "read_text")]
    pub(crate) id: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) aud: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) role: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) email: String,
    #[serde(deserialize_with = "read_text")]
    pub(crate) phone: String,
    pub(crate) password: Option<String>,
    #[serde(deserialize_with = "read_text")]
    pub(crate) password_hash: String,
    #[serde(deserialize_with = "read_flag")]
    pub(crate) email_confirm: bool,
    #[serde(deserialize_with = "read_flag")]
    pub(crate) phone_confirm: bool,
    pub(crate) user_metadata: Option<Map<String, Value>>,
    pub(crate) app_metadata: Option<Map<String, Value>>,
    #[serde(deserialize_with = "read_text")]
    pub(crate) ban_duration: String,
}

impl AdminUserBody {
    /// Whether the administrator has chosen a password; otherwise a new user gets one that nobody knows.
    fn has_password(&self) -> bool {
        !self.password_hash.is_empty()
            || self
                .password
                .as_ref()
                .is_some_and(|password| !password.is_empty())
    }
}

/// `POST /admin/users`, administrators only → 200 with the User. Works while sign-ups are disabled, and calls no
/// hooks.
///
/// # Errors
/// 400 `validation_failed` without any address, with both passwords, or for a malformed member; 422 `email_exists` or
/// `phone_exists`.
pub(crate) async fn create_user(
    request: AuthRequest,
    admin: Admin,
    Json(body): Json<AdminUserBody>,
) -> Result<HttpResponse, AuthError> {
    let mut request = request;
    if !body.aud.is_empty() {
        // From here on every look-up uses the audience that the administrator names instead of the request's.
        request.info.audience.clone_from(&body.aud);
    }
    let (email, phone) = parse_addresses(&body)?;
    let account = Account {
        id: parse_user_id(&body.id)?,
        email: &email,
        phone: &phone,
        encrypted_password: &choose_password_hash(&request.state, &body).await?,
        data: body.user_metadata.clone().unwrap_or_default(),
        app_metadata: Map::new(),
        role: Some(body.role.as_str()).filter(|role| !role.is_empty()),
        invited_at: None,
        // The hooks are for users who sign up themselves; an administrator has decided already.
        skips_hooks: true,
        keeps_metadata: true,
        bare_identity: true,
    };
    let ban = parse_ban_end(&body.ban_duration, request.now())?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user = insert_user(&request, &db, account).await?;
    if body.has_password() {
        contested_accounts::vouch_for_password(&db, &user, request.now()).await?;
    }
    if let Some(data) = &body.app_metadata {
        users::merge_app_metadata(&db, user.id, &Value::Object(data.clone()), request.now()).await?;
    }
    ended_users::renew_id(&db, user.id, request.now()).await?;
    confirm_and_ban(&request.state, &db, &user, &body, ban).await?;
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    let traits = json!({
        "user_id": user.id, "user_email": user.email, "user_phone": user.phone,
        "provider": if email.is_empty() { "phone" } else { "email" },
    });
    accounts::log_action_with_traits(&request, &db, actor, Action::UserSignedUp, traits).await?;
    let user = accounts::reload_user(&db, user.id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(user.body()))
}

/// Inserts the user. Phone numbers and concurrent requests are left to the unique indexes, whose violations
/// are mapped.
///
/// # Errors
/// 422 `email_exists` or `phone_exists`, also while an account in use claims one of them.
async fn insert_user(
    request: &AuthRequest,
    db: &Transaction<'_>,
    account: Account<'_>,
) -> Result<User, AuthError> {
    let registered = match account.email {
        "" => None,
        email => accounts::find_for_administrator(request, db, email).await?,
    };
    if registered.is_some() {
        return Err(AuthError::EmailExists);
    }
    if !account.phone.is_empty() {
        accounts::check_claimed_number(request, db, account.phone).await?;
    }
    let created = accounts::create_user(request, db, account).await;
    created.map_err(|error| match map_unique_violation(error) {
        AuthError::PhoneExists => AuthError::PhoneExistsOnCreate,
        error => error,
    })
}

/// Confirms addresses and sets the ban by UPDATEs after the INSERT, as upstream does: triggers of projects that run
/// on UPDATE of `email_confirmed_at` depend on it.
async fn confirm_and_ban(
    state: &AuthState,
    db: &Transaction<'_>,
    user: &User,
    body: &AdminUserBody,
    ban: Option<Option<DateTime<Utc>>>,
) -> Result<(), AuthError> {
    // With a confirmed number the account is in use, and its address would be a mere claim where addresses need no proof.
    let needs_no_proof = body.phone_confirm && state.config.email.autoconfirm;
    if (body.email_confirm || needs_no_proof) && !user.email.is_empty() {
        users::confirm_email(db, user.id, &user.email.to_lowercase(), state.now()).await?;
    }
    if body.phone_confirm && !user.phone.is_empty() {
        phones::confirm_phone(db, user.id, &user.phone, state.now()).await?;
    }
    if let Some(until) = ban {
        users::set_ban(db, user.id, until).await?;
    }
    Ok(())
}

/// E-mail and phone in their stored form; one of them may be empty.
///
/// # Errors
/// 400 `validation_failed` for a malformed address or when both are missing.
fn parse_addresses(body: &AdminUserBody) -> Result<(String, String), AuthError> {
    let email = if body.email.is_empty() {
        String::new()
    } else {
        parse_email(&body.email)?
    };
    let phone = parse_optional_phone(&body.phone)?;
    if email.is_empty() && phone.is_empty() {
        return Err(AuthError::invalid(
            "Cannot create a user without either an email or phone",
        ));
    }
    Ok((email, phone))
}

/// The number in its stored form; empty stays empty.
///
/// # Errors
/// 400 `validation_failed` for a number that is not E.164.
pub(crate) fn parse_optional_phone(phone: &str) -> Result<String, AuthError> {
    if phone.is_empty() {
        Ok(String::new())
    } else {
        parse_phone(phone)
    }
}

/// The id that the administrator chooses for the user; `None` lets the server choose.
///
/// # Errors
/// 400 `validation_failed`, also for the nil UUID, which stands for "no user" elsewhere.
fn parse_user_id(id: &str) -> Result<Option<Uuid>, AuthError> {
    if id.is_empty() {
        return Ok(None);
    }
    match id.parse::<Uuid>() {
        Ok(id) if !id.is_nil() => Ok(Some(id)),
        Ok(_) => Err(AuthError::invalid("ID cannot be a nil uuid")),
        Err(_) => Err(AuthError::invalid("ID must conform to the uuid v4 format")),
    }
}

/// The hash to store: of the given password, the given hash as it is, or that of a random password when there is
/// neither.
///
/// # Errors
/// 400 `validation_failed` for both at once, a password over 72 bytes, or an unknown hash format.
async fn choose_password_hash(state: &AuthState, body: &AdminUserBody) -> Result<String, AuthError> {
    match (&body.password, body.password_hash.as_str()) {
        (Some(_), hash) if !hash.is_empty() => Err(AuthError::invalid(
            "Only a password or a password hash should be provided",
        )),
        (Some(password), _) if !password.is_empty() => {
            password::check_length(password)?;
            state.hasher.hash(password).await
        }
        (_, "") => state.hasher.hash(&generate_password()).await,
        (_, hash) if PasswordHash::parse(hash).is_some() => Ok(hash.to_owned()),
        _ => Err(AuthError::invalid("Provided password hash is not supported")),
    }
}

/// When a ban ends: `None` for no change, `Some(None)` to lift it.
///
/// # Errors
/// 400 `validation_failed` for what is not a Go duration.
pub(crate) fn parse_ban_end(
    duration: &str,
    now: DateTime<Utc>,
) -> Result<Option<Option<DateTime<Utc>>>, AuthError> {
    match duration {
        "" => Ok(None),
        "none" => Ok(Some(None)),
        text => {
            let invalid = || AuthError::invalid(format!("invalid format for ban duration: {text:?}"));
            let span = parse_go_duration_nanos(text)
                .map(TimeDelta::nanoseconds)
                .ok_or_else(invalid)?;
            // Compat: a duration of zero lifts the ban, like `none`.
            if span.is_zero() {
                return Ok(Some(None));
            }
            let until = now.checked_add_signed(span).ok_or_else(invalid)?;
            Ok(Some(Some(until)))
        }
    }
}

/// Maps a unique violation on `auth.users` to the error of the member that is taken; other errors pass unchanged.
pub(crate) fn map_unique_violation(error: AuthError) -> AuthError {
    match error.db_error().and_then(|db| db.constraint()) {
        Some("users_email_partial_key") => AuthError::EmailExists,
        Some("users_phone_key") => AuthError::PhoneExists,
        Some("users_pkey") => AuthError::invalid("A user with this id already exists"),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_064_ban_durations_are_go_durations() {
        let cases = [
            ("24h", Some(86_400)),
            ("1h30m", Some(5_400)),
            ("1.5h", Some(5_400)),
            ("90s", Some(90)),
            ("87600h", Some(315_360_000)),
            ("-1h", Some(-3_600)),
            ("0", Some(0)),
        ];
        for (text, seconds) in cases {
            let end = parse_ban_end(text, DateTime::UNIX_EPOCH).expect("a duration");
            let after = end.map(|end| end.map_or(0, |end| end.timestamp()));
            assert_eq!(after, seconds, "{text}");
        }
        for text in ["h", "24", "1d", "-", "1e9999h", "99999999999999999999h"] {
            assert!(parse_ban_end(text, DateTime::UNIX_EPOCH).is_err(), "{text}");
        }
        assert_eq!(
            parse_ban_end("none", DateTime::UNIX_EPOCH).expect("lifts"),
            Some(None)
        );
    }
}
