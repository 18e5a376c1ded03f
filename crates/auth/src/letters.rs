//! Mails with one-time codes: store the token, then mail it. Each function runs in the caller's transaction, so that a mail that
//! cannot be promised leaves no trace. How mails leave is `letters::post`. Source: Auth contract §3.3, §3.4, §7.

use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::GenericClient;
use selvedge_mail::{MailFields, MailKind};

use crate::error::AuthError;
use crate::limits::seconds_left;
use crate::machine::verify::VerifyType;
use crate::request::RequestInfo;
use crate::rules::one_time_code::OneTimeCode;
use crate::rules::pkce::CodeChallenge;
use crate::state::AuthState;
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::{flow_states, users};
use crate::user::User;

mod notice;
mod post;

pub(crate) use notice::{Notice, notify, notify_of_identity};
use post::{HookData, Post};

/// A code on its way to one address.
struct Letter<'a> {
    kind: MailKind,
    link: VerifyType,
    to: &'a str,
    new_email: &'a str,
    code: &'a OneTimeCode,
}

impl<'a> Letter<'a> {
    /// To the user's own address.
    fn to_user(kind: MailKind, link: VerifyType, user: &'a User, code: &'a OneTimeCode) -> Self {
        Self {
            kind,
            link,
            to: &user.email,
            new_email: "",
            code,
        }
    }
}

/// A code for an address; marked when a PKCE exchange follows.
pub(crate) fn new_code(state: &AuthState, address: &str, challenge: Option<&CodeChallenge>) -> OneTimeCode {
    OneTimeCode::generate(address, state.config.email.otp_length, challenge.is_some())
}

/// Sends the confirmation of a new address.
pub(crate) async fn send_confirmation(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let now = state.now();
    check_frequency(state, user.tokens.confirmation_sent_at, now)?;
    let code = new_code(state, &user.email, challenge);
    one_time_tokens::set(db, user.id, TokenKind::Confirmation, &user.email, &code.hash, now).await?;
    remember_flow(db, user, challenge, VerifyType::Signup, now).await?;
    let letter = Letter::to_user(MailKind::Confirmation, VerifyType::Signup, user, &code);
    send(state, db, info, user, &letter).await
}

/// Sends an invitation; no frequency rule, as an administrator asks.
pub(crate) async fn send_invite(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
) -> Result<(), AuthError> {
    let now = state.now();
    let code = new_code(state, &user.email, None);
    one_time_tokens::set(db, user.id, TokenKind::Confirmation, &user.email, &code.hash, now).await?;
    users::set_invited(db, user.id, now).await?;
    let letter = Letter::to_user(MailKind::Invite, VerifyType::Invite, user, &code);
    send(state, db, info, user, &letter).await
}

/// Sends a recovery mail or a magic link, as `link` says.
pub(crate) async fn send_recovery(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    link: VerifyType,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let now = state.now();
    check_frequency(state, user.tokens.recovery_sent_at, now)?;
    let code = new_code(state, &user.email, challenge);
    one_time_tokens::set(db, user.id, TokenKind::Recovery, &user.email, &code.hash, now).await?;
    remember_flow(db, user, challenge, link, now).await?;
    let kind = if link == VerifyType::MagicLink {
        MailKind::MagicLink
    } else {
        MailKind::Recovery
    };
    send(state, db, info, user, &Letter::to_user(kind, link, user, &code)).await
}

/// Asks the new address, and the current one where both must agree, whether the change is right.
pub(crate) async fn send_email_change(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    new_email: &str,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let now = state.now();
    check_frequency(state, user.tokens.email_change_sent_at, now)?;
    let new_code_ = new_code(state, new_email, challenge);
    let asks_current = state.config.email.secure_change && !user.email.is_empty();
    let current_code = asks_current.then(|| new_code(state, &user.email, challenge));
    let current_hash = current_code.as_ref().map_or("", |code| code.hash.as_str());
    users::set_email_change(db, user.id, new_email, &new_code_.hash, current_hash, now).await?;
    one_time_tokens::put(db, user.id, TokenKind::EmailChangeNew, &new_code_.hash, new_email).await?;
    match &current_code {
        Some(code) => {
            let kind = TokenKind::EmailChangeCurrent;
            one_time_tokens::put(db, user.id, kind, &code.hash, &user.email).await?;
        }
        None => one_time_tokens::clear(db, user.id, TokenKind::EmailChangeCurrent).await?,
    }
    remember_flow(db, user, challenge, VerifyType::EmailChange, now).await?;
    if let Some(hook) = Post::hook(state) {
        // Compat: one call for both mails, with the hashes crossed as existing hooks expect them.
        let data = match &current_code {
            Some(current) => HookData {
                token: &current.otp,
                token_hash: &new_code_.hash,
                token_new: &new_code_.otp,
                token_hash_new: &current.hash,
                ..HookData::default()
            },
            None => HookData {
                token: &new_code_.otp,
                token_hash: &new_code_.hash,
                ..HookData::default()
            },
        };
        check_mail(state, new_email)?;
        // The hook must see the new address.
        let user = crate::accounts::get(db, user.id).await?;
        return hook
            .send(state, db, info, &user, MailKind::EmailChange, &data)
            .await;
    }
    let letter = |to, code| Letter {
        kind: MailKind::EmailChange,
        link: VerifyType::EmailChange,
        to,
        new_email,
        code,
    };
    if let Some(code) = &current_code {
        send(state, db, info, user, &letter(&user.email, code)).await?;
    }
    send(state, db, info, user, &letter(new_email, &new_code_)).await
}

