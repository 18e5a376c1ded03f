//! `PUT /user`: a user changes address, password or metadata. Source: Auth contract §2.8, §3.5, AUTH-022, AUTH-036, AUTH-054,
//! AUTH-055, AUTH-070 to AUTH-074, AUTH-077.

use actix_web::{HttpResponse, web};
use chrono::TimeDelta;
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::get_user::check_audience;
use crate::accounts;
use crate::error::AuthError;
use crate::leaked_passwords;
use crate::letters::{self, Notice};
use crate::limits::Limited;
use crate::machine::password_change::{PasswordChange, needed_proofs};
use crate::request::{Json, RequestInfo, SignedIn, text};
use crate::rules::address::{parse_email, parse_phone};
use crate::rules::one_time_code::{self, PresentedToken};
use crate::rules::pkce::CodeChallenge;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::{phones, sessions, users};
use crate::text_messages::{self, Channel, CodePurpose};
use crate::user::User;

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UpdateBody {
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    phone: String,
    password: Option<String>,
    #[serde(deserialize_with = "text")]
    nonce: String,
    #[serde(deserialize_with = "text")]
    current_password: String,
    data: Option<Map<String, Value>>,
    app_metadata: Option<Map<String, Value>>,
    #[serde(deserialize_with = "text")]
    channel: String,
    #[serde(deserialize_with = "text")]
    code_challenge: String,
    #[serde(deserialize_with = "text")]
    code_challenge_method: String,
}

/// What it means for this caller.
struct Change {
    /// Empty when the address stays.
    email: String,
    /// Empty when the number stays.
    phone: String,
    channel: Channel,
    /// The hash of the new password.
    encrypted_password: Option<String>,
    data: Option<Value>,
    app_metadata: Option<Value>,
    challenge: Option<CodeChallenge>,
}

/// `PUT /user` → the user as changed.
pub(crate) async fn update_user(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    Json(body): Json<UpdateBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::UpdateUser)?;
    check_audience(&info, &caller)?;
    let asked = Asked::parse(&state, &body).await?;
    check(&state, &caller, &body, &asked)?;
    let email = new_email(&state, &info, &caller, &asked).await?;
    let phone = new_phone(&state, &info, &caller, &asked).await?;
    let encrypted_password = match &body.password {
        Some(new) => Some(check_password(&state, &caller, &body, new).await?),
        None => None,
    };
    let change = Change {
        email,
        phone,
        channel: asked.channel,
        encrypted_password,
        data: body.data.map(Value::Object),
        app_metadata: body.app_metadata.map(Value::Object),
        challenge: CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?,
    };
    let user = apply(&state, &info, &caller, change).await?;
    Ok(HttpResponse::Ok().json(user.body()))
}

/// The addresses that are asked for, as we store them; empty ones are not asked for.
struct Asked {
    email: String,
    phone: String,
    channel: Channel,
}

impl Asked {
    /// Checks everything that needs no knowledge of the caller.
    async fn parse(state: &AuthState, body: &UpdateBody) -> Result<Self, AuthError> {
        let email = match body.email.as_str() {
            "" => String::new(),
            email => parse_email(email)?,
        };
        let (phone, channel) = match body.phone.as_str() {
            "" => (String::new(), Channel::Sms),
            phone => (parse_phone(phone)?, Channel::parse(&body.channel, state)?),
        };
        if let Some(password) = &body.password {
            leaked_passwords::check(state, password).await?;
        }
        Ok(Self {
            email,
            phone,
            channel,
        })
    }
}

