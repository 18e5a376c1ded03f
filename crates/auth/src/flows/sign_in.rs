//! Starts sessions and signs their tokens. Source: Auth contract §4.1, §4.2.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use rand::RngExt;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::crypto::counter_token::{self, CounterToken};
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::hooks::{self, HookPoint};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::oauth_authorizations;
use crate::store::sessions::{self, AmrEntry, NewSession};
use crate::store::{refresh_tokens, users};
use crate::user::User;

/// AMR method of a sign-in by SAML.
pub(crate) const SAML_METHOD: &str = "sso/saml";
/// Lowercase base 32, as in the refresh tokens of upstream.
const TOKEN_ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Length of a stored refresh token, in characters of 5 bits each.
const TOKEN_LENGTH: usize = 12;
/// Length of the tokens that older versions of Auth issued; a project that moves here keeps its sessions.
const OLD_TOKEN_LENGTH: usize = 22;

/// The payload of an access token (Auth contract §4.1). Compat: `aud` is a string, and `email` and `phone` are `""`
/// when absent.
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
    /// The client of the OAuth server that the session belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

/// A session's tokens as they were just issued, with the user as they are now.
#[derive(Debug, Clone)]
pub(crate) struct TokenPair {
    pub(crate) access_token: String,
    pub(crate) refresh_token: String,
    /// Lifetime of the access token in seconds.
    pub(crate) expires_in: i64,
    /// End of the access token in Unix seconds.
    pub(crate) expires_at: i64,
    pub(crate) session_id: Uuid,
    pub(crate) user: User,
    /// Set by a refresh only: whether the refresh token was new.
    pub(crate) reuse: Option<TokenReuse>,
}

/// Whether a refresh has issued a new refresh token or returned one again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenReuse {
    /// The refresh token is a new one.
    New,
    /// The refresh token had been issued before. Counter tokens know why and name the causes; stored tokens do not.
    Reused(Option<String>),
}

/// A session whose tokens are to be signed.
#[derive(Debug)]
pub(crate) struct SessionToSign<'a> {
    pub(crate) user_id: Uuid,
    pub(crate) session_id: Uuid,
    /// `aal1` or `aal2`.
    pub(crate) aal: &'a str,
    pub(crate) refresh_token: String,
    /// What led to the tokens, for the hook `custom_access_token`: `password`, `token_refresh` …
    pub(crate) method: &'a str,
}

/// Creates a session for a user and signs its first tokens. `method` is the first entry of the session's `amr`.
///
/// Whether the user may sign in is decided here, on the locked row, whatever the caller has checked before: a deletion, a ban or
/// a new password at the same time either comes first, or ends this session.
///
/// # Errors
/// 403 `user_not_found` for a deleted user, `user_banned` or `email_not_confirmed`, and what the hook `custom_access_token`
/// refuses with.
pub(crate) async fn start_session(
    request: &AuthRequest,
    db: &impl GenericClient,
    user_id: Uuid,
    method: &str,
) -> Result<TokenPair, AuthError> {
    start_session_until(request, db, user_id, method, None).await
}

/// Like [`start_session`], for a session that must end at `not_after`.
///
/// # Errors
/// Those of [`start_session`].
pub(crate) async fn start_session_until(
    request: &AuthRequest,
    db: &impl GenericClient,
    user_id: Uuid,
    method: &str,
    not_after: Option<DateTime<Utc>>,
) -> Result<TokenPair, AuthError> {
    let now = request.now();
    let user = users::lock_by_id(db, user_id)
        .await?
        .ok_or(AuthError::TokenUserNotFound)?;
    user.may_sign_in(now)?;
    let id = Uuid::new_v4();
    let token_key = request
        .config()
        .refresh
        .counter_tokens
        .then(counter_token::generate_key);
    let refresh_token = match &token_key {
        Some(key) => {
            let key = counter_token::decode_key(key).ok_or(AuthError::TokenSessionNotFound)?;
            counter_token::encode_token(id, 0, &key)
        }
        None => generate_refresh_token(),
    };
    let session = NewSession {
        id,
        user_id,
        user_agent: &request.info.user_agent,
        ip: &request.info.ip,
        method,
        refresh_token: &refresh_token,
        token_key: token_key.as_deref(),
        not_after,
    };
    sessions::insert(db, &session, now).await?;
    let session = SessionToSign {
        user_id,
        session_id: id,
        aal: "aal1",
        refresh_token,
        method,
    };
    sign_tokens(request, db, session).await
}

