//! JSON written by this process means what PostgreSQL's text form means; `serde_json` reads it back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_postgres::{JsonType, write_json_string};
use serde_json::Value;

/// A text, the elements of an array, and any bytes as the value of a type.
type Input<'a> = (&'a str, Vec<Option<&'a str>>, u16, &'a [u8]);

fuzz_target!(|input: Input<'_>| {
    let (text, elements, type_oid, value) = input;
    let mut json = Vec::new();
    write_json_string(&mut json, text);
    assert_eq!(
        serde_json::from_slice::<String>(&json).expect("a JSON string"),
        text
    );

    let mut json = Vec::new();
    JsonType::string()
        .array()
        .write(&mut json, array_text(&elements).as_bytes());
    let expected: Vec<Value> = elements.iter().map(|element| Value::from(*element)).collect();
    assert_eq!(
        serde_json::from_slice::<Vec<Value>>(&json).expect("a JSON array"),
        expected
    );

    if let Some(r#type) = JsonType::from_type_oid(type_oid.into()) {
        r#type.write(&mut Vec::new(), value);
    }
});

/// The text form of an array, as PostgreSQL's `array_out` writes it.
fn array_text(elements: &[Option<&str>]) -> String {
    let elements: Vec<_> = elements
        .iter()
        .map(|element| element.map_or("NULL".to_owned(), element_text))
        .collect();
    format!("{{{}}}", elements.join(","))
}

fn element_text(element: &str) -> String {
    let is_special = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b || b"{}\",\\".contains(&byte);
    if !element.is_empty() && !element.eq_ignore_ascii_case("null") && !element.bytes().any(is_special) {
        return element.to_owned();
    }
    format!("\"{}\"", element.replace('\\', "\\\\").replace('"', "\\\""))
}
