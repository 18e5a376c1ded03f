//! Exchanges a refresh token for new tokens of its session. Lost responses and concurrent requests of one client are
//! tolerated; any other reuse of an old token ends the session, because it may have been stolen.
//!
//! Requests for one session are ordered by a lock on its row. A request that finds the row locked waits here without
//! a connection and tries again, so that many tabs of one user cannot use up the pool. Source: Auth contract §4.3,
//! §4.4, AUTH-009 to AUTH-013, AUTH-087.

use std::time::Duration;

use deadpool_postgres::Transaction;
use rand::RngExt;
use tokio::time::Instant;
use uuid::Uuid;

use crate::after_commit;
use crate::crypto::counter_token::{self, CounterToken};
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::decisions::refresh::{self, CounterDecision, RefreshDecision, RefreshRules};
use crate::flows::sign_in::{
    SessionToSign, TokenPair, TokenReuse, generate_refresh_token, is_refresh_token, sign_tokens,
};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::sessions::{self, Session};
use crate::store::{refresh_tokens, users};
use crate::user::{SignInRefusal, User};
use crate::validation::session_limits::{self, SessionTimes};

/// The outcome of one attempt to refresh.
enum Attempt {
    Done(Box<TokenPair>),
    /// The token was reused: the session's tokens are revoked and that is committed, although the request fails.
    Revoked,
    /// Another request holds the session's row.
    Locked,
}

/// Exchanges a refresh token for new tokens of its session. `client_id` is the authenticated client of the OAuth
/// server, `None` for requests of the user's own application.
///
/// # Errors
/// 400 `refresh_token_not_found`, `refresh_token_already_used`, `session_expired`, `session_not_found`, `user_banned`
/// or `validation_failed`; 409 `conflict` when the session stays locked for `lock_wait`.
pub(crate) async fn refresh_session(
    request: &AuthRequest,
    token: &str,
    client_id: Option<Uuid>,
) -> Result<Box<TokenPair>, AuthError> {
    if !is_refresh_token(token) {
        return Err(AuthError::MalformedRefreshToken);
    }
    let deadline = Instant::now() + request.config().refresh.lock_wait;
    loop {
        match try_refresh(request, token, client_id).await? {
            Attempt::Done(tokens) => return Ok(tokens),
            Attempt::Revoked => return Err(AuthError::RefreshTokenAlreadyUsed),
            Attempt::Locked if Instant::now() > deadline => return Err(AuthError::RefreshConflict),
            Attempt::Locked => {
                // A random pause, so that waiting requests do not all come back at the same moment.
                let pause_ms = rand::rng().random_range(10..30);
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            }
        }
    }
}

/// One attempt to refresh, in one transaction.
///
/// # Errors
/// See [`refresh_session`].
async fn try_refresh(
    request: &AuthRequest,
    token: &str,
    client_id: Option<Uuid>,
) -> Result<Attempt, AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let counter_token = CounterToken::parse(token);
    let Some((user, session)) = lock_user_session(request, &db, token, client_id).await? else {
        return Ok(Attempt::Locked);
    };
    let session_id = session.id;
    let exchanged = match &counter_token {
        Some(counter_token) => exchange_counter_token(&request.state, &db, &session, counter_token).await?,
        None => exchange_stored_token(&request.state, &db, (&user, session_id), token).await?,
    };
    // The revocation is committed although the request fails; an error here would roll it back.
    let Some((refresh_token, reuse)) = exchanged else {
        db.commit().await?;
        return Ok(Attempt::Revoked);
    };
    sessions::record_refresh(
        &db,
        session_id,
        &request.info.user_agent,
        &request.info.ip,
        request.now(),
    )
    .await?;
    accounts::log_action(request, &db, Actor::User(&user), Action::TokenRefreshed).await?;
    // Compat: for a rotated stored token upstream logs `token_revoked` as well.
    if counter_token.is_none() && reuse == TokenReuse::New {
        accounts::log_action(request, &db, Actor::User(&user), Action::TokenRevoked).await?;
    }
    let session = SessionToSign {
        user_id: user.id,
        session_id,
        aal: &session.aal,
        refresh_token,
        method: "token_refresh",
    };
    let mut tokens = sign_tokens(request, &db, session).await?;
    tokens.reuse = Some(reuse);
    db.commit().await?;
    Ok(Attempt::Done(Box::new(tokens)))
}

