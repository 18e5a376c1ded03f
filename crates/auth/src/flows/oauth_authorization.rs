//! Authorizations of the OAuth server: a client asks for access, the signed-in user approves or denies.
//!
//! An authorization is `pending` for 10 minutes. It belongs to the first signed-in user who opens it; for everybody
//! else it does not exist. Source: Auth contract §2.16, AUTH-099.

use deadpool_postgres::{GenericClient, Transaction};
use rand::RngExt;
use serde::Deserialize;
use uuid::Uuid;

use crate::crypto::pkce::CodeChallenge;
use crate::error::{AuthError, OauthServerError};
use crate::flows::locked_caller::{LockedCaller, lock_caller};
use crate::request::{AuthRequest, SignedIn};
use crate::state::AuthState;
use crate::store::oauth_authorizations::{self, Authorization, NewAuthorization};
use crate::store::oauth_clients::{self, OauthClient};
use crate::user::User;
use crate::validation::oauth_client::{check_resource, parse_scopes};
use crate::validation::redirect::append_query;

/// Also for the authorization of another user, so that nobody learns which ids exist.
const NOT_FOUND: AuthError = AuthError::OauthServer(OauthServerError::AuthorizationNotFound);

/// Longest `state` in characters. It is stored and sent back unchanged (RFC 6749 §4.1.1).
const LONGEST_STATE: usize = 4096;
/// Longest `nonce` in characters. It is stored for the ID token.
const LONGEST_NONCE: usize = 255;

/// The authorization request (RFC 6749 §4.1.1), with PKCE (RFC 7636), `resource` (RFC 8707) and the `nonce` of OpenID
/// Connect. `scope` defaults to `email`, `response_type` to `code`; both PKCE parameters are required.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuthorizeQuery {
    pub(crate) client_id: String,
    pub(crate) redirect_uri: String,
    pub(crate) response_type: String,
    pub(crate) scope: String,
    pub(crate) state: String,
    pub(crate) resource: String,
    pub(crate) code_challenge: String,
    pub(crate) code_challenge_method: String,
    pub(crate) nonce: String,
}

/// What the consent page needs for a pending authorization.
pub(crate) enum AuthorizationView {
    /// The user has to decide.
    Pending {
        authorization: Box<Authorization>,
        client: Box<OauthClient>,
        user: Box<User>,
    },
    /// An earlier consent covers all scopes: the URL of the client with a code.
    AlreadyGranted(String),
}

/// Stores an authorization request. Returns the URL of the consent page with `?authorization_id=`.
///
/// Errors are shown and not redirected to the client, before a user has seen who asks: anybody can register a client, and
/// would otherwise have a redirect from this server to any page (RFC 9700 §4.11.2).
///
/// # Errors
/// 400 `validation_failed` or `oauth_client_not_found` for an unknown client or redirect URI, 400 `invalid_request` (OAuth
/// body) for other parameters.
pub(crate) async fn request_authorization(
    state: &AuthState,
    query: &AuthorizeQuery,
) -> Result<String, AuthError> {
    let db = state.connect().await?;
    let client = find_client(&db, query).await?;
    let scope = if query.scope.is_empty() {
        "email"
    } else {
        &query.scope
    };
    let (scopes, challenge) =
        check_parameters(query, scope).map_err(|reason| AuthError::oauth("invalid_request", reason))?;
    let authorization_id = generate_id(32);
    let new = NewAuthorization {
        authorization_id: &authorization_id,
        client_id: client.id,
        redirect_uri: &query.redirect_uri,
        scope: &scopes.join(" "),
        state: &query.state,
        resource: &query.resource,
        nonce: &query.nonce,
        challenge: &challenge,
    };
    oauth_authorizations::insert(&db, &new, state.now()).await?;
    let site = state.config.site_url.trim_end_matches('/');
    let path = state
        .config
        .oauth_server
        .authorization_path
        .trim_start_matches('/');
    Ok(append_query(
        &format!("{site}/{path}"),
        &[("authorization_id", &authorization_id)],
    ))
}

