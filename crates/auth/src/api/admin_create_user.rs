//! `POST /admin/users`: no mail, no strength check, confirmed on demand. Source: Auth contract §2.15, AUTH-056, AUTH-057.

use actix_web::{HttpResponse, web};
use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::accounts::{self, Account};
use crate::error::AuthError;
use crate::hasher::random_password;
use crate::request::{Admin, Json, RequestInfo, flag, text};
use crate::rules::address::{parse_email, parse_phone};
use crate::rules::password;
use crate::rules::password_hash::PasswordHash;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::{phones, users};
use crate::user::User;

/// What an administrator sends to create or change a user.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AdminUserBody {
    #[serde(deserialize_with = "text")]
    pub(crate) id: String,
    #[serde(deserialize_with = "text")]
    pub(crate) aud: String,
    #[serde(deserialize_with = "text")]
    pub(crate) role: String,
    #[serde(deserialize_with = "text")]
    pub(crate) email: String,
    #[serde(deserialize_with = "text")]
    pub(crate) phone: String,
    pub(crate) password: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(crate) password_hash: String,
    #[serde(deserialize_with = "flag")]
    pub(crate) email_confirm: bool,
    #[serde(deserialize_with = "flag")]
    pub(crate) phone_confirm: bool,
    pub(crate) user_metadata: Option<Map<String, Value>>,
    pub(crate) app_metadata: Option<Map<String, Value>>,
    #[serde(deserialize_with = "text")]
    pub(crate) ban_duration: String,
}

/// `POST /admin/users`
pub(crate) async fn create_user(
    state: web::Data<AuthState>,
    info: RequestInfo,
    admin: Admin,
    Json(body): Json<AdminUserBody>,
) -> Result<HttpResponse, AuthError> {
    let mut info = info;
    if !body.aud.is_empty() {
        info.audience.clone_from(&body.aud);
    }
    let (email, phone) = addresses(&body)?;
    let account = Account {
        id: parse_id(&body.id)?,
        email: &email,
        phone: &phone,
        encrypted_password: &password_of(&state, &body).await?,
        data: body.user_metadata.clone().unwrap_or_default(),
        app_metadata: Map::new(),
        role: Some(body.role.as_str()).filter(|role| !role.is_empty()),
        invited_at: None,
        skips_hooks: true,
        keeps_metadata: true,
        bare_identity: true,
    };
    let ban = ban_end(&body.ban_duration, state.now())?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    if !email.is_empty()
        && users::find_registered(&db, &email, &info.audience)
            .await?
            .is_some()
    {
        return Err(AuthError::EmailExists);
    }
    let user = accounts::create_user(&state, &db, &info, account)
        .await
        .map_err(name_conflict)
        .map_err(|error| match error {
            AuthError::PhoneExists => AuthError::coded(
                422,
                "phone_exists",
                "Phone number already registered by another user",
            ),
            error => error,
        })?;
    if let Some(data) = &body.app_metadata {
        users::merge_app_metadata(&db, user.id, &Value::Object(data.clone()), state.now()).await?;
    }
    confirm_and_ban(&state, &db, &user, &body, ban).await?;
    let actor = Actor::Admin {
        role: &admin.role,
        subject: &user,
    };
    let traits = json!({
        "user_id": user.id, "user_email": user.email, "user_phone": user.phone,
        "provider": if email.is_empty() { "phone" } else { "email" },
    });
    accounts::log_as(&state, &db, &info, actor, Action::UserSignedUp, traits).await?;
    let user = accounts::get(&db, user.id).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(user.body()))
}

/// Confirmations are updates after the insert: projects' triggers on either see them as upstream's.
async fn confirm_and_ban(
    state: &AuthState,
    db: &Transaction<'_>,
    user: &User,
    body: &AdminUserBody,
    ban: Option<Option<DateTime<Utc>>>,
) -> Result<(), AuthError> {
    if body.email_confirm && !user.email.is_empty() {
        users::confirm_email(db, user.id, state.now()).await?;
    }
    if body.phone_confirm && !user.phone.is_empty() {
        phones::confirm(db, user.id, state.now()).await?;
    }
    if let Some(until) = ban {
        users::set_ban(db, user.id, until).await?;
    }
    Ok(())
}

