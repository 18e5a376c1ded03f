//! The caller's identity: role and claims of a verified token, or the anonymous role.

use std::sync::Arc;

use selvedge_gateway::Bearer;
use selvedge_token::{Claims, TokenError};
use serde_json::Value;

use crate::config::RestConfig;
use crate::error::AuthError;

/// The caller, as PostgreSQL learns of them: by role and claims.
#[derive(Debug)]
pub(crate) struct Identity {
    role: String,
    claims: ClaimsText,
    authenticated: bool,
}

/// Where the JSON text of the claims is.
#[derive(Debug)]
enum ClaimsText {
    /// In the verified token, whose claims name the role already; shared instead of copied.
    Token(Arc<Claims>),
    /// The claims' JSON with the role added.
    Own(String),
}

impl Identity {
    /// Checks the token's times and audience, and reads the role.
    ///
    /// # Errors
    /// PGRST301 and PGRST303 for a refused token, PGRST302 without a token if there is no anonymous role.
    pub(crate) fn resolve(bearer: &Bearer, config: &RestConfig, now_unix_s: i64) -> Result<Self, AuthError> {
        // The signature was verified before; what depends on the time or the configuration is checked on every request.
        let claims = match bearer {
            Bearer::None => return Self::anonymous(config, None),
            Bearer::Invalid(error) => return Err(AuthError::Token(error.clone())),
            Bearer::Valid(claims) => claims,
        };
        claims
            .check_time(now_unix_s, config.clock_skew_s)
            .map_err(AuthError::Token)?;
        // Compat: without `jwt-aud` any audience is accepted, but one that is neither a string nor an array of strings is not.
        match &config.jwt_audience {
            Some(audience) => claims.check_audience(audience).map_err(AuthError::Token)?,
            None if !is_audience(claims.get("aud")) => {
                return Err(AuthError::Token(TokenError::AudienceNotStrings));
            }
            None => {}
        }
        // Compat: a token without the claim is accepted and runs as the anonymous role.
        let Some(role) = config.jwt_role_claim.find(claims.map()) else {
            return Self::anonymous(config, Some(claims));
        };
        // `request.jwt.claims` must show the role in force, also where it comes from another claim than `role`.
        let text = if claims.role() == Some(role.as_ref()) {
            ClaimsText::Token(Arc::clone(claims))
        } else {
            ClaimsText::Own(claims_with_role(claims, &role))
        };
        // A token may name the anonymous role itself; a missing privilege is 401 then, as without a token.
        let authenticated = config.anon_role.as_deref() != Some(role.as_ref());
        Ok(Self {
            role: role.into_owned(),
            claims: text,
            authenticated,
        })
    }

    /// The anonymous role; also for tokens without a role, whose claims SQL may still read.
    fn anonymous(config: &RestConfig, claims: Option<&Arc<Claims>>) -> Result<Self, AuthError> {
        // Without an anonymous role every request needs a token that names one.
        let role = config.anon_role.clone().ok_or(AuthError::AnonymousDisabled)?;
        let claims = match claims {
            Some(claims) => claims_with_role(claims, &role),
            None => serde_json::json!({ "role": role }).to_string(),
        };
        Ok(Self {
            role,
            claims: ClaimsText::Own(claims),
            authenticated: false,
        })
    }

    /// The PostgreSQL role.
    pub(crate) fn role(&self) -> &str {
        &self.role
    }

    /// JSON text of the claims; its `role` is always the role that was found.
    pub(crate) fn claims(&self) -> &str {
        match &self.claims {
            ClaimsText::Token(claims) => claims.json(),
            ClaimsText::Own(text) => text,
        }
    }

    /// Whether the role is not the anonymous one.
    pub(crate) fn is_authenticated(&self) -> bool {
        self.authenticated
    }
}

/// Whether a claim has the form of an audience: a string, or an array of strings (RFC 7519 §4.1.3).
fn is_audience(claim: Option<&Value>) -> bool {
    match claim {
        None | Some(Value::Null | Value::String(_)) => true,
        Some(Value::Array(names)) => names.iter().all(Value::is_string),
        Some(_) => false,
    }
}

/// The claims with `role` set or replaced.
fn claims_with_role(claims: &Claims, role: &str) -> String {
    let mut map = claims.map().clone();
    map.insert("role".to_owned(), Value::from(role));
    Value::Object(map).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bearer(claims: Value) -> Bearer {
        let Value::Object(map) = claims else {
            panic!("an object")
        };
        Bearer::Valid(Arc::new(Claims::new(map)))
    }

    #[test]
    fn rest_001_requests_without_a_token_run_as_anon() {
        let identity = Identity::resolve(&Bearer::None, &RestConfig::default(), 0).unwrap();

        assert_eq!(
            (identity.role(), identity.claims()),
            ("anon", r#"{"role":"anon"}"#)
        );
        assert!(!identity.is_authenticated());
    }

    #[test]
    fn rest_001_a_role_claim_that_is_no_string_counts_by_its_json_text() {
        for (claims, role) in [
            (json!({"role": "authenticated"}), "authenticated"),
            (json!({"sub": "x"}), "anon"),
            (json!({"role": null}), "null"),
            (json!({"role": 7}), "7"),
        ] {
            assert_eq!(
                Identity::resolve(&bearer(claims), &RestConfig::default(), 0)
                    .unwrap()
                    .role(),
                role
            );
        }
    }

    #[test]
    fn rest_006_tokens_are_accepted_for_thirty_seconds_after_they_expire() {
        let config = RestConfig::default();
        let token = bearer(json!({"role": "authenticated", "exp": 1000}));

        assert!(Identity::resolve(&token, &config, 1030).is_ok());
        let refused = Identity::resolve(&token, &config, 1031);
        assert!(matches!(refused, Err(AuthError::Token(TokenError::Expired))));
    }

    #[test]
    fn rest_001_requests_without_a_token_are_refused_where_there_is_no_anonymous_role() {
        let config = RestConfig {
            anon_role: None,
            ..RestConfig::default()
        };

        assert!(matches!(
            Identity::resolve(&Bearer::None, &config, 0),
            Err(AuthError::AnonymousDisabled)
        ));
    }
}
