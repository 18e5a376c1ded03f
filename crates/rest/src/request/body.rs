//! Request bodies: the payload, and which keys it has.
//!
//! A JSON body goes to PostgreSQL as it came. Its keys are read only where no `columns` parameter names them, and its
//! values never. CSV and forms become JSON.
//!
//! How many names are kept is bounded, since a name takes several times its length in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bytes::Bytes;
use serde::Deserializer;
use serde::de::{Deserialize, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::csv_document::CsvDocument;
use super::media::MediaType;
use super::query::decode_part;
use crate::error::RequestError;

/// The payload of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// A JSON document for `json_to_record(set)`.
    Json(Bytes),
    /// Rows that become such a document once their columns are known.
    Csv(CsvDocument),
    /// Named arguments of a form, in order.
    Arguments(Vec<(String, String)>),
    /// The whole body, as the one argument of a function.
    Raw(Bytes),
}

/// A payload and the keys it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    pub payload: Payload,
    /// The names of the columns, sorted, without duplicates.
    pub keys: Vec<String>,
}

/// Error PGRST102 with this message.
fn invalid_body(message: &str) -> RequestError {
    RequestError::Body(message.to_owned())
}

/// Message for a body that is not a JSON document.
const INVALID_JSON: &str = "Empty or invalid json";
/// Message for objects with different keys.
const UNEQUAL_KEYS: &str = "All object keys must match";

/// Reads a body of type `content_type`; `columns` is the parameter that names its keys.
///
/// # Errors
/// PGRST102 for a body that is malformed, too deep, or of a type that is not accepted.
pub fn parse_body(
    bytes: &Bytes,
    content_type: &MediaType,
    columns: Option<&[String]>,
    is_call: bool,
) -> Result<Body, RequestError> {
    match content_type {
        MediaType::Json => parse_json(bytes, columns, is_call),
        MediaType::Csv => {
            let document = CsvDocument::parse(bytes)?;
            let keys = take_keys(document.columns().iter().cloned(), is_call)?;
            Ok(Body {
                payload: Payload::Csv(document),
                keys,
            })
        }
        MediaType::Form if is_call => {
            let arguments = form_pairs(bytes)?;
            let keys = take_keys(arguments.iter().map(|(key, _)| key.clone()), is_call)?;
            Ok(Body {
                payload: Payload::Arguments(arguments),
                keys,
            })
        }
        MediaType::Form => form_to_json(bytes),
        MediaType::Text | MediaType::Xml | MediaType::Bytes if is_call => Ok(Body {
            payload: Payload::Raw(bytes.clone()),
            keys: Vec::new(),
        }),
        other => Err(RequestError::Body(format!(
            "Content-Type not acceptable: {}",
            other.mime()
        ))),
    }
}

/// Names that a body may have: the columns of a table, which PostgreSQL limits.
const MOST_KEYS: usize = 1600;
/// Longest name that is kept whole, in bytes. Those of PostgreSQL have 63, so a longer one is in no catalog; it is only shown.
const LONGEST_KEY: usize = 256;
/// Most fields of a form, which may repeat a name for the elements of an array.
const MOST_FIELDS: usize = 10_000;

/// The names of a body, sorted and without duplicates: at most one more than are allowed, which tells that there are more.
#[derive(Debug, Default, PartialEq, Eq)]
struct Keys(BTreeSet<String>);

impl Keys {
    fn insert(&mut self, mut key: String) {
        if self.0.len() > MOST_KEYS {
            return;
        }
        if key.len() > LONGEST_KEY {
            key.truncate(key.floor_char_boundary(LONGEST_KEY));
            key.push('…');
            key.shrink_to_fit();
        }
        self.0.insert(key);
    }

    /// The names as a list.
    ///
    /// # Errors
    /// PGRST102 for a write with too many. A call of a function with one unnamed parameter may have any number; no other
    /// function has that many parameters.
    fn into_list(self, is_call: bool) -> Result<Vec<String>, RequestError> {
        if self.0.len() > MOST_KEYS && !is_call {
            return Err(RequestError::Body(format!(
                "The body names more than {MOST_KEYS} columns"
            )));
        }
        Ok(self.0.into_iter().collect())
    }
}

