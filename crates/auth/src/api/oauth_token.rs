//! `POST /oauth/token`: a program exchanges its code, or refreshes. Source: Auth contract §2.16, AUTH-099.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::grant_refresh_token::refresh;
use super::oauth_clients::check_enabled;
use crate::accounts;
use crate::error::{AuthError, UNEXPECTED};
use crate::limits::Limited;
use crate::request::{RequestInfo, text};
use crate::rules::oauth_client::{NONE, SECRET_BASIC, SECRET_POST, is_secret};
use crate::sign_in::{TokenPair, start_program_session};
use crate::state::AuthState;
use crate::store::audit::Action;
use crate::store::oauth_authorizations::{self, Authorization};
use crate::store::oauth_clients::{self, OauthClient};
use crate::store::users;
use crate::user::User;

const LARGEST_BODY_BYTES: usize = 1 << 20;
const ID_TOKEN_LIFE_S: i64 = 3600;

/// What a program sends, as a form or as JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TokenBody {
    #[serde(deserialize_with = "text")]
    grant_type: String,
    #[serde(deserialize_with = "text")]
    code: String,
    #[serde(deserialize_with = "text")]
    refresh_token: String,
    #[serde(deserialize_with = "text")]
    redirect_uri: String,
    #[serde(deserialize_with = "text")]
    client_id: String,
    #[serde(deserialize_with = "text")]
    client_secret: String,
    #[serde(deserialize_with = "text")]
    code_verifier: String,
    #[serde(deserialize_with = "text")]
    resource: String,
}

/// `POST /oauth/token`
pub(crate) async fn token(
    state: web::Data<AuthState>,
    info: RequestInfo,
    request: HttpRequest,
    body: web::Bytes,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    info.limit(&state, Limited::Token)?;
    let body = read(&request, &body)?;
    let program = authenticate(&state, &request, &body).await?;
    if body.grant_type.is_empty() {
        return Err(AuthError::oauth("invalid_request", "grant_type is required"));
    }
    if !program.grant_types.contains(&body.grant_type) {
        let text = format!("Client is not allowed to use grant type: {}", body.grant_type);
        return Err(AuthError::oauth("unsupported_grant_type", text));
    }
    match body.grant_type.as_str() {
        "authorization_code" => exchange_code(&state, &info, &program, &body).await,
        _ => refresh_session(&state, &info, &program, &body).await,
    }
}

