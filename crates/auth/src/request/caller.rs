//! Extractors for the caller. A handler that takes [`SignedIn`], [`AnySession`] or [`Admin`] runs only for such a caller;
//! anybody else gets an error before it. `docs/auth-access.md` lists who may call which endpoint.
//!
//! Source: Auth contract §1.2.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::{FromRequest, HttpRequest, web};
use selvedge_gateway::{Bearer, Caller};
use selvedge_token::{Claims, TokenError};
use serde_json::Value;
use uuid::Uuid;

use crate::error::AuthError;
use crate::state::AuthState;
use crate::store::sessions::{self, Session};
use crate::store::users;
use crate::user::{SignInRefusal, User};
use crate::validation::session_limits::{self, SessionTimes};

/// A user in a session of their own, not one that they have granted to a client of the OAuth server. The session exists; so
/// a deleted session makes its access tokens useless here at once, while other services accept them until they expire.
pub(crate) struct SignedIn {
    pub(crate) user: User,
    /// `None` for a token without `session_id`, which the project has signed itself, and which it must have allowed
    /// (`tokens_without_session`).
    pub(crate) session: Option<Session>,
    claims: Arc<Claims>,
}

/// Like [`SignedIn`], or a client of the OAuth server in a session that the user has granted it.
pub(crate) struct AnySession(pub(crate) SignedIn);

impl SignedIn {
    /// Whether the session began with a mailed link or code.
    pub(crate) fn is_recovery(&self) -> bool {
        let methods = self
            .claims
            .get("amr")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        methods
            .filter_map(|entry| entry["method"].as_str())
            .any(|method| matches!(method, "otp" | "magiclink" | "recovery"))
    }

    /// Whether the user has a second factor that was not verified in this session. The session's row decides, because
    /// the token may be older than a change of its level.
    pub(crate) fn lacks_second_factor(&self) -> bool {
        let aal = match &self.session {
            Some(session) => session.aal.as_str(),
            None => self.claims.get("aal").and_then(Value::as_str).unwrap_or_default(),
        };
        self.user.has_verified_factor() && !matches!(aal, "aal2" | "aal3")
    }

    /// Refuses anonymous users: second factors and passkeys belong to permanent accounts.
    ///
    /// # Errors
    /// 403 `no_authorization`.
    pub(crate) fn check_permanent(&self) -> Result<(), AuthError> {
        if self.claims.get("is_anonymous") == Some(&Value::Bool(true)) {
            return Err(AuthError::AnonymousNotAllowed);
        }
        Ok(())
    }

    /// Whether the token was issued for this audience, or for several, of which it is the first. In a session the user's own
    /// audience counts as well, because a project's token hook may replace the claim.
    pub(crate) fn is_for(&self, audience: &str) -> bool {
        let claim = self.claims.get("aud");
        let claimed = claim.and_then(|claim| claim.get(0).unwrap_or(claim).as_str());
        claimed.unwrap_or_default() == audience || self.session.is_some() && self.user.aud == audience
    }

