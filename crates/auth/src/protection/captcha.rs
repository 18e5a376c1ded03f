//! Verifies captcha tokens with the service that the project has configured. Source: Auth contract §3.6, AUTH-085.

use std::time::Duration;

use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::Value;

use crate::config::CaptchaProvider;
use crate::error::AuthError;
use crate::http_client::Call;
use crate::request::{AuthRequest, read_text};

/// Time limit of the call to the captcha service.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Limit of the captcha service's response in bytes.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// `gotrue_meta_security` of a request body.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct MetaSecurity {
    #[serde(deserialize_with = "read_text")]
    captcha_token: String,
}

/// `gotrue_meta_security`, which may be null or missing.
pub(crate) type Captcha = Option<MetaSecurity>;

/// Refuses a request whose captcha token is missing or not accepted. Administrators need no token, and neither do
/// projects without captchas.
///
/// # Errors
/// 400 `captcha_failed`; 500 `unexpected_failure` when the captcha service cannot be reached.
pub(crate) async fn check_captcha(request: &AuthRequest, captcha: &Captcha) -> Result<(), AuthError> {
    let Some(config) = &request.config().captcha else {
        return Ok(());
    };
    // Server-side code with an administrator's key cannot solve captchas.
    if request.info.is_admin {
        return Ok(());
    }
    let token = captcha
        .as_ref()
        .map_or("", |security| security.captcha_token.trim());
    if token.is_empty() {
        return Err(captcha_failed("no captcha_token found"));
    }
    let url = config.verify_url.as_deref().unwrap_or(match config.provider {
        CaptchaProvider::Hcaptcha => "https://hcaptcha.com/siteverify",
        CaptchaProvider::Turnstile => "https://challenges.cloudflare.com/turnstile/v0/siteverify",
    });
    let fields = [
        ("secret", config.secret.expose_secret()),
        ("response", token),
        ("remoteip", &request.info.ip),
    ];
    let call = Call::post_form(url, &fields)
        .timeout(TIME_LIMIT)
        .max_response_bytes(MAX_RESPONSE_BYTES);
    let response = request
        .state
        .http
        .send(call)
        .await
        .and_then(|response| response.json());
    let response = response.map_err(|error| {
        tracing::warn!(%error, "the captcha service could not be reached");
        AuthError::CaptchaUnavailable
    })?;
    if response["success"] == true {
        return Ok(());
    }
    let codes: Vec<&str> = response["error-codes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    Err(captcha_failed(&codes.join(", ")))
}

fn captcha_failed(why: &str) -> AuthError {
    AuthError::CaptchaFailed(why.to_owned())
}
