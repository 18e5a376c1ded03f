//! `GET /.well-known/openid-configuration`: where verifiers of our tokens find the keys. Source: Auth contract §2.2.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::oauth_clients::check_enabled;
use crate::error::AuthError;
use crate::state::AuthState;

/// `GET /.well-known/oauth-authorization-server`: the same, as long as there is an OAuth server.
pub(crate) async fn oauth_authorization_server(
    state: web::Data<AuthState>,
) -> Result<HttpResponse, AuthError> {
    check_enabled(&state)?;
    Ok(openid_configuration(state).await)
}

pub(crate) async fn openid_configuration(state: web::Data<AuthState>) -> HttpResponse {
    let issuer = &state.config.jwt_issuer;
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/oauth/authorize"),
        "token_endpoint": format!("{issuer}/oauth/token"),
        "userinfo_endpoint": format!("{issuer}/oauth/userinfo"),
        "jwks_uri": format!("{issuer}/.well-known/jwks.json"),
        "scopes_supported": ["openid", "profile", "email", "phone", "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "HS256", "ES256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "code_challenge_methods_supported": ["S256", "plain"],
        "claims_supported": [
            "sub", "aud", "iss", "exp", "iat", "auth_time", "nonce", "email", "email_verified", "phone_number",
            "phone_number_verified", "name", "picture", "preferred_username", "updated_at",
        ],
    });
    let server = &state.config.oauth_server;
    if server.enabled && server.allow_dynamic_registration {
        document["registration_endpoint"] = json!(format!("{issuer}/oauth/clients/register"));
    }
    HttpResponse::Ok()
        .insert_header(("Cache-Control", "public, max-age=600"))
        .json(document)
}
