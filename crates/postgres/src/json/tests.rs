//! Compares values with JSON copied from PostgreSQL. `tests/json_rows.rs` compares them with a running one.

use postgres_types::Type;
use proptest::prelude::*;
use selvedge_memory::MemoryBudget;

use super::text_form::TextForm;
use super::value::write_value;
use super::{JsonDocument, JsonForm, JsonRows, JsonShape};
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
    let mut rows = rows_of(JsonForm::Array);

    rows.push(&shape, row, &MemoryBudget::unlimited())
        .expect("well formed");
    rows.push(&shape, row, &MemoryBudget::unlimited())
        .expect("well formed");

    let (chunks, count, _) = rows.finish();
    let text = chunks.flatten().collect::<Vec<u8>>();
    assert_eq!(count, 2);
    assert_eq!(text, b"[{\"a\\\"\":1,\"b\":null}, \n {\"a\\\"\":1,\"b\":null}]");
}

/// An empty document of rows that are read.
fn rows_of(form: JsonForm) -> JsonRows {
    let document = JsonDocument {
        form,
        has_total: false,
    };
    JsonRows::new(document, false)
}

/// The body of a `DataRow`.
fn data_row(values: &[Option<&str>]) -> Vec<u8> {
    let count = u16::try_from(values.len()).expect("few");
    let mut row = count.to_be_bytes().to_vec();
    for value in values {
        match value {
            None => row.extend_from_slice(&(-1i32).to_be_bytes()),
            Some(text) => {
                let length = i32::try_from(text.len()).expect("short");
                row.extend_from_slice(&length.to_be_bytes());
                row.extend_from_slice(text.as_bytes());
            }
        }
    }
    row
}

/// The text of a document of these rows, how many there are, and of how many they are a page.
fn write_document(
    (form, has_total): (JsonForm, bool),
    shape: &JsonShape,
    rows: &[&[Option<&str>]],
) -> (String, u64, Option<i64>) {
    let mut document = JsonRows::new(JsonDocument { form, has_total }, false);
    for row in rows {
        let pushed = document.push(shape, &data_row(row), &MemoryBudget::unlimited());
        pushed.expect("well formed");
    }
    let (chunks, count, total) = document.finish();
    let text = chunks.flatten().collect::<Vec<u8>>();
    (String::from_utf8(text).expect("text"), count, total)
}

#[test]
fn gw_049_the_total_before_rows_is_no_part_of_them() {
    let column = |name: &str, r#type: Type| Column {
        name: name.to_owned(),
        type_oid: r#type.oid(),
    };
    let columns = [
        column("total", Type::TEXT),
        column("is_row", Type::TEXT),
        column("a", Type::INT4),
        column("b", Type::TEXT),
    ];
    let fields = JsonShape::from_columns(&columns).expect("known types");
    let counted = (JsonForm::Array, true);

    let rows: [&[Option<&str>]; 2] = [
        &[Some("7"), Some("t"), Some("1"), None],
        &[Some("7"), Some("t"), Some("2"), Some("x")],
    ];
    let (text, count, total) = write_document(counted, &fields, &rows);
    assert_eq!(text, "[{\"a\":1,\"b\":null}, \n {\"a\":2,\"b\":\"x\"}]");
    assert_eq!((count, total), (2, Some(7)));

    // No row is left of the page, but the total is there.
    let (text, count, total) = write_document(counted, &fields, &[&[Some("7"), None, None, None]]);
    assert_eq!((text.as_str(), count, total), ("[]", 0, Some(7)));

    let texts = JsonShape::of_texts();
    let (text, _, total) = write_document(counted, &texts, &[&[Some("1"), Some("t"), Some("{}")]]);
    assert_eq!((text.as_str(), total), ("[{}]", Some(1)));
}

#[test]
fn gw_049_lines_and_compact_arrays_are_joined_as_postgresql_does() {
    let texts = JsonShape::of_texts();
    let lines: [&[Option<&str>]; 2] = [&[Some("a,b"), Some("1,x")], &[Some("a,b"), Some("2,")]];
    let csv = |rows: &[&[Option<&str>]]| write_document((JsonForm::Lines, false), &texts, rows).0;
    assert_eq!(csv(&lines), "a,b\n1,x\n2,");
    assert_eq!(csv(&[]), "\n");

    let rows: [&[Option<&str>]; 2] = [&[Some("{\"a\":1}")], &[None]];
    let (text, ..) = write_document((JsonForm::CompactArray, false), &texts, &rows);
    assert_eq!(text, "[{\"a\":1},null]");
}

#[test]
fn a_row_without_columns_is_an_empty_object() {
    let shape = JsonShape::from_columns(&[]).expect("known types");
    let mut rows = rows_of(JsonForm::Object);

    rows.push(&shape, b"\0\0", &MemoryBudget::unlimited())
        .expect("well formed");

    assert_eq!(rows.finish().0.flatten().collect::<Vec<u8>>(), b"{}");
}

#[test]
fn malformed_rows_are_refused() {
    let shape = JsonShape::from_columns(&[]).expect("known types");
    let mut rows = rows_of(JsonForm::Array);

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
    let mut rows = rows_of(JsonForm::Array);
    let text = "x".repeat(100_000);
    let mut message = vec![0, 1];
    message.extend((text.len() as u32).to_be_bytes());
    message.extend(text.as_bytes());
    for _ in 0..5 {
        rows.push(&shape, &message, &MemoryBudget::unlimited())
            .expect("well formed");
    }

    let (chunks, ..) = rows.finish();

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
            let mut rows = rows_of(JsonForm::Array);
            for _ in 0..count {
                rows.push(&shape, &row, &memory).expect("well formed");
            }
            rows
        };

        let (document, ..) = write().finish();
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
