//! PKCE challenges and verifiers (RFC 7636). Source: Auth contract §2.4, §3.2.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::equal_secrets;
use crate::error::AuthError;

/// How the challenge is computed from the verifier (RFC 7636, §4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChallengeMethod {
    S256,
    Plain,
}

impl ChallengeMethod {
    /// The name of the method in `auth.flow_state`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::S256 => "s256",
            Self::Plain => "plain",
        }
    }

    /// Parses the name, in any case; `None` for an unknown method.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "s256" => Some(Self::S256),
            "plain" => Some(Self::Plain),
            _ => None,
        }
    }
}

/// The challenge that a PKCE client sends when a flow begins. Only a client with the matching verifier can exchange the
/// flow's code, so an intercepted redirect is useless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeChallenge {
    pub(crate) challenge: String,
    pub(crate) method: ChallengeMethod,
}

impl CodeChallenge {
    /// Parses `code_challenge` and `code_challenge_method`; both empty means the implicit flow.
    ///
    /// # Errors
    /// 400 `validation_failed` when only one is given, or one is malformed.
    pub(crate) fn parse(challenge: &str, method: &str) -> Result<Option<Self>, AuthError> {
        if challenge.is_empty() && method.is_empty() {
            return Ok(None);
        }
        if challenge.is_empty() || method.is_empty() {
            return Err(AuthError::invalid(
                "PKCE flow requires code_challenge_method and code_challenge",
            ));
        }
        if !(43..=128).contains(&challenge.len()) {
            return Err(AuthError::invalid(
                "code challenge has to be between 43 and 128 characters",
            ));
        }
        if !challenge
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        {
            return Err(AuthError::invalid(
                "code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes",
            ));
        }
        let method = ChallengeMethod::parse(method)
            .ok_or_else(|| AuthError::invalid(format!("unsupported code_challenge method {method:?}")))?;
        Ok(Some(Self {
            challenge: challenge.to_owned(),
            method,
        }))
    }

    /// Whether the challenge was computed from `verifier` (RFC 7636 §4.6).
    pub(crate) fn is_met_by(&self, verifier: &str) -> bool {
        let computed = match self.method {
            ChallengeMethod::S256 => URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)),
            ChallengeMethod::Plain => verifier.to_owned(),
        };
        equal_secrets(&self.challenge, &computed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_049_no_challenge_means_the_implicit_flow_and_an_incomplete_or_malformed_one_is_an_error() {
        assert_eq!(CodeChallenge::parse("", "").expect("valid"), None);
        assert!(CodeChallenge::parse("", "s256").is_err());
        assert!(CodeChallenge::parse(&"a".repeat(43), "").is_err());
        assert!(CodeChallenge::parse(&"a".repeat(42), "s256").is_err());
        assert!(CodeChallenge::parse(&"ä".repeat(43), "s256").is_err());
        assert!(CodeChallenge::parse(&"a".repeat(43), "md5").is_err());
    }

    #[test]
    fn auth_047_only_the_verifier_of_the_challenge_is_accepted() {
        // The example of RFC 7636, appendix B.
        let challenge = CodeChallenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "S256")
            .expect("valid")
            .expect("PKCE");
        assert!(challenge.is_met_by("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert!(!challenge.is_met_by("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl"));

        let plain = CodeChallenge::parse(&"a".repeat(43), "plain")
            .expect("valid")
            .expect("PKCE");
        assert!(plain.is_met_by(&"a".repeat(43)));
    }
}
