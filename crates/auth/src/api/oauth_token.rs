//! `POST /oauth/token`: a client of the OAuth server exchanges its authorization code or a refresh token.
//!
//! Source: Auth contract §2.16, AUTH-099.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use deadpool_postgres::GenericClient;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::error::{AuthError, UNEXPECTED};
use crate::feature_gates::check_oauth_server;
use crate::flows::accounts;
use crate::flows::refresh_session::refresh_session;
use crate::flows::sign_in::{TokenPair, start_client_session};
use crate::request::{AuthRequest, read_text};
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::audit::Action;
use crate::store::oauth_authorizations::{self, Authorization};
use crate::store::oauth_clients::{self, OauthClient};
use crate::store::users;
use crate::user::User;
use crate::validation::oauth_client::{NONE, SECRET_BASIC, SECRET_POST, matches_secret};

/// Limit of a request body, as for all other endpoints.
const LARGEST_BODY_BYTES: usize = 1 << 20;
/// Lifetime of an ID token in seconds. Clients verify it once after the sign-in; it is not used for access.
const ID_TOKEN_LIFETIME_S: i64 = 3600;

/// The token request (RFC 6749 §4.1.3, §6), as a form or as JSON. Clients that authenticate with HTTP Basic leave out
/// `client_id` and `client_secret`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TokenBody {
    #[serde(deserialize_with = "read_text")]
    grant_type: String,
    #[serde(deserialize_with = "read_text")]
    code: String,
    #[serde(deserialize_with = "read_text")]
    refresh_token: String,
    #[serde(deserialize_with = "read_text")]
    redirect_uri: String,
    #[serde(deserialize_with = "read_text")]
    client_id: String,
    #[serde(deserialize_with = "read_text")]
    client_secret: String,
    #[serde(deserialize_with = "read_text")]
    code_verifier: String,
    #[serde(deserialize_with = "read_text")]
    resource: String,
}

/// `POST /oauth/token` → 200 `{access_token, token_type, expires_in, refresh_token, id_token?}`. Grants:
/// `authorization_code` with `code` and `code_verifier`, and `redirect_uri` if it is sent; and `refresh_token`.
///
/// # Errors
/// 404 `feature_disabled`; 429 `over_request_rate_limit`; 400 `invalid_credentials` when the client cannot be
/// authenticated; all others are OAuth error bodies with status 400: `invalid_request`, `invalid_grant`,
/// `unsupported_grant_type`, `access_denied`.
pub(crate) async fn issue_client_tokens(
    request: AuthRequest,
    http: HttpRequest,
    body: web::Bytes,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&request.state)?;
    request.check_rate_limit(LimitedEndpoint::Token)?;
    let body = read_body(&http, &body)?;
    let oauth_client = authenticate_client(&request.state, &http, &body).await?;
    if body.grant_type.is_empty() {
        return Err(AuthError::oauth("invalid_request", "grant_type is required"));
    }
    if !oauth_client.grant_types.contains(&body.grant_type) {
        let text = format!("Client is not allowed to use grant type: {}", body.grant_type);
        return Err(AuthError::oauth("unsupported_grant_type", text));
    }
    match body.grant_type.as_str() {
        // `grant_types` of a client holds only these two, so anything else was refused above.
        "authorization_code" => exchange_code(&request, &oauth_client, &body).await,
        _ => exchange_refresh_token(&request, &oauth_client, &body).await,
    }
}

/// Reads the body as JSON if the content type says so, otherwise as a form.
///
/// # Errors
/// 413 `request_entity_too_large`, 400 `invalid_request` (OAuth body).
fn read_body(request: &HttpRequest, body: &[u8]) -> Result<TokenBody, AuthError> {
    if body.len() > LARGEST_BODY_BYTES {
        return Err(AuthError::TooLarge);
    }
    let kind = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    if kind.is_some_and(|kind| kind.contains("application/json")) {
        return serde_json::from_slice(body)
            .map_err(|_| AuthError::oauth("invalid_request", "Invalid JSON body"));
    }
    let pairs = url::form_urlencoded::parse(body);
    let map: Map<String, Value> = pairs
        .map(|(name, value)| (name.into_owned(), json!(value)))
        .collect();
    serde_json::from_value(Value::Object(map))
        .map_err(|_| AuthError::oauth("invalid_request", "Failed to parse form data"))
}

