//! Redeeming a one-time token: whose it is, what it is worth, what it does to its user, and what they get for it.
//!
//! All of it happens in one transaction under the lock of the user's row, so a token that arrives twice at once counts once.
//! Source: Auth contract §2.6, §3.4, §3.5.

use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::accounts;
use crate::error::AuthError;
use crate::hasher::random_password;
use crate::letters::{self, Notice};
use crate::machine::verify::{ChangeToken, Effect, VerifyRules, VerifyType, verify};
use crate::request::RequestInfo;
use crate::rules::equal_secrets;
use crate::rules::one_time_code::PresentedToken;
use crate::sign_in::{TokenPair, start_session};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::{flow_states, phones, users};
use crate::text_messages;
use crate::user::User;

pub(crate) const BAD_LINK: AuthError = AuthError::OtpExpired("Email link is invalid or has expired");
pub(crate) const BAD_CODE: AuthError = AuthError::OtpExpired("Token has expired or is invalid");

/// What is redeemed.
pub(crate) struct Presented {
    pub(crate) kind: VerifyType,
    pub(crate) token: PresentedToken,
    /// The address that a code was sent to; a link needs none.
    pub(crate) address: Option<String>,
    /// The code itself, where somebody else may know whether it is right.
    pub(crate) typed: String,
    /// Whether the flow ends with an exchange of a code instead of a session.
    pub(crate) wants_code: bool,
}

/// What redeeming came to.
pub(crate) enum Outcome {
    FirstHalf,
    Session(Box<TokenPair>, VerifyType),
    AuthCode(String),
}

/// A code has few digits: who guesses for one address, from wherever, is stopped.
fn check_attempts(state: &AuthState, presented: &Presented) -> Result<(), AuthError> {
    match &presented.address {
        Some(address) => state.limits.check_guesses(address),
        None => Ok(()),
    }
}

/// Finds whose token it is, decides what it is worth, and makes it so, all in one transaction.
pub(crate) async fn redeem(
    state: &AuthState,
    info: &RequestInfo,
    presented: &Presented,
) -> Result<Outcome, AuthError> {
    let bad = || match &presented.address {
        Some(address) => {
            state.limits.count_guess(address);
            BAD_CODE
        }
        None => BAD_LINK,
    };
    check_attempts(state, presented)?;
    let is_vouched_for = is_vouched_for(state, presented).await;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let owner = match is_vouched_for {
        true => find_by_number(&db, info, presented).await?,
        false => {
            let (hashes, address) = (presented.token.candidates(), presented.address.as_deref());
            one_time_tokens::find_owner(&db, presented.kind, &hashes, address).await?
        }
    };
    let user = users::lock_by_id(&db, owner.ok_or_else(bad)?)
        .await?
        .ok_or_else(bad)?;
    if user.is_banned(state.now()) {
        return Err(AuthError::UserBanned);
    }
    let rules = VerifyRules {
        otp_expiry: state.config.email.otp_expiry,
        sms_expiry: state.config.phone.otp_expiry,
        double_change: state.config.email.secure_change && !state.config.email.autoconfirm,
    };
    let effect = match (is_vouched_for, presented.kind) {
        (true, VerifyType::PhoneChange) => Effect::ChangePhone,
        (true, _) => Effect::ConfirmPhone,
        (false, kind) => verify(kind, &presented.token, &user.tokens, rules, state.now()).ok_or_else(bad)?,
    };
    apply(state, info, &db, &user, effect).await?;
    let outcome = match effect {
        Effect::FirstHalf(_) => Outcome::FirstHalf,
        _ => {
            finish(
                state,
                info,
                &db,
                &user,
                effect.verify_type(),
                presented.wants_code,
            )
            .await?
        }
    };
    db.commit().await?;
    drop(client);
    tell(state, info, user, effect).await;
    Ok(outcome)
}

/// Whether somebody who knows better says that the code is right: the list of test codes, or a provider that makes its own.
async fn is_vouched_for(state: &AuthState, presented: &Presented) -> bool {
    let Some(phone) = presented
        .address
        .as_deref()
        .filter(|_| presented.kind.is_by_phone())
    else {
        return false;
    };
    match state.config.phone.test_code(phone, state.now()) {
        Some(code) => equal_secrets(code, &presented.typed),
        None if text_messages::provider_checks_codes(state) => {
            text_messages::provider_accepts(state, phone, &presented.typed).await
        }
        None => false,
    }
}

