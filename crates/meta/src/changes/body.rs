//! Reads requests that change objects.

use actix_web::HttpRequest;
use actix_web::http::header::ORIGIN;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::MetaError;
use crate::lists::parse_pairs;

/// Refuses requests from web pages. Browsers name the page in this header on every request that is no GET, and pages cannot
/// leave it out.
pub(crate) fn reject_web_page(request: &HttpRequest) -> Result<(), MetaError> {
    if request.headers().contains_key(ORIGIN) {
        return Err(MetaError::FromWebPage);
    }
    Ok(())
}

/// Reads the JSON of a body.
pub(super) fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, MetaError> {
    serde_json::from_slice(body).map_err(|error| MetaError::Request(format!("body: {error}")))
}

/// Whether what depends on an object is dropped with it.
pub(super) fn wants_cascade(query: &str) -> Result<bool, MetaError> {
    let pairs = parse_pairs(query)?;
    Ok(pairs
        .iter()
        .any(|(name, value)| name == "cascade" && value == "true"))
}

/// Reads a member that may be null on purpose: `Some(None)` is null, `None` is missing.
pub(super) fn read_nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Reads a member of any type, null included.
pub(super) fn read_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads an oid, which some clients send as text.
pub(super) fn read_oid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| D::Error::custom("an id must be an integer"))
}