/// E-mail and phone as they are stored; at least one is needed.
fn addresses(body: &AdminUserBody) -> Result<(String, String), AuthError> {
    let email = if body.email.is_empty() {
        String::new()
    } else {
        parse_email(&body.email)?
    };
    let phone = optional_phone(&body.phone)?;
    if email.is_empty() && phone.is_empty() {
        return Err(AuthError::invalid(
            "Cannot create a user without either an email or phone",
        ));
    }
    Ok((email, phone))
}

/// The number as it is stored; empty stays empty.
pub(crate) fn optional_phone(phone: &str) -> Result<String, AuthError> {
    if phone.is_empty() {
        Ok(String::new())
    } else {
        parse_phone(phone)
    }
}

fn parse_id(id: &str) -> Result<Option<Uuid>, AuthError> {
    if id.is_empty() {
        return Ok(None);
    }
    match id.parse::<Uuid>() {
        Ok(id) if !id.is_nil() => Ok(Some(id)),
        Ok(_) => Err(AuthError::invalid("ID cannot be a nil uuid")),
        Err(_) => Err(AuthError::invalid("ID must conform to the uuid v4 format")),
    }
}

/// The stored form of the password: hashed, given as a hash, or random.
async fn password_of(state: &AuthState, body: &AdminUserBody) -> Result<String, AuthError> {
    match (&body.password, body.password_hash.as_str()) {
        (Some(_), hash) if !hash.is_empty() => Err(AuthError::invalid(
            "Only a password or a password hash should be provided",
        )),
        (Some(password), _) if !password.is_empty() => {
            password::check_length(password)?;
            state.hasher.hash(password).await
        }
        (_, "") => state.hasher.hash(&random_password()).await,
        (_, hash) if PasswordHash::parse(hash).is_some() => Ok(hash.to_owned()),
        _ => Err(AuthError::invalid("Provided password hash is not supported")),
    }
}

/// When a ban ends: `None` for no change, `Some(None)` to lift it.
///
/// # Errors
/// 400 `validation_failed` for what is not a Go duration.
pub(crate) fn ban_end(
    duration: &str,
    now: DateTime<Utc>,
) -> Result<Option<Option<DateTime<Utc>>>, AuthError> {
    match duration {
        "" => Ok(None),
        "none" => Ok(Some(None)),
        text => {
            let invalid = || AuthError::invalid(format!("invalid format for ban duration: {text:?}"));
            let span = parse_duration(text).ok_or_else(invalid)?;
            if span.is_zero() {
                return Ok(Some(None));
            }
            let until = now.checked_add_signed(span).ok_or_else(invalid)?;
            Ok(Some(Some(until)))
        }
    }
}

/// A Go duration such as `24h`, `1h30m`, `-5m` or `0`.
fn parse_duration(text: &str) -> Option<TimeDelta> {
    let (is_negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(TimeDelta::zero());
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit_end = rest[digits..]
            .find(|c: char| c.is_ascii_digit())
            .map_or(rest.len(), |at| at + digits);
        seconds += number
            * match &rest[digits..unit_end] {
                "ns" => 1e-9,
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    std::time::Duration::try_from_secs_f64(seconds)
        .ok()
        .and_then(|span| TimeDelta::from_std(span).ok())
        .map(|span| if is_negative { -span } else { span })
}

/// Taken addresses and ids in Auth's words.
pub(crate) fn name_conflict(error: AuthError) -> AuthError {
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
            assert_eq!(
                parse_duration(text).map(|span| span.num_seconds()),
                seconds,
                "{text}"
            );
        }
        for text in ["h", "24", "1d", "-", "1e9999h", "99999999999999999999h"] {
            assert!(ban_end(text, DateTime::UNIX_EPOCH).is_err(), "{text}");
        }
        assert_eq!(ban_end("none", DateTime::UNIX_EPOCH).expect("lifts"), Some(None));
    }
}
