//! Reads API key and token of a request, verifies them, and decides whether the request may pass.
//!
//! Source: gateway contract §2 and §3.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use actix_web::http::header::{self, HeaderMap};
use memchr::memchr_iter;
use percent_encoding::percent_decode_str;
use selvedge_token::{ApiKeyKind, ApiKeys, Claims, KeyRing, unix_now};

use super::caller::{Bearer, Credentials};
use crate::{GatewayError, Service};

/// The project's keys, and whether requests must show one.
#[derive(Clone)]
pub struct Keys {
    ring: Arc<KeyRing>,
    api_keys: Arc<ApiKeys>,
    service_role: Arc<Claims>,
    /// Whether requests without a valid key are refused. `serve` requires keys; `start` does not, like the Supabase
    /// CLI.
    required: bool,
}

/// An API key as it was sent.
enum SentKey<'a> {
    None,
    Opaque(Option<ApiKeyKind>),
    Jwt(&'a str),
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the keys themselves, which are secrets.
        formatter
            .debug_struct("Keys")
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}

impl Keys {
    /// Keys of a project.
    pub fn new(ring: Arc<KeyRing>, api_keys: Arc<ApiKeys>, required: bool) -> Self {
        Self {
            ring,
            api_keys,
            service_role: Arc::new(Claims::for_role("service_role")),
            required,
        }
    }

    /// Reads the credentials of a request, or refuses it.
    pub(crate) fn check(
        &self,
        service: Service,
        path: &str,
        headers: &HeaderMap,
        query: &str,
    ) -> Result<Credentials, GatewayError> {
        let from_query = find_query_key(query);
        let text = sent_key(headers, from_query.as_deref())?;
        // A header that is not UTF-8 must become an invalid token, not a request without one, which would run as anon.
        let authorization = headers
            .get(header::AUTHORIZATION)
            .map(|value| read_text(value.as_bytes()));
        let authorization = authorization.as_deref();
        // supabase-js sends an opaque key as bearer, too. Without an `apikey` header it counts as the key.
        let opaque_bearer = authorization
            .and_then(bearer_token)
            .filter(|token| token.starts_with("sb_"));
        let sent = self.classify(text.or(opaque_bearer));
        if self.required && service.needs_key(path) {
            self.require_key(&sent, text, opaque_bearer, headers)?;
        }
        let bearer = match authorization {
            Some(value) if opaque_bearer.is_none() => self.verify_authorization(value, service),
            _ => self.bearer_of_key(&sent, service),
        };
        let api_key = match sent {
            SentKey::Opaque(kind) => kind,
            SentKey::Jwt(_) | SentKey::None => None,
        };
        let credentials = Credentials { bearer, api_key };
        // Postgres-meta manages the whole database, so this is checked even where keys are not required.
        if service == Service::Meta && !credentials.is_service_role() {
            return Err(GatewayError::KeyNotAllowedHere);
        }
        Ok(credentials)
    }

    /// Tells legacy keys, which are JWTs with two dots, from opaque ones.
    fn classify<'a>(&self, key: Option<&'a str>) -> SentKey<'a> {
        match key {
            None => SentKey::None,
            Some(key) if memchr_iter(b'.', key.as_bytes()).count() == 2 => SentKey::Jwt(key),
            Some(key) => SentKey::Opaque(self.api_keys.kind(key)),
        }
    }

    /// Refuses a request without a valid key. Called only where keys are required.
    fn require_key(
        &self,
        sent: &SentKey<'_>,
        text: Option<&str>,
        opaque_bearer: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<(), GatewayError> {
        // The `apikey` value and an opaque key in `Authorization` differ, so it is unclear which one should count.
        if text.zip(opaque_bearer).is_some_and(|(key, bearer)| key != bearer) {
            return Err(GatewayError::UnknownKey);
        }
        match sent {
            SentKey::None => Err(GatewayError::NoKey),
            SentKey::Opaque(None) => Err(GatewayError::UnknownKey),
            SentKey::Opaque(Some(ApiKeyKind::Publishable)) => Ok(()),
            SentKey::Opaque(Some(ApiKeyKind::Secret)) if is_browser(headers) => {
                Err(GatewayError::SecretKeyInBrowser)
            }
            SentKey::Opaque(Some(ApiKeyKind::Secret)) => Ok(()),
            // Any token of the project with one of these roles is a legacy key, so that keys that were signed again
            // work.
            SentKey::Jwt(token) => match self.ring.verify(token) {
                Ok(claims)
                    if matches!(claims.role(), Some("anon" | "service_role"))
                        && claims.check_time(unix_now(), 0).is_ok() =>
                {
                    Ok(())
                }
                _ => Err(GatewayError::UnknownKey),
            },
        }
    }

    fn verify_authorization(&self, value: &str, service: Service) -> Bearer {
        match bearer_token(value) {
            // Another scheme (the S3 protocol's signature, Basic) is not a token; its service reads the header itself.
            None => Bearer::None,
            Some(token) => self.verify(token, service),
        }
    }

    /// Returns the caller that a key stands for when no token was sent: a secret key is `service_role`, a legacy key is
    /// itself a token.
    fn bearer_of_key(&self, sent: &SentKey<'_>, service: Service) -> Bearer {
        match sent {
            SentKey::Opaque(Some(ApiKeyKind::Secret)) => Bearer::Valid(self.service_role.clone()),
            SentKey::Jwt(token) => self.verify(token, service),
            SentKey::Opaque(_) | SentKey::None => Bearer::None,
        }
    }

    fn verify(&self, token: &str, service: Service) -> Bearer {
        let verified = match service {
            // Auth's users and administrators, and the owner of the database, are those of the project alone.
            Service::Auth | Service::Meta => self.ring.verify(token),
            _ => self.ring.verify_bearer(token),
        };
        match verified {
            Ok(claims) => Bearer::Valid(claims),
            Err(error) => Bearer::Invalid(error),
        }
    }
}

