//! Sessions and the tokens that prove them: what every successful sign-in answers. Source: Auth contract §2.0, §4.1, §4.2.

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use rand::RngExt;
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::hooks::{self, HookPoint};
use crate::request::RequestInfo;
use crate::rules::counter_token::{self, CounterToken};
use crate::state::AuthState;
use crate::store::oauth_authorizations;
use crate::store::sessions::{self, AmrEntry, NewSession};
use crate::store::{refresh_tokens, users};
use crate::user::User;

/// Lowercase base 32, like upstream's.
const TOKEN_ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const TOKEN_LENGTH: usize = 12;

/// The payload of an access token.
#[derive(Debug, Serialize)]
struct AccessClaims<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    iss: &'a str,
    sub: Uuid,
    aud: &'a str,
    exp: i64,
    iat: i64,
    email: &'a str,
    phone: &'a str,
    app_metadata: &'a Value,
    user_metadata: &'a Value,
    role: &'a str,
    aal: &'a str,
    amr: &'a [AmrEntry],
    session_id: Uuid,
    is_anonymous: bool,
    /// The program that the session was made for, and what it may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

/// What a client stores as its session.
#[derive(Debug, Clone)]
pub(crate) struct TokenPair {
    pub(crate) access_token: String,
    pub(crate) refresh_token: String,
    pub(crate) expires_in: i64,
    pub(crate) expires_at: i64,
    pub(crate) session_id: Uuid,
    pub(crate) user: User,
    /// What a refresh made of the token that it was given; `None` for other sign-ins.
    pub(crate) reuse: Option<Reuse>,
}

/// Whether a refresh token came for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// It did, or stands for one that did: the answer is a new token.
    None,
    /// The answer is a token that was handed out before, for these reasons; the reasons of stored tokens are not told.
    Again(Option<String>),
}

