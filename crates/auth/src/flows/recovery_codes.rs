//! Recovery codes: generates, verifies, replaces and deletes the set of a user. Source: AUTH-200 to AUTH-208.
//!
//! Hashing takes tenths of a second, so it is done between two transactions, and what was checked before it is checked again in the
//! second one. An attempt is counted before its code is compared.

use chrono::TimeDelta;
use deadpool_postgres::Transaction;
use selvedge_mail::MailKind;
use serde_json::json;
use uuid::Uuid;

use crate::crypto::recovery_code;
use crate::error::{AuthError, MfaError};
use crate::flows::accounts;
use crate::flows::decisions::enrollment::{self, EnrollmentRefusal};
use crate::flows::locked_caller::{self, LockedCaller};
use crate::flows::mfa;
use crate::flows::sign_in::TokenPair;
use crate::flows::verify_factor::raise_to_aal2;
use crate::hooks;
use crate::mailer::{self, Notice};
use crate::request::{AuthRequest, SignedIn};
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, FactorType};
use crate::store::recovery_codes::{
    self, AttemptLimits, CodeCount, CountedAttempt, RecoveryAttempt, RecoveryCodeSet,
};

/// The name of a set whose user chose none.
const DEFAULT_NAME: &str = "Recovery codes";

/// A set with its codes, which exist in no other place from now on.
pub(crate) struct NewCodes {
    pub(crate) set: RecoveryCodeSet,
    pub(crate) codes: Vec<String>,
}

/// Generates the codes of a user who has none.
///
/// # Errors
/// 403 `insufficient_aal`; 422 `mfa_verified_factor_exists`, `mfa_factor_name_conflict`, `too_many_enrolled_mfa_factors` or
/// `mfa_recovery_codes_sole_factor`; 429 when too many hashes are computed.
pub(crate) async fn generate(
    request: &AuthRequest,
    caller: &SignedIn,
    name: &str,
) -> Result<NewCodes, AuthError> {
    let set = RecoveryCodeSet {
        id: Uuid::new_v4(),
        factor_id: Uuid::new_v4(),
        friendly_name: if name.is_empty() { DEFAULT_NAME } else { name }.to_owned(),
    };
    {
        let mut client = request.connect().await?;
        let db = client.transaction().await?;
        check_new_set(request, &db, caller, &set.friendly_name).await?;
        db.commit().await?;
    }
    let (codes, hashes) = draw_codes(request).await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let locked = check_new_set(request, &db, caller, &set.friendly_name).await?;
    recovery_codes::insert(&db, locked.user.id, &set, &hashes, request.now()).await?;
    log(
        request,
        &db,
        caller,
        Action::RecoveryCodesGenerated,
        &set,
        codes.len(),
    )
    .await?;
    db.commit().await?;
    drop(client);
    notify(request, caller, MailKind::MfaFactorEnrolled).await;
    Ok(NewCodes { set, codes })
}

/// How many codes the user has left, and their factor.
///
/// # Errors
/// 404 `mfa_factor_not_found`.
pub(crate) async fn get_status(
    request: &AuthRequest,
    caller: &SignedIn,
) -> Result<(RecoveryCodeSet, CodeCount), AuthError> {
    let client = request.connect().await?;
    let set = recovery_codes::find(&client, caller.user.id).await?;
    let set = set.ok_or(MfaError::RecoveryCodesNotFound)?;
    let count = recovery_codes::count(&client, set.id).await?;
    Ok((set, count))
}

/// Verifies a code and raises the caller's session to `aal2`; the user's other sessions below it end.
///
/// # Errors
/// 400 `validation_failed` for an empty code; 403 `mfa_verification_rejected` by the hook; 422 `mfa_verification_failed`; 429
/// `mfa_recovery_codes_locked` after too many wrong codes.
pub(crate) async fn verify(
    request: &AuthRequest,
    caller: &SignedIn,
    code: &str,
) -> Result<TokenPair, AuthError> {
    let session_id = mfa::require_session(caller)?.id;
    let code = recovery_code::normalize(code);
    if code.is_empty() {
        return Err(AuthError::invalid("Code needs to be non-empty"));
    }
    let (factor_id, code_id) = find_code(request, caller, code).await?;
    let tokens = use_code(request, caller, session_id, (factor_id, code_id)).await?;
    notify(request, caller, MailKind::RecoveryCodeUsed).await;
    Ok(tokens)
}