/// Finds the user and the session of a refresh token and locks the session; `None` when another request holds
/// it.
///
/// # Errors
/// See [`refresh_session`].
async fn lock_user_session(
    request: &AuthRequest,
    db: &Transaction<'_>,
    token: &str,
    client_id: Option<Uuid>,
) -> Result<Option<(User, Session)>, AuthError> {
    let (session_id, user_id) = find_session(db, token, CounterToken::parse(token).as_ref()).await?;
    let user = users::find_by_id(db, user_id)
        .await?
        .ok_or(AuthError::RefreshTokenNotFound)?;
    // Sent with errors only: a successful response sets the same header itself.
    after_commit::record_error_header("sb-auth-user-id", &user.id.to_string());
    user.may_sign_in(request.now()).map_err(|refusal| match refusal {
        SignInRefusal::Deleted => AuthError::RefreshTokenNotFound,
        SignInRefusal::Banned => AuthError::RefreshUserBanned,
        SignInRefusal::Unconfirmed => AuthError::EmailNotConfirmed { status: 400 },
    })?;
    let Some(session) = lock_session(db, session_id).await? else {
        return Ok(None);
    };
    after_commit::record_error_header("sb-auth-session-id", &session_id.to_string());
    check_session_client(&session, client_id)?;
    check_session_limits(&request.state, db, &session, &user).await?;
    Ok(Some((user, session)))
}

/// Locks the session's row; `None` when another request holds it.
///
/// # Errors
/// 400 `session_not_found` when the session has been deleted.
async fn lock_session(db: &Transaction<'_>, session_id: Uuid) -> Result<Option<Session>, AuthError> {
    let locked = sessions::lock_by_id(db, session_id).await?;
    // The lock skips rows that are held, so no row means either that it is held or that it is gone.
    if locked.is_none() && sessions::find_by_id(db, session_id).await?.is_none() {
        return Err(AuthError::RefreshSessionNotFound);
    }
    Ok(locked)
}

/// Ids of session and user of a refresh token of either kind.
///
/// # Errors
/// 400 `refresh_token_not_found` or `session_not_found`.
async fn find_session(
    db: &Transaction<'_>,
    token: &str,
    counter_token: Option<&CounterToken>,
) -> Result<(Uuid, Uuid), AuthError> {
    if let Some(counter_token) = counter_token {
        return find_session_of_counter_token(db, counter_token).await;
    }
    let owner = refresh_tokens::find_owner(db, token)
        .await?
        .ok_or(AuthError::RefreshTokenNotFound)?;
    let session_id = owner.session_id.ok_or(AuthError::RefreshSessionNotFound)?;
    Ok((session_id, owner.user_id.ok_or(AuthError::RefreshTokenNotFound)?))
}

/// The refresh token to return and whether it is a new one; `None` when the session's tokens had to be revoked. Must
/// be called while the session's row is locked, because the decision depends on all tokens of the session.
///
/// # Errors
/// 400 `refresh_token_not_found` or `refresh_token_already_used`.
async fn exchange_stored_token(
    state: &AuthState,
    db: &Transaction<'_>,
    (user, session_id): (&User, Uuid),
    token: &str,
) -> Result<Option<(String, TokenReuse)>, AuthError> {
    let (presented, family) = refresh_tokens::find_family(db, token)
        .await?
        .ok_or(AuthError::RefreshTokenNotFound)?;
    let now = state.now();
    match refresh::decide_refresh(presented, family, build_refresh_rules(state), now) {
        RefreshDecision::ReturnActive(active) => return Ok(Some((active, TokenReuse::Reused(None)))),
        RefreshDecision::Refuse => return Err(AuthError::RefreshTokenAlreadyUsed),
        RefreshDecision::RevokeFamily => {
            refresh_tokens::revoke_family(db, session_id, now).await?;
            return Ok(None);
        }
        RefreshDecision::Rotate => refresh_tokens::revoke(db, token, now).await?,
        RefreshDecision::IssueChild => {}
    }
    let child = generate_refresh_token();
    refresh_tokens::insert_child(db, (user.id, session_id), token, &child, now).await?;
    Ok(Some((child, TokenReuse::New)))
}

