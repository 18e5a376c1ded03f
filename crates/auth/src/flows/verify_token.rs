//! Verifies a one-time token of a mail or text message: finds its user, decides its effect, applies that, and issues
//! a session or an authorization code.
//!
//! The user's row is locked for the whole transaction, so a token that is sent twice at once is accepted once.
//! Source: Auth contract §2.6, §3.4, §3.5.

use chrono::{DateTime, Utc};
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::crypto::equal_secrets;
use crate::crypto::one_time_code::PresentedToken;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::decisions::verify::{ChangeToken, Effect, VerifyRules, decide_effect};
use crate::flows::sign_in::{TokenPair, start_session};
use crate::hasher::generate_password;
use crate::mailer::{self, Notice};
use crate::request::AuthRequest;
use crate::sms;
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::{contested_accounts, flow_states, phones, users};
use crate::user::User;
use crate::validation::verify_type::VerifyType;

/// 403 `otp_expired` for a link or token hash. Compat: applications show the text.
pub(crate) const BAD_LINK: AuthError = AuthError::OtpExpired("Email link is invalid or has expired");
/// 403 `otp_expired` for a code. Compat: applications show the text.
pub(crate) const BAD_CODE: AuthError = AuthError::OtpExpired("Token has expired or is invalid");

/// A one-time token as a client presents it.
pub(crate) struct VerifyRequest {
    pub(crate) kind: VerifyType,
    pub(crate) token: PresentedToken,
    /// The address that a code was sent to; a link needs none.
    pub(crate) address: Option<String>,
    /// The code as typed, for test codes and for providers that check codes themselves.
    pub(crate) typed_code: String,
    /// Whether the flow ends with an authorization code (PKCE) instead of a session.
    pub(crate) wants_auth_code: bool,
}

/// What a valid token leads to.
pub(crate) enum VerifyOutcome {
    /// The first of two confirmations of an e-mail change; nobody is signed in.
    FirstConfirmation,
    /// A session, and the type of the completed flow.
    Session(Box<TokenPair>, VerifyType),
    /// An authorization code, to be exchanged by the PKCE grant.
    AuthCode(String),
}

/// The client that wrong codes are counted for.
fn choose_counted_client(request: &AuthRequest) -> &str {
    request.info.limit_key().unwrap_or(&request.info.ip)
}

/// Limits wrong codes per address and client, because a code has only a few digits.
///
/// # Errors
/// 429 `over_request_rate_limit`.
fn check_wrong_code_limit(request: &AuthRequest, presented: &VerifyRequest) -> Result<(), AuthError> {
    match &presented.address {
        Some(address) => request
            .state
            .limits
            .check_wrong_codes(address, choose_counted_client(request)),
        None => Ok(()),
    }
}

/// Verifies a token and applies its effect, in one transaction.
///
/// # Errors
/// 403 `otp_expired` for a token that is wrong, used or expired; 403 `user_banned`; 429 after too many wrong codes.
pub(crate) async fn verify_token(
    request: &AuthRequest,
    presented: &VerifyRequest,
) -> Result<VerifyOutcome, AuthError> {
    let rejected = || match &presented.address {
        Some(address) => {
            request
                .state
                .limits
                .count_wrong_code(address, choose_counted_client(request));
            BAD_CODE
        }
        None => BAD_LINK,
    };
    check_wrong_code_limit(request, presented)?;
    // Checked before a connection is taken, because an SMS provider may have to be called.
    let is_accepted_without_hash = is_accepted_without_hash(&request.state, presented).await;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let owner = match is_accepted_without_hash {
        true => find_user_by_phone(&db, &request.info.audience, presented).await?,
        false => {
            let (hashes, address) = (presented.token.list_candidates(), presented.address.as_deref());
            one_time_tokens::find_owner(&db, presented.kind, &hashes, address).await?
        }
    };
    // The token is compared again below, with the locked row: another request may have used it up since the look-up.
    let user = users::lock_by_id(&db, owner.ok_or_else(rejected)?)
        .await?
        .ok_or_else(rejected)?;
    if user.is_banned(request.now()) {
        return Err(AuthError::UserBanned);
    }
    let rules = VerifyRules {
        otp_expiry: request.config().email.otp_expiry,
        sms_expiry: request.config().phone.otp_expiry,
        double_change: request.config().email.secure_change && !request.config().email.autoconfirm,
    };
    let effect = match (is_accepted_without_hash, presented.kind) {
        (true, VerifyType::PhoneChange) => Effect::ChangePhone,
        (true, _) => Effect::ConfirmPhone,
        (false, kind) => {
            decide_effect(kind, &presented.token, &user.tokens, rules, request.now()).ok_or_else(rejected)?
        }
    };
    let address = match &presented.address {
        Some(address) => address.to_lowercase(),
        None => find_recipient(&db, &user, presented)
            .await?
            .ok_or_else(rejected)?,
    };
    if !apply_effect(request, &db, &user, (effect, &address)).await? {
        return Err(rejected());
    }
    let outcome = match effect {
        Effect::FirstConfirmation(_) => VerifyOutcome::FirstConfirmation,
        _ => {
            issue_session_or_code(
                request,
                &db,
                &user,
                effect.verify_type(),
                presented.wants_auth_code,
            )
            .await?
        }
    };
    db.commit().await?;
    drop(client);
    notify_of_change(request, user, effect).await;
    Ok(outcome)
}

