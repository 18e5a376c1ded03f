//! `POST /token?grant_type=…`: dispatches to the grants, each of which returns a session. Source: Auth contract §2.4.

use actix_web::{FromRequest, HttpRequest, HttpResponse};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{grant_id_token, grant_password, grant_pkce, grant_refresh_token, grant_web3};
use crate::error::AuthError;
use crate::protection::captcha::{self, Captcha};
use crate::request::{AuthRequest, Json, Query, SignedIn};
use crate::state::rate_limits::LimitedEndpoint;

/// Query of the request. Compat: `grant_type` is in the query, not in the body as RFC 6749 has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TokenQuery {
    grant_type: String,
}

/// `POST /token?grant_type=` → 200 `{access_token, token_type, expires_in, expires_at, refresh_token, user, …}`.
/// `password`, `refresh_token`, `pkce`, `id_token` and `web3` are known.
///
/// # Errors
/// 400 `invalid_credentials` for any other grant type, 429 `over_request_rate_limit`, and those of the grant.
pub(crate) async fn issue_tokens(
    request: AuthRequest,
    query: Query<TokenQuery>,
    http: HttpRequest,
    Json(body): Json<Value>,
) -> Result<HttpResponse, AuthError> {
    // Wallet sign-ins have a limit of their own, as in the contract (§3.7).
    let limited = match query.grant_type.as_str() {
        "web3" => LimitedEndpoint::Web3,
        _ => LimitedEndpoint::Token,
    };
    request.check_rate_limit(limited)?;
    match query.grant_type.as_str() {
        "password" => grant_password::sign_in_with_password(&request, parse_body(body)?).await,
        "refresh_token" => grant_refresh_token::exchange_refresh_token(&request, parse_body(body)?).await,
        "pkce" => grant_pkce::exchange_auth_code(&request, parse_body(body)?).await,
        "id_token" => {
            let body: grant_id_token::IdTokenBody = parse_body(body)?;
            let target = if body.wants_link() {
                Some(extract_caller(&http).await?)
            } else {
                None
            };
            grant_id_token::sign_in_with_id_token(&request, body, target).await
        }
        "web3" => {
            captcha::check_captcha(&request, &read_captcha(&body)).await?;
            // Compat: checked before the body is read, as upstream does.
            grant_web3::check_web3_enabled(&request.state)?;
            grant_web3::sign_in_with_wallet(&request, parse_body(body)?).await
        }
        _ => {
            captcha::check_captcha(&request, &read_captcha(&body)).await?;
            Err(AuthError::UnsupportedGrantType)
        }
    }
}

/// The captcha token of a body whose grant is not known yet; a malformed one counts as missing.
fn read_captcha(body: &Value) -> Captcha {
    serde_json::from_value(body["gotrue_meta_security"].clone()).unwrap_or_default()
}

/// The signed-in caller, for a grant that links an identity to them.
///
/// # Errors
/// 400 `invalid request` (OAuth body) without a bearer token, and those of [`SignedIn`].
async fn extract_caller(request: &HttpRequest) -> Result<SignedIn, AuthError> {
    SignedIn::extract(request).await.map_err(|error| match error {
        AuthError::NoAuthorization => AuthError::oauth(
            "invalid request",
            "Linking requires a valid user access token in Authorization",
        ),
        error => error,
    })
}

/// Reads the body of a grant.
///
/// # Errors
/// 400 `bad_json` for a member of another type.
fn parse_body<T: DeserializeOwned>(body: Value) -> Result<T, AuthError> {
    serde_json::from_value(body).map_err(|error| AuthError::BadJson(error.to_string()))
}