impl TokenPair {
    /// The members of the answer.
    pub(crate) fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("access_token".to_owned(), json!(self.access_token));
        body.insert("token_type".to_owned(), json!("bearer"));
        body.insert("expires_in".to_owned(), json!(self.expires_in));
        body.insert("expires_at".to_owned(), json!(self.expires_at));
        body.insert("refresh_token".to_owned(), json!(self.refresh_token));
        body.insert("user".to_owned(), Value::Object(self.user.body()));
        body
    }

    /// 200 with the members, and those of `extra`.
    pub(crate) fn response(&self, extra: impl IntoIterator<Item = (&'static str, Value)>) -> HttpResponse {
        let mut body = self.body();
        body.extend(extra.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let mut response = HttpResponse::Ok();
        response
            .insert_header(("Cache-Control", "no-store"))
            .insert_header(("sb-auth-user-id", self.user.id.to_string()))
            .insert_header(("sb-auth-session-id", self.session_id.to_string()))
            .insert_header(self.token_header());
        match &self.reuse {
            None | Some(Reuse::Again(None)) => {}
            Some(Reuse::None) => {
                response.insert_header(("sb-auth-refresh-token-reuse", "false"));
            }
            Some(Reuse::Again(Some(causes))) => {
                response.insert_header(("sb-auth-refresh-token-reuse-cause", causes.as_str()));
            }
        }
        response.json(body)
    }

    /// Tells people who read logs of a proxy which token it was, and nobody what it is.
    fn token_header(&self) -> (&'static str, String) {
        match CounterToken::parse(&self.refresh_token) {
            Some(token) => ("sb-auth-refresh-token-counter", token.counter.to_string()),
            None => (
                "sb-auth-refresh-token-prefix",
                self.refresh_token.chars().take(5).collect(),
            ),
        }
    }
}

/// Creates a session for `user` and signs its first tokens.
pub(crate) async fn start_session(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user_id: Uuid,
    method: &str,
) -> Result<TokenPair, AuthError> {
    let now = state.now();
    let id = Uuid::new_v4();
    let token_key = state.config.refresh.counter_tokens.then(counter_token::new_key);
    let refresh_token = match &token_key {
        Some(key) => counter_token::encode(id, 0, &counter_token::key_bytes(key)),
        None => new_refresh_token(),
    };
    let session = NewSession {
        id,
        user_id,
        user_agent: &info.user_agent,
        ip: &info.ip,
        method,
        refresh_token: &refresh_token,
        token_key: token_key.as_deref(),
    };
    sessions::insert(db, &session, now).await?;
    sign(
        state,
        db,
        info,
        user_id,
        (id, "aal1"),
        (refresh_token, method),
        now,
    )
    .await
}

/// The same for a program of the OAuth server: the session is the program's, and its tokens say so.
pub(crate) async fn start_program_session(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user_id: Uuid,
    (client_id, scope): (Uuid, &str),
) -> Result<TokenPair, AuthError> {
    const METHOD: &str = "oauth_provider/authorization_code";
    let started = start_session(state, db, info, user_id, METHOD).await?;
    oauth_authorizations::bind_session(db, started.session_id, client_id, scope).await?;
    let session = (started.session_id, "aal1");
    let refreshed = (started.refresh_token, METHOD);
    sign(state, db, info, user_id, session, refreshed, state.now()).await
}

/// Replaces the refresh token of a session that has changed its level. The old one still leads to the new one, as another tab may
/// be using it at this moment.
///
/// # Errors
/// 403 `session_not_found` when the session's tokens were revoked.
pub(crate) async fn rotate(
    db: &impl GenericClient,
    (user_id, session_id): (Uuid, Uuid),
    now: DateTime<Utc>,
) -> Result<String, AuthError> {
    let session = sessions::find_by_id(db, session_id)
        .await?
        .ok_or(AuthError::TokenSessionNotFound)?;
    if let Some(key) = &session.token_key {
        // The token of before is two behind now: a lost answer would excuse one, and hand the raised session to its holder.
        let counter = session.token_counter + 2;
        sessions::set_counter(db, session_id, counter).await?;
        return Ok(counter_token::encode(
            session_id,
            counter,
            &counter_token::key_bytes(key),
        ));
    }
    let active = refresh_tokens::find_active(db, session_id)
        .await?
        .ok_or(AuthError::TokenSessionNotFound)?;
    refresh_tokens::revoke_family(db, session_id, now).await?;
    let token = new_refresh_token();
    refresh_tokens::insert_child(db, (user_id, session_id), &active, &token, now).await?;
    Ok(token)
}

/// Signs an access token for the session as it is now. The project's hook may change the claims.
pub(crate) async fn sign(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    user_id: Uuid,
    (session_id, aal): (Uuid, &str),
    (refresh_token, method): (String, &str),
    now: DateTime<Utc>,
) -> Result<TokenPair, AuthError> {
    let (user, proofs, (client_id, scope)) = futures_util::try_join!(
        users::find_by_id(db, user_id),
        sessions::list_proofs(db, session_id),
        oauth_authorizations::find_binding(db, session_id),
    )?;
    let user =
        user.ok_or_else(|| AuthError::internal(UNEXPECTED, Fault::Other("user vanished during sign-in")))?;
    let expires_in = token_life(state, &user, aal);
    let issued_at = now.timestamp();
    let claims = AccessClaims {
        iss: &state.config.jwt_issuer,
        sub: user.id,
        aud: &user.aud,
        exp: issued_at + expires_in,
        iat: issued_at,
        email: &user.email,
        phone: &user.phone,
        app_metadata: &user.app_metadata,
        user_metadata: &user.user_metadata,
        role: &user.role,
        aal,
        amr: &proofs,
        session_id,
        is_anonymous: user.is_anonymous,
        client_id,
        scope: scope.filter(|_| client_id.is_some()),
    };
    let signed = if HookPoint::CustomAccessToken.is_set(state) {
        let subject = (user_id, method);
        state
            .keys
            .sign(&hooks::customize_claims(state, db, info, subject, json!(claims)).await?)
    } else {
        state.keys.sign(&claims)
    };
    let access_token = signed.map_err(|error| AuthError::internal(UNEXPECTED, error))?;
    Ok(TokenPair {
        access_token,
        refresh_token,
        expires_in,
        expires_at: issued_at + expires_in,
        session_id,
        user,
        reuse: None,
    })
}

/// Seconds that an access token lives: less for a session that still owes its second factor.
fn token_life(state: &AuthState, user: &User, aal: &str) -> i64 {
    let low_aal = state
        .config
        .sessions
        .allow_low_aal
        .filter(|_| aal == "aal1" && user.has_verified_factor());
    let life = low_aal.map_or(state.config.jwt_expiry, |limit| {
        limit.min(state.config.jwt_expiry)
    });
    i64::try_from(life.as_secs()).unwrap_or(i64::MAX)
}

/// A fresh opaque token of 60 random bits.
pub(crate) fn new_refresh_token() -> String {
    let mut random = rand::rng();
    (0..TOKEN_LENGTH)
        .map(|_| char::from(TOKEN_ALPHABET[random.random_range(0..TOKEN_ALPHABET.len())]))
        .collect()
}

/// Whether the text can be a refresh token at all; saves the database from nonsense.
pub(crate) fn is_refresh_token(text: &str) -> bool {
    if text.len() == TOKEN_LENGTH {
        return text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    }
    // Compat: tokens of older projects are 22 URL-safe characters.
    (TOKEN_LENGTH..=255).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refresh_tokens_are_twelve_characters_of_base_32() {
        let token = new_refresh_token();

        assert_eq!(token.len(), 12);
        assert!(token.bytes().all(|byte| TOKEN_ALPHABET.contains(&byte)));
        assert_ne!(token, new_refresh_token());
        assert!(is_refresh_token(&token));
        assert!(!is_refresh_token("ABCDEFGHIJKL") && !is_refresh_token("abcdefghij_0"));
        assert!(is_refresh_token("4nYUCw0wZR_DNOTSDbSGMQ"));
        assert!(!is_refresh_token("short") && !is_refresh_token("with space!!") && !is_refresh_token(""));
    }
}