/// Whether the code is right without a stored hash: it is one of the project's test codes, or an SMS provider has
/// accepted it.
async fn is_accepted_without_hash(state: &AuthState, presented: &VerifyRequest) -> bool {
    let Some(phone) = presented
        .address
        .as_deref()
        .filter(|_| presented.kind.is_by_phone())
    else {
        return false;
    };
    match state.config.phone.test_code(phone, state.now()) {
        Some(code) => equal_secrets(code, &presented.typed_code),
        None if sms::provider_checks_codes(state) => {
            sms::check_code_with_provider(state, phone, &presented.typed_code).await
        }
        None => false,
    }
}

/// The user with this number, or for `phone_change` the user with a pending change to it.
async fn find_user_by_phone(
    db: &Transaction<'_>,
    audience: &str,
    presented: &VerifyRequest,
) -> Result<Option<Uuid>, AuthError> {
    let phone = presented.address.as_deref().unwrap_or_default();
    let found = match presented.kind {
        VerifyType::PhoneChange => phones::find_by_phone_change(db, phone, audience).await?,
        _ => phones::find_by_phone(db, phone, audience).await?,
    };
    Ok(found.map(|user| user.id))
}

/// Mails a notice about a changed address; `user` is the row before the change.
async fn notify_of_change(request: &AuthRequest, user: User, effect: Effect) {
    let mut now = user.clone();
    match effect {
        Effect::ChangeEmail(_) if !user.email.is_empty() => {
            now.email.clone_from(&user.email_change);
            let notice = Notice {
                old_email: &user.email,
                ..Notice::default()
            };
            mailer::notify_user(request, &now, MailKind::EmailChanged, notice).await;
        }
        Effect::ChangePhone if !user.phone.is_empty() => {
            now.phone.clone_from(&user.phone_change);
            let notice = Notice {
                old_phone: &user.phone,
                ..Notice::default()
            };
            mailer::notify_user(request, &now, MailKind::PhoneChanged, notice).await;
        }
        _ => {}
    }
}

/// The address (in lowercase) that a link was sent to; `None` when the token is gone.
async fn find_recipient(
    db: &Transaction<'_>,
    user: &User,
    presented: &VerifyRequest,
) -> Result<Option<String>, AuthError> {
    let hashes = presented.token.list_candidates();
    let recipient = one_time_tokens::find_recipient(db, user.id, presented.kind, &hashes).await?;
    Ok(recipient.map(|address| address.to_lowercase()))
}

/// Applies the effect of the token to its user. `address` is where the token was sent to, in lowercase: a proof of one
/// address confirms no other. Returns false when the user has another address or number by now.
async fn apply_effect(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    (effect, address): (Effect, &str),
) -> Result<bool, AuthError> {
    let now = request.now();
    if !is_current_address(effect, user, address) {
        return Ok(false);
    }
    let by_email = json!({ "provider": "email" });
    let by_phone = json!({ "provider": "phone" });
    let (action, traits) = match effect {
        Effect::Confirm(_) => {
            confirm_new_user(request, db, user, address).await?;
            (Action::UserSignedUp, by_email)
        }
        Effect::SignIn(_) if user.is_confirmed() => (Action::Login, Value::Null),
        Effect::SignIn(_) => {
            // Whoever registered the address did not confirm it, and whoever asks for a recovery does not know the
            // password: what the former could sign in with goes.
            if contested_accounts::is_unproven(user) {
                contested_accounts::forget_credentials(db, user.id, now).await?;
            }
            users::confirm_email(db, user.id, address, now).await?;
            (Action::UserSignedUp, by_email)
        }
        Effect::FirstConfirmation(token) => {
            store_first_confirmation(db, user.id, token, now).await?;
            return Ok(true);
        }
        Effect::ChangeEmail(_) => {
            let changed = users::change_email(db, user.id, &user.email_change, now).await;
            changed.map_err(AuthError::from).map_err(map_duplicate_address)?;
            (Action::UserModified, Value::Null)
        }
        Effect::ConfirmPhone => {
            forget_contested_credentials(db, user, now).await?;
            phones::confirm_phone(db, user.id, address, now).await?;
            let action = match user.is_phone_confirmed() {
                true => Action::Login,
                false => Action::UserSignedUp,
            };
            (action, by_phone)
        }
        Effect::ChangePhone => {
            let changed = phones::change_phone(db, user.id, &user.phone_change, now).await;
            changed.map_err(AuthError::from).map_err(map_duplicate_address)?;
            (Action::UserModified, Value::Null)
        }
    };
    accounts::log_user_action(request, db, user, action, traits).await?;
    Ok(true)
}