    /// Refuses a session that has outlived one of the project's limits.
    ///
    /// # Errors
    /// 403 `session_expired`.
    fn check_limits(&self, state: &AuthState) -> Result<(), AuthError> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let times = SessionTimes {
            created_at: session.created_at,
            refreshed_at: session.refreshed_at,
            not_after: session.not_after,
            is_low_aal: session.aal == "aal1" && self.user.has_verified_factor(),
        };
        session_limits::check_limits(times, &state.config.sessions, state.now())
            .map_err(|_| AuthError::TokenSessionExpired)
    }

    /// The caller in a session of their own.
    ///
    /// # Errors
    /// Those of [`SignedIn::load_any`], and 403 `no_authorization` for a client of the OAuth server.
    async fn load(state: &AuthState, caller: &Caller) -> Result<Self, AuthError> {
        let signed_in = Self::load_any(state, caller).await?;
        // Whoever grants a client access to some of their data does not let it change the account.
        // The session decides: a project's token hook may add a claim of this name to the tokens of any user.
        let is_client = match &signed_in.session {
            Some(session) => session.client_id.is_some(),
            None => signed_in.claims.get("client_id").is_some(),
        };
        if is_client {
            return Err(AuthError::ClientNotAllowed);
        }
        Ok(signed_in)
    }

    /// The caller in any session.
    ///
    /// # Errors
    /// 401 `no_authorization`; 403 `bad_jwt`, `session_not_found`, `user_not_found`, `user_banned` or `email_not_confirmed`; 400
    /// `bad_jwt` for a subject that is no user's id, `validation_failed` for a token of another audience.
    async fn load_any(state: &AuthState, caller: &Caller) -> Result<Self, AuthError> {
        let claims = get_verified_claims(caller)?;
        let missing = AuthError::BadJwt(Cow::Borrowed("invalid claim: missing sub claim"));
        let subject = claims
            .subject()
            .filter(|subject| !subject.is_empty())
            .ok_or(missing)?;
        let user_id: Uuid = subject.parse().map_err(|_| AuthError::SubjectNotUuid)?;
        let session_id = parse_session_id(&claims)?;
        let client = state.connect().await?;
        // Both statements are pipelined, which saves a round trip.
        let (user, session) = futures_util::try_join!(users::find_by_id(&client, user_id), async {
            match session_id {
                Some(id) => sessions::find_by_id(&client, id).await,
                None => Ok(None),
            }
        })?;
        let user = user.ok_or(AuthError::TokenUserNotFound)?;
        // A token that names another user's session is treated like one whose session is gone.
        let session = session.filter(|session| session.user_id == user_id);
        let refusal = user.may_sign_in(state.now()).err();
        // First, because a ban has ended the sessions, and applications tell their users about it.
        if refusal == Some(SignInRefusal::Banned) {
            return Err(AuthError::UserBanned);
        }
        if session.is_none() && (session_id.is_some() || !state.config.tokens_without_session) {
            return Err(AuthError::TokenSessionNotFound);
        }
        let user_audience = session.as_ref().map(|_| user.aud.as_str());
        check_audience(state, user_audience, &claims)?;
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
        Ok(Self {
            user,
            session,
            claims,
        })
    }
}

/// Message for a token of another audience than the request's.
pub(crate) const OTHER_AUDIENCE: &str = "Token audience doesn't match request audience";

/// The holder of a token whose role administers users. A service key has no session; the token of a user with that role
/// has one, which must exist.
pub(crate) struct Admin {
    pub(crate) role: String,
}

impl Admin {
    async fn load(state: &AuthState, caller: &Caller) -> Result<Self, AuthError> {
        let claims = get_verified_claims(caller)?;
        // A signed-out or banned user with an administrator's role must lose that role at once.
        let role = claims.role().unwrap_or_default();
        let is_admin = |role: &str| state.config.admin_roles.iter().any(|admin| admin == role);
        if parse_session_id(&claims)?.is_some() {
            let signed_in = SignedIn::load(state, caller).await?;
            signed_in.check_limits(state)?;
            // So must one whose row has another role by now. Where the project's token hook gives roles, only the token knows.
            let by_hook = state.config.hooks.custom_access_token.is_some();
            if !by_hook && !is_admin(&signed_in.user.role) {
                return Err(AuthError::NotAdmin);
            }
        }
        if !is_admin(role) {
            return Err(AuthError::NotAdmin);
        }
        Ok(Self {
            role: role.to_owned(),
        })
    }
}

/// The claims of the bearer token, if its signature and times are valid. `exp` is checked without leeway, as with upstream.
///
/// # Errors
/// 401 `no_authorization` without a token, 403 `bad_jwt` for an invalid one.
fn get_verified_claims(caller: &Caller) -> Result<Arc<Claims>, AuthError> {
    let claims = match caller.bearer() {
        // Compat: a publishable key stands for the anon JWT, which has no subject.
        Bearer::None if caller.api_key().is_some() => Arc::new(Claims::for_role("anon")),
        Bearer::None | Bearer::Invalid(TokenError::Empty) => return Err(AuthError::NoAuthorization),
        Bearer::Invalid(error) => return Err(map_token_error(error)),
        Bearer::Valid(claims) => Arc::clone(claims),
    };
    claims
        .check_time(selvedge_token::unix_now(), 0)
        .map_err(|error| map_token_error(&error))?;
    Ok(claims)
}