/// Sends the nonce that a sensitive change asks for.
pub(crate) async fn send_reauthentication(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
) -> Result<(), AuthError> {
    let now = state.now();
    check_frequency(state, user.reauthentication_sent_at, now)?;
    let code = new_code(state, &user.email, None);
    one_time_tokens::set(
        db,
        user.id,
        TokenKind::Reauthentication,
        &user.email,
        &code.hash,
        now,
    )
    .await?;
    let letter = Letter::to_user(MailKind::Reauthentication, VerifyType::Email, user, &code);
    send(state, db, info, user, &letter).await
}

/// The link that a mail carries.
pub(crate) fn action_link(info: &RequestInfo, hash: &str, link: VerifyType, redirect_to: &str) -> String {
    // Compat: encoded only where it must be, as upstream does; tests of projects compare links.
    let redirect_to: String = if redirect_to.contains(['&', '=', '#']) {
        url::form_urlencoded::byte_serialize(redirect_to.as_bytes()).collect()
    } else {
        redirect_to.to_owned()
    };
    let base = &info.external_url;
    format!(
        "{base}/verify?token={hash}&type={}&redirect_to={redirect_to}",
        link.as_str()
    )
}

async fn remember_flow(
    db: &impl GenericClient,
    user: &User,
    challenge: Option<&CodeChallenge>,
    link: VerifyType,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    if let Some(challenge) = challenge {
        flow_states::insert(db, user.id, challenge, link.flow_method(), now).await?;
    }
    Ok(())
}

/// One mail per user and purpose in `max_frequency`.
fn check_frequency(
    state: &AuthState,
    sent_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    match seconds_left(sent_at, state.config.email.max_frequency, now) {
        Some(seconds) => Err(AuthError::TooSoon { seconds }),
        None => Ok(()),
    }
}

async fn send(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user: &User,
    letter: &Letter<'_>,
) -> Result<(), AuthError> {
    check_mail(state, letter.to)?;
    let is_code_only = letter.kind == MailKind::Reauthentication;
    let redirect_to = if is_code_only {
        ""
    } else {
        info.redirect_to.as_str()
    };
    if let Some(hook) = Post::hook(state) {
        let data = HookData {
            token: &letter.code.otp,
            token_hash: if is_code_only { "" } else { &letter.code.hash },
            ..HookData::default()
        };
        return hook.send(state, db, info, user, letter.kind, &data).await;
    }
    let confirmation_url = if is_code_only {
        String::new()
    } else {
        action_link(info, &letter.code.hash, letter.link, redirect_to)
    };
    let fields = MailFields {
        site_url: state.config.site_url.clone(),
        confirmation_url,
        email: user.email.clone(),
        new_email: letter.new_email.to_owned(),
        sending_to: letter.to.to_owned(),
        token: letter.code.otp.clone(),
        token_hash: letter.code.hash.clone(),
        redirect_to: redirect_to.to_owned(),
        data: user.user_metadata.clone(),
        ..MailFields::default()
    };
    let life = TimeDelta::from_std(state.config.email.otp_expiry).unwrap_or(TimeDelta::MAX);
    Post { life }
        .send(state, db, letter.kind, letter.to, &fields)
        .await
}

/// Whether one more mail may go out, and to this address.
fn check_mail(state: &AuthState, to: &str) -> Result<(), AuthError> {
    check_authorized(state, to)?;
    state.limits.check_email()
}

/// A project may restrict whom it mails; a `+label` does not make another recipient.
fn check_authorized(state: &AuthState, address: &str) -> Result<(), AuthError> {
    let list = &state.config.email.authorized_addresses;
    let without_label = match address.split_once('@') {
        Some((local, domain)) => format!("{}@{domain}", local.split('+').next().unwrap_or_default()),
        None => address.to_owned(),
    };
    if list.is_empty()
        || list
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&without_label))
    {
        return Ok(());
    }
    Err(AuthError::EmailAddressNotAuthorized(address.to_owned()))
}