/// The text of a header, with replacement characters where it is not UTF-8. Checking the whole at once is several times as
/// fast as `from_utf8_lossy`, which matters for tokens.
fn read_text(value: &[u8]) -> Cow<'_, str> {
    str::from_utf8(value).map_or_else(|_| String::from_utf8_lossy(value), Cow::Borrowed)
}

/// `token` of `Bearer token`, with the scheme in any case. Empty when nothing follows the scheme.
fn bearer_token(value: &str) -> Option<&str> {
    let value = value.trim();
    let (scheme, token) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn sent_key<'a>(
    headers: &'a HeaderMap,
    from_query: Option<&'a str>,
) -> Result<Option<&'a str>, GatewayError> {
    let mut sent = headers.get_all("apikey");
    match (sent.next(), sent.next()) {
        (Some(_), Some(_)) => Err(GatewayError::DuplicateKey),
        // Faster than `HeaderValue::to_str`, which checks each byte on its own.
        (Some(value), None) => Ok(str::from_utf8(value.as_bytes())
            .ok()
            .filter(|key| !key.is_empty())),
        (None, _) => Ok(from_query),
    }
}

fn find_query_key(query: &str) -> Option<String> {
    query
        .split('&')
        .find_map(|pair| pair.strip_prefix("apikey="))
        .filter(|value| !value.is_empty())
        .map(|value| percent_decode_str(value).decode_utf8_lossy().into_owned())
}

/// The query without `apikey`, which REST would take for a filter. `None` when the query has no such parameter.
pub(crate) fn strip_query_key(query: &str) -> Option<String> {
    let is_key = |pair: &&str| *pair == "apikey" || pair.starts_with("apikey=");
    query.split('&').any(|pair| is_key(&pair)).then(|| {
        let kept: Vec<&str> = query.split('&').filter(|pair| !is_key(pair)).collect();
        kept.join("&")
    })
}