/// Identifies the client, which must authenticate by the method that it has registered: a stolen id alone must not be
/// enough for a client that has a secret.
///
/// # Errors
/// 400 `invalid_credentials`.
async fn authenticate_client(
    state: &AuthState,
    request: &HttpRequest,
    body: &TokenBody,
) -> Result<OauthClient, AuthError> {
    let refuse = AuthError::OauthClientRefused;
    let (id, secret, method) = match read_basic_credentials(request).map_err(refuse)? {
        Some((id, secret)) => (id, secret, SECRET_BASIC),
        None if body.client_secret.is_empty() => (body.client_id.clone(), String::new(), NONE),
        None => (body.client_id.clone(), body.client_secret.clone(), SECRET_POST),
    };
    if id.is_empty() {
        return Err(refuse("Invalid client credentials: client_id is required"));
    }
    let id: Uuid = id.parse().map_err(|_| refuse("Invalid client_id format"))?;
    let client = state.connect().await?;
    let oauth_client = oauth_clients::find_by_id(&client, id).await?;
    let oauth_client = oauth_client.ok_or_else(|| refuse("Invalid client credentials"))?;
    if oauth_client.auth_method != method {
        return Err(refuse(
            "invalid authentication method: client is registered for another one",
        ));
    }
    if !oauth_client.is_public() && !matches_secret(&secret, &oauth_client.secret_hash) {
        return Err(refuse("invalid client credentials"));
    }
    Ok(oauth_client)
}

/// Client id and secret in `Authorization: Basic` (RFC 6749 §2.3.1); `None` when the header is missing or of another
/// scheme. They are not percent-decoded, because ids and secrets of this server hold no reserved characters.
fn read_basic_credentials(request: &HttpRequest) -> Result<Option<(String, String)>, &'static str> {
    let value = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let Some(encoded) = value.and_then(|value| value.strip_prefix("Basic ")) else {
        return Ok(None);
    };
    let decoded = STANDARD.decode(encoded.trim()).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let decoded = decoded.ok_or("Invalid client credentials: invalid basic auth encoding")?;
    let (id, secret) = decoded
        .split_once(':')
        .ok_or("Invalid client credentials: invalid basic auth format")?;
    Ok(Some((id.to_owned(), secret.to_owned())))
}