/// Refuses a token for an audience that the project does not have. A token without an audience is for all of them. In a
/// session the user's own audience counts, because a project's token hook may replace the claim.
///
/// # Errors
/// 400 `validation_failed`, as `GET /user` of the original.
fn check_audience(state: &AuthState, user_audience: Option<&str>, claims: &Claims) -> Result<(), AuthError> {
    let mut names = match (user_audience, claims.get("aud")) {
        (Some(name), _) => vec![name],
        (None, Some(Value::String(name))) => vec![name.as_str()],
        (None, Some(Value::Array(names))) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    names.retain(|name| !name.is_empty());
    if names.is_empty() || names.iter().any(|name| state.config.has_audience(name)) {
        return Ok(());
    }
    Err(AuthError::invalid(OTHER_AUDIENCE))
}

/// The id of the token's session; `None` without the claim or with the nil UUID.
///
/// # Errors
/// 403 `bad_jwt` for anything else that is not a UUID.
fn parse_session_id(claims: &Claims) -> Result<Option<Uuid>, AuthError> {
    let Some(text) = claims.session_id().filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let id: Uuid = text
        .parse()
        .map_err(|_| AuthError::BadJwt(Cow::Borrowed("invalid claim: session_id claim must be a UUID")))?;
    Ok((!id.is_nil()).then_some(id))
}

/// Maps a token error to the text of upstream's JWT library, which applications show.
fn map_token_error(error: &TokenError) -> AuthError {
    let detail = match error {
        TokenError::Parts(_) => "token is malformed: token contains an invalid number of segments",
        TokenError::Undecodable | TokenError::ClaimsNotAnObject => {
            "token is malformed: could not JSON decode it"
        }
        TokenError::Unsigned => "token signature is invalid: signing method none is invalid",
        TokenError::UnsupportedAlgorithm(name) | TokenError::NoKeyOfAlgorithm(name) => {
            &describe_algorithm(name)
        }
        TokenError::NoSuitableKey => "token is unverifiable: unrecognized JWT kid for this algorithm",
        TokenError::BadSignature => "token signature is invalid: signature is invalid",
        TokenError::Expired => "token has invalid claims: token is expired",
        TokenError::NotYetValid | TokenError::IssuedInFuture => {
            "token has invalid claims: token is not valid yet"
        }
        _ => "token has invalid claims",
    };
    AuthError::BadJwt(Cow::Owned(format!(
        "invalid JWT: unable to parse or verify signature, {detail}"
    )))
}

/// Upstream's text for an algorithm that is not accepted. A name that its library does not know is not repeated.
fn describe_algorithm(name: &str) -> String {
    const KNOWN: [&str; 13] = [
        "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384",
        "PS512", "EdDSA",
    ];
    match KNOWN.contains(&name) {
        true => format!("token signature is invalid: signing method {name} is invalid"),
        false => "token is unverifiable: signing method (alg) is unavailable".to_owned(),
    }
}

impl FromRequest for SignedIn {
    type Error = AuthError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, AuthError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (state, caller) = (get_state(request), Caller::extract(request));
        let checked = check_bearer(request, &caller);
        Box::pin(async move {
            checked?;
            Self::load(&state, &caller).await
        })
    }
}

impl FromRequest for AnySession {
    type Error = AuthError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, AuthError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (state, caller) = (get_state(request), Caller::extract(request));
        let checked = check_bearer(request, &caller);
        Box::pin(async move {
            checked?;
            SignedIn::load_any(&state, &caller).await.map(Self)
        })
    }
}

impl FromRequest for Admin {
    type Error = AuthError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, AuthError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (state, caller) = (get_state(request), Caller::extract(request));
        let checked = check_bearer(request, &caller);
        Box::pin(async move {
            checked?;
            Self::load(&state, &caller).await
        })
    }
}

/// Refuses requests without an `Authorization` header. Compat: a JWT in `apikey` alone passes the gateway but does
/// not identify the caller; a key of the form `sb_…` does, because the gateway replaces it by a token.
///
/// # Errors
/// 401 `no_authorization`.
fn check_bearer(request: &HttpRequest, caller: &Caller) -> Result<(), AuthError> {
    if request.headers().contains_key(header::AUTHORIZATION) || caller.api_key().is_some() {
        return Ok(());
    }
    Err(AuthError::NoAuthorization)
}

fn get_state(request: &HttpRequest) -> web::Data<AuthState> {
    request
        .app_data::<web::Data<AuthState>>()
        .cloned()
        .expect("routes are mounted with their state")
}
