//! `POST /token?grant_type=refresh_token`: rotation, with mercy for lost answers and races, and none for theft.
//!
//! The session row is the lock. Who finds it taken waits here, without a connection, and tries again. Source: Auth contract
//! §4.3, §4.4, AUTH-009 to AUTH-013, AUTH-087.

use std::time::Duration;

use actix_web::HttpResponse;
use deadpool_postgres::Transaction;
use rand::RngExt;
use serde::Deserialize;
use uuid::Uuid;

use crate::accounts;
use crate::aftermath;
use crate::error::AuthError;
use crate::machine::refresh::{self, CounterDecision, Decision, RefreshRules};
use crate::machine::session::{self, SessionTimes};
use crate::request::{RequestInfo, text};
use crate::rules::counter_token::{self, CounterToken};
use crate::sign_in::{Reuse, TokenPair, is_refresh_token, new_refresh_token, sign};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::sessions::{self, Session};
use crate::store::{oauth_authorizations, refresh_tokens, users};
use crate::user::User;

const LOCK_WAIT: Duration = Duration::from_secs(5);

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RefreshBody {
    #[serde(deserialize_with = "text")]
    refresh_token: String,
}

/// What one try came to.
enum Try {
    Done(Box<TokenPair>),
    /// The family has been revoked; that is committed although the call fails.
    Revoked,
    Locked,
}

pub(crate) async fn grant(
    state: &AuthState,
    info: &RequestInfo,
    body: RefreshBody,
) -> Result<HttpResponse, AuthError> {
    Ok(refresh(state, info, &body.refresh_token, None)
        .await?
        .response([]))
}

/// Refreshes the session of `program`, or of the user alone.
pub(crate) async fn refresh(
    state: &AuthState,
    info: &RequestInfo,
    token: &str,
    program: Option<Uuid>,
) -> Result<Box<TokenPair>, AuthError> {
    if !is_refresh_token(token) {
        return Err(AuthError::MalformedRefreshToken);
    }
    let deadline = tokio::time::Instant::now() + LOCK_WAIT;
    loop {
        match try_refresh(state, info, token, program).await? {
            Try::Done(tokens) => return Ok(tokens),
            Try::Revoked => return Err(AuthError::RefreshTokenAlreadyUsed),
            Try::Locked if tokio::time::Instant::now() > deadline => return Err(AuthError::RefreshConflict),
            Try::Locked => {
                let pause_ms = rand::rng().random_range(10..30);
                tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            }
        }
    }
}

async fn try_refresh(
    state: &AuthState,
    info: &RequestInfo,
    token: &str,
    program: Option<Uuid>,
) -> Result<Try, AuthError> {
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let counted = CounterToken::parse(token);
    let (session_id, user_id) = match &counted {
        Some(counted) => owner_of_counter(&db, counted).await?,
        None => {
            let owner = refresh_tokens::find_owner(&db, token)
                .await?
                .ok_or(AuthError::RefreshTokenNotFound)?;
            let session_id = owner.session_id.ok_or(AuthError::RefreshSessionNotFound)?;
            (session_id, owner.user_id.ok_or(AuthError::RefreshTokenNotFound)?)
        }
    };
    let user = users::find_by_id(&db, user_id)
        .await?
        .ok_or(AuthError::RefreshTokenNotFound)?;
    aftermath::header_of_refusal("sb-auth-user-id", &user.id.to_string());
    if user.is_banned(state.now()) {
        return Err(AuthError::RefreshUserBanned);
    }
    let Some(session) = sessions::lock(&db, session_id).await? else {
        let is_there = sessions::find_by_id(&db, session_id).await?.is_some();
        return if is_there {
            Ok(Try::Locked)
        } else {
            Err(AuthError::RefreshSessionNotFound)
        };
    };
    aftermath::header_of_refusal("sb-auth-session-id", &session_id.to_string());
    check_program(&db, session_id, program).await?;
    check_limits(state, &db, &session, &user).await?;
    let exchanged = match &counted {
        Some(counted) => exchange_counter(state, &db, &session, counted).await?,
        None => exchange(state, &db, (&user, session_id), token).await?,
    };
    match exchanged {
        Some((refresh_token, reuse)) => {
            let now = state.now();
            sessions::touch(&db, session_id, &info.user_agent, &info.ip, now).await?;
            accounts::log(state, &db, info, Actor::User(&user), Action::TokenRefreshed).await?;
            if counted.is_none() && reuse == Reuse::None {
                accounts::log(state, &db, info, Actor::User(&user), Action::TokenRevoked).await?;
            }
            let refreshed = (refresh_token, "token_refresh");
            let session = (session_id, session.aal.as_str());
            let mut tokens = sign(state, &db, info, user.id, session, refreshed, now).await?;
            tokens.reuse = Some(reuse);
            db.commit().await?;
            Ok(Try::Done(Box::new(tokens)))
        }
        None => {
            db.commit().await?;
            Ok(Try::Revoked)
        }
    }
}

