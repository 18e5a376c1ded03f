//! The query of a request. Of a parameter that comes twice the first counts; nothing in a query is malformed.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::AuthError;

/// The parameters that a handler knows, as a struct of strings.
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
        ready(parse(request.query_string()).map(Self))
    }
}

fn parse<T: DeserializeOwned>(query: &str) -> Result<T, AuthError> {
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
    struct Known {
        scope: String,
        #[serde(rename = "type")]
        kind: String,
    }

    #[test]
    fn auth_015_the_first_of_two_equal_parameters_counts() {
        let read = |query: &str| parse::<Known>(query).expect("nothing is malformed");

        let known = read("scope=local&scope=others&other=1&type=a%20b&%zz=%");
        assert_eq!((known.scope.as_str(), known.kind.as_str()), ("local", "a b"));
        assert_eq!(read("").scope, "");
    }
}
