//! Extractors for JSON bodies of at most 1 MB and for forms, with Auth's own errors.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use selvedge_gateway::{BodyError, BodyForm, BodyLimits, Caller, read_body};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::error::AuthError;

/// Limit of a body in bytes, as with upstream; a larger one is 413 `request_entity_too_large`.
const LARGEST_BYTES: usize = 1 << 20;

/// Limit of a form in bytes. It is above that of JSON bodies, because a SAML response of 1 MB grows by its encoding.
const LARGEST_FORM_BYTES: usize = 4 << 20;

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, AuthError>>>>;

/// A JSON body, which must be an object. Unknown members are ignored; a missing or malformed body is 400 `bad_json`.
pub(crate) struct Json<T>(pub(crate) T);

/// Like [`Json`], but a missing body counts as `{}`.
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for Json<T> {
    type Error = AuthError;
    type Future = Pending<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (payload, caller) = (payload.take(), Caller::extract(request));
        Box::pin(async move {
            let body = read_bytes(payload, &caller, LARGEST_BYTES).await?;
            Ok(Self(parse_object(&body)?))
        })
    }
}

impl<T: DeserializeOwned + Default + 'static> FromRequest for OptionalJson<T> {
    type Error = AuthError;
    type Future = Pending<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (payload, caller) = (payload.take(), Caller::extract(request));
        Box::pin(async move {
            let body = read_bytes(payload, &caller, LARGEST_BYTES).await?;
            Ok(Self(if body.is_empty() {
                T::default()
            } else {
                parse_object(&body)?
            }))
        })
    }
}

/// An urlencoded form. Compat: any other kind of body counts as a form without fields.
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// The first field of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl FromRequest for Form {
    type Error = AuthError;
    type Future = Pending<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (payload, caller) = (payload.take(), Caller::extract(request));
        let is_form = request.content_type() == "application/x-www-form-urlencoded";
        Box::pin(async move {
            let body = read_bytes(payload, &caller, LARGEST_FORM_BYTES).await?;
            let fields: &[u8] = if is_form { body.as_ref() } else { &[] };
            Ok(Self(form_urlencoded::parse(fields).into_owned().collect()))
        })
    }
}

/// Parses an object; null counts as `{}`. Arrays are refused here, because serde would read their items as fields in
/// order.
fn parse_object<T: DeserializeOwned>(body: &[u8]) -> Result<T, AuthError> {
    // Compat: upstream's JSON decoder accepts `null` for an object.
    let body = match body.trim_ascii() {
        b"" => return Err(AuthError::BadJson("unexpected end of JSON input".to_owned())),
        b"null" => b"{}",
        body => body,
    };
    let bad = |error: serde_json::Error| AuthError::BadJson(error.to_string());
    // Through a `Value`: of a repeated member the last one counts, as with upstream, where a struct would refuse it.
    let Value::Object(mut members) = serde_json::from_slice(body).map_err(bad)? else {
        return Err(AuthError::BadJson("an object is expected".to_owned()));
    };
    // Compat: upstream's decoder finds members in any case, and clients of other languages send `Email`. All names that
    // bodies have are in lower case.
    if members
        .keys()
        .any(|name| name.bytes().any(|byte| byte.is_ascii_uppercase()))
    {
        members = members
            .into_iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
    }
    serde_json::from_value(Value::Object(members)).map_err(bad)
}

/// Reads the whole body.
///
/// # Errors
/// 413 `request_entity_too_large`, 503 when memory is short, 400 `bad_json` for a body that stops arriving.
async fn read_bytes(payload: Payload, caller: &Caller, largest: usize) -> Result<Bytes, AuthError> {
    let limits = BodyLimits::of_caller(largest, BodyForm::Json, caller);
    read_body(payload, limits).await.map_err(|error| match error {
        BodyError::TooLarge => AuthError::TooLarge,
        BodyError::OutOfMemory => AuthError::OutOfMemory,
        BodyError::TooSlow | BodyError::Broken(_) => AuthError::BadJson(error.to_string()),
    })
}

/// Reads an optional string: null, missing and `""` mean the same.
pub(crate) fn read_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads an optional flag: null, missing and `false` mean the same.
pub(crate) fn read_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads optional metadata: null, missing and `{}` mean the same.
pub(crate) fn read_metadata<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::<Map<String, Value>>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads optional metadata of a new user. Members that are null are left out: with them a change of metadata removes a key,
/// and a new user has none to remove.
pub(crate) fn read_new_metadata<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    let mut members = read_metadata(deserializer)?;
    members.retain(|_, value| !value.is_null());
    Ok(members)
}
