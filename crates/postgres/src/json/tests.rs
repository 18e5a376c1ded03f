//! Compares values with JSON copied from PostgreSQL. `tests/json_rows.rs` compares them with a running one.

use postgres_types::Type;
use proptest::prelude::*;
use selvedge_memory::MemoryBudget;

use super::text_form::TextForm;
use super::value::write_value;
use super::{JsonForm, JsonRows, JsonShape};
use crate::wire::Column;

fn json(r#type: &Type, text: &str) -> String {
    let mut out = Vec::new();
    let kind = TextForm::from_type_oid(r#type.oid()).expect("a type that can be written");
    write_value(&mut out, &kind, text.as_bytes());
    String::from_utf8(out).expect("text")
}

#[test]
fn values_are_written_as_postgresql_writes_them() {
    for (r#type, text, expected) in [
        (Type::BOOL, "t", "true"),
        (Type::BOOL, "f", "false"),
        (Type::INT4, "-7", "-7"),
        (Type::NUMERIC, "1.50", "1.50"),
        (Type::NUMERIC, "NaN", r#""NaN""#),
        (Type::FLOAT8, "-Infinity", r#""-Infinity""#),
        (Type::FLOAT8, "1e+20", "1e+20"),
        (Type::JSONB, r#"{"a": 1}"#, r#"{"a": 1}"#),
        (Type::TEXT, "a\"b\\\n\u{1}é", r#""a\"b\\\n\u0001é""#),
        (Type::DATE, "2026-01-31", r#""2026-01-31""#),
        (
            Type::TIMESTAMP,
            "2026-01-31 12:00:00.5",
            r#""2026-01-31T12:00:00.5""#,
        ),
        (
            Type::TIMESTAMPTZ,
            "2026-01-31 12:00:00+00",
            r#""2026-01-31T12:00:00+00:00""#,
        ),
        (
            Type::TIMESTAMPTZ,
            "2026-01-31 12:00:00-03:30",
            r#""2026-01-31T12:00:00-03:30""#,
        ),
        (
            Type::TIMESTAMPTZ,
            "0044-03-15 12:00:00+01 BC",
            r#""0044-03-15T12:00:00+01:00 BC""#,
        ),
        (Type::TIMESTAMPTZ, "infinity", r#""infinity""#),
        (Type::INT4_ARRAY, "{}", "[]"),
        (Type::INT4_ARRAY, "[0:1]={1,NULL}", "[1,null]"),
        (
            Type::TEXT_ARRAY,
            r#"{{a,"b,\"}"},{"NULL",NULL}}"#,
            r#"[["a","b,\"}"],["NULL",null]]"#,
        ),
        (Type::JSONB_ARRAY, r#"{"{\"a\": [1]}"}"#, r#"[{"a": [1]}]"#),
    ] {
        assert_eq!(json(&r#type, text), expected, "{type} {text}");
    }
}

#[test]
fn types_without_a_known_json_form_are_left_to_postgresql() {
    for oid in [
        Type::RECORD.oid(),
        Type::BOX_ARRAY.oid(),
        Type::INT2_VECTOR.oid(),
        Type::UNKNOWN.oid(),
        16_400,
    ] {
        assert_eq!(TextForm::from_type_oid(oid), None, "{oid}");
    }
}

#[test]
fn rows_are_joined_as_json_agg_does() {
    let column = |name: &str, r#type: Type| Column {
        name: name.to_owned(),
        type_oid: r#type.oid(),
    };
    let shape =
        JsonShape::from_columns(&[column("a\"", Type::INT4), column("b", Type::TEXT)]).expect("known types");
    let row = b"\0\x02\0\0\0\x011\xff\xff\xff\xff";
    let mut rows = JsonRows::new(JsonForm::Array);

    rows.push(&shape, row, &MemoryBudget::unlimited())
        .expect("well formed");
    rows.push(&shape, row, &MemoryBudget::unlimited())
        .expect("well formed");

    let (chunks, count) = rows.finish();
    let text = chunks.flatten().collect::<Vec<u8>>();
    assert_eq!(count, 2);
    assert_eq!(text, b"[{\"a\\\"\":1,\"b\":null}, \n {\"a\\\"\":1,\"b\":null}]");
}

#[test]
fn a_row_without_columns_is_an_empty_object() {
    let shape = JsonShape::from_columns(&[]).expect("known types");
    let mut rows = JsonRows::new(JsonForm::Object);

    rows.push(&shape, b"\0\0", &MemoryBudget::unlimited())
        .expect("well formed");

    assert_eq!(rows.finish().0.flatten().collect::<Vec<u8>>(), b"{}");
}

#[test]
fn malformed_rows_are_refused() {
    let shape = JsonShape::from_columns(&[]).expect("known types");
    let mut rows = JsonRows::new(JsonForm::Array);

    assert!(
        rows.push(&shape, b"\0\x01\0\0\0\x011", &MemoryBudget::unlimited())
            .is_none()
    );
    assert!(rows.push(&shape, b"\0", &MemoryBudget::unlimited()).is_none());
}

#[test]
fn long_documents_are_split_into_chunks() {
    let column = Column {
        name: "a".to_owned(),
        type_oid: Type::TEXT.oid(),
    };
    let shape = JsonShape::from_columns(&[column]).expect("a known type");
    let mut rows = JsonRows::new(JsonForm::Array);
    let text = "x".repeat(100_000);
    let mut message = vec![0, 1];
    message.extend((text.len() as u32).to_be_bytes());
    message.extend(text.as_bytes());
    for _ in 0..5 {
        rows.push(&shape, &message, &MemoryBudget::unlimited())
            .expect("well formed");
    }

    let (chunks, _) = rows.finish();

    let length = chunks.len();
    let pieces: Vec<_> = chunks.collect();
    assert!(pieces.iter().all(|piece| piece.len() <= 70_000));
    assert_eq!(pieces.iter().map(bytes::Bytes::len).sum::<usize>(), length);
}

#[test]
fn gw_049_long_documents_are_counted_until_they_are_dropped_and_given_up_without_memory() {
    let column = Column {
        name: "a".to_owned(),
        type_oid: Type::TEXT.oid(),
    };
    let shape = JsonShape::from_columns(&[column]).expect("a known type");
    let message = |length: usize| {
        let mut message = vec![0, 1];
        message.extend((length as u32).to_be_bytes());
        message.resize(message.len() + length, b'x');
        message
    };
    for (row, count) in [(message(1_000), 900), (message(90_000), 10)] {
        let memory = MemoryBudget::new(2_300_000);
        let write = || {
            let mut rows = JsonRows::new(JsonForm::Array);
            for _ in 0..count {
                rows.push(&shape, &row, &memory).expect("well formed");
            }
            rows
        };

        let (document, _) = write().finish();
        assert!(memory.used() > 700_000, "{}", memory.used());
        let second = write();
        assert!(!second.is_out_of_memory());
        assert!(write().is_out_of_memory());
        drop((document, second));

        assert_eq!(memory.used(), 0);
    }
}

proptest! {
    #[test]
    fn any_text_becomes_a_json_string_that_parses_to_it(text: String) {
        prop_assert_eq!(serde_json::from_str::<String>(&json(&Type::TEXT, &text)).ok(), Some(text));
    }

    #[test]
    fn any_bytes_are_written_without_a_panic(text: Vec<u8>) {
        for r#type in [Type::TIMESTAMPTZ, Type::TEXT_ARRAY, Type::NUMERIC_ARRAY, Type::BOOL, Type::FLOAT4] {
            let kind = TextForm::from_type_oid(r#type.oid()).expect("a type that can be written");
            write_value(&mut Vec::new(), &kind, &text);
        }
    }
}
