//! Mails with one-time codes: each function stores a token, then queues or sends the mail with it.
//!
//! Both happen in the caller's transaction: when the mail cannot be queued or sent, the token is rolled back with it.
//! [`send_mail`](mod@send_mail) decides how a mail is sent, [`delivery`] delivers queued ones, [`notice`] writes mails
//! without codes. Source: Auth contract §3.3, §3.4, §7.

use chrono::{DateTime, TimeDelta, Utc};
use deadpool_postgres::GenericClient;
use selvedge_mail::{MailFields, MailKind, is_authorized_address};
use uuid::Uuid;

use crate::crypto::one_time_code::OneTimeCode;
use crate::crypto::pkce::CodeChallenge;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::request::{AuthRequest, RequestInfo};
use crate::state::AuthState;
use crate::state::rate_limits::seconds_left;
use crate::store::flow_states;
use crate::store::one_time_tokens::{self, SentToken, TokenKind};
use crate::store::users::{self, EmailChange};
use crate::user::User;
use crate::validation::verify_type::VerifyType;

pub(crate) mod delivery;
mod notice;
mod send_mail;

pub(crate) use notice::{Notice, notify_user};
use send_mail::{HookData, OutgoingMail, has_email_hook, send_by_hook, send_mail};

/// A mail with a one-time code and, for most kinds, a link.
struct CodeMail<'a> {
    kind: MailKind,
    /// Value of the query parameter `type` in the link.
    link: VerifyType,
    /// The recipient; at a change of address it may differ from the user's current address.
    to: &'a str,
    /// The address that the user wants to change to; empty in other mails.
    new_email: &'a str,
    code: &'a OneTimeCode,
}