/// What nobody, or not this caller, may change. What stays as it is needs no right.
fn check(state: &AuthState, caller: &SignedIn, body: &UpdateBody, asked: &Asked) -> Result<(), AuthError> {
    let user = &caller.user;
    let changes_address = !asked.email.is_empty() && asked.email != user.email
        || !asked.phone.is_empty() && asked.phone != user.phone;
    let changes_secrets = changes_address || body.password.is_some();
    if body.app_metadata.is_some() && !state.config.admin_roles.contains(&user.role) {
        return Err(AuthError::coded(
            403,
            "not_admin",
            "Updating app_metadata requires admin privileges",
        ));
    }
    if changes_secrets && caller.lacks_second_factor() {
        return Err(AuthError::InsufficientAal);
    }
    if user.is_anonymous
        && body.password.is_some()
        && asked.email.is_empty()
        && asked.phone.is_empty()
        && user.email.is_empty()
    {
        return Err(AuthError::Unprocessable(
            "Updating password of an anonymous user without an email or phone is not allowed",
        ));
    }
    if user.is_sso_user && (changes_secrets || !body.nonce.is_empty()) {
        return Err(AuthError::SsoManaged);
    }
    Ok(())
}

/// The address to change to; empty when it stays.
async fn new_email(
    state: &AuthState,
    info: &RequestInfo,
    caller: &SignedIn,
    asked: &Asked,
) -> Result<String, AuthError> {
    let email = &asked.email;
    if email.is_empty() || *email == caller.user.email {
        return Ok(String::new());
    }
    let client = state.client().await?;
    if users::is_email_taken(&client, email, &info.audience, caller.user.id).await? {
        return Err(AuthError::EmailExists);
    }
    Ok(email.clone())
}

/// The number to change to; empty when it stays.
async fn new_phone(
    state: &AuthState,
    info: &RequestInfo,
    caller: &SignedIn,
    asked: &Asked,
) -> Result<String, AuthError> {
    let phone = &asked.phone;
    if phone.is_empty() || *phone == caller.user.phone {
        return Ok(String::new());
    }
    if !state.config.phone.enabled {
        return Err(AuthError::PhoneProviderDisabled {
            status: 400,
            text: "Unsupported phone provider",
        });
    }
    let client = state.client().await?;
    if phones::is_taken(&client, phone, &info.audience, caller.user.id).await? {
        return Err(AuthError::PhoneExists);
    }
    Ok(phone.clone())
}

/// Asks for the proofs that a new password needs, and hashes it: outside of any transaction.
async fn check_password(
    state: &AuthState,
    caller: &SignedIn,
    body: &UpdateBody,
    new: &str,
) -> Result<String, AuthError> {
    let user = &caller.user;
    let has_password = !user.encrypted_password.is_empty();
    let change = PasswordChange {
        session_created_at: caller.session.as_ref().map(|session| session.created_at),
        is_recovery: caller.is_recovery(),
        has_password,
    };
    let needed = needed_proofs(change, &state.config.password, state.now());
    if needed.nonce {
        check_nonce(state, user, &body.nonce)?;
    }
    if needed.current_password {
        if body.current_password.is_empty() {
            return Err(AuthError::CurrentPasswordRequired);
        }
        if !state
            .hasher
            .verify(&body.current_password, &user.encrypted_password)
            .await?
        {
            return Err(AuthError::CurrentPasswordInvalid);
        }
    }
    if has_password && state.hasher.verify(new, &user.encrypted_password).await? {
        return Err(AuthError::SamePassword);
    }
    state.hasher.hash(new).await
}

fn check_nonce(state: &AuthState, user: &User, nonce: &str) -> Result<(), AuthError> {
    if nonce.is_empty() {
        return Err(AuthError::ReauthenticationNeeded);
    }
    let expiry = TimeDelta::from_std(state.config.email.otp_expiry).unwrap_or(TimeDelta::MAX);
    let address = if user.email.is_empty() {
        &user.phone
    } else {
        &user.email
    };
    let nonce_token = PresentedToken::Code(one_time_code::hash(address, nonce));
    let is_fresh = user
        .reauthentication_sent_at
        .is_some_and(|sent_at| state.now() - sent_at < expiry);
    if !is_fresh || !nonce_token.matches(&user.reauthentication_token) {
        return Err(AuthError::ReauthenticationNotValid);
    }
    Ok(())
}

