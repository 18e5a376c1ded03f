//! The verified payload of a token.

use serde_json::{Map, Value};

use crate::TokenError;

/// The claims of a token whose signature was good.
///
/// Time and audience are *not* checked yet: services allow different leeways, and a cached token must be checked on
/// each use. See [`Claims::check_time`] and [`Claims::check_audience`].
#[derive(Debug, Clone)]
pub struct Claims {
    map: Map<String, Value>,
    json: String,
}

impl Claims {
    /// Wraps a payload.
    pub fn new(map: Map<String, Value>) -> Self {
        let json = Value::Object(map.clone()).to_string();
        Self { map, json }
    }

    /// Claims that hold nothing but a role: what an API key stands for.
    pub fn of_role(role: &str) -> Self {
        Self::new(Map::from_iter([("role".to_owned(), Value::from(role))]))
    }

    /// The PostgreSQL role that the caller asks to be.
    pub fn role(&self) -> Option<&str> {
        self.text("role")
    }

    /// Whose token it is: a user's id, in tokens that our Auth signed.
    pub fn subject(&self) -> Option<&str> {
        self.text("sub")
    }

    /// The session in which Auth issued the token.
    pub fn session_id(&self) -> Option<&str> {
        self.text("session_id")
    }

    /// One claim by name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// All claims, in the token's order.
    pub fn map(&self) -> &Map<String, Value> {
        &self.map
    }

    /// All claims as JSON text, exactly what `request.jwt.claims` shall hold when the token carries its role.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Checks `exp`, `nbf` and `iat`, in this order, against `now` (Unix seconds), each with `leeway` seconds.
    ///
    /// Absent and null claims pass. Fractions are cut off. Source: REST contract §7.
    pub fn check_time(&self, now: i64, leeway: i64) -> Result<(), TokenError> {
        if self
            .instant("exp")?
            .is_some_and(|exp| now > exp.saturating_add(leeway))
        {
            return Err(TokenError::Expired);
        }
        if self
            .instant("nbf")?
            .is_some_and(|nbf| now < nbf.saturating_sub(leeway))
        {
            return Err(TokenError::NotYetValid);
        }
        if self
            .instant("iat")?
            .is_some_and(|iat| now < iat.saturating_sub(leeway))
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

    fn text(&self, name: &str) -> Option<&str> {
        self.map.get(name).and_then(Value::as_str)
    }

    fn instant(&self, name: &'static str) -> Result<Option<i64>, TokenError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(None),
            // Compat: the reference reads a fractional instant as 0; cutting the fraction off is what the sender meant.
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

    fn claims(value: Value) -> Claims {
        match value {
            Value::Object(map) => Claims::new(map),
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn time_is_checked_with_leeway_in_the_order_exp_nbf_iat() {
        let cases = [
            (json!({}), Ok(())),
            (json!({"exp": null}), Ok(())),
            (json!({"exp": 970}), Ok(())),
            (json!({"exp": 969}), Err(TokenError::Expired)),
            (json!({"exp": 969, "nbf": "soon"}), Err(TokenError::Expired)),
            (json!({"nbf": 1030}), Ok(())),
            (json!({"nbf": 1031, "iat": 2000}), Err(TokenError::NotYetValid)),
            (json!({"iat": 1031}), Err(TokenError::IssuedInFuture)),
            (json!({"exp": "never"}), Err(TokenError::ClaimNotANumber("exp"))),
            (json!({"exp": 1000.7}), Ok(())),
        ];
        for (payload, expected) in cases {
            assert_eq!(
                claims(payload.clone()).check_time(1000, 30),
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
                claims(payload.clone()).check_audience("authenticated"),
                expected,
                "{payload}"
            );
        }
    }
}