fn read(request: &HttpRequest, body: &[u8]) -> Result<TokenBody, AuthError> {
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

/// Which program this is; it must prove itself in the way it has registered.
async fn authenticate(
    state: &AuthState,
    request: &HttpRequest,
    body: &TokenBody,
) -> Result<OauthClient, AuthError> {
    let refuse = AuthError::OauthClientRefused;
    let (id, secret, method) = match basic(request).map_err(refuse)? {
        Some((id, secret)) => (id, secret, SECRET_BASIC),
        None if body.client_secret.is_empty() => (body.client_id.clone(), String::new(), NONE),
        None => (body.client_id.clone(), body.client_secret.clone(), SECRET_POST),
    };
    if id.is_empty() {
        return Err(refuse("Invalid client credentials: client_id is required"));
    }
    let id: Uuid = id.parse().map_err(|_| refuse("Invalid client_id format"))?;
    let client = state.client().await?;
    let program = oauth_clients::find_by_id(&client, id).await?;
    let program = program.ok_or_else(|| refuse("Invalid client credentials"))?;
    if program.auth_method != method {
        return Err(refuse(
            "invalid authentication method: client is registered for another one",
        ));
    }
    if !program.is_public() && !is_secret(&secret, &program.secret_hash) {
        return Err(refuse("invalid client credentials"));
    }
    Ok(program)
}

/// Id and secret in the header (RFC 6749, 2.3.1); both are encoded as in a form there.
fn basic(request: &HttpRequest) -> Result<Option<(String, String)>, &'static str> {
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

async fn exchange_code(
    state: &AuthState,
    info: &RequestInfo,
    program: &OauthClient,
    body: &TokenBody,
) -> Result<HttpResponse, AuthError> {
    let refuse = |text: &str| AuthError::oauth("invalid_grant", text);
    if body.code.is_empty() {
        let text = "code is required for authorization_code grant";
        return Err(AuthError::oauth("invalid_request", text));
    }
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let granted = oauth_authorizations::lock_by_code(&db, &body.code).await?;
    let granted = granted.ok_or_else(|| refuse("Invalid authorization code"))?;
    check(state, program, body, &granted)?;
    let user_id = granted
        .user_id
        .ok_or_else(|| refuse("Authorization code has no associated user"))?;
    let user = users::find_by_id(&db, user_id).await?;
    let user = user.ok_or_else(|| refuse("User not found for authorization code"))?;
    if user.is_banned(state.now()) {
        return Err(AuthError::oauth("access_denied", "User is banned"));
    }
    let traits = json!({ "provider_type": "oauth_provider_authorization_code", "client_id": program.id });
    accounts::log_with(state, &db, info, &user, Action::Login, traits).await?;
    let tokens = start_program_session(state, &db, info, user_id, (program.id, &granted.scope)).await?;
    oauth_authorizations::delete(&db, granted.id).await?;
    db.commit().await?;
    let mut answer = body_of(&tokens);
    if has_scope(&granted.scope, "openid") && state.keys.signs_asymmetrically() {
        answer.insert(
            "id_token".to_owned(),
            json!(id_token(state, &tokens.user, &granted)?),
        );
    }
    Ok(respond(answer))
}

fn check(
    state: &AuthState,
    program: &OauthClient,
    body: &TokenBody,
    granted: &Authorization,
) -> Result<(), AuthError> {
    let refuse = |text: &str| Err(AuthError::oauth("invalid_grant", text));
    if state.now() > granted.expires_at {
        return refuse("Authorization code has expired");
    }
    if granted.client_id != program.id {
        return refuse("Authorization code was not issued for this client");
    }
    if !body.resource.is_empty() && body.resource != granted.resource {
        return refuse("Authorization code resource does not match the resource parameter");
    }
    if !body.redirect_uri.is_empty() && body.redirect_uri != granted.redirect_uri {
        return refuse("Invalid redirect_uri");
    }
    let challenge = granted.challenge.as_ref();
    if !challenge.is_some_and(|challenge| challenge.is_met_by(&body.code_verifier)) {
        return refuse("PKCE verification failed: invalid code verifier");
    }
    Ok(())
}

async fn refresh_session(
    state: &AuthState,
    info: &RequestInfo,
    program: &OauthClient,
    body: &TokenBody,
) -> Result<HttpResponse, AuthError> {
    if body.refresh_token.is_empty() {
        let text = "refresh_token is required for refresh_token grant";
        return Err(AuthError::oauth("invalid_request", text));
    }
    let tokens = refresh(state, info, &body.refresh_token, Some(program.id)).await?;
    Ok(respond(body_of(&tokens)))
}

/// A program gets tokens, and no user: it asks for that what it may know.
fn body_of(tokens: &TokenPair) -> Map<String, Value> {
    let mut body = tokens.body();
    body.shift_remove("user");
    body.shift_remove("expires_at");
    body
}

fn respond(body: Map<String, Value>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(body)
}

pub(crate) fn has_scope(scopes: &str, wanted: &str) -> bool {
    scopes.split(' ').any(|scope| scope == wanted)
}

/// Says to the program who signed in, by what the user has granted (OpenID Connect Core, 2).
fn id_token(state: &AuthState, user: &User, granted: &Authorization) -> Result<String, AuthError> {
    let now = state.now().timestamp();
    let mut claims = json!({
        "iss": state.config.jwt_issuer,
        "sub": user.id,
        "aud": granted.client_id,
        "iat": now,
        "exp": now + ID_TOKEN_LIFE_S,
        "auth_time": user.last_sign_in_at.map_or(now, |at| at.timestamp()),
        "client_id": granted.client_id,
    });
    if !granted.nonce.is_empty() {
        claims["nonce"] = json!(granted.nonce);
    }
    if has_scope(&granted.scope, "email") {
        claims["email"] = json!(user.email);
        claims["email_verified"] = json!(user.email_confirmed_at.is_some());
    }
    if has_scope(&granted.scope, "phone") && !user.phone.is_empty() {
        claims["phone_number"] = json!(user.phone);
        claims["phone_number_verified"] = json!(user.phone_confirmed_at.is_some());
    }
    if has_scope(&granted.scope, "profile") {
        for (name, value) in profile(user) {
            claims[name] = value;
        }
    }
    let signed = state.keys.sign(&claims);
    signed.map_err(|error| AuthError::internal(UNEXPECTED, error))
}

/// How a user is called and looks, as far as the metadata says.
pub(crate) fn profile(user: &User) -> Vec<(&'static str, Value)> {
    let text = |names: &[&str]| {
        let texts = names.iter().filter_map(|name| user.user_metadata[*name].as_str());
        texts.filter(|text| !text.is_empty()).map(str::to_owned).next()
    };
    let address = Some(user.email.clone()).filter(|email| !email.is_empty());
    let known = [
        ("name", text(&["name"]).or(address)),
        ("picture", text(&["picture", "avatar_url"])),
        ("preferred_username", text(&["preferred_username", "username"])),
    ];
    let mut claims: Vec<(&str, Value)> = known
        .into_iter()
        .filter_map(|(name, value)| Some((name, json!(value?))))
        .collect();
    if let Some(updated_at) = user.updated_at {
        claims.push(("updated_at", json!(updated_at.timestamp())));
    }
    claims
}