/// Creates a session that belongs to a client of the OAuth server; its access tokens carry `client_id` and `scope`.
///
/// # Errors
/// Those of [`start_session`].
pub(crate) async fn start_client_session(
    request: &AuthRequest,
    db: &impl GenericClient,
    user_id: Uuid,
    (client_id, scope): (Uuid, &str),
) -> Result<(Uuid, TokenPair), AuthError> {
    const METHOD: &str = "oauth_provider/authorization_code";
    let started = start_session(request, db, user_id, METHOD).await?;
    // The access token is signed again below, because the first one was signed before the session had a client.
    oauth_authorizations::set_session_client(db, started.session_id, client_id, scope).await?;
    let session = SessionToSign {
        user_id,
        session_id: started.session_id,
        aal: "aal1",
        refresh_token: started.refresh_token,
        method: METHOD,
    };
    let tokens = sign_tokens(request, db, session).await?;
    Ok((started.session_id, tokens))
}

/// Issues a new refresh token for a session whose assurance level has changed. The old token can still be exchanged for
/// the new one, because another tab may be using it at this moment.
///
/// # Errors
/// 403 `session_not_found` when the session's tokens were revoked.
pub(crate) async fn rotate_refresh_token(
    db: &impl GenericClient,
    (user_id, session_id): (Uuid, Uuid),
    now: DateTime<Utc>,
) -> Result<String, AuthError> {
    let session = sessions::find_by_id(db, session_id)
        .await?
        .ok_or(AuthError::TokenSessionNotFound)?;
    if let Some(key) = &session.token_key {
        // Two steps: a token that is one behind counts as a lost response and is answered with the current token, so
        // whoever holds the old token would get the session at its raised level.
        let counter = session.token_counter + 2;
        let key = counter_token::decode_key(key).ok_or(AuthError::TokenSessionNotFound)?;
        sessions::set_counter(db, session_id, counter).await?;
        return Ok(counter_token::encode_token(session_id, counter, &key));
    }
    let active = refresh_tokens::find_active(db, session_id)
        .await?
        .ok_or(AuthError::TokenSessionNotFound)?;
    refresh_tokens::revoke_family(db, session_id, now).await?;
    let token = generate_refresh_token();
    refresh_tokens::insert_child(db, (user_id, session_id), &active, &token, now).await?;
    Ok(token)
}

/// Signs an access token from the current rows of user and session. The hook `custom_access_token` may change the
/// claims.
///
/// # Errors
/// 500 when the hook removes a required claim, and what it refuses with.
pub(crate) async fn sign_tokens(
    request: &AuthRequest,
    db: &impl GenericClient,
    session: SessionToSign<'_>,
) -> Result<TokenPair, AuthError> {
    // The three statements are pipelined on one connection, which saves two round trips.
    let (user, mut amr, (client_id, scope)) = futures_util::try_join!(
        users::find_by_id(db, session.user_id),
        sessions::list_amr_entries(db, session.session_id),
        oauth_authorizations::find_session_client(db, session.session_id),
    )?;
    let user = user.ok_or_else(|| {
        AuthError::internal(
            UNEXPECTED,
            Fault::Other("the user was deleted during the sign-in"),
        )
    })?;
    name_sso_provider(&user, &mut amr);
    let expires_in = token_lifetime(&request.state, &user, session.aal);
    let claims = access_claims(request, &session, &user, &amr, expires_in);
    let claims = AccessClaims {
        client_id,
        // A scope means nothing without the client that it was granted to.
        scope: scope.filter(|_| client_id.is_some()),
        ..claims
    };
    let expires_at = claims.exp;
    let access_token = sign_claims(request, db, &session, &claims).await?;
    Ok(TokenPair {
        access_token,
        refresh_token: session.refresh_token,
        expires_in,
        expires_at,
        session_id: session.session_id,
        user,
        reuse: None,
    })
}