/// Uses the code up and raises the session.
async fn use_code(
    request: &AuthRequest,
    caller: &SignedIn,
    session_id: Uuid,
    (factor_id, code_id): (Uuid, Uuid),
) -> Result<TokenPair, AuthError> {
    let now = request.now();
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let locked = locked_caller::lock_caller(request, &db, caller).await?;
    let set = recovery_codes::find(&db, locked.user.id).await?;
    let set_id = set.ok_or(MfaError::WrongRecoveryCode)?.id;
    let factor = factors::find_by_id(&db, locked.user.id, factor_id).await?;
    let factor = factor.ok_or(MfaError::WrongRecoveryCode)?;
    if !recovery_codes::consume(&db, code_id, now).await? {
        return Err(MfaError::WrongRecoveryCode.into());
    }
    recovery_codes::forget_failures(&db, set_id, now).await?;
    let remaining = recovery_codes::count(&db, set_id).await?.remaining;
    let traits = json!({"factor_id": factor_id, "remaining": remaining});
    let actor = Actor::User(&caller.user);
    accounts::log_action_with_traits(request, &db, actor, Action::RecoveryCodesVerified, traits).await?;
    let tokens = raise_to_aal2(request, &db, caller, session_id, &factor).await?;
    db.commit().await?;
    Ok(tokens)
}

/// Replaces the user's codes by new ones. Other sessions that an old code has raised fall back to `aal1`: whoever replaces the codes may
/// know that somebody has read them.
///
/// # Errors
/// 403 `insufficient_aal`; 404 `mfa_factor_not_found`; 429 when too many hashes are computed.
pub(crate) async fn regenerate(request: &AuthRequest, caller: &SignedIn) -> Result<NewCodes, AuthError> {
    {
        let mut client = request.connect().await?;
        let db = client.transaction().await?;
        lock_set(request, &db, caller, "regenerate").await?;
        db.commit().await?;
    }
    let (codes, hashes) = draw_codes(request).await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let set = lock_set(request, &db, caller, "regenerate").await?;
    recovery_codes::replace(&db, set.id, &hashes, request.now()).await?;
    let kept = mfa::require_session(caller)?.id;
    factors::downgrade_other_sessions(&db, caller.user.id, set.factor_id, kept).await?;
    log(
        request,
        &db,
        caller,
        Action::RecoveryCodesRegenerated,
        &set,
        codes.len(),
    )
    .await?;
    db.commit().await?;
    drop(client);
    notify(request, caller, MailKind::RecoveryCodesReplaced).await;
    Ok(NewCodes { set, codes })
}

/// Deletes the user's codes. Sessions that a code has raised fall back to `aal1`.
///
/// # Errors
/// 403 `insufficient_aal`; 404 `mfa_factor_not_found`.
pub(crate) async fn delete(request: &AuthRequest, caller: &SignedIn) -> Result<Uuid, AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let set = lock_set(request, &db, caller, "delete").await?;
    factors::delete(&db, set.factor_id).await?;
    factors::downgrade_sessions(&db, caller.user.id, set.factor_id).await?;
    let traits = json!({"factor_id": set.factor_id});
    let actor = Actor::User(&caller.user);
    accounts::log_action_with_traits(request, &db, actor, Action::RecoveryCodesDeleted, traits).await?;
    db.commit().await?;
    drop(client);
    notify(request, caller, MailKind::MfaFactorUnenrolled).await;
    Ok(set.factor_id)
}

/// Locks the caller and checks that a set may be added now.
async fn check_new_set(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &SignedIn,
    name: &str,
) -> Result<LockedCaller, AuthError> {
    let locked = locked_caller::lock_caller(request, db, caller).await?;
    if !locked.has_second_factor_session() {
        return Err(MfaError::RecoveryCodesNeedAal2("generate").into());
    }
    if recovery_codes::find(db, locked.user.id).await?.is_some() {
        return Err(MfaError::RecoveryCodesExist.into());
    }
    let limits = &request.config().mfa;
    factors::delete_expired(db, locked.user.id, request.now() - limits.factor_expiry).await?;
    recovery_codes::delete_factor_without_set(db, locked.user.id).await?;
    let known = factors::list_by_user(db, locked.user.id).await?;
    enrollment::check_new_factor(&known, name, true, limits).map_err(|refusal| match refusal {
        EnrollmentRefusal::NameConflict => MfaError::NameConflict(name.to_owned()),
        EnrollmentRefusal::TooMany => MfaError::TooManyFactors,
        EnrollmentRefusal::NeedsSecondFactor => MfaError::RecoveryCodesNeedAal2("generate"),
    })?;
    let has_other = known
        .iter()
        .any(|factor| factor.is_verified && factor.kind != FactorType::RecoveryCode);
    if !has_other {
        return Err(MfaError::RecoveryCodesNeedFactor.into());
    }
    Ok(locked)
}

