//! Whether a call may pass, and the `Authorization` header that the function sees. Source: functions contract §4.

use actix_web::http::header::{self, HeaderMap, HeaderValue};
use secrecy::ExposeSecret;
use selvedge_token::{ApiKeyKind, TokenError, unix_now};

use crate::config::FunctionKeys;
use crate::error::FunctionError;

/// `Authorization` as the function sees it. A header with another value than an opaque key is kept; otherwise the key in
/// `apikey` decides: an opaque key becomes the JWT of its role, any other text is taken as it is.
///
/// Compat: the CLI's gateway rewrites the header in this way, and does not put `Bearer` before a legacy key.
pub(super) fn exchange_key(headers: &HeaderMap, keys: &FunctionKeys) -> Option<HeaderValue> {
    let sent = headers.get(header::AUTHORIZATION);
    let opaque = sent
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "))
        .filter(|token| token.starts_with("sb_"));
    if sent.is_some() && opaque.is_none() {
        return sent.cloned();
    }
    let api_key = headers.get("apikey");
    let key = api_key.and_then(|key| key.to_str().ok()).or(opaque)?;
    let legacy = match keys.api_keys.kind(key) {
        Some(ApiKeyKind::Secret) => &keys.service_role_key,
        Some(ApiKeyKind::Publishable) => &keys.anon_key,
        None => return api_key.or(sent).cloned(),
    };
    HeaderValue::from_str(&format!("Bearer {}", legacy.expose_secret())).ok()
}

/// Checks the token in a header that [`exchange_key`] returned. Its role does not matter.
pub(super) fn verify_jwt(
    authorization: Option<&HeaderValue>,
    keys: &FunctionKeys,
) -> Result<(), FunctionError> {
    let value = authorization.ok_or(FunctionError::MissingAuthorization)?;
    let mut words = value.to_str().unwrap_or_default().split(' ');
    // Compat: the scheme is case-sensitive, as in Supabase's runtime.
    if words.next() != Some("Bearer") {
        return Err(FunctionError::NotBearer);
    }
    let token = words.next().unwrap_or_default();
    match keys.ring.verify_bearer(token) {
        Ok(claims) => claims
            .check_time(unix_now(), 0)
            .map_err(|_| FunctionError::InvalidJwt),
        Err(TokenError::Empty | TokenError::Parts(_) | TokenError::Undecodable) => {
            Err(FunctionError::UndecodableJwt)
        }
        Err(_) => Err(FunctionError::InvalidJwt),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderName;
    use selvedge_token::development;
    use serde_json::json;

    use super::*;

    /// The headers of a request: names and values.
    type Sent<'a> = &'a [(&'static str, &'a str)];

    fn outcome(sent: Sent<'_>) -> Result<(), FunctionError> {
        let keys = crate::testing::keys();
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        verify_jwt(exchange_key(&headers, &keys).as_ref(), &keys)
    }

    #[test]
    fn gw_036_keys_and_tokens_pass_as_in_the_cli() {
        let keys = crate::testing::keys();
        let bearer = |token: &str| format!("Bearer {token}");
        let user = bearer(&keys.ring.sign(&json!({"sub": "a"})).unwrap());
        let expired = bearer(&keys.ring.sign(&json!({"sub": "a", "exp": 1})).unwrap());
        let (publishable, secret) = (development::publishable_key(), development::secret_key());
        let (opaque_bearer, legacy) = (bearer(&publishable), development::anon_key());
        let cases: [(Sent<'_>, Result<(), FunctionError>); 11] = [
            (&[("authorization", &user)], Ok(())),
            (&[("authorization", &bearer(&legacy))], Ok(())),
            (&[("apikey", &publishable)], Ok(())),
            (&[("apikey", &secret)], Ok(())),
            (
                &[("apikey", &publishable), ("authorization", &opaque_bearer)],
                Ok(()),
            ),
            (&[("apikey", &legacy)], Err(FunctionError::NotBearer)),
            (&[], Err(FunctionError::MissingAuthorization)),
            (&[("authorization", "bearer x")], Err(FunctionError::NotBearer)),
            (
                &[("authorization", "Bearer x")],
                Err(FunctionError::UndecodableJwt),
            ),
            (&[("authorization", &expired)], Err(FunctionError::InvalidJwt)),
            (
                &[("apikey", &publishable), ("authorization", &expired)],
                Err(FunctionError::InvalidJwt),
            ),
        ];
        for (sent, expected) in cases {
            assert_eq!(outcome(sent), expected, "{sent:?}");
        }
    }

    #[test]
    fn gw_036_functions_see_the_jwt_of_a_keys_role() {
        let keys = crate::testing::keys();
        let mut headers = HeaderMap::new();
        headers.insert(
            HeaderName::from_static("apikey"),
            HeaderValue::from_str(&development::secret_key()).unwrap(),
        );

        let seen = exchange_key(&headers, &keys).unwrap();

        assert_eq!(
            seen.to_str().unwrap(),
            format!("Bearer {}", development::service_role_key())
        );
    }
}