/// Writes everything in one transaction; the mails of an e-mail change go out last.
async fn apply(
    state: &AuthState,
    info: &RequestInfo,
    caller: &SignedIn,
    change: Change,
) -> Result<User, AuthError> {
    let _slot = if change.email.is_empty() && change.phone.is_empty() {
        None
    } else {
        Some(state.mail_slot().await?)
    };
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = users::lock_by_id(&db, caller.user.id)
        .await?
        .ok_or(AuthError::TokenUserNotFound)?;
    let now = state.now();
    if let Some(hash) = &change.encrypted_password {
        users::set_password(&db, user.id, hash, now).await?;
        users::clear_tokens_after_password(&db, user.id, now).await?;
        end_other_sessions(&db, caller).await?;
        accounts::log(state, &db, info, Actor::User(&user), Action::UpdatedPassword).await?;
    }
    if let Some(data) = &change.data {
        users::merge_user_metadata(&db, user.id, data, now).await?;
    }
    if let Some(data) = &change.app_metadata {
        users::merge_app_metadata(&db, user.id, data, now).await?;
    }
    accounts::log(state, &db, info, Actor::User(&user), Action::UserModified).await?;
    if !change.email.is_empty() {
        change_email(state, info, &db, &user, &change).await?;
    }
    if !change.phone.is_empty() {
        change_phone(state, info, &db, &user, &change).await?;
    }
    let old = user;
    let user = accounts::get(&db, old.id).await?;
    db.commit().await?;
    drop(client);
    if change.encrypted_password.is_some() {
        letters::notify(state, info, &user, MailKind::PasswordChanged, Notice::default()).await;
    }
    if !old.phone.is_empty() && old.phone != user.phone {
        let notice = Notice {
            old_phone: &old.phone,
            ..Notice::default()
        };
        letters::notify(state, info, &user, MailKind::PhoneChanged, notice).await;
    }
    Ok(user)
}

/// At once where nobody needs to confirm numbers, by text message otherwise.
async fn change_phone(
    state: &AuthState,
    info: &RequestInfo,
    db: &Transaction<'_>,
    user: &User,
    change: &Change,
) -> Result<(), AuthError> {
    if !state.config.phone.autoconfirm {
        let purpose = CodePurpose::PhoneChange;
        return text_messages::send_code(state, db, info, user, &change.phone, purpose, change.channel)
            .await
            .map(|_| ());
    }
    let now = state.now();
    phones::set_change(db, user.id, &change.phone, "", now).await?;
    let changed = phones::change(db, user.id, &change.phone, now)
        .await
        .map_err(AuthError::from);
    changed.map_err(|error| {
        if error.is_duplicate_phone() {
            AuthError::PhoneExists
        } else {
            error
        }
    })
}

/// A password that somebody else may know must not keep them signed in.
async fn end_other_sessions(db: &Transaction<'_>, caller: &SignedIn) -> Result<(), AuthError> {
    match &caller.session {
        Some(session) => sessions::delete_others(db, caller.user.id, session.id).await?,
        None => sessions::delete_of_user(db, caller.user.id).await?,
    }
    Ok(())
}

/// At once for an anonymous user whose address nobody needs to confirm, by mail otherwise.
async fn change_email(
    state: &AuthState,
    info: &RequestInfo,
    db: &Transaction<'_>,
    user: &User,
    change: &Change,
) -> Result<(), AuthError> {
    if user.is_anonymous && state.config.email.autoconfirm {
        let now = state.now();
        users::set_email_change(db, user.id, &change.email, "", "", now).await?;
        let changed = users::change_email(db, user.id, &change.email, now)
            .await
            .map_err(AuthError::from);
        return changed.map_err(|error| {
            if error.is_duplicate_email() {
                AuthError::EmailExists
            } else {
                error
            }
        });
    }
    letters::send_email_change(state, db, info, user, &change.email, change.challenge.as_ref()).await
}