/// Locks the caller, whose session must be at `aal2`, and finds the set. `verb` says what is to be done with it.
async fn lock_set(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &SignedIn,
    verb: &'static str,
) -> Result<RecoveryCodeSet, AuthError> {
    let locked = locked_caller::lock_caller(request, db, caller).await?;
    if !locked.has_second_factor_session() {
        return Err(MfaError::RecoveryCodesNeedAal2(verb).into());
    }
    let set = recovery_codes::find(db, locked.user.id).await?;
    set.ok_or(MfaError::RecoveryCodesNotFound.into())
}

/// Draws the codes that the configuration asks for, and hashes them.
async fn draw_codes(request: &AuthRequest) -> Result<(Vec<String>, Vec<String>), AuthError> {
    let config = &request.config().mfa.recovery_codes;
    let codes = recovery_code::generate(config.count, config.code_length);
    let hashes = request.state.hasher.hash_recovery_codes(codes.clone()).await?;
    Ok((codes, hashes))
}

/// The user's factor and the unused code that the text is. A text that can be no code is no attempt, which counts and of which the hook
/// learns: it costs no hash, people who mistype a code must not be locked out by its length, and nothing limits how often it is sent.
///
/// # Errors
/// 403 `mfa_verification_rejected` by the hook; 422 `mfa_verification_failed`; 429 `mfa_recovery_codes_locked`, or when too many
/// hashes are computed.
async fn find_code(
    request: &AuthRequest,
    caller: &SignedIn,
    code: String,
) -> Result<(Uuid, Uuid), AuthError> {
    let user_id = caller.user.id;
    if !recovery_code::is_possible(&code) {
        return Err(MfaError::WrongRecoveryCode.into());
    }
    let attempt = take_attempt(request, user_id).await?;
    let compared = compare(request, &attempt, code).await;
    // Only a code that was compared and is wrong counts: a full queue or a hook that is down is no guess.
    if !matches!(compared, Ok(None)) {
        recovery_codes::return_attempt(&request.connect().await?, &attempt, request.now()).await?;
    }
    let found = compared?;
    report(request, user_id, attempt.factor_id, found.is_some()).await?;
    Ok((attempt.factor_id, found.ok_or(MfaError::WrongRecoveryCode)?))
}

/// Counts the attempt before its code is compared, so that many at once count as well.
///
/// # Errors
/// 422 `mfa_verification_failed` without codes, 429 `mfa_recovery_codes_locked`.
async fn take_attempt(request: &AuthRequest, user_id: Uuid) -> Result<CountedAttempt, AuthError> {
    let config = &request.config().mfa.recovery_codes;
    let limits = AttemptLimits {
        of_network: config.max_verify_attempts,
        lockout: TimeDelta::from_std(config.lockout).unwrap_or(TimeDelta::days(1)),
    };
    let network = request
        .state
        .code_key
        .hash_network(request.info.attempt_network());
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let attempt = recovery_codes::take_attempt(&db, (user_id, &network), limits, request.now()).await?;
    db.commit().await?;
    match attempt {
        RecoveryAttempt::Counted(attempt) => Ok(attempt),
        RecoveryAttempt::Locked => Err(MfaError::RecoveryCodesLocked.into()),
        RecoveryAttempt::NoCodes => Err(MfaError::WrongRecoveryCode.into()),
    }
}

async fn compare(
    request: &AuthRequest,
    attempt: &CountedAttempt,
    code: String,
) -> Result<Option<Uuid>, AuthError> {
    let unused = {
        let client = request.connect().await?;
        recovery_codes::list_unused(&client, attempt.set_id).await?
    };
    request.state.hasher.find_recovery_code(code, unused).await
}

/// Tells the hook of the project.
async fn report(request: &AuthRequest, user_id: Uuid, factor_id: Uuid, valid: bool) -> Result<(), AuthError> {
    let subject = (user_id, factor_id, FactorType::RecoveryCode.as_str());
    hooks::report_factor_attempt(request, subject, valid).await
}

async fn log(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &SignedIn,
    action: Action,
    set: &RecoveryCodeSet,
    count: usize,
) -> Result<(), AuthError> {
    let traits = json!({"factor_id": set.factor_id, "count": count});
    accounts::log_action_with_traits(request, db, Actor::User(&caller.user), action, traits).await
}

/// Tells the user by mail what happened to the codes.
async fn notify(request: &AuthRequest, caller: &SignedIn, kind: MailKind) {
    let notice = Notice {
        factor_type: FactorType::RecoveryCode.as_str(),
        ..Notice::default()
    };
    mailer::notify_user(request, &caller.user, kind, notice).await;
}
