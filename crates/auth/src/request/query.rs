//! Extractor for query parameters. Of a repeated parameter the first value counts, and invalid percent-encoding is
//! kept unchanged; neither is an error.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::AuthError;

/// The query as a struct whose fields are strings; parameters that it does not name are ignored. Handlers parse
/// numbers and flags themselves, so that each can give the error text of upstream.
pub(crate) struct Query<T>(T);

impl<T> Deref for Query<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for Query<T> {
    type Error = AuthError;
    type Future = Ready<Result<Self, AuthError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(parse_query(request.query_string()).map(Self))
    }
}

/// Reads the query string into the struct.
///
/// # Errors
/// 400 `validation_failed`.
fn parse_query<T: DeserializeOwned>(query: &str) -> Result<T, AuthError> {
    let mut members = Map::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        members
            .entry(name)
            .or_insert_with(|| Value::String(value.into_owned()));
    }
    serde_json::from_value(Value::Object(members))
        .map_err(|error| AuthError::invalid(format!("Bad query: {error}")))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct KnownParameters {
        scope: String,
        #[serde(rename = "type")]
        kind: String,
    }

    #[test]
    fn auth_015_the_first_of_repeated_parameters_counts() {
        let read = |query: &str| parse_query::<KnownParameters>(query).expect("nothing is malformed");

        let known = read("scope=local&scope=others&other=1&type=a%20b&%zz=%");
        assert_eq!((known.scope.as_str(), known.kind.as_str()), ("local", "a b"));
        assert_eq!(read("").scope, "");
    }
}
