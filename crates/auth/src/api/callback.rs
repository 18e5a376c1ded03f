//! `GET` and `POST /callback`: the browser comes back from an external provider and is always redirected to the
//! application, with tokens, with an authorization code, or with an error.
//!
//! Source: Auth contract §2.11, §8.2, AUTH-039 to
//! AUTH-048.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

use super::flow_cookie;
use crate::error::AuthError;
use crate::flows::provider_callback::{CallbackOutcome, CallbackParams, find_flow, finish_sign_in};
use crate::flows::sign_in::TokenPair;
use crate::providers::ProviderTokens;
use crate::request::AuthRequest;
use crate::validation::redirect::{append_query, replace_fragment};

/// Limit of a posted form; what exceeds it is ignored. Apple posts a code, a name and an ID token.
const MAX_FORM_BYTES: usize = 64 * 1024;

/// `GET /callback?state=&code=` → 302 to the redirect target of the flow, or 303 to the site when the flow is
/// unknown. OAuth 1.0a returns `oauth_verifier` instead of `code`.
pub(crate) async fn finish_callback_query(request: AuthRequest, http: HttpRequest) -> HttpResponse {
    let params = CallbackParams::parse(http.query_string().as_bytes());
    redirect_to_application(request, &http, &params).await
}

/// `POST /callback`: like [`finish_callback_query`], with the parameters in a form. Apple posts when a name
/// or address is requested.
pub(crate) async fn finish_callback_form(
    request: AuthRequest,
    http: HttpRequest,
    body: web::Bytes,
) -> HttpResponse {
    let params = CallbackParams::parse(&body[..body.len().min(MAX_FORM_BYTES)]);
    redirect_to_application(request, &http, &params).await
}

/// Finishes the flow and builds the redirect. There are no JSON errors: a browser shows the response.
async fn redirect_to_application(
    mut request: AuthRequest,
    http: &HttpRequest,
    params: &CallbackParams,
) -> HttpResponse {
    let found = find_flow(&request.state, params.get("state")).await;
    let found = found.and_then(|flow| {
        flow_cookie::check(http, request.config(), &flow)?;
        Ok(flow)
    });
    let flow = match found {
        Ok(flow) => flow,
        Err(error) => {
            // Without a flow no redirect target is known, so the error goes to the site, as with upstream.
            let location = append_query(
                &request.config().site_url,
                &build_error_pairs(&error).as_str_pairs(),
            );
            log_fault(&error);
            return HttpResponse::SeeOther()
                .insert_header((header::LOCATION, location))
                .insert_header((header::CACHE_CONTROL, "no-store"))
                .finish();
        }
    };
    if !flow.referrer.is_empty() {
        request.info.redirect_to.clone_from(&flow.referrer);
    }
    let location = match finish_sign_in(&request, params, &flow).await {
        Ok(CallbackOutcome::AuthCode(code)) => append_query(&request.info.redirect_to, &[("code", &code)]),
        Ok(CallbackOutcome::Session { tokens, provider }) => {
            build_session_location(&request.info.redirect_to, &tokens, Some(&provider))
        }
        Err(error) => {
            log_fault(&error);
            build_error_location(&request.info.redirect_to, &error)
        }
    };
    HttpResponse::Found()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        // The URL of this request holds the provider's code, which must not leave in a `Referer` header.
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .finish()
}

/// The redirect target with the session in the fragment, which browsers do not send to servers. Compat: keys are in
/// alphabetical order.
pub(super) fn build_session_location(
    target: &str,
    tokens: &TokenPair,
    provider: Option<&ProviderTokens>,
) -> String {
    let (expires_at, expires_in) = (tokens.expires_at.to_string(), tokens.expires_in.to_string());
    let mut pairs = vec![
        ("access_token", tokens.access_token.as_str()),
        ("expires_at", &expires_at),
        ("expires_in", &expires_in),
    ];
    if let Some(token) = provider.and_then(|provider| provider.refresh_token.as_ref()) {
        pairs.push(("provider_refresh_token", token));
    }
    pairs.extend(provider.map(|provider| ("provider_token", provider.access_token.as_str())));
    pairs.extend([
        ("refresh_token", tokens.refresh_token.as_str()),
        ("sb", ""),
        ("token_type", "bearer"),
    ]);
    replace_fragment(target, &pairs)
}

/// The error parameters of a redirect, by name.
pub(super) struct ErrorPairs(Vec<(&'static str, String)>);

impl ErrorPairs {
    pub(super) fn as_str_pairs(&self) -> Vec<(&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }
}

/// `error`, `error_code` and `error_description`. `error` is chosen by code and status (Auth contract §2.11); an
/// error of the provider keeps its own name and has no `error_code`.
pub(super) fn build_error_pairs(error: &AuthError) -> ErrorPairs {
    if let AuthError::Oauth { error, description } = error {
        return ErrorPairs(vec![
            ("error", error.clone().into_owned()),
            ("error_description", description.clone()),
        ]);
    }
    let (status, code) = error.status_and_code();
    let description = error.message();
    let name = match (code, status) {
        ("signup_disabled" | "user_banned" | "provider_email_needs_verification", _) | (_, 403) => {
            "access_denied"
        }
        (_, 400) => "invalid_request",
        (_, 401) => "unauthorized_client",
        (_, 503) => "temporarily_unavailable",
        _ => "server_error",
    };
    ErrorPairs(vec![
        ("error", name.to_owned()),
        ("error_code", code.to_owned()),
        ("error_description", description.into_owned()),
    ])
}

/// Puts the error into query and fragment, because PKCE clients read the one and implicit-flow clients the other.
fn build_error_location(target: &str, error: &AuthError) -> String {
    let pairs = build_error_pairs(error);
    let target = append_query(target, &pairs.as_str_pairs());
    let mut in_fragment = pairs.as_str_pairs();
    in_fragment.push(("sb", ""));
    replace_fragment(&target, &in_fragment)
}

/// Logs faults of the service. The middleware does so for JSON errors only, and this response is a redirect.
pub(super) fn log_fault(error: &AuthError) {
    if let AuthError::Internal { .. } | AuthError::Overloaded | AuthError::DatabaseUnavailable(_) = error {
        tracing::error!(%error, "sign-in by a provider failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_042_a_redirect_carries_the_error_in_query_and_fragment() {
        let error = AuthError::oauth("access_denied", "The user said no");

        assert_eq!(
            build_error_location("https://site.example/auth?x=1", &error),
            "https://site.example/auth?x=1&error=access_denied&error_description=The+user+said+no\
             #error=access_denied&error_description=The+user+said+no&sb="
        );
    }

    #[test]
    fn auth_044_a_disabled_sign_up_is_access_denied() {
        let location = build_error_location("https://site.example", &AuthError::SignupDisabled);

        assert!(location.starts_with("https://site.example?error=access_denied&error_code=signup_disabled&"));
    }
}