/// The project's rules for the exchange.
fn build_refresh_rules(state: &AuthState) -> RefreshRules {
    let config = &state.config.refresh;
    RefreshRules {
        rotation_enabled: config.rotation_enabled,
        reuse_interval: config.reuse_interval,
        always_reuse: config.always_reuse,
    }
}

/// Ids of session and user of a counter token. A token whose signature does not fit the session that it names counts
/// as unknown.
///
/// # Errors
/// 400 `refresh_token_not_found`.
async fn find_session_of_counter_token(
    db: &Transaction<'_>,
    token: &CounterToken,
) -> Result<(Uuid, Uuid), AuthError> {
    let session = sessions::find_by_id(db, token.session_id)
        .await?
        .ok_or(AuthError::RefreshTokenNotFound)?;
    let key = session.token_key.as_deref().and_then(counter_token::decode_key);
    if !key.is_some_and(|key| token.is_signed_by(&key)) {
        return Err(AuthError::RefreshTokenNotFound);
    }
    Ok((session.id, session.user_id))
}

/// Like [`exchange_stored_token`], for counter tokens. An old token ends the session, because two clients must hold
/// its tokens then.
///
/// # Errors
/// 400 `refresh_token_already_used`, or `validation_failed` for a counter that was never issued.
async fn exchange_counter_token(
    state: &AuthState,
    db: &Transaction<'_>,
    session: &Session,
    token: &CounterToken,
) -> Result<Option<(String, TokenReuse)>, AuthError> {
    // A session that was never refreshed counts from its creation.
    let last = session.refreshed_at.unwrap_or(session.created_at);
    let (counter, reuse) = match refresh::decide_counter_refresh(
        session.token_counter - token.counter,
        last,
        build_refresh_rules(state),
        state.now(),
    ) {
        CounterDecision::Advance => {
            let next = session.token_counter + 1;
            sessions::set_counter(db, session.id, next).await?;
            (next, TokenReuse::New)
        }
        CounterDecision::ReturnCurrent(causes) => (session.token_counter, TokenReuse::Reused(Some(causes))),
        CounterDecision::EndSession => {
            sessions::delete(db, session.id).await?;
            after_commit::record_error_header("sb-auth-refresh-token-rotated", "true");
            return Ok(None);
        }
        CounterDecision::Refuse => return Err(AuthError::RefreshTokenAlreadyUsed),
        CounterDecision::NeverIssued => {
            return Err(AuthError::invalid(
                "Invalid Refresh Token: Not Issued By This Server",
            ));
        }
    };
    let key = session.token_key.as_deref().and_then(counter_token::decode_key);
    let key = key.ok_or(AuthError::RefreshTokenNotFound)?;
    Ok(Some((
        counter_token::encode_token(session.id, counter, &key),
        reuse,
    )))
}

/// Refuses foreign sessions: a client of the OAuth server may refresh its own sessions only, the user's application
/// only those that belong to no client.
///
/// # Errors
/// 400 `invalid_client` (OAuth body).
fn check_session_client(session: &Session, client_id: Option<Uuid>) -> Result<(), AuthError> {
    let text = match (session.client_id, client_id) {
        (owner, client_id) if owner == client_id => return Ok(()),
        (Some(_), None) => "Client authentication required for OAuth session",
        (Some(_), Some(_)) => "Client does not match the session's OAuth client",
        (None, _) => "Client authentication not allowed for non-OAuth session",
    };
    Err(AuthError::oauth("invalid_client", text))
}

/// Refuses a session that has outlived one of the project's limits, or that a newer sign-in has replaced.
///
/// # Errors
/// 400 `session_expired`.
async fn check_session_limits(
    state: &AuthState,
    db: &Transaction<'_>,
    session: &Session,
    user: &User,
) -> Result<(), AuthError> {
    let times = SessionTimes {
        created_at: session.created_at,
        refreshed_at: session.refreshed_at,
        not_after: session.not_after,
        is_low_aal: session.aal == "aal1" && user.has_verified_factor(),
    };
    session_limits::check_limits(times, &state.config.sessions, state.now()).map_err(|exceeded| {
        AuthError::SessionExpired {
            suffix: exceeded.suffix(),
        }
    })?;
    if state.config.sessions.single_per_user
        && !sessions::is_latest(db, session.id, &state.config.sessions).await?
    {
        return Err(AuthError::SessionExpired {
            suffix: " (Revoked by Newer Login)",
        });
    }
    Ok(())
}
