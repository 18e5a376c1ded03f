//! `POST /token?grant_type=…`: the ways to get a session. Source: Auth contract §2.4.

use actix_web::{FromRequest, HttpRequest, HttpResponse, web};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{grant_id_token, grant_password, grant_pkce, grant_refresh_token, grant_web3};
use crate::captcha::{self, Captcha};
use crate::error::AuthError;
use crate::limits::Limited;
use crate::request::{Json, Query, RequestInfo, SignedIn};
use crate::state::AuthState;

/// The query of the endpoint.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TokenQuery {
    grant_type: String,
}

/// `POST /token`
pub(crate) async fn token(
    state: web::Data<AuthState>,
    info: RequestInfo,
    query: Query<TokenQuery>,
    request: HttpRequest,
    Json(body): Json<Value>,
) -> Result<HttpResponse, AuthError> {
    let limited = match query.grant_type.as_str() {
        "web3" => Limited::Web3,
        _ => Limited::Token,
    };
    info.limit(&state, limited)?;
    match query.grant_type.as_str() {
        "password" => grant_password::grant(&state, &info, read(body)?).await,
        "refresh_token" => grant_refresh_token::grant(&state, &info, read(body)?).await,
        "pkce" => grant_pkce::grant(&state, &info, read(body)?).await,
        "id_token" => {
            let body: grant_id_token::IdTokenBody = read(body)?;
            let target = if body.links() {
                Some(caller(&request).await?)
            } else {
                None
            };
            grant_id_token::grant(&state, &info, body, target).await
        }
        "web3" => {
            captcha::check(&state, &info, &captcha_of(&body)).await?;
            // Said before the body is understood, as in the original: stock clients send what wallets gave them.
            grant_web3::check_offered(&state)?;
            grant_web3::grant(&state, &info, read(body)?).await
        }
        _ => {
            captcha::check(&state, &info, &captcha_of(&body)).await?;
            Err(AuthError::UnsupportedGrantType)
        }
    }
}

/// The captcha of a body that nobody has read yet.
fn captcha_of(body: &Value) -> Captcha {
    serde_json::from_value(body["gotrue_meta_security"].clone()).unwrap_or_default()
}

/// Who asks: needed only by a grant that changes its caller.
async fn caller(request: &HttpRequest) -> Result<SignedIn, AuthError> {
    SignedIn::extract(request).await.map_err(|error| match error {
        AuthError::NoAuthorization => AuthError::oauth(
            "invalid request",
            "Linking requires a valid user access token in Authorization",
        ),
        error => error,
    })
}

fn read<T: DeserializeOwned>(body: Value) -> Result<T, AuthError> {
    serde_json::from_value(body).map_err(|error| AuthError::BadJson(error.to_string()))
}
