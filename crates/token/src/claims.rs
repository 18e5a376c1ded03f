//! The verified claims of a token.

use serde_json::{Map, Value};

use crate::TokenError;

/// Seconds by which `nbf` and `iat` may lie in the future. The clocks of two nodes differ by some seconds, and a token
/// that one of them has just signed must be accepted by the other.
const START_LEEWAY_S: i64 = 60;

/// The claims of a token whose signature has been verified.
///
/// Time and audience are *not* checked yet: services allow different leeways, and a cached token must be checked at
/// each use. See [`Claims::check_time`] and [`Claims::check_audience`].
#[derive(Debug, Clone)]
pub struct Claims {
    map: Map<String, Value>,
    /// The claims as JSON text, made once per token: every database request sets `request.jwt.claims` to it.
    json: String,
}

impl Claims {
    /// Wraps a payload.
    pub fn new(map: Map<String, Value>) -> Self {
        let json = Value::Object(map.clone()).to_string();
        Self { map, json }
    }

    /// Claims with a role only, for requests that carry just an API key.
    pub fn for_role(role: &str) -> Self {
        Self::new(Map::from_iter([("role".to_owned(), Value::from(role))]))
    }

    /// The PostgreSQL role under which the caller's queries run.
    pub fn role(&self) -> Option<&str> {
        self.get_text("role")
    }

    /// The claim `sub`: the user's id, in tokens that this project's Auth signed.
    pub fn subject(&self) -> Option<&str> {
        self.get_text("sub")
    }

    /// The session in which Auth issued the token.
    pub fn session_id(&self) -> Option<&str> {
        self.get_text("session_id")
    }

    /// Whether this is an ID token (OpenID Connect Core §2) of the project's OAuth server. Those of older versions lack
    /// `token_use`; they are known by their audience, which is the client, and have no session.
    pub fn is_id_token(&self) -> bool {
        let client = self.get_text("client_id");
        self.get_text("token_use") == Some("id")
            || client.is_some() && client == self.get_text("aud") && self.session_id().is_none()
    }

    /// One claim by name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// All claims, in the token's order.
    pub fn map(&self) -> &Map<String, Value> {
        &self.map
    }

    /// All claims as JSON text, the value of `request.jwt.claims`.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Checks `exp`, `nbf` and `iat`, in this order, against `now` in Unix seconds: `exp` with `expiry_leeway_s` seconds,
    /// the other two with [`START_LEEWAY_S`]. Absent and null claims pass; fractions of a second are cut off. Source:
    /// REST contract §7.
    ///
    /// # Errors
    /// [`TokenError::Expired`], [`TokenError::NotYetValid`], [`TokenError::IssuedInFuture`], or
    /// [`TokenError::ClaimNotANumber`].
    pub fn check_time(&self, now: i64, expiry_leeway_s: i64) -> Result<(), TokenError> {
        if self
            .read_time("exp")?
            .is_some_and(|exp| now > exp.saturating_add(expiry_leeway_s))
        {
            return Err(TokenError::Expired);
        }
        if self
            .read_time("nbf")?
            .is_some_and(|nbf| now < nbf.saturating_sub(START_LEEWAY_S))
        {
            return Err(TokenError::NotYetValid);
        }
        if self
            .read_time("iat")?
            .is_some_and(|iat| now < iat.saturating_sub(START_LEEWAY_S))
        {
            return Err(TokenError::IssuedInFuture);
        }
        Ok(())
    }

    /// Checks that `aud` names `expected`. An absent, null or empty `aud` passes. Source: REST contract §7.
    pub fn check_audience(&self, expected: &str) -> Result<(), TokenError> {
        let matches = match self.map.get("aud") {
            None | Some(Value::Null) => true,
            Some(Value::String(audience)) => audience == expected,
            Some(Value::Array(audiences)) => {
                if !audiences.iter().all(Value::is_string) {
                    return Err(TokenError::AudienceNotStrings);
                }
                audiences.is_empty() || audiences.iter().any(|audience| audience == expected)
            }
            Some(_) => return Err(TokenError::AudienceNotStrings),
        };
        if matches {
            Ok(())
        } else {
            Err(TokenError::WrongAudience)
        }
    }

    fn get_text(&self, name: &str) -> Option<&str> {
        self.map.get(name).and_then(Value::as_str)
    }

    /// Reads a time claim in Unix seconds.
    fn read_time(&self, name: &'static str) -> Result<Option<i64>, TokenError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            // Compat: differs from PostgREST on purpose, which reads a fractional time as 0, so that the token counts as expired
            // since 1970. Here only the fraction is cut off.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "saturates, and no clock reaches there"
            )]
            Some(Value::Number(number)) => Ok(number
                .as_i64()
                .or_else(|| number.as_f64().map(|float| float as i64))),
            Some(_) => Err(TokenError::ClaimNotANumber(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_claims(value: Value) -> Claims {
        match value {
            Value::Object(map) => Claims::new(map),
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn auth_088_time_is_checked_with_leeway_in_the_order_exp_nbf_iat() {
        let cases = [
            (json!({}), Ok(())),
            (json!({"exp": null}), Ok(())),
            (json!({"exp": 970}), Ok(())),
            (json!({"exp": 969}), Err(TokenError::Expired)),
            (json!({"exp": 969, "nbf": "soon"}), Err(TokenError::Expired)),
            (json!({"nbf": 1060, "iat": 1060}), Ok(())),
            (json!({"nbf": 1061, "iat": 2000}), Err(TokenError::NotYetValid)),
            (json!({"iat": 1061}), Err(TokenError::IssuedInFuture)),
            (json!({"exp": "never"}), Err(TokenError::ClaimNotANumber("exp"))),
            (json!({"exp": 1000.7}), Ok(())),
        ];
        for (payload, expected) in cases {
            assert_eq!(
                parse_claims(payload.clone()).check_time(1000, 30),
                expected,
                "{payload}"
            );
        }
    }

    #[test]
    fn audience_matches_a_string_or_one_of_a_list() {
        let cases = [
            (json!({}), Ok(())),
            (json!({"aud": []}), Ok(())),
            (json!({"aud": "authenticated"}), Ok(())),
            (json!({"aud": ["x", "authenticated"]}), Ok(())),
            (json!({"aud": "x"}), Err(TokenError::WrongAudience)),
            (json!({"aud": 1}), Err(TokenError::AudienceNotStrings)),
            (
                json!({"aud": ["authenticated", 1]}),
                Err(TokenError::AudienceNotStrings),
            ),
        ];
        for (payload, expected) in cases {
            assert_eq!(
                parse_claims(payload.clone()).check_audience("authenticated"),
                expected,
                "{payload}"
            );
        }
    }
}
