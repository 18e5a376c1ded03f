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

    /// The shape of rows whose last column is the element of the document.
    pub(crate) fn of_texts() -> Self {
        Self::Text
    }

    /// Appends a row of which `before` columns are no fields and were taken from `values`. `None` when the message is malformed.
    fn write_row(
        &self,
        out: &mut Vec<u8>,
        data: &[u8],
        (before, mut values): (usize, Values<'_>),
    ) -> Option<()> {
        let Self::Fields(fields) = self else {
            let text = values.next()??;
            out.extend_from_slice(text.map_or(Some(&b"null"[..]), |range| data.get(range))?);
            return values.next().is_none().then_some(());
        };
        let fields = fields.get(before..)?;
        out.push(b'{');
        let mut left = fields.iter();
        for value in values {
            let field = left.next()?;
            // Without the brace or comma.
            let prefix = if left.len() + 1 == fields.len() {
                field.prefix.get(1..)?
            } else {
                &field.prefix
            };
            out.extend_from_slice(prefix);
            match value? {
                Some(range) => write_value(out, &field.kind, data.get(range)?),
                None => out.extend_from_slice(b"null"),
            }
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
    /// An array of all rows without blanks between them, as `json_strip_nulls` writes it.
    CompactArray,
    /// The lines of a CSV document. The first row has the header before its line, and the others null.
    Lines,
}

/// What a document is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonDocument {
    /// How its elements stand in it.
    pub form: JsonForm,
    /// Whether each row begins with two columns more, as texts: the number of all rows, of which these are a page, and whether it is a row at
    /// all: null in the one that is there for its total alone.
    pub has_total: bool,
}

/// Writes a JSON document row by row.
#[derive(Debug)]
pub(crate) struct JsonRows {
    document: JsonDocument,
    rows: u64,
    total: Option<i64>,
    out: Writer,
}

impl JsonRows {
    /// `writes` says whether the rows are those of a write, which has taken effect.
    pub(crate) fn new(document: JsonDocument, writes: bool) -> Self {
        let first = match document.form {
            JsonForm::Array | JsonForm::CompactArray => Some(b'['),
            JsonForm::Object | JsonForm::Lines => None,
        };
        Self {
            document,
            rows: 0,
            total: None,
            out: Writer::beginning_with(first, writes),
        }
    }

    /// Appends a row. `None` when the message is malformed.
    pub(crate) fn push(&mut self, shape: &JsonShape, data: &[u8], memory: &MemoryBudget) -> Option<()> {
        let mut values = Values::parse(data)?;
        let mut before = 0;
        if self.document.has_total {
            before = 2;
            let total = values.next()??.and_then(|range| data.get(range))?;
            self.total = std::str::from_utf8(total).ok()?.parse().ok();
            if values.next()??.is_none() {
                return Some(());
            }
        }
        let out = self.out.buffer(data.len(), memory);
        match self.document.form {
            // The separator of `json_agg`.
            JsonForm::Array if self.rows > 0 => out.extend_from_slice(b", \n "),
            JsonForm::CompactArray if self.rows > 0 => out.push(b','),
            JsonForm::Array | JsonForm::CompactArray | JsonForm::Object => {}
            JsonForm::Lines => {
                let header = values.next()??;
                if let (0, Some(header)) = (self.rows, header) {
                    out.extend_from_slice(data.get(header)?);
                }
                out.push(b'\n');
            }
        }
        self.rows += 1;
        shape.write_row(out, data, (before, values))
    }

    /// The document, how many rows are in it, and of how many it is a page.
    pub(crate) fn finish(self) -> (ByteChunks, u64, Option<i64>) {
        let end = match self.document.form {
            JsonForm::Array | JsonForm::CompactArray => Some(b']'),
            // A document without rows has an empty header.
            JsonForm::Lines if self.rows == 0 => Some(b'\n'),
            JsonForm::Object | JsonForm::Lines => None,
        };
        (self.out.finish(end), self.rows, self.total)
    }

    /// Whether the document was given up, because it does not fit into the memory that is left.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.out.is_out_of_memory()
    }
}
