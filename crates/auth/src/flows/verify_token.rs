//! Verifies a one-time token of a mail or text message: finds its user, decides its effect, applies that, and issues
//! a session or an authorization code.
//!
//! The user's row is locked for the whole transaction, so a token that is sent twice at once is accepted once.
//! Source: Auth contract §2.6, §3.4, §3.5.

use chrono::{DateTime, Utc};
use deadpool_postgres::{GenericClient, Transaction};
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
use crate::state::client_networks::ClientNetworks;
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

/// A token that was accepted, before its user is locked.
enum AcceptedToken {
    /// The token of a pending link, which the presented one or the typed code belongs to.
    Pending { user_id: Uuid, token: String },
    /// A code without a stored token: a test code, or one that the SMS provider has checked.
    Checked { user_id: Uuid },
}

/// Verifies a token and applies its effect, in one transaction.
///
/// # Errors
/// 403 `otp_expired` for a token that is wrong, used or expired, or a code that was tried too often; 403 `user_banned`; 429 after
/// too many wrong codes.
pub(crate) async fn verify_token(
    request: &AuthRequest,
    presented: &VerifyRequest,
) -> Result<VerifyOutcome, AuthError> {
    let Some(address) = presented.token.address() else {
        return verify_accepted(request, presented, BAD_LINK).await;
    };
    // Counted before the code is compared: many requests at once would otherwise all pass the check.
    let client = request.info.networks().map(ClientNetworks::narrow);
    let client = client.unwrap_or(&request.info.ip);
    let limits = &request.state.limits;
    let attempt = limits.take_code_attempt(address, client)?;
    let verified = verify_accepted(request, presented, BAD_CODE).await;
    if !matches!(verified, Err(AuthError::OtpExpired(_))) {
        limits.return_code_attempt(&attempt);
    }
    verified
}

/// The part of [`verify_token`] behind the limit of wrong codes; `rejected` is the error for a token that is not accepted.
///
/// # Errors
/// See [`verify_token`].
async fn verify_accepted(
    request: &AuthRequest,
    presented: &VerifyRequest,
    rejected: AuthError,
) -> Result<VerifyOutcome, AuthError> {
    let rejected = || match &rejected {
        AuthError::OtpExpired(text) => AuthError::OtpExpired(text),
        _ => BAD_CODE,
    };
    let accepted = find_accepted_token(request, presented)
        .await?
        .ok_or_else(rejected)?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let (AcceptedToken::Pending { user_id, .. } | AcceptedToken::Checked { user_id }) = accepted;
    // The token is compared again below, with the locked row: another request may have used it up since the look-up.
    let user = users::lock_by_id(&db, user_id).await?.ok_or_else(rejected)?;
    if user.is_banned(request.now()) {
        return Err(AuthError::UserBanned);
    }
    let rules = VerifyRules::new(request.config());
    let effect = match (&accepted, presented.kind) {
        (AcceptedToken::Checked { .. }, VerifyType::PhoneChange) => Effect::ChangePhone,
        (AcceptedToken::Checked { .. }, _) => Effect::ConfirmPhone,
        (AcceptedToken::Pending { token, .. }, kind) => {
            decide_effect(kind, token, &user.tokens, rules, request.now()).ok_or_else(rejected)?
        }
    };
    let address = match &presented.token {
        PresentedToken::Code { address, .. } => address.to_lowercase(),
        PresentedToken::Link(token) => one_time_tokens::find_recipient(&db, user.id, presented.kind, token)
            .await?
            .ok_or_else(rejected)?
            .to_lowercase(),
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

/// The token that is presented as a link or by its code; `None` for one that is not accepted. Each code that is tried counts, in
/// the row of the pending token.
async fn find_accepted_token(
    request: &AuthRequest,
    presented: &VerifyRequest,
) -> Result<Option<AcceptedToken>, AuthError> {
    let (address, otp) = match &presented.token {
        PresentedToken::Link(token) => {
            let client = request.connect().await?;
            let owner = one_time_tokens::find_owner(&client, presented.kind, token).await?;
            let token = token.clone();
            return Ok(owner.map(|user_id| AcceptedToken::Pending { user_id, token }));
        }
        PresentedToken::Code { address, otp } => (address.as_str(), otp.as_str()),
    };
    // Before a connection is taken, because an SMS provider may have to be called.
    let is_checked = is_accepted_without_token(&request.state, presented.kind, (address, otp)).await;
    let client = request.connect().await?;
    if is_checked {
        let user_id = find_user_by_phone(&client, request, presented.kind, address).await?;
        return Ok(user_id.map(|user_id| AcceptedToken::Checked { user_id }));
    }
    let mut accepted = None;
    for pending in one_time_tokens::list_by_address(&client, presented.kind, address).await? {
        let key = &request.state.code_key;
        // All are tried, so that each counts, whichever of them is right.
        if one_time_tokens::try_code(&client, key, &pending, (address, otp)).await? && accepted.is_none() {
            accepted = Some(AcceptedToken::Pending {
                user_id: pending.user_id,
                token: pending.token,
            });
        }
    }
    Ok(accepted)
}

/// Whether the code is right without a stored token: it is one of the project's test codes, or an SMS provider has
/// accepted it.
async fn is_accepted_without_token(state: &AuthState, kind: VerifyType, (phone, otp): (&str, &str)) -> bool {
    if !kind.is_by_phone() {
        return false;
    }
    match state.config.phone.test_code(phone, state.now()) {
        Some(code) => equal_secrets(code, otp),
        None if sms::provider_checks_codes(state) => sms::check_code_with_provider(state, phone, otp).await,
        None => false,
    }
}

/// The user with this number, or for `phone_change` the user with a pending change to it.
async fn find_user_by_phone(
    db: &impl GenericClient,
    request: &AuthRequest,
    kind: VerifyType,
    phone: &str,
) -> Result<Option<Uuid>, AuthError> {
    let audience = &request.info.audience;
    let found = match kind {
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

/// Whether the user still has the address or number, or still wants it, that the token was sent to. The account of somebody
/// who uses it and only claims the address is not given to whoever proves it.
fn is_current_address(effect: Effect, user: &User, address: &str) -> bool {
    match effect {
        Effect::Confirm(_) | Effect::SignIn(_) => {
            user.email.to_lowercase() == address && !user.only_claims_email()
        }
        Effect::ConfirmPhone => user.phone == address && !user.only_claims_phone(),
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
    Ok(users::clear_pending_tokens(db, user_id, now).await?)
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