fn take_keys(keys: impl Iterator<Item = String>, is_call: bool) -> Result<Vec<String>, RequestError> {
    let mut taken = Keys::default();
    keys.for_each(|key| taken.insert(key));
    taken.into_list(is_call)
}

/// Checks a JSON document and reads its keys; its bytes are passed on as they are.
fn parse_json(bytes: &Bytes, columns: Option<&[String]>, is_call: bool) -> Result<Body, RequestError> {
    // Checked first, and also with `columns`: PostgreSQL parses the document in either case.
    if is_too_deep(bytes) {
        return Err(RequestError::BodyTooDeep);
    }
    if let Some(columns) = columns {
        return Ok(Body {
            payload: Payload::Json(bytes.clone()),
            keys: take_keys(columns.iter().cloned(), is_call)?,
        });
    }
    // Compat: a call without a body has no arguments; for a write an empty body is an error.
    if bytes.is_empty() && is_call {
        return Ok(Body {
            payload: Payload::Json(Bytes::from_static(b"{}")),
            keys: Vec::new(),
        });
    }
    match serde_json::from_slice::<JsonShape>(bytes) {
        Err(_) => Err(invalid_body(INVALID_JSON)),
        Ok(JsonShape::UnequalKeys) => Err(invalid_body(UNEQUAL_KEYS)),
        Ok(JsonShape::Rows(keys)) => Ok(Body {
            payload: Payload::Json(bytes.clone()),
            keys: keys.into_list(is_call)?,
        }),
        // An empty array in place of a scalar: `json_to_recordset` refuses anything but arrays.
        Ok(JsonShape::NoRows) => Ok(Body {
            payload: Payload::Json(Bytes::from_static(b"[]")),
            keys: Vec::new(),
        }),
    }
}

/// Deepest nesting of a JSON body. PostgreSQL would parse until its stack is full, and report that as an error of the
/// server (54001, status 500).
const MAX_JSON_DEPTH: usize = 128;

/// Whether a document nests deeper than is accepted. Only brackets outside of strings are counted; whether they match is
/// left to the JSON parser.
fn is_too_deep(document: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = document.get(at) {
        at += 1;
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_JSON_DEPTH {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_string(document, at),
            _ => {}
        }
    }
    false
}

/// The position behind a string whose opening quote is before `at`.
fn end_of_string(document: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', document.get(at..).unwrap_or_default()) {
        at += found + 1;
        if document[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    document.len()
}

/// The outer form of a JSON document.
enum JsonShape {
    /// An object, or an array of objects with these keys each.
    Rows(Keys),
    /// An array whose elements have different keys, or are not objects.
    UnequalKeys,
    /// An empty array, or a scalar. Compat: PostgREST inserts nothing for a scalar.
    NoRows,
}

impl<'de> Deserialize<'de> for JsonShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonShapeVisitor)
    }
}

/// Reads the outer form of a document: keys of objects, and nothing of their values.
struct JsonShapeVisitor;

impl<'de> Visitor<'de> for JsonShapeVisitor {
    type Value = JsonShape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonShape, A::Error> {
        let mut keys = Keys::default();
        while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            keys.insert(key);
        }
        Ok(JsonShape::Rows(keys))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonShape, A::Error> {
        let mut first: Option<Keys> = None;
        let mut has_unequal_keys = false;
        while let Some(element) = seq.next_element::<ArrayElement>()? {
            // Every object must have the keys of the first, because they become the columns of one INSERT.
            match (element.0, &first) {
                (Some(keys), None) => first = Some(keys),
                (Some(keys), Some(known)) if keys == *known => {}
                _ => has_unequal_keys = true,
            }
        }
        Ok(match first {
            _ if has_unequal_keys => JsonShape::UnequalKeys,
            Some(keys) => JsonShape::Rows(keys),
            None => JsonShape::NoRows,
        })
    }

    fn visit_unit<E>(self) -> Result<JsonShape, E> {
        Ok(JsonShape::NoRows)
    }

    fn visit_bool<E>(self, _: bool) -> Result<JsonShape, E> {
        Ok(JsonShape::NoRows)
    }

    fn visit_i64<E>(self, _: i64) -> Result<JsonShape, E> {
        Ok(JsonShape::NoRows)
    }

