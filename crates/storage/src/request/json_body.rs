//! Reads JSON request bodies like the original's schema validation: scalars are coerced, unknown fields ignored, and
//! error messages name the field.

use actix_web::http::header;
use actix_web::{HttpRequest, web};
use bytes::Bytes;
use selvedge_gateway::{BodyError, BodyForm, BodyLimits, Caller, read_body};
use serde_json::{Map, Value};

use crate::error::StorageError;

/// Largest JSON body in bytes.
const JSON_MAX_BYTES: usize = 1024 * 1024;

/// Whether an empty body with a JSON content type is accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyBody {
    Refused,
    Accepted,
}

/// Reads a body; `None` when it is empty or its content type is not JSON.
///
/// # Errors
/// `EmptyJson`, `BrokenJson`, `JsonTooLarge`, `OutOfMemory`, `Aborted`.
pub(crate) async fn read_json(
    request: &HttpRequest,
    payload: web::Payload,
    empty: EmptyBody,
) -> Result<Option<Value>, StorageError> {
    read_json_of(request, payload, empty, BodyForm::Json).await
}

/// The same for a body that may have more values than others.
///
/// # Errors
/// As [`read_json`].
pub(crate) async fn read_json_of(
    request: &HttpRequest,
    payload: web::Payload,
    empty: EmptyBody,
    form: BodyForm,
) -> Result<Option<Value>, StorageError> {
    let body = read_bytes(request, payload, form).await?;
    if !is_json(request) {
        return Ok(None);
    }
    match (body.is_empty(), empty) {
        (true, EmptyBody::Accepted) => Ok(None),
        (true, EmptyBody::Refused) => Err(StorageError::EmptyJson),
        (false, _) => {
            // A byte order mark is not JSON, but parsers may ignore it (RFC 8259 §8.1).
            let text = body.strip_prefix(b"\xef\xbb\xbf".as_slice()).unwrap_or(&body);
            serde_json::from_slice(text)
                .map(Some)
                .map_err(|_| StorageError::BrokenJson)
        }
    }
}

/// Reads a body that must be a JSON object.
///
/// # Errors
/// As [`read_json`], and `Schema` for anything but an object.
pub(crate) async fn read_object(
    request: &HttpRequest,
    payload: web::Payload,
) -> Result<Fields, StorageError> {
    match read_json(request, payload, EmptyBody::Refused).await? {
        Some(Value::Object(map)) => Ok(Fields {
            path: "body".to_owned(),
            map,
        }),
        _ => Err(StorageError::Schema("body must be object".to_owned())),
    }
}

fn is_json(request: &HttpRequest) -> bool {
    let declared = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = declared
        .and_then(|text| text.split(';').next())
        .unwrap_or_default()
        .trim();
    essence.eq_ignore_ascii_case("application/json")
}

async fn read_bytes(
    request: &HttpRequest,
    payload: web::Payload,
    form: BodyForm,
) -> Result<Bytes, StorageError> {
    let caller = Caller::extract(request);
    let limits = BodyLimits::of_caller(JSON_MAX_BYTES, form, &caller);
    read_body(payload, limits).await.map_err(|error| match error {
        BodyError::TooLarge => StorageError::JsonTooLarge,
        BodyError::OutOfMemory => StorageError::OutOfMemory,
        BodyError::TooSlow | BodyError::Broken(_) => StorageError::Aborted,
    })
}

/// The fields of a JSON object, with the path that error messages show.
#[derive(Debug)]
pub(crate) struct Fields {
    path: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The fields of a body that is an object.
    #[cfg(test)]
    pub(crate) fn of_value(value: Value) -> Self {
        let Value::Object(map) = value else {
            panic!("an object")
        };
        Self {
            path: "body".to_owned(),
            map,
        }
    }

