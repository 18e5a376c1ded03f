//! Rows → JSON, as PostgreSQL's `json_agg` would write them.
//!
//! `json_agg` looks up for each value of each row how its type becomes JSON, and costs two to three times as much as
//! sending the columns. For most built-in types the JSON is the text form or that text in quotes, so results of such
//! types are read as columns and the JSON is written here, byte for byte as `json_agg` writes it. Results with other
//! types (composite ones, those of users and extensions) have no [`JsonShape`]: PostgreSQL writes their JSON.

mod array;
mod body;
mod escape;
#[cfg(test)]
mod tests;
mod text_form;
mod value;

use std::sync::Arc;

use selvedge_memory::MemoryBudget;

use crate::wire::{Column, Values};
pub use body::ByteChunks;
use body::Writer;
use text_form::TextForm;
use value::write_value;

/// How single values of one type become JSON: for callers that hold values in PostgreSQL's text form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonType(TextForm);

impl JsonType {
    /// The JSON form of a built-in type. `None` when only PostgreSQL can write it (`to_jsonb`).
    pub fn from_type_oid(type_oid: u32) -> Option<Self> {
        TextForm::from_type_oid(type_oid).map(Self)
    }

    /// Any type whose JSON is its text in quotes, such as an enum.
    pub fn string() -> Self {
        Self(TextForm::Text)
    }

    /// The array type of this element type.
    #[must_use]
    pub fn array(self) -> Self {
        Self(TextForm::Array(Box::new(self.0)))
    }

    /// Appends a value, given in the type's text form as PostgreSQL writes it with ISO dates.
    pub fn write(&self, out: &mut Vec<u8>, text: &[u8]) {
        write_value(out, &self.0, text);
    }
}

/// Appends a JSON string with its quotes.
pub fn write_json_string(out: &mut Vec<u8>, text: &str) {
    escape::write_string(out, text.as_bytes());
}

/// How the rows of a result become JSON objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonShape {
    /// Each column becomes a field.
    Fields(Arc<[Field]>),
    /// The only column is the JSON, as PostgreSQL has written it.
    Text,
}

/// A column as a field of JSON objects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// `"name":` with the `{` or `,` before it.
    prefix: Box<[u8]>,
    kind: TextForm,
}

impl JsonShape {
    /// `None` when a column has a type whose JSON only PostgreSQL can write.
    pub(crate) fn from_columns(columns: &[Column]) -> Option<Self> {
        let field = |(index, column): (usize, &Column)| {
            let mut prefix = vec![if index == 0 { b'{' } else { b',' }];
            escape::write_string(&mut prefix, column.name.as_bytes());
            prefix.push(b':');
            Some(Field {
                prefix: prefix.into(),
                kind: TextForm::from_type_oid(column.type_oid)?,
            })
        };
        let fields = columns.iter().enumerate().map(field);
        Some(Self::Fields(fields.collect::<Option<_>>()?))
    }

    /// The shape of rows whose only column is JSON.
    pub(crate) fn of_texts() -> Self {
        Self::Text
    }

    /// Appends a row. `None` when the message is malformed.
    fn write_row(&self, out: &mut Vec<u8>, data: &[u8]) -> Option<()> {
        let mut values = Values::parse(data)?;
        let Self::Fields(fields) = self else {
            let text = values.next()??;
            out.extend_from_slice(text.map_or(Some(&b"null"[..]), |range| data.get(range))?);
            return Some(());
        };
        let mut left = fields.iter();
        for value in values {
            let field = left.next()?;
            out.extend_from_slice(&field.prefix);
            match value? {
                Some(range) => write_value(out, &field.kind, data.get(range)?),
                None => out.extend_from_slice(b"null"),
            }
        }
        // The opening brace is part of the first field's prefix, which a row without columns lacks.
        if fields.is_empty() {
            out.push(b'{');
        }
        out.push(b'}');
        left.next().is_none().then_some(())
    }
}

/// The outermost value of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonForm {
    /// An array of all rows.
    Array,
    /// The only row as an object. The caller must check that there is exactly one: more would not be valid JSON.
    Object,
}

/// Writes a JSON document row by row.
#[derive(Debug)]
pub(crate) struct JsonRows {
    form: JsonForm,
    rows: u64,
    out: Writer,
}

impl JsonRows {
    pub(crate) fn new(form: JsonForm) -> Self {
        let out = match form {
            JsonForm::Array => Writer::beginning_with(b'['),
            JsonForm::Object => Writer::default(),
        };
        Self { form, rows: 0, out }
    }

    /// Appends a row. `None` when the message is malformed.
    pub(crate) fn push(&mut self, shape: &JsonShape, data: &[u8], memory: &MemoryBudget) -> Option<()> {
        let out = self.out.buffer(data.len(), memory);
        if self.rows > 0 && self.form == JsonForm::Array {
            // The separator of `json_agg`.
            out.extend_from_slice(b", \n ");
        }
        self.rows += 1;
        shape.write_row(out, data)
    }

    /// The document, and how many rows are in it.
    pub(crate) fn finish(self) -> (ByteChunks, u64) {
        let end = (self.form == JsonForm::Array).then_some(b']');
        (self.out.finish(end), self.rows)
    }

    /// Whether the document was given up, because it does not fit into the memory that is left.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.out.is_out_of_memory()
    }
}
