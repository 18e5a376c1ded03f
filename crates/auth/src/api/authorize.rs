//! `GET /authorize` and `GET /user/identities/authorize`: redirect the browser to an external provider and store the
//! flow, with the URL that the browser returns to, under the id that the provider sends back as `state`.
//!
//! Source: Auth contract §2.10, §2.11, AUTH-038, AUTH-043, AUTH-083.

use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use super::flow_cookie;
use crate::error::{AuthError, FeatureError};
use crate::flows::linked_identities::check_fresh_session;
use crate::flows::start_provider_sign_in::{
    LinkTarget, ProviderSignIn, StartedSignIn, start_provider_sign_in,
};
use crate::providers::RESERVED_PARAMS;
use crate::request::{AuthRequest, SignedIn};
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;

/// This server's own parameters, which are not passed on to the provider. API key and invitation token are secrets
/// that the provider must not learn.
const OWN_PARAMS: [&str; 7] = [
    "provider",
    "scopes",
    "redirect_to",
    "invite_token",
    "skip_http_redirect",
    "apikey",
    "sb_flow_id",
];

/// `GET /authorize?provider=&redirect_to=&scopes=&code_challenge=&code_challenge_method=&invite_token=` → 302 to the
/// provider. Any other parameter is passed on, such as `prompt` or `access_type`.
///
/// # Errors
/// As JSON, not as a redirect: 400 `validation_failed` for an unknown or disabled provider and for bad PKCE
/// parameters; 404 `user_not_found` for an unknown invitation; 500 when the provider cannot be reached.
pub(crate) async fn redirect_to_provider(
    request: AuthRequest,
    http: HttpRequest,
) -> Result<HttpResponse, AuthError> {
    let query = Query::from_request(&http);
    let started = start_sign_in(&request, &query, None).await?;
    let mut response = respond_with_redirect(&started.url);
    let cookie = flow_cookie::build(request.config(), started.flow_id);
    if let Some(cookie) = cookie.filter(|_| query.get("code_challenge").is_empty()) {
        let value = HeaderValue::try_from(cookie).expect("a cookie of hexadecimal digits is a header value");
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    Ok(response)
}

/// Response to `skip_http_redirect=true`, which `supabase-js` sends: it opens the URL itself.
#[derive(Serialize)]
struct UrlBody {
    url: String,
}

/// `GET /user/identities/authorize?provider=`: like [`redirect_to_provider`], but the callback links the
/// identity to the caller instead of signing in. → 302, or 200 `{url}` with `skip_http_redirect=true`.
///
/// # Errors
/// 404 `manual_linking_disabled`; 400 `reauthentication_needed` in a session older than a day with `secure_password_change`; 401
/// `insufficient_aal` when the session lacks the user's second factor; 422
/// `user_sso_managed`; 403 `session_not_found` for a token without a session; those of [`redirect_to_provider`].
pub(crate) async fn redirect_to_link_provider(
    request: AuthRequest,
    caller: SignedIn,
    http: HttpRequest,
) -> Result<HttpResponse, AuthError> {
    check_linking(&request.state)?;
    let session = caller.session.as_ref().ok_or(AuthError::TokenSessionNotFound)?;
    // Refused early for the user's sake; the callback decides again, when the identity is linked.
    if caller.lacks_second_factor() {
        return Err(AuthError::InsufficientAal);
    }
    if caller.user.is_sso_user {
        return Err(AuthError::SsoManaged);
    }
    check_fresh_session(&request.state, &caller)?;
    let target = LinkTarget {
        user_id: caller.user.id,
        session_id: session.id,
    };
    let query = Query::from_request(&http);
    let url = start_sign_in(&request, &query, Some(target)).await?.url;
    if query.get("skip_http_redirect") == "true" {
        return Ok(HttpResponse::Ok()
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .json(UrlBody { url }));
    }
    Ok(respond_with_redirect(&url))
}

/// Refuses requests while the project does not let users link and unlink identities.
///
/// # Errors
/// 404 `manual_linking_disabled`.
pub(crate) fn check_linking(state: &AuthState) -> Result<(), AuthError> {
    if state.config.manual_linking_enabled {
        return Ok(());
    }
    Err(FeatureError::ManualLinkingDisabled.into())
}

/// 302 that must not be cached, because the URL carries the `state` of one flow.
fn respond_with_redirect(url: &str) -> HttpResponse {
    HttpResponse::Found()
        .insert_header((header::LOCATION, url))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

/// All query parameters in their order; of a repeated parameter the first counts.
struct Query(Vec<(String, String)>);

impl Query {
    fn from_request(request: &HttpRequest) -> Self {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(request.query_string().as_bytes()) {
            if !pairs.iter().any(|(known, _)| *known == name) {
                pairs.push((name.into_owned(), value.into_owned()));
            }
        }
        Self(pairs)
    }

    fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The parameters that are passed on to the provider: all but this server's own and those of the protocol, which
    /// this server sets itself. Compat: `workos_provider` becomes `provider`, whose name this endpoint uses itself.
    fn extra_params(&self) -> Vec<(String, String)> {
        let is_kept = |name: &str| {
            !RESERVED_PARAMS.contains(&name.to_ascii_lowercase().as_str()) && !OWN_PARAMS.contains(&name)
        };
        let kept = self.0.iter().filter(|(name, _)| is_kept(name));
        kept.map(|(name, value)| match name.as_str() {
            "workos_provider" => ("provider".to_owned(), value.clone()),
            _ => (name.clone(), value.clone()),
        })
        .collect()
    }
}

/// Stores a new flow with the parameters of the query. `linking_target` is the user who gets the identity, if any.
///
/// # Errors
/// See [`redirect_to_provider`].
async fn start_sign_in(
    request: &AuthRequest,
    query: &Query,
    linking_target: Option<LinkTarget>,
) -> Result<StartedSignIn, AuthError> {
    // Each flow is a row, which nobody has to be signed in for.
    request.check_rate_limit(LimitedEndpoint::Authorize)?;
    let sign_in = ProviderSignIn {
        provider: query.get("provider"),
        scopes: query.get("scopes"),
        code_challenge: query.get("code_challenge"),
        code_challenge_method: query.get("code_challenge_method"),
        invite_token: query.get("invite_token"),
        extra_params: &query.extra_params(),
        linking_target,
    };
    start_provider_sign_in(request, &sign_in).await
}