    /// The path of this object, as error messages show it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A field without any conversion.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// A required field without any conversion.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn required(&self, name: &str) -> Result<&Value, StorageError> {
        self.value(name)
            .ok_or_else(|| self.error(&format!("must have required property '{name}'")))
    }

    /// A required text.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn required_text(&self, name: &str) -> Result<String, StorageError> {
        self.required(name)?;
        Ok(self.text(name)?.unwrap_or_default())
    }

    /// A text. Numbers and booleans are converted, null becomes the empty text.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, StorageError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Null) => Ok(Some(String::new())),
            Some(scalar @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(scalar.to_string())),
            Some(_) => Err(self.field_error(name, "must be string")),
        }
    }

    /// A boolean. `"true"`, `"false"`, 1, 0 and null are converted.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, StorageError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(Value::Null) => Ok(Some(false)),
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(Value::Number(number)) if number.as_f64() == Some(1.0) => Ok(Some(true)),
            Some(Value::Number(number)) if number.as_f64() == Some(0.0) => Ok(Some(false)),
            Some(_) => Err(self.field_error(name, "must be boolean")),
        }
    }

    /// An integer of at least `minimum`. Digits in a text, booleans and null are converted.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn integer(&self, name: &str, minimum: i64) -> Result<Option<i64>, StorageError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Null | Value::Bool(false) => Some(0),
            Value::Bool(true) => Some(1),
            Value::Number(number) => number.as_i64().or_else(|| to_integer(number.as_f64())),
            Value::String(text) => text.trim().parse().ok(),
            Value::Array(_) | Value::Object(_) => None,
        };
        let number = number.ok_or_else(|| self.field_error(name, "must be integer"))?;
        if number < minimum {
            return Err(self.field_error(name, &format!("must be >= {minimum}")));
        }
        Ok(Some(number))
    }

    /// A required integer.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn required_integer(&self, name: &str, minimum: i64) -> Result<i64, StorageError> {
        self.required(name)?;
        Ok(self.integer(name, minimum)?.unwrap_or_default())
    }

    /// A required list of 1 to `most` texts; a single text counts as a list of one.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn required_texts(
        &self,
        name: &str,
        most: Option<usize>,
    ) -> Result<Vec<String>, StorageError> {
        let entries = self.required_list(name, most)?.iter().enumerate();
        entries
            .map(|(at, entry)| self.entry_text(name, at, entry))
            .collect()
    }

    /// A required list of 1 to `most` entries, whose types are not checked; a single text counts as a list of one.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn required_list(&self, name: &str, most: Option<usize>) -> Result<&[Value], StorageError> {
        let entries = match self.required(name)? {
            Value::Array(entries) => entries.as_slice(),
            single @ (Value::String(_) | Value::Number(_) | Value::Bool(_)) => std::slice::from_ref(single),
            _ => return Err(self.field_error(name, "must be array")),
        };
        if entries.is_empty() {
            return Err(self.field_error(name, "must NOT have fewer than 1 items"));
        }
        if let Some(most) = most.filter(|most| entries.len() > *most) {
            return Err(self.field_error(name, &format!("must NOT have more than {most} items")));
        }
        Ok(entries)
    }

    /// An entry of the list `name` as text, converted as [`Self::text`] does.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn entry_text(&self, name: &str, at: usize, entry: &Value) -> Result<String, StorageError> {
        match entry {
            Value::String(text) => Ok(text.clone()),
            Value::Null => Ok(String::new()),
            Value::Number(_) | Value::Bool(_) => Ok(entry.to_string()),
            _ => Err(self.field_error(&format!("{name}/{at}"), "must be string")),
        }
    }

    /// A text that is one of `words`.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn one_of<'w>(&self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, StorageError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let found = words.iter().find(|word| **word == text).copied();
        found
            .map(Some)
            .ok_or_else(|| self.field_error(name, "must be equal to one of the allowed values"))
    }

    /// A nested object.
    ///
    /// # Errors
    /// `Schema`.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Self>, StorageError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self {
                path: format!("{}/{name}", self.path),
                map: map.clone(),
            })),
            Some(_) => Err(self.field_error(name, "must be object")),
        }
    }

    fn error(&self, what: &str) -> StorageError {
        StorageError::Schema(format!("{} {what}", self.path))
    }

    fn field_error(&self, name: &str, what: &str) -> StorageError {
        StorageError::Schema(format!("{}/{name} {what}", self.path))
    }
}

/// The number as an integer, if it has no fraction.
fn to_integer(number: Option<f64>) -> Option<i64> {
    // Below 2^63, so that the cast cannot saturate.
    let number = number.filter(|n| n.fract() == 0.0 && n.abs() < 9.2e18)?;
    Some(number as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn store_024_scalars_are_converted_and_errors_name_the_field() {
        let body =
            Fields::of_value(json!({"n": "60", "f": 1.5, "b": "true", "s": 5, "sortBy": {"column": "nope"}}));

        assert_eq!(body.required_integer("n", 1).expect("coerced"), 60);
        assert_eq!(
            body.required_integer("f", 1).expect_err("fraction").to_string(),
            "body/f must be integer"
        );
        assert_eq!(
            body.integer("n", 61).expect_err("small").to_string(),
            "body/n must be >= 61"
        );
        assert_eq!(body.boolean("b").expect("coerced"), Some(true));
        assert_eq!(body.required_text("s").expect("coerced"), "5");
        assert_eq!(
            body.required_text("x").expect_err("missing").to_string(),
            "body must have required property 'x'"
        );
        let sort = body.object("sortBy").expect("object").expect("present");
        assert_eq!(
            sort.one_of("column", &["name"]).expect_err("unknown").to_string(),
            "body/sortBy/column must be equal to one of the allowed values"
        );
    }

    #[test]
    fn store_018_empty_and_too_long_lists_are_refused() {
        let body = Fields::of_value(json!({"paths": [], "many": ["a", "b"], "one": "a"}));

        let text = body.required_texts("paths", None).expect_err("empty").to_string();
        assert_eq!(text, "body/paths must NOT have fewer than 1 items");
        let text = body
            .required_texts("many", Some(1))
            .expect_err("too many")
            .to_string();
        assert_eq!(text, "body/many must NOT have more than 1 items");
        assert_eq!(body.required_texts("one", None).expect("list of one"), ["a"]);
    }
}