    fn visit_u64<E>(self, _: u64) -> Result<JsonShape, E> {
        Ok(JsonShape::NoRows)
    }

    fn visit_f64<E>(self, _: f64) -> Result<JsonShape, E> {
        Ok(JsonShape::NoRows)
    }

    fn visit_str<E>(self, _: &str) -> Result<JsonShape, E> {
        Ok(JsonShape::NoRows)
    }
}

/// An array element: its keys, if it is an object.
struct ArrayElement(Option<Keys>);

impl<'de> Deserialize<'de> for ArrayElement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonShape::deserialize_element(deserializer)
    }
}

impl JsonShape {
    fn deserialize_element<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ArrayElement, D::Error> {
        /// Reads the keys of an array's element.
        struct ArrayElementVisitor;
        impl<'de> Visitor<'de> for ArrayElementVisitor {
            type Value = ArrayElement;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ArrayElement, A::Error> {
                match JsonShapeVisitor.visit_map(map)? {
                    JsonShape::Rows(keys) => Ok(ArrayElement(Some(keys))),
                    _ => Ok(ArrayElement(None)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ArrayElement, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(ArrayElement(None))
            }

            fn visit_unit<E>(self) -> Result<ArrayElement, E> {
                Ok(ArrayElement(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<ArrayElement, E> {
                Ok(ArrayElement(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<ArrayElement, E> {
                Ok(ArrayElement(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<ArrayElement, E> {
                Ok(ArrayElement(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<ArrayElement, E> {
                Ok(ArrayElement(None))
            }

            fn visit_str<E>(self, _: &str) -> Result<ArrayElement, E> {
                Ok(ArrayElement(None))
            }
        }
        deserializer.deserialize_any(ArrayElementVisitor)
    }
}

/// Names and values of a form, decoded.
fn form_pairs(bytes: &Bytes) -> Result<Vec<(String, String)>, RequestError> {
    let text = std::str::from_utf8(bytes).map_err(|_| invalid_body("The form is not valid UTF-8"))?;
    let fields = || text.split(['&', ';']).filter(|part| !part.is_empty());
    if fields().nth(MOST_FIELDS).is_some() {
        return Err(RequestError::Body(format!(
            "The form has more than {MOST_FIELDS} fields"
        )));
    }
    fields()
        .map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decode_part(key)?.into_owned(), decode_part(value)?.into_owned()))
        })
        .collect()
}

/// Converts a form to a JSON object of strings; if a name has several values, the last one is used.
fn form_to_json(bytes: &Bytes) -> Result<Body, RequestError> {
    let pairs: BTreeMap<String, String> = form_pairs(bytes)?.into_iter().collect();
    let keys = take_keys(pairs.keys().cloned(), false)?;
    let mut out = String::from("{");
    for (key, value) in &pairs {
        if out.len() > 1 {
            out.push(',');
        }
        super::headers::write_string(&mut out, key.as_bytes());
        out.push(':');
        super::headers::write_string(&mut out, value.as_bytes());
    }
    out.push('}');
    Ok(Body {
        payload: Payload::Json(out.into()),
        keys,
    })
}

/// Whether a document is an object, judged by its first character after white space.
pub fn looks_like_object(document: &[u8]) -> bool {
    document
        .iter()
        .find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        == Some(&b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &'static str) -> Result<Body, RequestError> {
        parse_body(
            &Bytes::from_static(text.as_bytes()),
            &MediaType::Json,
            None,
            false,
        )
    }

    fn message(result: Result<Body, RequestError>) -> String {
        match result {
            Err(RequestError::Body(message)) => message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn rest_040_objects_with_different_keys_are_refused() {
        assert_eq!(message(json(r#"[{"a":1},{"b":2}]"#)), UNEQUAL_KEYS);
        assert_eq!(message(json(r#"[{"a":1},3]"#)), UNEQUAL_KEYS);
        assert_eq!(
            json(r#"[{"b":1,"a":[{}]},{"a":2,"b":null}]"#).unwrap().keys,
            ["a", "b"]
        );
    }

    #[test]
    fn rest_043_broken_or_missing_json_is_refused() {
        assert_eq!(message(json("")), INVALID_JSON);
        assert_eq!(message(json("{\"a\":")), INVALID_JSON);
        assert_eq!(message(json("{} x")), INVALID_JSON);
    }

    #[test]
    fn rest_043_deep_nesting_is_refused_also_with_the_columns_parameter() {
        let nested = |depth: usize| Bytes::from("[".repeat(depth) + "\"[[\\\"[\"" + &"]".repeat(depth));
        let columns = ["a".to_owned()];

        for (depth, columns, refused) in [
            (128, None, false),
            (128, Some(&columns[..]), false),
            (129, None, true),
            (129, Some(&columns[..]), true),
            (1_000_000, None, true),
        ] {
            let body = parse_body(&nested(depth), &MediaType::Json, columns, false);
            assert_eq!(body == Err(RequestError::BodyTooDeep), refused, "{depth}");
        }
    }

    #[test]
    fn rest_042_scalars_and_empty_arrays_hold_no_rows() {
        for text in ["3", "null", "\"x\"", "[]", "true"] {
            assert_eq!(
                json(text).unwrap().payload,
                Payload::Json(Bytes::from_static(b"[]")),
                "{text}"
            );
        }
    }

    #[test]
    fn rest_039_with_the_columns_parameter_the_body_is_not_parsed() {
        let body = Bytes::from_static(b"not json");
        let columns = ["b".to_owned(), "a".to_owned()];

        let parsed = parse_body(&body, &MediaType::Json, Some(&columns), false).unwrap();

        assert_eq!(parsed.keys, ["a", "b"]);
        assert_eq!(parsed.payload, Payload::Json(body));
    }

    #[test]
    fn rest_099_csv_and_forms_become_json() {
        let csv = parse_body(
            &Bytes::from_static(b"a,b\n1,NULL\n,\"x\"\"y\"\n"),
            &MediaType::Csv,
            None,
            false,
        );
        let ragged = parse_body(
            &Bytes::from_static(b"a,b\n1\n2,3\n"),
            &MediaType::Csv,
            None,
            false,
        );
        let form = parse_body(
            &Bytes::from_static(b"a=1&b=x+y&a=2"),
            &MediaType::Form,
            None,
            false,
        );

        let Payload::Csv(document) = csv.unwrap().payload else {
            panic!("no CSV");
        };
        assert_eq!(
            document.into_json(&selvedge_memory::MemoryBudget::unlimited()),
            Some(Bytes::from_static(br#"[{"a":"1","b":null},{"a":"","b":"x\"y"}]"#))
        );
        assert_eq!(message(ragged), "All lines must have same number of fields");
        assert_eq!(
            form.unwrap().payload,
            Payload::Json(Bytes::from_static(br#"{"a":"2","b":"x y"}"#))
        );
    }

    #[test]
    fn rest_043_names_beyond_those_of_any_table_are_neither_kept_nor_shown_whole() {
        let object = |count: usize| {
            let names: Vec<String> = (0..count).map(|n| format!("\"{n}\":0")).collect();
            Bytes::from(format!("{{{}}}", names.join(",")))
        };
        let parse = |body: &Bytes, media: &MediaType, is_call| parse_body(body, media, None, is_call);

        assert!(parse(&object(MOST_KEYS), &MediaType::Json, false).is_ok());
        let refused = parse(&object(MOST_KEYS + 1), &MediaType::Json, false);
        assert_eq!(message(refused), "The body names more than 1600 columns");
        // For the one unnamed parameter of a function.
        let called = parse(&object(100_000), &MediaType::Json, true).unwrap();
        assert_eq!(called.keys.len(), MOST_KEYS + 1);
        let long = Bytes::from(format!("{{\"{}\":0}}", "ü".repeat(1000)));
        let shown = parse(&long, &MediaType::Json, false).unwrap().keys;
        assert_eq!(shown, [format!("{}…", "ü".repeat(128))]);
        for is_call in [false, true] {
            let form = Bytes::from("a&".repeat(MOST_FIELDS + 1));
            let refused = parse(&form, &MediaType::Form, is_call);
            assert_eq!(message(refused), "The form has more than 10000 fields");
        }
    }

    #[test]
    fn rest_098_an_unaccepted_content_type_is_named_in_the_error() {
        let other = parse_body(&Bytes::new(), &MediaType::Text, None, false);

        assert_eq!(message(other), "Content-Type not acceptable: text/plain");
    }
}
