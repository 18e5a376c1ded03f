//! Parses the query string and the JSON body of POST, PATCH and DELETE below `/pg`.

use actix_web::HttpRequest;
use actix_web::http::header::ORIGIN;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::MetaError;
use crate::lists::parse_pairs;

/// Refuses requests with a header `Origin`. Browsers add it to every POST, PATCH and DELETE of a web page, and scripts cannot
/// remove it.
///
/// # Errors
/// 403 [`MetaError::FromWebPage`].
pub(crate) fn reject_web_page(request: &HttpRequest) -> Result<(), MetaError> {
    if request.headers().contains_key(ORIGIN) {
        return Err(MetaError::FromWebPage);
    }
    Ok(())
}

/// Parses a request's JSON body.
///
/// # Errors
/// 400 with serde's message when it is no JSON or has another shape.
pub(super) fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, MetaError> {
    serde_json::from_slice(body).map_err(|error| MetaError::Request(format!("body: {error}")))
}

/// Whether the query string has `cascade=true`, so that a DROP also drops the objects that depend on the dropped one.
pub(super) fn wants_cascade(query: &str) -> Result<bool, MetaError> {
    let pairs = parse_pairs(query)?;
    Ok(pairs
        .iter()
        .any(|(name, value)| name == "cascade" && value == "true"))
}

/// Deserializes a member for which null and absence differ: null gives `Some(None)`; with `#[serde(default)]` a missing member
/// gives `None`.
pub(super) fn read_nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Deserializes a member of any JSON type. Null gives `Some(Value::Null)`, where serde's own `Option` would give `None`.
pub(super) fn read_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Deserializes an oid from a JSON number, or from a string of digits, as some clients send it.
pub(super) fn read_oid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| D::Error::custom("an id must be an integer"))
}
