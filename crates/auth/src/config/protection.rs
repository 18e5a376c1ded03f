//! Services that help to keep strangers out: hooks of the project, captchas, lists of leaked passwords.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// `[auth.hook.<name>]`, the enabled ones.
#[derive(Debug, Clone, Default)]
pub struct HooksConfig {
    /// May refuse a new user.
    pub before_user_created: Option<HookConfig>,
    /// Hears of a new user.
    pub after_user_created: Option<HookConfig>,
    /// Changes the claims of access tokens.
    pub custom_access_token: Option<HookConfig>,
    /// Sends text messages instead of a provider.
    pub send_sms: Option<HookConfig>,
    /// Sends mails instead of the SMTP server.
    pub send_email: Option<HookConfig>,
    /// Hears of, and may refuse, a second factor.
    pub mfa_verification_attempt: Option<HookConfig>,
    /// Hears of, and may refuse, a password.
    pub password_verification_attempt: Option<HookConfig>,
}

impl HooksConfig {
    /// The slot of a name in `config.toml`.
    pub fn slot(&mut self, name: &str) -> Option<&mut Option<HookConfig>> {
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

/// Where a hook is.
#[derive(Debug, Clone)]
pub enum HookConfig {
    /// A function of the project's database.
    Function {
        /// Schema of the function.
        schema: String,
        /// Name of the function.
        function: String,
    },
    /// Somebody's HTTP server.
    Http {
        /// Its address.
        url: String,
        /// Keys that sign the calls; several while one replaces another.
        secrets: Vec<SecretString>,
    },
}

/// Why a hook cannot be used as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookConfigError {
    /// The address is of no kind we know.
    #[error(
        "must be \"pg-functions://postgres/<schema>/<function>\" or an https URL (http on this machine only)"
    )]
    Uri,
    /// A key is not written as Standard Webhooks write it.
    #[error("secrets must look like \"v1,whsec_<base64>\", several separated by \"|\"")]
    Secret,
}

impl HookConfig {
    /// Reads `uri` and `secrets`.
    ///
    /// # Errors
    /// [`HookConfigError`] that says what is wrong; secrets do not appear in it.
    pub fn parse(uri: &str, secrets: Option<&SecretString>) -> Result<Self, HookConfigError> {
        let url = url::Url::parse(uri).map_err(|_| HookConfigError::Uri)?;
        match url.scheme() {
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
            "https" => Self::http(uri, secrets),
            "http" if url.host_str().is_some_and(is_local) => Self::http(uri, secrets),
            _ => Err(HookConfigError::Uri),
        }
    }

    fn http(url: &str, secrets: Option<&SecretString>) -> Result<Self, HookConfigError> {
        let text = secrets.map(ExposeSecret::expose_secret).unwrap_or_default();
        let secrets: Vec<SecretString> = text
            .split('|')
            .map(|secret| secret.trim().strip_prefix("v1,whsec_"))
            .map(|secret| secret.filter(|key| !key.is_empty()).map(SecretString::from))
            .collect::<Option<_>>()
            .ok_or(HookConfigError::Secret)?;
        let readable = |secret: &SecretString| crate::hooks::decode_key(secret.expose_secret()).is_some();
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

/// Names that PostgreSQL takes; anything else in an address is a mistake.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= 63
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_local(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "host.docker.internal")
}

/// `[auth.captcha]`
#[derive(Debug, Clone)]
pub struct CaptchaConfig {
    /// Who checks.
    pub provider: CaptchaProvider,
    /// Our secret with them.
    pub secret: SecretString,
    /// Replaces the provider's own address.
    pub verify_url: Option<String>,
}

/// Who checks captchas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptchaProvider {
    /// hcaptcha.com
    Hcaptcha,
    /// Cloudflare Turnstile
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

/// The list of leaked passwords, asked by the first five characters of a password's SHA-1 only.
#[derive(Debug, Clone)]
pub struct LeakedPasswordConfig {
    /// `<base_url>/range/<prefix>` is called.
    pub base_url: String,
    /// Refuses passwords while the list cannot be reached.
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
    fn auth_079_hooks_are_functions_or_signed_calls() {
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