/// Opens the authorization with this id for the caller, who becomes the one who decides if they are the first. When an
/// earlier consent covers all scopes, the authorization is approved at once. Whether the caller may is decided on their locked
/// row, which is locked before the authorization, in the order of a new password.
///
/// # Errors
/// 404 `oauth_authorization_not_found`, also for an authorization of another user; 400 `validation_failed` for one that
/// was decided already; 401 `insufficient_aal` for an approval without the second factor; those of [`lock_caller`].
pub(crate) async fn open_authorization(
    request: &AuthRequest,
    caller: &SignedIn,
    id: &str,
) -> Result<AuthorizationView, AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let caller = lock_caller(request, &db, caller).await?;
    let decided = "authorization request cannot be processed";
    let authorization = lock_pending(&request.state, &db, id, decided).await?;
    match authorization.user_id {
        Some(owner) if owner != caller.user.id => return Err(NOT_FOUND),
        Some(_) => {}
        None => {
            oauth_authorizations::set_user(&db, authorization.id, caller.user.id).await?;
            if is_covered_by_consent(&db, caller.user.id, &authorization).await? {
                check_second_factor(&caller)?;
                let code = Uuid::new_v4().to_string();
                oauth_authorizations::approve(&db, authorization.id, &code, request.now()).await?;
                db.commit().await?;
                let url = build_success_url(&authorization, &code);
                return Ok(AuthorizationView::AlreadyGranted(url));
            }
        }
    }
    let client = oauth_clients::find_by_id(&db, authorization.client_id)
        .await?
        .ok_or(NOT_FOUND)?;
    db.commit().await?;
    Ok(AuthorizationView::Pending {
        authorization: Box::new(authorization),
        client: Box::new(client),
        user: Box::new(caller.user),
    })
}

/// Refuses to give a client a session where the caller's own has not shown the second factor: the client's may be refreshed for
/// longer than the caller's.
///
/// # Errors
/// 401 `insufficient_aal`.
fn check_second_factor(caller: &LockedCaller) -> Result<(), AuthError> {
    match caller.lacks_second_factor() {
        true => Err(AuthError::InsufficientAal),
        false => Ok(()),
    }
}

/// Whether the user has granted all scopes of the authorization to its client before. A repeated authorization needs no
/// new decision then.
async fn is_covered_by_consent(
    db: &Transaction<'_>,
    user_id: Uuid,
    authorization: &Authorization,
) -> Result<bool, AuthError> {
    let granted = oauth_authorizations::find_consent(db, user_id, authorization.client_id).await?;
    Ok(granted.is_some_and(|granted| {
        let mut scopes = authorization.scope.split(' ');
        scopes.all(|scope| granted.iter().any(|known| known == scope))
    }))
}

/// Approves or denies an authorization for the caller, who must have opened it and is locked first. Returns the URL of the
/// client, with a code or with `error=access_denied`. An approval is remembered for later authorizations of the same client.
///
/// # Errors
/// 404 `oauth_authorization_not_found`, also for an authorization that another user has opened; 400 `validation_failed`
/// for one that was decided already; 401 `insufficient_aal` for an approval without the second factor; those of
/// [`lock_caller`].
pub(crate) async fn decide_authorization(
    request: &AuthRequest,
    caller: &SignedIn,
    id: &str,
    is_approved: bool,
) -> Result<String, AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let caller = lock_caller(request, &db, caller).await?;
    if is_approved {
        check_second_factor(&caller)?;
    }
    let user = caller.user;
    let decided = "authorization request is no longer pending";
    let authorization = lock_pending(&request.state, &db, id, decided).await?;
    // Consent is possible only for the user who has read the request before.
    if authorization.user_id != Some(user.id) {
        return Err(NOT_FOUND);
    }
    let url = if is_approved {
        let code = Uuid::new_v4().to_string();
        let now = request.now();
        oauth_authorizations::approve(&db, authorization.id, &code, now).await?;
        let (client_id, scope) = (authorization.client_id, &authorization.scope);
        oauth_authorizations::upsert_consent(&db, user.id, client_id, scope, now).await?;
        build_success_url(&authorization, &code)
    } else {
        oauth_authorizations::deny(&db, authorization.id).await?;
        let error = ("access_denied", "User denied the request");
        build_error_url(&authorization.redirect_uri, error, &authorization.state)
    };
    db.commit().await?;
    Ok(url)
}

