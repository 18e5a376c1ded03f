//! Verifies a one-time token of a mail or text message: finds its user, decides its effect, applies that, and issues
//! a session or an authorization code.
//!
//! The user's row is locked for the whole transaction, so a token that is sent twice at once is accepted once.
//! Source: Auth contract §2.6, §3.4, §3.5.

use chrono::TimeDelta;
use deadpool_postgres::{GenericClient, Transaction};
use uuid::Uuid;

use crate::crypto::equal_secrets;
use crate::crypto::one_time_code::{AttemptSubject, PresentedToken};
use crate::error::AuthError;
use crate::flows::confirmations::{apply_effect, notify_of_change};
use crate::flows::decisions::verify::{Effect, VerifyRules, decide_effect};
use crate::flows::sign_in::{TokenPair, start_session};
use crate::request::AuthRequest;
use crate::sms;
use crate::store::code_requests::{self, Asking};
use crate::store::one_time_codes::{
    self, ADDRESS_LIMITS, ASKED_CODE_LIMITS, AttemptLimits, AttemptOutcome, CHECKED_CODE_LIMITS,
    TryingNetwork,
};
use crate::store::{flow_states, one_time_tokens, phones, users};
use crate::user::User;
use crate::validation::verify_type::VerifyType;

/// Text of the 403 `otp_expired` for a link or token hash. Compat: applications show it.
pub(crate) const BAD_LINK: &str = "Email link is invalid or has expired";
/// Text of the 403 `otp_expired` for a code. Compat: applications show it.
pub(crate) const BAD_CODE: &str = "Token has expired or is invalid";

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
        return verify_accepted(request, presented, (Asking::No, BAD_LINK)).await;
    };
    // Counted before the code is compared: many requests at once would otherwise all pass the check.
    let (asking, of_all_codes) = take_address_attempt(request, address).await?;
    let verified = verify_accepted(request, presented, (asking, BAD_CODE)).await;
    if verified.is_ok() {
        one_time_codes::record_success(&request.connect().await?, &of_all_codes).await?;
    }
    verified
}

/// Counts an attempt at the codes that are sent to an address or number, whichever of them it is, on all nodes. Returns whether the
/// request's network has asked for one, too.
///
/// # Errors
/// See [`take_attempt`].
async fn take_address_attempt(
    request: &AuthRequest,
    address: &str,
) -> Result<(Asking, AttemptSubject), AuthError> {
    let (network, key) = (request.info.attempt_network(), &request.state.code_key);
    let client = request.connect().await?;
    let asking = code_requests::take_attempt(&client, key, (address, network)).await?;
    let limits = match asking {
        Asking::Sent | Asking::Unanswered => ASKED_CODE_LIMITS,
        Asking::No => ADDRESS_LIMITS,
    };
    let attempt = ("codes of an address", address, asking);
    let subject = take_attempt(request, &client, attempt, limits).await?;
    Ok((asking, subject))
}

/// Counts an attempt at codes of an address or number. Networks that were sent a code share attempts of their own, so that others do
/// not use up those of whoever waits for a code. Networks whose requests have sent nothing share a third count: an attempt of theirs
/// must leave as many to strangers as one after a code was sent, or what is left would tell that the address is not registered.
///
/// # Errors
/// 429 `over_request_rate_limit`; but 403 `otp_expired` for a network whose request has sent nothing, as for a wrong code after one
/// that has: anybody can use up the third count without a mail, and a 429 would tell that the address is not registered. Who has used up
/// the attempts of those who were sent codes, with as many codes to the address, sees the difference.
async fn take_attempt(
    request: &AuthRequest,
    db: &impl GenericClient,
    (purpose, address, asking): (&str, &str, Asking),
    limits: AttemptLimits,
) -> Result<AttemptSubject, AuthError> {
    let (network, key) = (request.info.attempt_network(), &request.state.code_key);
    let address = address.to_lowercase();
    let mut subject = key.attempt_subject(purpose, address.as_bytes(), network);
    let shared = match asking {
        Asking::Sent => Some(format!("asked {purpose}")),
        Asking::Unanswered => Some(format!("unanswered {purpose}")),
        Asking::No => None,
    };
    if let Some(purpose) = shared {
        subject.of_all = key.attempt_subject(&purpose, address.as_bytes(), network).of_all;
    }
    match one_time_codes::take_counted_attempt(db, &subject, limits).await? {
        AttemptOutcome::Free => Ok(subject),
        AttemptOutcome::AllExhausted if asking == Asking::Unanswered => Err(AuthError::OtpExpired(BAD_CODE)),
        AttemptOutcome::AllExhausted | AttemptOutcome::NetworkExhausted => Err(AuthError::RequestRateLimit),
    }
}