/// Exchanges an authorization code for a session of the client, once (RFC 6749 §4.1.3).
///
/// # Errors
/// 400 as OAuth bodies: `invalid_request` without a code, `invalid_grant` for an unknown, expired or foreign code or
/// a wrong verifier, `access_denied` for a banned user.
async fn exchange_code(
    request: &AuthRequest,
    oauth_client: &OauthClient,
    body: &TokenBody,
) -> Result<HttpResponse, AuthError> {
    let refuse = |text: &str| AuthError::oauth("invalid_grant", text);
    if body.code.is_empty() {
        let text = "code is required for authorization_code grant";
        return Err(AuthError::oauth("invalid_request", text));
    }
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let unknown = || refuse("Invalid authorization code");
    // The user is locked before the code, in the order of a new password, which ends codes: if it comes first, there is no code
    // any more.
    let Some(user_id) = oauth_authorizations::find_user_by_code(&db, &body.code).await? else {
        end_session_of_replayed_code(&db, oauth_client, body).await?;
        db.commit().await?;
        return Err(unknown());
    };
    let user = users::lock_by_id(&db, user_id).await?;
    let user = user.ok_or_else(|| refuse("User not found for authorization code"))?;
    // The row stays locked until it is deleted below, so of two exchanges at once only one gets a session.
    let granted = oauth_authorizations::lock_by_code(&db, &body.code).await?;
    let Some(granted) = granted.filter(|granted| granted.user_id == Some(user_id)) else {
        end_session_of_replayed_code(&db, oauth_client, body).await?;
        db.commit().await?;
        return Err(unknown());
    };
    check_code(&request.state, oauth_client, body, &granted)?;
    if user.is_banned(request.now()) {
        return Err(AuthError::oauth("access_denied", "User is banned"));
    }
    let traits =
        json!({ "provider_type": "oauth_provider_authorization_code", "client_id": oauth_client.id });
    accounts::log_user_action(request, &db, &user, Action::Login, traits).await?;
    let (session_id, tokens) =
        start_client_session(request, &db, user_id, (oauth_client.id, &granted.scope)).await?;
    oauth_authorizations::delete(&db, granted.id).await?;
    let expires_at = granted.expires_at;
    oauth_authorizations::remember_exchange(&db, &body.code, oauth_client.id, session_id, expires_at).await?;
    db.commit().await?;
    // There is no ID token under a symmetric key: the client could verify it only with the project's shared secret,
    // which would let it issue tokens itself.
    let wants_id_token = has_scope(&granted.scope, "openid") && request.state.keys.signs_asymmetrically();
    let id_token = match wants_id_token {
        true => Some(sign_id_token(&request.state, &tokens.user, &granted)?),
        false => None,
    };
    Ok(respond_with_tokens(&tokens, id_token))
}

/// Ends the session that a code has made which is used once more: one of the two who had the code has stolen it, and nobody can tell
/// which (RFC 6749 §4.1.2).
async fn end_session_of_replayed_code(
    db: &impl GenericClient,
    oauth_client: &OauthClient,
    body: &TokenBody,
) -> Result<(), AuthError> {
    if oauth_authorizations::end_session_of_exchange(db, &body.code, oauth_client.id).await? {
        tracing::warn!(client_id = %oauth_client.id, "an authorization code was used again: the session that it made is ended");
    }
    Ok(())
}

/// Checks age and owner of the code, and that `resource`, `redirect_uri` and the PKCE verifier fit the authorization
/// request.
///
/// # Errors
/// 400 `invalid_grant` (OAuth body).
fn check_code(
    state: &AuthState,
    oauth_client: &OauthClient,
    body: &TokenBody,
    granted: &Authorization,
) -> Result<(), AuthError> {
    let refuse = |text: &str| Err(AuthError::oauth("invalid_grant", text));
    if state.now() > granted.expires_at {
        return refuse("Authorization code has expired");
    }
    // A code that was stolen from one client must not work for another (RFC 6749 §10.5).
    if granted.client_id != oauth_client.id {
        return refuse("Authorization code was not issued for this client");
    }
    if !body.resource.is_empty() && body.resource != granted.resource {
        return refuse("Authorization code resource does not match the resource parameter");
    }
    // Compat: it may be left out, as by clients of OAuth 2.1. The code is bound to its client by the PKCE verifier, which
    // every authorization request has.
    if !body.redirect_uri.is_empty() && body.redirect_uri != granted.redirect_uri {
        return refuse("Invalid redirect_uri");
    }
    let challenge = granted.challenge.as_ref();
    if !challenge.is_some_and(|challenge| challenge.is_met_by(&body.code_verifier)) {
        return refuse("PKCE verification failed: invalid code verifier");
    }
    Ok(())
}

/// Exchanges a refresh token of one of the client's own sessions (RFC 6749 §6).
///
/// # Errors
/// 400 `invalid_request` without a token, and those of [`refresh_session`].
async fn exchange_refresh_token(
    request: &AuthRequest,
    oauth_client: &OauthClient,
    body: &TokenBody,
) -> Result<HttpResponse, AuthError> {
    if body.refresh_token.is_empty() {
        let text = "refresh_token is required for refresh_token grant";
        return Err(AuthError::oauth("invalid_request", text));
    }
    let tokens = refresh_session(request, &body.refresh_token, Some(oauth_client.id)).await?;
    Ok(respond_with_tokens(&tokens, None))
}

