//! Converts a value from PostgreSQL's text form to the JSON that postgres-meta writes for its type.

use serde_json::{Number, Value, json};

use super::array::read_array;

/// How a type's values are written in JSON. Values of types without a form are written as PostgreSQL's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Bool,
    Number,
    /// A number if JavaScript represents it exactly, else text.
    Bigint,
    Json,
    /// Bytes, as `JSON.stringify` writes a Node.js Buffer: `{"type":"Buffer","data":[…]}`.
    Bytes,
    Text,
}

/// The largest integer that JavaScript represents exactly.
const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// Returns the form of a type, by the oids of PostgreSQL's own types.
fn form_of(type_oid: u32) -> Form {
    match type_oid {
        16 => Form::Bool,
        // int2, int4, oid, float4, float8
        21 | 23 | 26 | 700 | 701 => Form::Number,
        20 => Form::Bigint,
        114 | 3802 => Form::Json,
        17 => Form::Bytes,
        _ => Form::Text,
    }
}

/// Returns the form of the elements of an array type, or `None` for other types and for arrays that stay text.
fn form_of_elements(type_oid: u32) -> Option<Form> {
    Some(match type_oid {
        1000 => Form::Bool,
        // int2[], int4[], oid[], float4[], float8[], numeric[]
        1005 | 1007 | 1028 | 1021 | 1022 | 1231 => Form::Number,
        199 | 3807 => Form::Json,
        1001 => Form::Bytes,
        // cidr, money, regproc, text, bpchar, varchar, macaddr, inet, int8, timestamp, date, time, timestamptz, timetz, uuid,
        // numrange
        651 | 791 | 1008 | 1009 | 1014 | 1015 | 1040 | 1041 | 1016 | 1115 | 1182 | 1183 | 1185 | 1270
        | 2951 | 3907 => Form::Text,
        _ => return None,
    })
}

/// Converts a value of the type with this oid.
pub(super) fn read_value(type_oid: u32, text: String) -> Value {
    if let Some(form) = form_of_elements(type_oid) {
        return match read_array(&text, &|element| read_form(form, element)) {
            Some(array) => array,
            None => Value::String(text),
        };
    }
    read_form(form_of(type_oid), text)
}

fn read_form(form: Form, text: String) -> Value {
    match form {
        Form::Bool => Value::Bool(text.starts_with('t')),
        Form::Number => read_number(&text),
        Form::Bigint => match text.parse::<i64>() {
            Ok(number) if (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&number) => json!(number),
            _ => Value::String(text),
        },
        Form::Json => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Form::Bytes => read_bytes(&text),
        Form::Text => Value::String(text),
    }
}

/// Parses a number. Infinities and NaN become null, as `JSON.stringify` writes them.
fn read_number(text: &str) -> Value {
    if let Ok(integer) = text.parse::<i64>() {
        return json!(integer);
    }
    let float = text.parse().ok().and_then(Number::from_f64);
    float.map_or(Value::Null, Value::Number)
}

fn read_bytes(text: &str) -> Value {
    let digits = text.strip_prefix("\\x").unwrap_or_default();
    let pair = |index: usize| {
        digits
            .get(index..index + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    let data: Vec<u8> = (0..digits.len()).step_by(2).map_while(pair).collect();
    json!({ "type": "Buffer", "data": data })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_form_of_their_type() {
        let cases = [
            (16, "t", json!(true)),
            (23, "-5", json!(-5)),
            (701, "1.5", json!(1.5)),
            (701, "NaN", Value::Null),
            (20, "9007199254740991", json!(9_007_199_254_740_991_i64)),
            (20, "9007199254740993", json!("9007199254740993")),
            (1700, "1.10", json!("1.10")),
            (3802, r#"{"a": [1]}"#, json!({ "a": [1] })),
            (17, "\\x00ff", json!({ "type": "Buffer", "data": [0, 255] })),
            (1184, "2026-01-01 00:00:00+00", json!("2026-01-01 00:00:00+00")),
            (1007, "{1,NULL,{2}}", json!([1, null, [2]])),
            (1016, "{1}", json!(["1"])),
            (1009, r#"{"a \"b\"",c}"#, json!(["a \"b\"", "c"])),
            (1005, "[0:1]={7,8}", json!([7, 8])),
            (1009, "{}", json!([])),
        ];
        for (oid, text, expected) in cases {
            assert_eq!(read_value(oid, text.to_owned()), expected, "{oid} {text}");
        }
    }
}
