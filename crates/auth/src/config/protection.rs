//! Settings of hooks, captchas and the check for leaked passwords. Source: Auth contract §3.6, §4.5, §5.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use crate::http_client::WebhookKey;

/// The enabled hooks (`[auth.hook.<name>]`); `None` means that Auth calls nothing at that point.
#[derive(Debug, Clone, Default)]
pub struct HooksConfig {
    /// Called before a user is created; may reject the sign-up.
    pub before_user_created: Option<HookConfig>,
    /// Called after the transaction that created a user has committed; its result is ignored.
    pub after_user_created: Option<HookConfig>,
    /// Changes the claims of each access token before it is signed.
    pub custom_access_token: Option<HookConfig>,
    /// Sends text messages instead of a provider.
    pub send_sms: Option<HookConfig>,
    /// Sends mails instead of the SMTP server.
    pub send_email: Option<HookConfig>,
    /// Called after a second factor was checked, with the result; may reject the attempt.
    pub mfa_verification_attempt: Option<HookConfig>,
    /// Called after a password was checked at a sign-in, with the result; may reject the attempt.
    pub password_verification_attempt: Option<HookConfig>,
}

impl HooksConfig {
    /// Returns the field for a hook's name in `config.toml`; `None` for an unknown name.
    pub fn hook_mut(&mut self, name: &str) -> Option<&mut Option<HookConfig>> {
        Some(match name {
            "before_user_created" => &mut self.before_user_created,
            "after_user_created" => &mut self.after_user_created,
            "custom_access_token" => &mut self.custom_access_token,
            "send_sms" => &mut self.send_sms,
            "send_email" => &mut self.send_email,
            "mfa_verification_attempt" => &mut self.mfa_verification_attempt,
            "password_verification_attempt" => &mut self.password_verification_attempt,
            _ => return None,
        })
    }
}

/// How a hook is called.
#[derive(Debug, Clone)]
pub enum HookConfig {
    /// A function in the project's database.
    Function {
        /// Schema of the function.
        schema: String,
        /// Name of the function.
        function: String,
    },
    /// An HTTP endpoint that gets signed POST requests (Standard Webhooks).
    Http {
        /// URL of the endpoint.
        url: String,
        /// Base64 keys without the prefix `v1,whsec_`. Each signs every call, so that an endpoint can change its key
        /// without rejecting calls.
        secrets: Vec<SecretString>,
    },
}

/// Why the configuration of a hook is invalid. The server does not start with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookConfigError {
    /// The URI has an unknown scheme or is malformed.
    #[error(
        "must be \"pg-functions://postgres/<schema>/<function>\" or an https URL (http on this machine only)"
    )]
    Uri,
    /// A key is not in the format of Standard Webhooks.
    #[error("secrets must look like \"v1,whsec_<base64>\", several separated by \"|\"")]
    Secret,
}

impl HookConfig {
    /// Parses `uri`, and for an HTTP endpoint `secrets` (`v1,whsec_<base64>`, several separated by `|`).
    ///
    /// # Errors
    /// [`HookConfigError`] that says which of the two is wrong; its text does not contain the secrets.
    pub fn parse(uri: &str, secrets: Option<&SecretString>) -> Result<Self, HookConfigError> {
        let url = url::Url::parse(uri).map_err(|_| HookConfigError::Uri)?;
        match url.scheme() {
            // Compat: the host part (`postgres`) is ignored, as there is only the project's own database.
            "pg-functions" => {
                let mut parts = url.path().trim_start_matches('/').split('/');
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(schema), Some(function), None) if is_name(schema) && is_name(function) => {
                        Ok(Self::Function {
                            schema: schema.to_owned(),
                            function: function.to_owned(),
                        })
                    }
                    _ => Err(HookConfigError::Uri),
                }
            }
            "https" => Self::parse_http(uri, secrets),
            "http" if url.host_str().is_some_and(is_local) => Self::parse_http(uri, secrets),
            _ => Err(HookConfigError::Uri),
        }
    }

    fn parse_http(url: &str, secrets: Option<&SecretString>) -> Result<Self, HookConfigError> {
        let text = secrets.map(ExposeSecret::expose_secret).unwrap_or_default();
        let secrets: Vec<SecretString> = text
            .split('|')
            .map(|secret| secret.trim().strip_prefix("v1,whsec_"))
            .map(|secret| secret.filter(|key| !key.is_empty()).map(SecretString::from))
            .collect::<Option<_>>()
            .ok_or(HookConfigError::Secret)?;
        // A key that cannot be decoded would leave its signature out of every call, so it is rejected at start.
        let readable = |secret: &SecretString| WebhookKey::decode(secret.expose_secret()).is_some();
        if secrets.iter().all(readable) {
            Ok(Self::Http {
                url: url.to_owned(),
                secrets,
            })
        } else {
            Err(HookConfigError::Secret)
        }
    }
}