/// The part of [`verify_token`] behind the limit of wrong codes, for a network that has asked for a code or not; `rejected` is the
/// text of the error for a token that is not accepted.
///
/// # Errors
/// See [`verify_token`].
async fn verify_accepted(
    request: &AuthRequest,
    presented: &VerifyRequest,
    (asking, rejected): (Asking, &'static str),
) -> Result<VerifyOutcome, AuthError> {
    let rejected = || AuthError::OtpExpired(rejected);
    let accepted = find_accepted_token(request, presented, asking)
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
    let effect = choose_effect(request, presented.kind, &accepted, &user).ok_or_else(rejected)?;
    let address = find_address(&db, presented, user.id)
        .await?
        .ok_or_else(rejected)?;
    if !apply_effect(request, &db, &user, (effect, &address)).await? {
        return Err(rejected());
    }
    let outcome = match effect {
        Effect::FirstConfirmation(_) => VerifyOutcome::FirstConfirmation,
        _ => {
            let kind = effect.verify_type();
            issue_session_or_code(request, &db, &user, kind, presented.wants_auth_code).await?
        }
    };
    db.commit().await?;
    drop(client);
    notify_of_change(request, user, effect).await;
    Ok(outcome)
}

/// What the token does to its user, whose row is locked; `None` for one that was used or has expired since the look-up.
fn choose_effect(
    request: &AuthRequest,
    kind: VerifyType,
    accepted: &AcceptedToken,
    user: &User,
) -> Option<Effect> {
    match accepted {
        AcceptedToken::Checked { .. } if kind == VerifyType::PhoneChange => Some(Effect::ChangePhone),
        AcceptedToken::Checked { .. } => Some(Effect::ConfirmPhone),
        AcceptedToken::Pending { token, .. } => {
            let rules = VerifyRules::new(request.config());
            decide_effect(kind, token, &user.tokens, rules, request.now())
        }
    }
}

/// Where the token was sent to, in lowercase; `None` for a link that was replaced since the look-up.
async fn find_address(
    db: &Transaction<'_>,
    presented: &VerifyRequest,
    user_id: Uuid,
) -> Result<Option<String>, AuthError> {
    Ok(match &presented.token {
        PresentedToken::Code { address, .. } => Some(address.to_lowercase()),
        PresentedToken::Link(token) => {
            let found = one_time_tokens::find_recipient(db, user_id, presented.kind, token).await?;
            found.map(|address| address.to_lowercase())
        }
    })
}

/// The token that is presented as a link or by its code; `None` for one that is not accepted. Each code that is tried counts, in
/// the row of the pending token.
async fn find_accepted_token(
    request: &AuthRequest,
    presented: &VerifyRequest,
    asking: Asking,
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
    let is_checked = is_accepted_without_token(request, presented.kind, (address, otp), asking).await?;
    let client = request.connect().await?;
    if is_checked {
        let user_id = find_user_by_phone(&client, request, presented.kind, address).await?;
        return Ok(user_id.map(|user_id| AcceptedToken::Checked { user_id }));
    }
    let key = &request.state.code_key;
    let network = TryingNetwork {
        hash: &key.hash_network(request.info.attempt_network()),
        has_asked: asking == Asking::Sent,
    };
    let mut accepted = None;
    for pending in one_time_tokens::list_by_address(&client, presented.kind, address).await? {
        // All are tried, so that each counts, whichever of them is right.
        if one_time_tokens::try_code(&client, key, &pending, (address, otp), network).await?
            && accepted.is_none()
        {
            accepted = Some(AcceptedToken::Pending {
                user_id: pending.user_id,
                token: pending.token,
            });
        }
    }
    Ok(accepted)
}

/// Whether the code is right without a stored token: it is one of the project's test codes, or an SMS provider has
/// accepted it. Attempts at such codes are counted by number and network before the code is compared.
///
/// # Errors
/// See [`take_attempt`].
async fn is_accepted_without_token(
    request: &AuthRequest,
    kind: VerifyType,
    (phone, otp): (&str, &str),
    asking: Asking,
) -> Result<bool, AuthError> {
    let state = &request.state;
    let test_code = state.config.phone.test_code(phone, state.now());
    if !kind.is_by_phone() || test_code.is_none() && !sms::provider_checks_codes(state) {
        return Ok(false);
    }
    let attempts = {
        // The provider may take long, and the connection is not kept meanwhile.
        let client = request.connect().await?;
        let attempt = ("checked code", phone, asking);
        take_attempt(request, &client, attempt, CHECKED_CODE_LIMITS).await?
    };
    let is_right = match test_code {
        Some(code) => equal_secrets(code, otp),
        None => sms::check_code_with_provider(state, phone, otp).await,
    };
    if is_right {
        one_time_codes::record_success(&request.connect().await?, &attempts).await?;
    }
    Ok(is_right)
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
        VerifyType::PhoneChange => {
            let validity = TimeDelta::from_std(request.config().phone.otp_expiry).unwrap_or(TimeDelta::MAX);
            let since = request.now() - validity;
            let mut asked = phones::list_by_phone_change(db, phone, audience, since).await?;
            // A code that the provider checks belongs to the number and not to a request: it cannot tell whose account the
            // owner of the number means. Everybody knows a test code.
            let is_test = request.config().phone.test_code(phone, request.now()).is_some();
            let is_clear = is_test || asked.len() == 1;
            asked.drain(..).next().filter(|_| is_clear)
        }
        _ => phones::find_by_phone(db, phone, audience).await?,
    };
    Ok(found.map(|user| user.id))
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