/// The token response of OAuth (RFC 6749 §5.1). Unlike a session of the user's own application it carries no user: a
/// client reads what the user has granted from `/oauth/userinfo`.
#[derive(Serialize)]
struct TokenResponse<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    refresh_token: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token: Option<String>,
}

fn respond_with_tokens(tokens: &TokenPair, id_token: Option<String>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(TokenResponse {
            access_token: &tokens.access_token,
            token_type: "bearer",
            expires_in: tokens.expires_in,
            refresh_token: &tokens.refresh_token,
            id_token,
        })
}

/// Whether a list of scopes, separated by single spaces, contains `wanted`.
pub(crate) fn has_scope(scopes: &str, wanted: &str) -> bool {
    scopes.split(' ').any(|scope| scope == wanted)
}

/// The payload of an ID token (OpenID Connect Core §2). Times are Unix seconds; claims outside the granted scopes are
/// left out.
#[derive(Serialize)]
struct IdTokenClaims<'a> {
    iss: &'a str,
    sub: Uuid,
    aud: Uuid,
    iat: i64,
    exp: i64,
    auth_time: i64,
    client_id: Uuid,
    /// `id`: this is no access token, whoever reads it.
    token_use: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    nonce: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_number_verified: Option<bool>,
    #[serde(flatten)]
    profile: ProfileClaims<'a>,
}

/// Signs an ID token, which tells the client who has signed in. It repeats the `nonce` of the authorization request.
fn sign_id_token(state: &AuthState, user: &User, granted: &Authorization) -> Result<String, AuthError> {
    let now = state.now().timestamp();
    // Clients find the accounts of their users by the address, so that it must be one that the user has proven.
    let email = user
        .confirmed_email()
        .filter(|_| has_scope(&granted.scope, "email"));
    let phone = user
        .confirmed_phone()
        .filter(|_| has_scope(&granted.scope, "phone"));
    let claims = IdTokenClaims {
        iss: &state.config.jwt_issuer,
        sub: user.id,
        aud: granted.client_id,
        iat: now,
        exp: now + ID_TOKEN_LIFETIME_S,
        auth_time: user.last_sign_in_at.map_or(now, |at| at.timestamp()),
        client_id: granted.client_id,
        token_use: "id",
        nonce: &granted.nonce,
        email,
        email_verified: email.map(|_| true),
        phone_number: phone,
        phone_number_verified: phone.map(|_| true),
        profile: match has_scope(&granted.scope, "profile") {
            true => ProfileClaims::from_user(user),
            false => ProfileClaims::default(),
        },
    };
    let signed = state.keys.sign(&claims);
    signed.map_err(|error| AuthError::internal(UNEXPECTED, error))
}

/// The claims of the scope `profile` (OpenID Connect Core §5.4), read from the user's metadata. `updated_at` is in
/// Unix seconds.
#[derive(Default, Serialize)]
pub(crate) struct ProfileClaims<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<i64>,
}

impl<'a> ProfileClaims<'a> {
    /// Reads the claims. Without a name in the metadata `name` is the confirmed e-mail address, as with upstream.
    pub(crate) fn from_user(user: &'a User) -> Self {
        let text = |names: &[&str]| {
            let mut texts = names.iter().filter_map(|name| user.user_metadata[*name].as_str());
            texts.find(|text| !text.is_empty())
        };
        Self {
            name: text(&["name"]).or(user.confirmed_email()),
            picture: text(&["picture", "avatar_url"]),
            preferred_username: text(&["preferred_username", "username"]),
            updated_at: user.updated_at.map(|at| at.timestamp()),
        }
    }
}