/// Whether a name can be an unquoted PostgreSQL identifier of at most 63 bytes, beyond which PostgreSQL truncates
/// names. Other names in a URI are most likely a mistake.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 63
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether calls to this host stay on the machine, so that plain http exposes nothing. `host.docker.internal` is the
/// machine as seen from a container.
fn is_local(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "host.docker.internal")
}

/// The captcha that sign-up, sign-in, recovery and resend demand (`[auth.captcha]`).
#[derive(Debug, Clone)]
pub struct CaptchaConfig {
    /// The captcha service.
    pub provider: CaptchaProvider,
    /// The project's secret key at that service.
    pub secret: SecretString,
    /// URL that replaces the service's own, for tests.
    pub verify_url: Option<String>,
}

/// The supported captcha services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptchaProvider {
    /// hCaptcha (`https://hcaptcha.com`).
    Hcaptcha,
    /// Cloudflare Turnstile.
    Turnstile,
}

impl fmt::Display for CaptchaProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hcaptcha => "hcaptcha",
            Self::Turnstile => "turnstile",
        })
    }
}

/// The public list of leaked passwords. A request to it contains only the first five hex digits of the password's
/// SHA-1, so the list learns neither the password nor the user.
#[derive(Debug, Clone)]
pub struct LeakedPasswordConfig {
    /// Base URL of the range API: `GET <base_url>/range/<prefix>` is requested.
    pub base_url: String,
    /// Whether new passwords are rejected while the list cannot be reached; otherwise they are accepted unchecked.
    pub fail_closed: bool,
}

impl Default for LeakedPasswordConfig {
    fn default() -> Self {
        Self {
            base_url: "https://api.pwnedpasswords.com".to_owned(),
            fail_closed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_079_hook_uris_are_database_functions_or_https_endpoints_with_keys() {
        let secret = SecretString::from("v1,whsec_c2VjcmV0|v1,whsec_b2xk");
        let function = HookConfig::parse("pg-functions://postgres/public/add_claim", None);
        assert!(matches!(function, Ok(HookConfig::Function { schema, function })
            if schema == "public" && function == "add_claim"));
        let http = HookConfig::parse("https://example.com/hook", Some(&secret));
        assert!(matches!(http, Ok(HookConfig::Http { secrets, .. }) if secrets.len() == 2));
        assert!(HookConfig::parse("http://localhost:9/x", Some(&secret)).is_ok());
        for uri in [
            "http://example.com/hook",
            "pg-functions://postgres/public",
            "pg-functions://postgres/public/a\"b",
            "ftp://x",
            "nonsense",
        ] {
            assert!(HookConfig::parse(uri, Some(&secret)).is_err(), "{uri}");
        }
        for secret in ["", "whsec_x", "v1,whsec_", "v1,whsec_%%%"] {
            let secret = SecretString::from(secret);
            assert!(HookConfig::parse("https://example.com/", Some(&secret)).is_err());
        }
    }
}
