//! Mails with one-time codes: store the token, then send. Each function runs in the caller's transaction, so that a mail that
//! cannot be sent leaves no trace. Source: Auth contract §3.3, §3.4, §7.

use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::GenericClient;
use selvedge_mail::{Mail, MailFields, MailKind};

use crate::error::AuthError;
use crate::limits::ceil_seconds;
use crate::machine::verify::VerifyType;
use crate::request::RequestInfo;
use crate::rules::one_time_code::OneTimeCode;
use crate::rules::pkce::CodeChallenge;
use crate::state::AuthState;
use crate::store::one_time_tokens::{self, TokenKind};
use crate::store::{flow_states, users};
use crate::user::User;

/// What a mail is about, besides its user.
struct Letter<'a> {
    kind: MailKind,
    link: VerifyType,
    to: &'a str,
    new_email: &'a str,
    code: &'a OneTimeCode,
    redirect_to: &'a str,
}

/// A code for an address; marked when a PKCE exchange follows.
pub(crate) fn new_code(state: &AuthState, address: &str, challenge: Option<&CodeChallenge>) -> OneTimeCode {
    OneTimeCode::generate(address, state.config.email.otp_length, challenge.is_some())
}

/// Sends the confirmation of a new address (or an invitation).
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
    one_time_tokens::set_confirmation(db, user.id, &user.email, &code.hash, now).await?;
    remember_flow(db, user, challenge, VerifyType::Signup, now).await?;
    let (kind, link, redirect_to) = (
        MailKind::Confirmation,
        VerifyType::Signup,
        info.redirect_to.as_str(),
    );
    send(
        state,
        user,
        &Letter {
            kind,
            link,
            to: &user.email,
            new_email: "",
            code: &code,
            redirect_to,
        },
    )
    .await
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
    one_time_tokens::set_confirmation(db, user.id, &user.email, &code.hash, now).await?;
    users::set_invited(db, user.id, now).await?;
    let (kind, link, redirect_to) = (MailKind::Invite, VerifyType::Invite, info.redirect_to.as_str());
    send(
        state,
        user,
        &Letter {
            kind,
            link,
            to: &user.email,
            new_email: "",
            code: &code,
            redirect_to,
        },
    )
    .await
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
    one_time_tokens::set_recovery(db, user.id, &user.email, &code.hash, now).await?;
    remember_flow(db, user, challenge, link, now).await?;
    let kind = if link == VerifyType::MagicLink {
        MailKind::MagicLink
    } else {
        MailKind::Recovery
    };
    let redirect_to = info.redirect_to.as_str();
    send(
        state,
        user,
        &Letter {
            kind,
            link,
            to: &user.email,
            new_email: "",
            code: &code,
            redirect_to,
        },
    )
    .await
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
            one_time_tokens::put(
                db,
                user.id,
                TokenKind::EmailChangeCurrent,
                &code.hash,
                &user.email,
            )
            .await?;
        }
        None => one_time_tokens::clear(db, user.id, TokenKind::EmailChangeCurrent).await?,
    }
    remember_flow(db, user, challenge, VerifyType::EmailChange, now).await?;
    let letter = |to, code| Letter {
        kind: MailKind::EmailChange,
        link: VerifyType::EmailChange,
        to,
        new_email,
        code,
        redirect_to: &info.redirect_to,
    };
    if let Some(code) = &current_code {
        send(state, user, &letter(&user.email, code)).await?;
    }
    send(state, user, &letter(new_email, &new_code_)).await
}

/// Sends the nonce that a sensitive change asks for.
pub(crate) async fn send_reauthentication(
    state: &AuthState,
    db: &impl GenericClient,
    user: &User,
) -> Result<(), AuthError> {
    let now = state.now();
    check_frequency(state, user.reauthentication_sent_at, now)?;
    let code = new_code(state, &user.email, None);
    one_time_tokens::set_reauthentication(db, user.id, &user.email, &code.hash, now).await?;
    let (kind, link) = (MailKind::Reauthentication, VerifyType::Email);
    send(
        state,
        user,
        &Letter {
            kind,
            link,
            to: &user.email,
            new_email: "",
            code: &code,
            redirect_to: "",
        },
    )
    .await
}

/// The link that a mail carries.
pub(crate) fn action_link(state: &AuthState, hash: &str, link: VerifyType, redirect_to: &str) -> String {
    // Compat: encoded only where it must be, as upstream does; tests of projects compare links.
    let redirect_to: String = if redirect_to.contains(['&', '=', '#']) {
        url::form_urlencoded::byte_serialize(redirect_to.as_bytes()).collect()
    } else {
        redirect_to.to_owned()
    };
    let base = &state.config.external_url;
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
    let pause = TimeDelta::from_std(state.config.email.max_frequency).unwrap_or(TimeDelta::MAX);
    let wait = sent_at
        .map(|sent_at| sent_at + pause - now)
        .and_then(|wait| wait.to_std().ok());
    match wait.filter(|wait| !wait.is_zero()) {
        Some(wait) => Err(AuthError::TooSoon {
            seconds: ceil_seconds(wait),
        }),
        None => Ok(()),
    }
}

async fn send(state: &AuthState, user: &User, letter: &Letter<'_>) -> Result<(), AuthError> {
    check_authorized(state, letter.to)?;
    state.limits.check_email()?;
    let confirmation_url = match letter.kind {
        MailKind::Reauthentication => String::new(),
        _ => action_link(state, &letter.code.hash, letter.link, letter.redirect_to),
    };
    let rendered = state.templates.render(
        letter.kind,
        &MailFields {
            site_url: state.config.site_url.clone(),
            confirmation_url,
            email: user.email.clone(),
            new_email: letter.new_email.to_owned(),
            sending_to: letter.to.to_owned(),
            token: letter.code.otp.clone(),
            token_hash: letter.code.hash.clone(),
            redirect_to: letter.redirect_to.to_owned(),
            data: user.user_metadata.clone(),
        },
    );
    let mail = Mail {
        to: letter.to.to_owned(),
        subject: rendered.subject,
        html: rendered.html,
        text: rendered.text,
    };
    state
        .mailer
        .send(mail)
        .await
        .map_err(|error| AuthError::internal(failure_text(letter.kind), error))
}

fn failure_text(kind: MailKind) -> &'static str {
    match kind {
        MailKind::Confirmation => "Error sending confirmation email",
        MailKind::Invite => "Error sending invite email",
        MailKind::Recovery => "Error sending recovery email",
        MailKind::MagicLink => "Error sending magic link email",
        MailKind::EmailChange => "Error sending email change email",
        MailKind::Reauthentication => "Error sending reauthentication email",
    }
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