/// Whether the user still has the address or number, or still wants it, that the token was sent to.
fn is_current_address(effect: Effect, user: &User, address: &str) -> bool {
    match effect {
        Effect::Confirm(_) | Effect::SignIn(_) => user.email.to_lowercase() == address,
        Effect::ConfirmPhone => user.phone == address,
        Effect::ChangePhone => user.phone_change == address,
        Effect::FirstConfirmation(token) | Effect::ChangeEmail(token) => match token {
            ChangeToken::New => user.email_change.to_lowercase() == address,
            ChangeToken::Current => user.email.to_lowercase() == address,
        },
    }
}

/// Whoever proves an address that was registered twice, with different credentials, gets the account without them.
async fn forget_contested_credentials(
    db: &Transaction<'_>,
    user: &User,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    if contested_accounts::take(db, user.id).await? && contested_accounts::is_unproven(user) {
        contested_accounts::forget_credentials(db, user.id, now).await?;
    }
    Ok(())
}

/// Confirms the address (in lowercase) of a new or invited user.
async fn confirm_new_user(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    address: &str,
) -> Result<(), AuthError> {
    forget_contested_credentials(db, user, request.now()).await?;
    if user.invited_at.is_some() && user.encrypted_password.is_empty() {
        set_random_password(request, db, user.id).await?;
    }
    users::confirm_email(db, user.id, address, request.now()).await?;
    users::verify_identities(db, user.id, address, request.now()).await?;
    Ok(())
}

/// Records that one of the two addresses has confirmed an e-mail change, and deletes its token.
async fn store_first_confirmation(
    db: &Transaction<'_>,
    user_id: Uuid,
    token: ChangeToken,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    let is_new = token == ChangeToken::New;
    let kind = if is_new {
        TokenKind::EmailChangeNew
    } else {
        TokenKind::EmailChangeCurrent
    };
    users::confirm_first_address(db, user_id, is_new, now).await?;
    Ok(one_time_tokens::delete_lookup(db, user_id, kind).await?)
}

/// Gives an invited user a random password, which nobody knows. Compat: upstream does so, and triggers may expect a
/// password.
async fn set_random_password(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user_id: Uuid,
) -> Result<(), AuthError> {
    let now = request.now();
    let hash = request.state.hasher.hash(&generate_password()).await?;
    users::set_password(db, user_id, &hash, now).await?;
    Ok(users::clear_tokens_after_password(db, user_id, now).await?)
}

/// Maps a unique violation: another user has registered the new address in the meantime.
fn map_duplicate_address(error: AuthError) -> AuthError {
    if error.is_duplicate_email() {
        AuthError::EmailExists
    } else if error.is_duplicate_phone() {
        AuthError::PhoneExists
    } else {
        error
    }
}

/// Clears all pending tokens of the user, and issues a session or the flow's authorization code.
async fn issue_session_or_code(
    request: &AuthRequest,
    db: &Transaction<'_>,
    user: &User,
    kind: VerifyType,
    wants_auth_code: bool,
) -> Result<VerifyOutcome, AuthError> {
    one_time_tokens::clear_all_tokens(db, user.id, request.now()).await?;
    users::refresh_providers(db, user.id).await?;
    if !wants_auth_code {
        let tokens = start_session(request, db, user.id, "otp").await?;
        return Ok(VerifyOutcome::Session(Box::new(tokens), kind));
    }
    let code = flow_states::issue_code(db, user.id, kind.flow_method(), request.now()).await?;
    code.map(VerifyOutcome::AuthCode)
        .ok_or(AuthError::FlowStateNotFound { status: 400 })
}
