//! Binds a sign-in by a provider to the browser that has begun it: `GET /authorize` leaves a cookie with the hash of `state`,
//! and the callback looks for it. Without it, somebody could begin a sign-in, finish it at the provider as themselves, and
//! make another person's browser call the callback, which would then be signed in to the wrong account. Source: Auth
//! contract §13, RFC 9700 §4.7.
//!
//! A PKCE flow needs no cookie, because its code is worth nothing without the verifier in the browser. The link of a
//! signed-in user begins with a `fetch` of another origin, which stores no cookies; it is bound to the user's session.
//! Cookies need TLS, so that on a laptop without it nothing is asked for, and only browsers are asked, which say by
//! `Sec-Fetch-Mode` that a person follows a redirect.

use actix_web::HttpRequest;
use actix_web::http::header;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::config::AuthConfig;
use crate::error::AuthError;
use crate::store::provider_flows::ProviderFlow;

/// How long the browser keeps the cookie, in seconds: as long as a flow lives.
const LIFETIME_SECONDS: u32 = 300;

/// The value of `Set-Cookie` for a new flow; `None` where browsers would not store it.
pub(super) fn build(config: &AuthConfig, flow: Uuid) -> Option<String> {
    binds_callbacks(config).then(|| {
        let (name, hash) = name_and_hash(flow);
        // `__Host-` keeps other hosts of the domain from setting it. Apple posts the form of the callback from its own site,
        // which takes `SameSite=None`.
        format!("{name}={hash}; Path=/; Secure; HttpOnly; SameSite=None; Max-Age={LIFETIME_SECONDS}")
    })
}

/// Refuses a callback in a browser that has not begun the flow.
///
/// # Errors
/// 400 `bad_oauth_state`.
pub(super) fn check(http: &HttpRequest, config: &AuthConfig, flow: &ProviderFlow) -> Result<(), AuthError> {
    let is_navigation = http
        .headers()
        .get("sec-fetch-mode")
        .is_some_and(|mode| mode.as_bytes() == b"navigate");
    let needs_cookie = binds_callbacks(config) && !flow.is_pkce && flow.linking_target.is_none();
    if !needs_cookie || !is_navigation {
        return Ok(());
    }
    let (name, hash) = name_and_hash(flow.id);
    let headers = http.headers().get_all(header::COOKIE);
    let mut cookies = headers
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    if cookies.any(|cookie| cookie == (name.as_str(), hash.as_str())) {
        return Ok(());
    }
    Err(AuthError::BadOauthState(
        "OAuth state was not begun in this browser",
    ))
}

fn binds_callbacks(config: &AuthConfig) -> bool {
    config.binds_callbacks && config.external_url.starts_with("https://")
}

/// Name and value of a flow's cookie. The name holds a part of the hash, so that flows in several tabs do not replace each
/// other's cookies.
fn name_and_hash(flow: Uuid) -> (String, String) {
    let hash = hex::encode(Sha256::digest(flow.to_string()));
    (format!("__Host-sb-flow-{}", &hash[..16]), hash)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn flow(id: Uuid, is_pkce: bool, linking_target: Option<Uuid>) -> ProviderFlow {
        ProviderFlow {
            id,
            provider: "google".to_owned(),
            is_pkce,
            auth_code: String::new(),
            user_id: None,
            created_at: chrono::Utc::now(),
            invite_token: String::new(),
            referrer: String::new(),
            client_state: None,
            linking_target,
            session: None,
            email_optional: false,
        }
    }

    #[test]
    fn auth_108_a_browser_finishes_only_the_sign_ins_that_it_has_begun() {
        let mut config = AuthConfig {
            external_url: "https://api.example/auth/v1".to_owned(),
            ..AuthConfig::default()
        };
        let (own, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let cookie = build(&config, own).expect("TLS");
        assert!(cookie.contains("Secure; HttpOnly;"), "{cookie}");
        let pair = cookie.split(';').next().expect("a pair");
        let cookie = format!("other=1; {pair}");
        let browser = |cookie: Option<&String>| {
            let request = TestRequest::get().insert_header(("sec-fetch-mode", "navigate"));
            match cookie {
                Some(cookie) => request
                    .insert_header(("cookie", cookie.as_str()))
                    .to_http_request(),
                None => request.to_http_request(),
            }
        };
        assert!(check(&browser(Some(&cookie)), &config, &flow(own, false, None)).is_ok());
        assert!(check(&browser(Some(&cookie)), &config, &flow(other, false, None)).is_err());
        assert!(check(&browser(None), &config, &flow(own, false, None)).is_err());
        assert!(
            check(&browser(None), &config, &flow(own, true, None)).is_ok(),
            "PKCE"
        );
        assert!(
            check(&browser(None), &config, &flow(own, false, Some(other))).is_ok(),
            "a link"
        );
        let client = TestRequest::get().to_http_request();
        assert!(
            check(&client, &config, &flow(own, false, None)).is_ok(),
            "no browser"
        );
        config.external_url = "http://127.0.0.1:54321/auth/v1".to_owned();
        assert!(build(&config, own).is_none());
        assert!(check(&browser(None), &config, &flow(own, false, None)).is_ok());
    }
}