/// The token to hand out, and why it is that one; `None` when the family had to be revoked. Reads under the session's lock.
async fn exchange(
    state: &AuthState,
    db: &Transaction<'_>,
    (user, session_id): (&User, Uuid),
    token: &str,
) -> Result<Option<(String, Reuse)>, AuthError> {
    let (presented, family) = refresh_tokens::find_family(db, token)
        .await?
        .ok_or(AuthError::RefreshTokenNotFound)?;
    let rules = RefreshRules {
        rotation_enabled: state.config.refresh.rotation_enabled,
        reuse_interval: state.config.refresh.reuse_interval,
        always_reuse: state.config.refresh.always_reuse,
    };
    let now = state.now();
    match refresh::decide(presented, family, rules, now) {
        Decision::ReturnActive(active) => return Ok(Some((active, Reuse::Again(None)))),
        Decision::Refuse => return Err(AuthError::RefreshTokenAlreadyUsed),
        Decision::RevokeFamily => {
            refresh_tokens::revoke_family(db, session_id, now).await?;
            return Ok(None);
        }
        Decision::Rotate => refresh_tokens::revoke(db, token, now).await?,
        Decision::IssueChild => {}
    }
    let child = new_refresh_token();
    refresh_tokens::insert_child(db, (user.id, session_id), token, &child, now).await?;
    Ok(Some((child, Reuse::None)))
}

/// Whose counter token this is. A token that nobody's key has signed is unknown, whatever it claims.
async fn owner_of_counter(db: &Transaction<'_>, token: &CounterToken) -> Result<(Uuid, Uuid), AuthError> {
    let session = sessions::find_by_id(db, token.session_id)
        .await?
        .ok_or(AuthError::RefreshTokenNotFound)?;
    let key = session.token_key.as_deref().map(counter_token::key_bytes);
    if !key.is_some_and(|key| token.is_signed_by(&key)) {
        return Err(AuthError::RefreshTokenNotFound);
    }
    Ok((session.id, session.user_id))
}

/// The counterpart of [`exchange`] for counter tokens. Old ones end the session, as two hold it then.
async fn exchange_counter(
    state: &AuthState,
    db: &Transaction<'_>,
    session: &Session,
    token: &CounterToken,
) -> Result<Option<(String, Reuse)>, AuthError> {
    let rules = RefreshRules {
        rotation_enabled: state.config.refresh.rotation_enabled,
        reuse_interval: state.config.refresh.reuse_interval,
        always_reuse: state.config.refresh.always_reuse,
    };
    let last = session.refreshed_at.unwrap_or(session.created_at);
    let (counter, reuse) =
        match refresh::decide_counter(session.token_counter - token.counter, last, rules, state.now()) {
            CounterDecision::Advance => {
                let next = session.token_counter + 1;
                sessions::set_counter(db, session.id, next).await?;
                (next, Reuse::None)
            }
            CounterDecision::ReturnCurrent(causes) => (session.token_counter, Reuse::Again(Some(causes))),
            CounterDecision::EndSession => {
                sessions::delete(db, session.id).await?;
                aftermath::header_of_refusal("sb-auth-refresh-token-rotated", "true");
                return Ok(None);
            }
            CounterDecision::Refuse => return Err(AuthError::RefreshTokenAlreadyUsed),
            CounterDecision::NotOurs => {
                return Err(AuthError::invalid(
                    "Invalid Refresh Token: Not Issued By This Server",
                ));
            }
        };
    let key = counter_token::key_bytes(session.token_key.as_deref().unwrap_or_default());
    Ok(Some((counter_token::encode(session.id, counter, &key), reuse)))
}

/// A program refreshes its own sessions, a user's client those that belong to no program.
async fn check_program(
    db: &Transaction<'_>,
    session_id: Uuid,
    program: Option<Uuid>,
) -> Result<(), AuthError> {
    let (owner, _) = oauth_authorizations::find_binding(db, session_id).await?;
    let text = match (owner, program) {
        (owner, program) if owner == program => return Ok(()),
        (Some(_), None) => "Client authentication required for OAuth session",
        (Some(_), Some(_)) => "Client does not match the session's OAuth client",
        (None, _) => "Client authentication not allowed for non-OAuth session",
    };
    Err(AuthError::oauth("invalid_client", text))
}

async fn check_limits(
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
    session::check(times, &state.config.sessions, state.now()).map_err(|ended| {
        AuthError::SessionExpired {
            suffix: ended.suffix(),
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
