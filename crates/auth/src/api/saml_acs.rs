//! `POST /sso/saml/acs`, the assertion consumer service: a browser posts the response of its identity provider and is
//! redirected to the application. Source: SAML contract §4.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use percent_encoding::{CONTROLS, utf8_percent_encode};

use super::callback::{build_error_pairs, build_session_location, log_fault};
use crate::error::AuthError;
use crate::flows::saml::finish_sign_in::{PostedResponse, SamlOutcome, finish_sign_in};
use crate::flows::saml::start_sign_in::get_config;
use crate::flows::sign_in::TokenPair;
use crate::request::{AuthRequest, Form};
use crate::state::rate_limits::LimitedEndpoint;
use crate::validation::redirect::append_query;

/// `POST /sso/saml/acs` with the form fields `SAMLResponse` and `RelayState` → 302 to the application with a session in the
/// fragment, or with a code for PKCE; 303 to the site with an error.
///
/// # Errors
/// As JSON: 404 `saml_provider_disabled`, 429 `over_request_rate_limit`, 413 for a form that is too large.
pub(crate) async fn consume_assertion(
    request: AuthRequest,
    http: HttpRequest,
    form: Form,
) -> Result<HttpResponse, AuthError> {
    get_config(&request.state)?;
    request.check_rate_limit(LimitedEndpoint::SamlAssertion)?;
    // Compat: upstream also reads the relay state from the query; the response must be in the form.
    let in_query = url::form_urlencoded::parse(http.query_string().as_bytes())
        .find(|(name, _)| name == "RelayState")
        .map(|(_, value)| value.into_owned());
    let posted = PostedResponse {
        relay_state: form.get("RelayState").or(in_query.as_deref()).unwrap_or_default(),
        saml_response: form.get("SAMLResponse").unwrap_or_default(),
        has_artifact: form.get("SAMLart").is_some_and(|artifact| !artifact.is_empty()),
    };
    Ok(match finish_sign_in(&request, &posted).await {
        Ok((target, SamlOutcome::AuthCode(code))) => {
            respond_with_redirect(HttpResponse::Found(), &add_code(&target, &code))
        }
        Ok((target, SamlOutcome::Session(tokens))) => {
            respond_with_redirect(HttpResponse::Found(), &add_session(&target, &tokens))
        }
        Err(error) => {
            log_fault(&error);
            let pairs = build_error_pairs(&error);
            let site = &request.config().site_url;
            respond_with_redirect(
                HttpResponse::SeeOther(),
                &append_query(site, &pairs.as_str_pairs()),
            )
        }
    })
}

/// The target with a code in place of one that it has already; its fragment stays.
fn add_code(target: &str, code: &str) -> String {
    let (target, fragment) = target.split_once('#').unwrap_or((target, ""));
    let (base, query) = target.split_once('?').unwrap_or((target, ""));
    let is_kept = |pair: &&str| !pair.is_empty() && pair.split('=').next() != Some("code");
    let kept: Vec<&str> = query.split('&').filter(is_kept).collect();
    let target = if kept.is_empty() {
        base.to_owned()
    } else {
        format!("{base}?{}", kept.join("&"))
    };
    let location = append_query(&target, &[("code", code)]);
    if fragment.is_empty() {
        location
    } else {
        format!("{location}#{}", encode_fragment(fragment))
    }
}

/// The target with the session in its fragment. Compat: a fragment of the target stays in front of it, although only one
/// `#` separates in a URL, because clients of the original read the last part.
fn add_session(target: &str, tokens: &TokenPair) -> String {
    let (base, fragment) = target.split_once('#').unwrap_or((target, ""));
    let location = build_session_location(base, tokens, None);
    match location.split_once('#') {
        Some((base, session)) if !fragment.is_empty() => {
            format!("{base}#{}#{session}", encode_fragment(fragment))
        }
        _ => location,
    }
}

/// A line break in a `Location` header would let the target add headers.
fn encode_fragment(fragment: &str) -> String {
    utf8_percent_encode(fragment, CONTROLS).to_string()
}

/// A redirect that is neither cached nor tells the next page where it came from.
fn respond_with_redirect(mut response: actix_web::HttpResponseBuilder, location: &str) -> HttpResponse {
    response
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saml_004_a_code_replaces_an_older_one_and_keeps_query_and_fragment() {
        assert_eq!(add_code("https://a.example", "1"), "https://a.example?code=1");
        assert_eq!(
            add_code("https://a.example/?b=c&code=0#d", "1"),
            "https://a.example/?b=c&code=1#d"
        );
        assert_eq!(add_code("app://back?code=0", "1"), "app://back?code=1");
    }
}
