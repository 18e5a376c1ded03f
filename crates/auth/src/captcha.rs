//! Captchas: a service of the project's choice says whether a person is behind a request. Source: Auth contract §3.6, AUTH-085.

use std::time::Duration;

use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::Value;

use crate::config::CaptchaProvider;
use crate::error::AuthError;
use crate::http_client::Call;
use crate::request::{RequestInfo, text};
use crate::state::AuthState;

const LIMIT: Duration = Duration::from_secs(10);
const LARGEST_ANSWER_BYTES: usize = 64 * 1024;

/// The member of bodies that carries a captcha's token.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Security {
    #[serde(deserialize_with = "text")]
    captcha_token: String,
}

/// The same, also when it is null.
pub(crate) type Captcha = Option<Security>;

/// Lets a request through that a person or an administrator sent; everybody, where the project asks for no captcha.
///
/// # Errors
/// 400 `captcha_failed`.
pub(crate) async fn check(state: &AuthState, info: &RequestInfo, captcha: &Captcha) -> Result<(), AuthError> {
    let Some(config) = &state.config.captcha else {
        return Ok(());
    };
    if info.is_admin {
        return Ok(());
    }
    let token = captcha
        .as_ref()
        .map_or("", |security| security.captcha_token.trim());
    if token.is_empty() {
        return Err(failed("no captcha_token found"));
    }
    let url = config.verify_url.as_deref().unwrap_or(match config.provider {
        CaptchaProvider::Hcaptcha => "https://hcaptcha.com/siteverify",
        CaptchaProvider::Turnstile => "https://challenges.cloudflare.com/turnstile/v0/siteverify",
    });
    let fields = [
        ("secret", config.secret.expose_secret()),
        ("response", token),
        ("remoteip", &info.ip),
    ];
    let call = Call::post_form(url, &fields)
        .timeout(LIMIT)
        .largest(LARGEST_ANSWER_BYTES);
    let answer = state.http.send(call).await.and_then(|answer| answer.json());
    let answer = answer.map_err(|error| {
        tracing::warn!(%error, "the captcha service could not be asked");
        AuthError::coded(500, "unexpected_failure", "captcha verification process failed")
    })?;
    if answer["success"] == true {
        return Ok(());
    }
    let codes: Vec<&str> = answer["error-codes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    Err(failed(&codes.join(", ")))
}

fn failed(why: &str) -> AuthError {
    AuthError::coded(
        400,
        "captcha_failed",
        format!("captcha protection: request disallowed ({why})"),
    )
}