/// Who has this number, or has asked for it.
async fn find_by_number(
    db: &Transaction<'_>,
    info: &RequestInfo,
    presented: &Presented,
) -> Result<Option<Uuid>, AuthError> {
    let phone = presented.address.as_deref().unwrap_or_default();
    let found = match presented.kind {
        VerifyType::PhoneChange => phones::find_by_phone_change(db, phone, &info.audience).await?,
        _ => phones::find_by_phone(db, phone, &info.audience).await?,
    };
    Ok(found.map(|user| user.id))
}

/// Tells the user about a changed address; `user` is as they were.
async fn tell(state: &AuthState, info: &RequestInfo, user: User, effect: Effect) {
    let mut now = user.clone();
    match effect {
        Effect::ChangeEmail if !user.email.is_empty() => {
            now.email.clone_from(&user.email_change);
            let notice = Notice {
                old_email: &user.email,
                ..Notice::default()
            };
            letters::notify(state, info, &now, MailKind::EmailChanged, notice).await;
        }
        Effect::ChangePhone if !user.phone.is_empty() => {
            now.phone.clone_from(&user.phone_change);
            let notice = Notice {
                old_phone: &user.phone,
                ..Notice::default()
            };
            letters::notify(state, info, &now, MailKind::PhoneChanged, notice).await;
        }
        _ => {}
    }
}

/// Writes what the token does to its user.
async fn apply(
    state: &AuthState,
    info: &RequestInfo,
    db: &Transaction<'_>,
    user: &User,
    effect: Effect,
) -> Result<(), AuthError> {
    let now = state.now();
    let by_email = json!({ "provider": "email" });
    let by_phone = json!({ "provider": "phone" });
    let (action, traits) = match effect {
        Effect::Confirm(_) => {
            if user.invited_at.is_some() && user.encrypted_password.is_empty() {
                // Whoever was invited chooses a password later; until then nobody knows it.
                let hash = state.hasher.hash(&random_password()).await?;
                users::set_password(db, user.id, &hash, now).await?;
                users::clear_tokens_after_password(db, user.id, now).await?;
            }
            users::confirm_email(db, user.id, now).await?;
            users::prove_identities(db, user.id, now).await?;
            (Action::UserSignedUp, by_email)
        }
        Effect::SignIn(_) if user.is_confirmed() => (Action::Login, Value::Null),
        Effect::SignIn(_) => {
            users::confirm_email(db, user.id, now).await?;
            (Action::UserSignedUp, by_email)
        }
        Effect::FirstHalf(token) => {
            let is_new = token == ChangeToken::New;
            let kind = if is_new {
                TokenKind::EmailChangeNew
            } else {
                TokenKind::EmailChangeCurrent
            };
            users::confirm_first_half(db, user.id, is_new, now).await?;
            return Ok(one_time_tokens::clear(db, user.id, kind).await?);
        }
        Effect::ChangeEmail => {
            let changed = users::change_email(db, user.id, &user.email_change, now).await;
            changed.map_err(AuthError::from).map_err(taken_meanwhile)?;
            (Action::UserModified, Value::Null)
        }
        Effect::ConfirmPhone => {
            phones::confirm(db, user.id, now).await?;
            let action = match user.is_phone_confirmed() {
                true => Action::Login,
                false => Action::UserSignedUp,
            };
            (action, by_phone)
        }
        Effect::ChangePhone => {
            let changed = phones::change(db, user.id, &user.phone_change, now).await;
            changed.map_err(AuthError::from).map_err(taken_meanwhile)?;
            (Action::UserModified, Value::Null)
        }
    };
    accounts::log_with(state, db, info, user, action, traits).await
}

/// Somebody else has registered the new address since.
fn taken_meanwhile(error: AuthError) -> AuthError {
    if error.is_duplicate_email() {
        AuthError::EmailExists
    } else if error.is_duplicate_phone() {
        AuthError::PhoneExists
    } else {
        error
    }
}

/// Uses up every pending token, and signs in or hands out the code of the flow.
async fn finish(
    state: &AuthState,
    info: &RequestInfo,
    db: &Transaction<'_>,
    user: &User,
    kind: VerifyType,
    wants_code: bool,
) -> Result<Outcome, AuthError> {
    one_time_tokens::clear_all(db, user.id, state.now()).await?;
    users::refresh_providers(db, user.id).await?;
    if !wants_code {
        let tokens = start_session(state, db, info, user.id, "otp").await?;
        return Ok(Outcome::Session(Box::new(tokens), kind));
    }
    let code = flow_states::issue_code(db, user.id, kind.flow_method(), state.now()).await?;
    code.map(Outcome::AuthCode)
        .ok_or(AuthError::FlowStateNotFound { status: 400 })
}
