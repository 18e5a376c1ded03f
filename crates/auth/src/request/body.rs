//! JSON bodies: bounded, with Auth's own errors.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{FromRequest, HttpRequest};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::AuthError;

const LARGEST_BYTES: usize = 1 << 20;

type Pending<T> = Pin<Box<dyn Future<Output = Result<T, AuthError>>>>;

/// A JSON body. Unknown members are ignored.
pub(crate) struct Json<T>(pub(crate) T);

/// A JSON body that may be missing; then everything has its default.
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for Json<T> {
    type Error = AuthError;
    type Future = Pending<Self>;

    fn from_request(_: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let payload = payload.take();
        Box::pin(async move { Ok(Self(parse(&read(payload).await?)?)) })
    }
}

impl<T: DeserializeOwned + Default + 'static> FromRequest for OptionalJson<T> {
    type Error = AuthError;
    type Future = Pending<Self>;

    fn from_request(_: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let payload = payload.take();
        Box::pin(async move {
            let body = read(payload).await?;
            Ok(Self(if body.is_empty() {
                T::default()
            } else {
                parse(&body)?
            }))
        })
    }
}

/// Reads an object; null stands for an empty one. A list is none, though serde would take its items for members in order.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, AuthError> {
    let body = match body.trim_ascii() {
        b"" => return Err(AuthError::BadJson("unexpected end of JSON input".to_owned())),
        b"null" => b"{}",
        body => body,
    };
    let bad = |error: serde_json::Error| AuthError::BadJson(error.to_string());
    // By way of a value: of a member that comes twice the last counts, as with upstream.
    let value: Value = serde_json::from_slice(body).map_err(bad)?;
    if !value.is_object() {
        return Err(AuthError::BadJson("an object is expected".to_owned()));
    }
    serde_json::from_value(value).map_err(bad)
}

async fn read(mut payload: Payload) -> Result<Bytes, AuthError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| AuthError::BadJson(error.to_string()))?;
        if body.len() + chunk.len() > LARGEST_BYTES {
            return Err(AuthError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Reads an optional string: null, missing and `""` mean the same.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads an optional flag: null, missing and `false` mean the same.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads optional metadata: null, missing and `{}` mean the same.
pub(crate) fn metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::<Map<String, Value>>::deserialize(deserializer)?.unwrap_or_default())
}
