//! Whose rights a request runs under: the role and the claims, from what the gateway verified.

use crate::config::RestConfig;
use crate::error::AuthError;
use selvedge_gateway::Bearer;
use selvedge_token::{Claims, TokenError};
use serde_json::Value;
use std::sync::Arc;

/// The caller as PostgreSQL will know them.
#[derive(Debug)]
pub(crate) struct Identity {
    role: String,
    claims: ClaimsText,
    authenticated: bool,
}

#[derive(Debug)]
enum ClaimsText {
    Token(Arc<Claims>),
    Own(String),
}

impl Identity {
    /// Checks the token's time and audience, and finds the role.
    ///
    /// # Errors
    /// PGRST301, PGRST302, PGRST303.
    pub(crate) fn of(bearer: &Bearer, config: &RestConfig, now_unix_s: i64) -> Result<Self, AuthError> {
        let claims = match bearer {
            Bearer::None => return Self::anonymous(config, None),
            Bearer::Invalid(error) => return Err(AuthError::Token(error.clone())),
            Bearer::Valid(claims) => claims,
        };
        claims
            .check_time(now_unix_s, config.clock_skew_s)
            .map_err(AuthError::Token)?;
        match &config.jwt_audience {
            Some(audience) => claims.check_audience(audience).map_err(AuthError::Token)?,
            None if !is_audience(claims.get("aud")) => {
                return Err(AuthError::Token(TokenError::AudienceNotStrings));
            }
            None => {}
        }
        let Some(role) = config.jwt_role_claim.find(claims.map()) else {
            return Self::anonymous(config, Some(claims));
        };
        let text = if claims.role() == Some(role.as_ref()) {
            ClaimsText::Token(Arc::clone(claims))
        } else {
            ClaimsText::Own(claims_with_role(claims, &role))
        };
        let authenticated = config.anon_role.as_deref() != Some(role.as_ref());
        Ok(Self {
            role: role.into_owned(),
            claims: text,
            authenticated,
        })
    }

    fn anonymous(config: &RestConfig, claims: Option<&Arc<Claims>>) -> Result<Self, AuthError> {
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

    /// JSON text of the claims, role included.
    pub(crate) fn claims(&self) -> &str {
        match &self.claims {
            ClaimsText::Token(claims) => claims.json(),
            ClaimsText::Own(text) => text,
        }
    }

    /// Whether the role is another than the anonymous one.
    pub(crate) fn is_authenticated(&self) -> bool {
        self.authenticated
    }
}

/// Whether a claim has the form of an audience, whatever it says.
fn is_audience(claim: Option<&Value>) -> bool {
    match claim {
        None | Some(Value::Null | Value::String(_)) => true,
        Some(Value::Array(names)) => names.iter().all(Value::is_string),
        Some(_) => false,
    }
}

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
    fn rest_001_without_a_token_the_role_is_anon() {
        let identity = Identity::of(&Bearer::None, &RestConfig::default(), 0).unwrap();

        assert_eq!(
            (identity.role(), identity.claims()),
            ("anon", r#"{"role":"anon"}"#)
        );
        assert!(!identity.is_authenticated());
    }

    #[test]
    fn rest_001_the_role_claim_decides_and_others_count_by_their_text() {
        for (claims, role) in [
            (json!({"role": "authenticated"}), "authenticated"),
            (json!({"sub": "x"}), "anon"),
            (json!({"role": null}), "null"),
            (json!({"role": 7}), "7"),
        ] {
            assert_eq!(
                Identity::of(&bearer(claims), &RestConfig::default(), 0)
                    .unwrap()
                    .role(),
                role
            );
        }
    }

    #[test]
    fn rest_006_tokens_pass_for_thirty_seconds_after_they_expire() {
        let config = RestConfig::default();
        let token = bearer(json!({"role": "authenticated", "exp": 1000}));

        assert!(Identity::of(&token, &config, 1030).is_ok());
        let refused = Identity::of(&token, &config, 1031);
        assert!(matches!(refused, Err(AuthError::Token(TokenError::Expired))));
    }

    #[test]
    fn rest_001_without_an_anonymous_role_a_token_is_required() {
        let config = RestConfig {
            anon_role: None,
            ..RestConfig::default()
        };

        assert!(matches!(
            Identity::of(&Bearer::None, &config, 0),
            Err(AuthError::AnonymousDisabled)
        ));
    }
}
