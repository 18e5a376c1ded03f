//! `POST /sso`: starts a sign-in by SAML. Source: SAML contract §3.

use actix_web::HttpResponse;
use actix_web::http::header;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::AuthError;
use crate::flows::saml::start_sign_in::{SamlSignIn, get_config, start_sign_in};
use crate::protection::captcha::{self, Captcha};
use crate::request::{AuthRequest, Json, read_flag, read_text};
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::saml::ProviderKey;

/// Body of the request: exactly one of `provider_id` and `domain`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SsoBody {
    provider_id: Option<Uuid>,
    #[serde(deserialize_with = "read_text")]
    domain: String,
    #[serde(deserialize_with = "read_text")]
    redirect_to: String,
    #[serde(deserialize_with = "read_flag")]
    skip_http_redirect: bool,
    #[serde(deserialize_with = "read_text")]
    code_challenge: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// Response to `skip_http_redirect`.
#[derive(Serialize)]
struct UrlBody {
    url: String,
}

/// `POST /sso` `{provider_id | domain, redirect_to?, skip_http_redirect?, code_challenge?, code_challenge_method?}` → 303 to
/// the identity provider, or 200 `{url}` with `skip_http_redirect`.
///
/// # Errors
/// 429 `over_request_rate_limit`; 400 `captcha_failed` or `validation_failed`; 404 `saml_provider_disabled`,
/// `sso_provider_not_found` or `sso_provider_disabled`; 500 for stored metadata that cannot be read.
pub(crate) async fn start_sso(
    request: AuthRequest,
    body: Result<Json<SsoBody>, AuthError>,
) -> Result<HttpResponse, AuthError> {
    get_config(&request.state)?;
    request.check_rate_limit(LimitedEndpoint::Sso)?;
    // The captcha comes first, as with upstream: a body that cannot be read has no token.
    let captcha = body
        .as_ref()
        .ok()
        .and_then(|Json(body)| body.gotrue_meta_security.clone());
    captcha::check_captcha(&request, &captcha).await?;
    let Json(body) = body?;
    let id = body.provider_id.filter(|id| !id.is_nil());
    let provider = match (id, body.domain.as_str()) {
        (Some(_), domain) if !domain.is_empty() => {
            return Err(AuthError::invalid("Only one of provider_id or domain supported"));
        }
        (Some(id), _) => ProviderKey::Id(id),
        (None, "") => return Err(AuthError::invalid("A provider_id or domain needs to be provided")),
        (None, domain) => ProviderKey::Domain(domain),
    };
    let sign_in = SamlSignIn {
        provider,
        redirect_to: &body.redirect_to,
        code_challenge: &body.code_challenge,
        code_challenge_method: &body.code_challenge_method,
    };
    let url = start_sign_in(&request, &sign_in).await?;
    if body.skip_http_redirect {
        return Ok(HttpResponse::Ok()
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .json(UrlBody { url }));
    }
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, url))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish())
}