/// The claims of an access token for a session of the server's own, without a client of the OAuth server.
fn access_claims<'a>(
    request: &'a AuthRequest,
    session: &SessionToSign<'a>,
    user: &'a User,
    amr: &'a [AmrEntry],
    expires_in: i64,
) -> AccessClaims<'a> {
    let issued_at = request.now().timestamp();
    AccessClaims {
        iss: &request.config().jwt_issuer,
        sub: user.id,
        aud: &user.aud,
        exp: issued_at + expires_in,
        iat: issued_at,
        // Policies read them as whose the user is, so they name only what the user has confirmed.
        email: if user.is_confirmed() { &user.email } else { "" },
        phone: if user.is_phone_confirmed() {
            &user.phone
        } else {
            ""
        },
        app_metadata: &user.app_metadata,
        user_metadata: &user.user_metadata,
        role: &user.role,
        aal: session.aal,
        amr,
        session_id: session.session_id,
        is_anonymous: user.is_anonymous,
        client_id: None,
        scope: None,
    }
}

/// The claims that an access token of the user would have after a sign-in by password, changed by the hook
/// `custom_access_token`. No session is made and nothing is signed.
///
/// # Errors
/// 404 for an unknown user, and what the hook refuses with.
pub(crate) async fn preview_claims(
    request: &AuthRequest,
    db: &impl GenericClient,
    user_id: Uuid,
    aal: &str,
) -> Result<Value, AuthError> {
    let user = users::find_by_id(db, user_id)
        .await?
        .ok_or(AuthError::UserNotFound("User not found"))?;
    let session = SessionToSign {
        user_id,
        session_id: Uuid::new_v4(),
        aal,
        refresh_token: String::new(),
        method: "password",
    };
    let amr = [AmrEntry {
        method: session.method.to_owned(),
        timestamp: request.now().timestamp(),
        provider: None,
    }];
    let expires_in = token_lifetime(&request.state, &user, aal);
    let claims = json!(access_claims(request, &session, &user, &amr, expires_in));
    hooks::customize_claims(request, db, (user_id, session.method), claims).await
}

/// Adds the SSO provider to entries of a sign-in by SAML, unless the user has identities of several providers: then the
/// entry does not tell which one signed in.
fn name_sso_provider(user: &User, amr: &mut [AmrEntry]) {
    let Some(identity) = user.identities.first() else {
        return;
    };
    let is_same = user
        .identities
        .iter()
        .all(|other| other.provider == identity.provider);
    if let Some(provider) = identity.provider.strip_prefix("sso:").filter(|_| is_same) {
        for entry in amr.iter_mut().filter(|entry| entry.method == SAML_METHOD) {
            entry.provider = Some(provider.to_owned());
        }
    }
}

/// Signs the claims, after the project's hook has changed them where there is one.
async fn sign_claims(
    request: &AuthRequest,
    db: &impl GenericClient,
    session: &SessionToSign<'_>,
    claims: &AccessClaims<'_>,
) -> Result<String, AuthError> {
    let keys = &request.state.keys;
    let signed = if HookPoint::CustomAccessToken.is_set(&request.state) {
        let subject = (session.user_id, session.method);
        keys.sign(&hooks::customize_claims(request, db, subject, json!(claims)).await?)
    } else {
        keys.sign(claims)
    };
    signed.map_err(|error| AuthError::internal(UNEXPECTED, error))
}

/// Lifetime of an access token in seconds; `allow_low_aal` shortens it for users with a second factor that this session
/// lacks.
fn token_lifetime(state: &AuthState, user: &User, aal: &str) -> i64 {
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

/// Makes an opaque refresh token of 60 random bits.
pub(crate) fn generate_refresh_token() -> String {
    let mut random = rand::rng();
    (0..TOKEN_LENGTH)
        .map(|_| char::from(TOKEN_ALPHABET[random.random_range(0..TOKEN_ALPHABET.len())]))
        .collect()
}

/// Whether the text has the form of a refresh token; anything else is refused without asking the database.
pub(crate) fn is_refresh_token(text: &str) -> bool {
    match text.len() {
        TOKEN_LENGTH => text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        OLD_TOKEN_LENGTH => text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'),
        _ => CounterToken::parse(text).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refresh_tokens_are_twelve_characters_of_base_32() {
        let token = generate_refresh_token();

        assert_eq!(token.len(), 12);
        assert!(token.bytes().all(|byte| TOKEN_ALPHABET.contains(&byte)));
        assert_ne!(token, generate_refresh_token());
        assert!(is_refresh_token(&token));
        assert!(!is_refresh_token("ABCDEFGHIJKL") && !is_refresh_token("abcdefghij_0"));
        assert!(is_refresh_token("4nYUCw0wZR_DNOTSDbSGMQ"));
        assert!(!is_refresh_token("short") && !is_refresh_token("with space!!") && !is_refresh_token(""));
    }
}