/// The client named by `client_id`, if it has registered `redirect_uri` exactly as given.
///
/// # Errors
/// 400 `validation_failed` or `oauth_client_not_found`.
async fn find_client(db: &impl GenericClient, query: &AuthorizeQuery) -> Result<OauthClient, AuthError> {
    for (name, value) in [
        ("client_id", &query.client_id),
        ("redirect_uri", &query.redirect_uri),
    ] {
        if value.is_empty() {
            return Err(AuthError::invalid(format!("{name} is required")));
        }
    }
    let id: Uuid = query
        .client_id
        .parse()
        .map_err(|_| OauthServerError::MalformedClientId)?;
    let client = oauth_clients::find_by_id(db, id).await?;
    let client = client.ok_or(OauthServerError::UnknownClientId)?;
    if !client.redirect_uris.contains(&query.redirect_uri) {
        return Err(AuthError::invalid("invalid redirect_uri"));
    }
    Ok(client)
}

/// Checks the parameters beside client and redirect URI. Returns scopes and PKCE challenge, or the
/// `error_description`.
fn check_parameters<'a>(
    query: &AuthorizeQuery,
    scope: &'a str,
) -> Result<(Vec<&'a str>, CodeChallenge), String> {
    if !matches!(query.response_type.as_str(), "" | "code") {
        return Err("only response_type=code is supported".to_owned());
    }
    let scopes = parse_scopes(scope)?;
    check_resource(&query.resource)?;
    if query.state.chars().count() > LONGEST_STATE || query.nonce.chars().count() > LONGEST_NONCE {
        return Err("state or nonce is too long".to_owned());
    }
    let challenge = CodeChallenge::parse(&query.code_challenge, &query.code_challenge_method);
    match challenge {
        Ok(Some(challenge)) => Ok((scopes, challenge)),
        Ok(None) => Err("PKCE flow requires both code_challenge and code_challenge_method".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Random base-32 text with 5 bits per character; 32 characters make an authorization id that cannot be guessed.
fn generate_id(length: usize) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut random = rand::rng();
    (0..length)
        .map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]))
        .collect()
}

/// The redirect URI with an error (RFC 6749 §4.1.2.1) and the client's `state`.
fn build_error_url(redirect_uri: &str, (error, description): (&str, &str), state: &str) -> String {
    let mut pairs = vec![("error", error), ("error_description", description)];
    if !state.is_empty() {
        pairs.push(("state", state));
    }
    append_query(redirect_uri, &pairs)
}

/// The redirect URI with the authorization code (RFC 6749 §4.1.2) and the client's `state`.
fn build_success_url(authorization: &Authorization, code: &str) -> String {
    let mut pairs = vec![("code", code)];
    if !authorization.state.is_empty() {
        pairs.push(("state", &authorization.state));
    }
    append_query(&authorization.redirect_uri, &pairs)
}

/// Locks the authorization with this id, if it is pending. `decided_message` is the message for one that was
/// decided already.
///
/// # Errors
/// 404 `oauth_authorization_not_found` for an unknown or expired one, 400 `validation_failed` for a decided one.
async fn lock_pending(
    state: &AuthState,
    db: &Transaction<'_>,
    id: &str,
    decided_message: &'static str,
) -> Result<Authorization, AuthError> {
    let found = oauth_authorizations::lock_by_id(db, id).await?.ok_or(NOT_FOUND)?;
    if state.now() > found.expires_at {
        return Err(NOT_FOUND);
    }
    if found.status != "pending" {
        return Err(AuthError::invalid(decided_message));
    }
    Ok(found)
}