impl<'a> CodeMail<'a> {
    /// A mail to the user's current address.
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

/// Generates a code and the token of a link. With a challenge the token gets the prefix `pkce_`, so that the link returns a
/// code instead of a session.
pub(crate) fn generate_code(state: &AuthState, challenge: Option<&CodeChallenge>) -> OneTimeCode {
    OneTimeCode::generate(state.config.email.otp_length, challenge.is_some())
}

/// Sends the mail that confirms a new user's address.
///
/// # Errors
/// 429 `over_email_send_rate_limit` within `max_frequency` of the last such mail, or the error of sending.
pub(crate) async fn send_confirmation(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let now = request.now();
    check_frequency(&request.state, user.tokens.confirmation_sent_at, now)?;
    let code = generate_code(&request.state, challenge);
    let token = SentToken {
        kind: TokenKind::Confirmation,
        address: &user.email,
        code: &code,
        key: &request.state.code_key,
        asked_by: request.info.asking_network(),
    };
    one_time_tokens::store_token(db, user.id, token, now).await?;
    insert_flow_state(db, user, challenge, VerifyType::Signup, now).await?;
    let mail = CodeMail::to_user(MailKind::Confirmation, VerifyType::Signup, user, &code);
    send_code_mail(request, db, user, &mail).await
}

/// Sends an invitation. `max_frequency` does not apply, because an administrator requests it.
///
/// # Errors
/// The error of storing the code or sending the mail.
pub(crate) async fn send_invite(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
) -> Result<(), AuthError> {
    let now = request.now();
    let code = generate_code(&request.state, None);
    let token = SentToken {
        kind: TokenKind::Confirmation,
        address: &user.email,
        code: &code,
        key: &request.state.code_key,
        asked_by: request.info.asking_network(),
    };
    one_time_tokens::store_token(db, user.id, token, now).await?;
    users::set_invited(db, user.id, now).await?;
    let mail = CodeMail::to_user(MailKind::Invite, VerifyType::Invite, user, &code);
    send_code_mail(request, db, user, &mail).await
}

/// Sends a recovery mail, or a mail with a magic link when `link` is [`VerifyType::MagicLink`]. Both use the recovery
/// token, so the newer of the two invalidates the older one.
///
/// # Errors
/// 429 `over_email_send_rate_limit` within `max_frequency` of the last such mail, or the error of sending.
pub(crate) async fn send_recovery(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    link: VerifyType,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let now = request.now();
    check_frequency(&request.state, user.tokens.recovery_sent_at, now)?;
    let code = generate_code(&request.state, challenge);
    let token = SentToken {
        kind: TokenKind::Recovery,
        address: &user.email,
        code: &code,
        key: &request.state.code_key,
        asked_by: request.info.asking_network(),
    };
    one_time_tokens::store_token(db, user.id, token, now).await?;
    insert_flow_state(db, user, challenge, link, now).await?;
    let kind = if link == VerifyType::MagicLink {
        MailKind::MagicLink
    } else {
        MailKind::Recovery
    };
    send_code_mail(request, db, user, &CodeMail::to_user(kind, link, user, &code)).await
}

/// Sends a confirmation to the new address, and one to the current address where `secure_change` is set and the user
/// has one. Each address gets a code of its own.
///
/// # Errors
/// 429 `over_email_send_rate_limit` within `max_frequency` of the last such mail, or the error of sending.
pub(crate) async fn send_email_change(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    new_email: &str,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let now = request.now();
    check_frequency(&request.state, user.tokens.email_change_sent_at, now)?;
    let code_for_new = generate_code(&request.state, challenge);
    // An address that the account only claims is somebody else's, perhaps.
    let needs_current =
        request.config().email.secure_change && !user.email.is_empty() && !user.only_claims_email();
    let current_code = needs_current.then(|| generate_code(&request.state, challenge));
    store_email_change(
        request,
        db,
        user,
        new_email,
        (&code_for_new, current_code.as_ref()),
    )
    .await?;
    insert_flow_state(db, user, challenge, VerifyType::EmailChange, now).await?;
    if has_email_hook(&request.state) {
        return send_email_change_by_hook(
            request,
            db,
            (user.id, new_email),
            &code_for_new,
            current_code.as_ref(),
        )
        .await;
    }
    let mail = |to, code| CodeMail {
        kind: MailKind::EmailChange,
        link: VerifyType::EmailChange,
        to,
        new_email,
        code,
    };
    if let Some(code) = &current_code {
        send_code_mail(request, db, user, &mail(&user.email, code)).await?;
    }
    send_code_mail(request, db, user, &mail(new_email, &code_for_new)).await
}

/// Stores the new address and both codes. `current_code` is `None` when only the new address
/// has to confirm.
async fn store_email_change(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    new_email: &str,
    (code_for_new, current_code): (&OneTimeCode, Option<&OneTimeCode>),
) -> Result<(), AuthError> {
    let (now, key) = (request.now(), &request.state.code_key);
    let change = EmailChange {
        new_email,
        token_new: &code_for_new.hash,
        token_current: current_code.map_or("", |code| code.hash.as_str()),
    };
    users::set_email_change(db, user.id, &change, now).await?;
    let for_new = SentToken {
        kind: TokenKind::EmailChangeNew,
        address: new_email,
        code: code_for_new,
        key,
        asked_by: request.info.asking_network(),
    };
    one_time_tokens::upsert_lookup(db, user.id, for_new, now).await?;
    let kind = TokenKind::EmailChangeCurrent;
    match current_code {
        Some(code) => {
            let for_current = SentToken {
                kind,
                address: &user.email,
                code,
                key,
                asked_by: request.info.asking_network(),
            };
            one_time_tokens::upsert_lookup(db, user.id, for_current, now).await?;
        }
        // An earlier change may have left a token for the current address; it must not confirm this change.
        None => one_time_tokens::delete_lookup(db, user.id, kind).await?,
    }
    Ok(())
}

/// Calls the hook `send_email` once for both mails of a change of address.
///
/// Compat: as in GoTrue the hashes are crossed, and existing hooks rely on it: `token` and `token_hash_new` belong to
/// the current address, `token_new` and `token_hash` to the new one. Without a mail to the current address, `token`
/// belongs to the new one.
async fn send_email_change_by_hook(
    request: &AuthRequest,
    db: &impl GenericClient,
    (user_id, new_email): (Uuid, &str),
    code_for_new: &OneTimeCode,
    current_code: Option<&OneTimeCode>,
) -> Result<(), AuthError> {
    let data = match current_code {
        Some(current) => HookData {
            token: &current.otp,
            token_hash: &code_for_new.hash,
            token_new: &code_for_new.otp,
            token_hash_new: &current.hash,
            ..HookData::default()
        },
        None => HookData {
            token: &code_for_new.otp,
            token_hash: &code_for_new.hash,
            ..HookData::default()
        },
    };
    check_recipient(&request.state, new_email)?;
    // The hook's input must contain the new address, which the caller has stored.
    let user = users::find_by_id(db, user_id).await?;
    let user = user.ok_or_else(|| {
        AuthError::internal(
            UNEXPECTED,
            Fault::Other("the user's row is missing inside the transaction that wrote it"),
        )
    })?;
    send_by_hook(request, db, &user, MailKind::EmailChange, &data).await
}

/// Sends the nonce with which a session older than 24 hours may change the password. The mail has no link.
///
/// # Errors
/// 429 `over_email_send_rate_limit` within `max_frequency` of the last such mail, or the error of sending.
pub(crate) async fn send_reauthentication(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
) -> Result<(), AuthError> {
    let now = request.now();
    check_frequency(&request.state, user.reauthentication_sent_at, now)?;
    let code = generate_code(&request.state, None);
    let token = SentToken {
        kind: TokenKind::Reauthentication,
        address: &user.email,
        code: &code,
        key: &request.state.code_key,
        asked_by: request.info.asking_network(),
    };
    one_time_tokens::store_token(db, user.id, token, now).await?;
    let mail = CodeMail::to_user(MailKind::Reauthentication, VerifyType::Email, user, &code);
    send_code_mail(request, db, user, &mail).await
}

/// Builds the link of a mail: `<external_url>/verify?token=<hash>&type=<type>&redirect_to=<target>`.
pub(crate) fn build_action_link(
    info: &RequestInfo,
    hash: &str,
    link: VerifyType,
    redirect_to: &str,
) -> String {
    // Compat: GoTrue encodes the target only when it contains `&`, `=` or `#`, and tests of projects compare links.
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

/// Stores the challenge of a PKCE flow, against which the verifier is checked after the link was opened.
async fn insert_flow_state(
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

/// Rejects a mail to a user sooner than `max_frequency` after the last one for the same purpose.
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

/// Sends a mail by the project's hook or by [`send_mail`], after checking recipient and hourly limit.
async fn send_code_mail(
    request: &AuthRequest,
    db: &impl GenericClient,
    user: &User,
    mail: &CodeMail<'_>,
) -> Result<(), AuthError> {
    check_recipient(&request.state, mail.to)?;
    // `/verify` does not accept a reauthentication nonce, so its mail has neither link nor hash.
    let is_code_only = mail.kind == MailKind::Reauthentication;
    let redirect_to = if is_code_only {
        ""
    } else {
        request.info.redirect_to.as_str()
    };
    if has_email_hook(&request.state) {
        let data = HookData {
            token: &mail.code.otp,
            token_hash: &mail.code.hash,
            ..HookData::default()
        };
        return send_by_hook(request, db, user, mail.kind, &data).await;
    }
    let confirmation_url = if is_code_only {
        String::new()
    } else {
        build_action_link(&request.info, &mail.code.hash, mail.link, redirect_to)
    };
    let fields = MailFields {
        site_url: request.config().site_url.clone(),
        confirmation_url,
        email: user.email.clone(),
        new_email: mail.new_email.to_owned(),
        sending_to: mail.to.to_owned(),
        token: mail.code.otp.clone(),
        token_hash: mail.code.hash.clone(),
        redirect_to: redirect_to.to_owned(),
        data: user.user_metadata.clone(),
        ..MailFields::default()
    };
    // A queued mail is dropped once its code has expired, because the code in it would no longer work.
    let lifetime = TimeDelta::from_std(request.config().email.otp_expiry).unwrap_or(TimeDelta::MAX);
    let mail = OutgoingMail {
        kind: mail.kind,
        to: mail.to,
        fields: &fields,
        lifetime,
    };
    send_mail(&request.state, db, &mail).await
}

/// Checks that the project sends mail to this address, and counts the mail against the hourly limit.
fn check_recipient(state: &AuthState, to: &str) -> Result<(), AuthError> {
    if !is_authorized_address(&state.config.email.authorized_addresses, to) {
        return Err(AuthError::EmailAddressNotAuthorized(to.to_owned()));
    }
    state.limits.check_email()
}
