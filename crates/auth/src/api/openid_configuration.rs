//! `GET /.well-known/openid-configuration` and `GET /.well-known/oauth-authorization-server`: where clients of the
//! OAuth server and verifiers of its tokens find endpoints and keys. Source: Auth contract §2.2, OpenID Connect
//! Discovery 1.0 §3, RFC 8414.

use actix_web::{HttpResponse, web};
use serde::Serialize;

use crate::error::AuthError;
use crate::feature_gates::check_oauth_server;
use crate::state::AuthState;

/// The discovery document. Endpoint URLs begin with the issuer of the access tokens, because verifiers compare
/// `issuer` with `iss`.
#[derive(Serialize)]
struct DiscoveryDocument<'a> {
    issuer: &'a str,
    authorization_endpoint: String,
    token_endpoint: String,
    userinfo_endpoint: String,
    jwks_uri: String,
    scopes_supported: &'static [&'static str],
    response_types_supported: &'static [&'static str],
    response_modes_supported: &'static [&'static str],
    grant_types_supported: &'static [&'static str],
    subject_types_supported: &'static [&'static str],
    id_token_signing_alg_values_supported: &'static [&'static str],
    token_endpoint_auth_methods_supported: &'static [&'static str],
    code_challenge_methods_supported: &'static [&'static str],
    claims_supported: &'static [&'static str],
    /// Left out unless clients may register themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
}

/// `GET /.well-known/oauth-authorization-server` → the same document as [`get_openid_configuration`].
///
/// # Errors
/// 404 `feature_disabled` while the OAuth server is off.
pub(crate) async fn get_oauth_server_metadata(
    state: web::Data<AuthState>,
) -> Result<HttpResponse, AuthError> {
    check_oauth_server(&state)?;
    Ok(get_openid_configuration(state).await)
}

/// `GET /.well-known/openid-configuration` → 200, cacheable for 10 minutes; also while the OAuth server is off.
pub(crate) async fn get_openid_configuration(state: web::Data<AuthState>) -> HttpResponse {
    let issuer = state.config.jwt_issuer.as_str();
    let server = &state.config.oauth_server;
    let may_register = server.enabled && server.allow_dynamic_registration;
    let document = DiscoveryDocument {
        issuer,
        authorization_endpoint: format!("{issuer}/oauth/authorize"),
        token_endpoint: format!("{issuer}/oauth/token"),
        userinfo_endpoint: format!("{issuer}/oauth/userinfo"),
        jwks_uri: format!("{issuer}/.well-known/jwks.json"),
        scopes_supported: &["openid", "profile", "email", "phone", "offline_access"],
        response_types_supported: &["code"],
        response_modes_supported: &["query"],
        grant_types_supported: &["authorization_code", "refresh_token"],
        subject_types_supported: &["public"],
        id_token_signing_alg_values_supported: &["RS256", "HS256", "ES256"],
        token_endpoint_auth_methods_supported: &["client_secret_basic", "client_secret_post", "none"],
        // `plain` is accepted for older clients, and nobody is to choose it: who sees the request knows the verifier.
        code_challenge_methods_supported: &["S256"],
        claims_supported: &[
            "sub",
            "aud",
            "iss",
            "exp",
            "iat",
            "auth_time",
            "nonce",
            "email",
            "email_verified",
            "phone_number",
            "phone_number_verified",
            "name",
            "picture",
            "preferred_username",
            "updated_at",
        ],
        registration_endpoint: may_register.then(|| format!("{issuer}/oauth/clients/register")),
    };
    HttpResponse::Ok()
        .insert_header(("Cache-Control", "public, max-age=600"))
        .json(document)
}