/// Whether the user agent is a browser's; all of them begin with `Mozilla/`.
fn is_browser(headers: &HeaderMap) -> bool {
    headers
        .get(header::USER_AGENT)
        .is_some_and(|agent| agent.as_bytes().starts_with(b"Mozilla/"))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use selvedge_token::development;
    use serde_json::json;

    use super::*;

    /// Headers of a request.
    type Sent<'a> = &'a [(&'static str, &'a str)];

    fn keys(required: bool) -> Keys {
        let ring = KeyRing::new(development::JWT_SECRET.as_bytes(), &[]).expect("usable");
        let api_keys = ApiKeys::new(
            vec![development::publishable_key().into()],
            vec![development::secret_key().into()],
        );
        Keys::new(Arc::new(ring), Arc::new(api_keys), required)
    }

    fn headers(pairs: Sent<'_>) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_bytes(value.as_bytes()).expect("header text"),
                )
            })
            .fold(HeaderMap::new(), |mut map, (name, value)| {
                map.append(name, value);
                map
            })
    }

    fn role(keys: &Keys, pairs: Sent<'_>, query: &str) -> String {
        match keys.check(Service::Rest, "/rest/v1/items", &headers(pairs), query) {
            Ok(Credentials {
                bearer: Bearer::Valid(claims),
                ..
            }) => claims.role().unwrap_or("?").to_owned(),
            Ok(Credentials {
                bearer: Bearer::None, ..
            }) => "none".to_owned(),
            Ok(Credentials {
                bearer: Bearer::Invalid(error),
                ..
            }) => format!("invalid: {error}"),
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn gw_003_a_user_token_takes_precedence_over_the_api_key() {
        let keys = keys(true);
        let session = format!(
            "Bearer {}",
            keys.ring
                .sign(&json!({"role": "authenticated", "sub": "a"}))
                .expect("signs")
        );
        let (publishable, secret) = (development::publishable_key(), development::secret_key());
        let (as_bearer, secret_as_bearer) = (format!("Bearer {publishable}"), format!("bearer {secret}"));
        let (anon, service) = (development::anon_key(), development::service_role_key());
        let cases: [(Sent<'_>, &str); 11] = [
            (
                &[("apikey", &publishable), ("authorization", &session)],
                "authenticated",
            ),
            (&[("apikey", &publishable)], "none"),
            (&[("apikey", &publishable), ("authorization", &as_bearer)], "none"),
            (&[("apikey", &secret)], "service_role"),
            (
                &[("apikey", &secret), ("authorization", &secret_as_bearer)],
                "service_role",
            ),
            (
                &[("apikey", &secret), ("authorization", &session)],
                "authenticated",
            ),
            (&[("apikey", &anon)], "anon"),
            (&[("apikey", &service)], "service_role"),
            (&[("authorization", &secret_as_bearer)], "service_role"),
            (
                &[("apikey", &publishable), ("authorization", &secret_as_bearer)],
                "UnknownKey",
            ),
            (
                &[("apikey", &publishable), ("authorization", "Bearer")],
                "invalid: the token is empty",
            ),
        ];
        for (sent, expected) in cases {
            assert_eq!(role(&keys, sent, ""), expected, "{sent:?}");
        }
    }

    #[test]
    fn gw_005_missing_and_unknown_keys_are_refused_only_where_keys_are_required() {
        let foreign = KeyRing::new(b"another-secret-with-at-least-32-characters", &[]).expect("usable");
        let foreign = foreign.sign(&json!({"role": "service_role"})).expect("signs");
        let secret = development::secret_key();
        let cases: [(Sent<'_>, &str, &str); 7] = [
            (&[], "NoKey", "none"),
            (&[("apikey", "test")], "UnknownKey", "none"),
            (&[("apikey", "schlüssel")], "UnknownKey", "none"),
            (&[("apikey", "sb_secret_guess")], "UnknownKey", "none"),
            (
                &[("apikey", "a"), ("apikey", "b")],
                "DuplicateKey",
                "DuplicateKey",
            ),
            (
                &[("apikey", &foreign)],
                "UnknownKey",
                "invalid: the signature is not valid",
            ),
            (
                &[("apikey", &secret), ("user-agent", "Mozilla/5.0")],
                "SecretKeyInBrowser",
                "service_role",
            ),
        ];
        for (sent, in_serve, in_start) in cases {
            assert_eq!(role(&keys(true), sent, ""), in_serve, "{sent:?}");
            assert_eq!(role(&keys(false), sent, ""), in_start, "{sent:?}");
        }
    }

    #[test]
    fn gw_010_an_expired_legacy_key_is_refused() {
        let keys = keys(true);
        let expired = keys.ring.sign(&json!({"role": "anon", "exp": 1})).expect("signs");

        assert_eq!(role(&keys, &[("apikey", &expired)], ""), "UnknownKey");
    }

    #[test]
    fn gw_004_the_apikey_query_parameter_is_accepted_and_removed() {
        let query = format!("select=id&apikey={}&id=eq.1", development::secret_key());

        assert_eq!(role(&keys(true), &[], &query), "service_role");
        assert_eq!(strip_query_key(&query).as_deref(), Some("select=id&id=eq.1"));
        assert_eq!(strip_query_key("select=apikey"), None);
    }

    #[test]
    fn gw_052_meta_requires_the_service_role() {
        let check = |key: &str| {
            keys(false)
                .check(Service::Meta, "/pg/tables", &headers(&[("apikey", key)]), "")
                .map(|_| ())
        };

        assert_eq!(check(&development::secret_key()), Ok(()));
        assert_eq!(
            check(&development::publishable_key()),
            Err(GatewayError::KeyNotAllowedHere)
        );
    }
}
