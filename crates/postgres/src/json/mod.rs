//! Rows → JSON, as PostgreSQL's `json_agg` would write them.
//!
//! `json_agg` looks up for each value of each row how its type becomes JSON, and costs two to three times as much as
//! sending the columns. Their texts are the same but for a few types, so for results of built-in types PostgreSQL sends
//! columns and the JSON is written here, byte for byte what `json_agg` gives. Results with other types (composite ones,
//! those of users and extensions) have no [`JsonShape`]: PostgreSQL writes their JSON.

mod array;
mod body;
mod escape;
mod kind;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;

pub use body::Chunks;
use body::Writer;
use kind::Kind;
use value::write_value;

use crate::wire::{Column, Values};

/// How the rows of a result become JSON objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonShape {
    fields: Arc<[Field]>,
}

#[derive(Debug, PartialEq, Eq)]
struct Field {
    /// `"name":`, with what stands between it and the value before.
    prefix: Box<[u8]>,
    kind: Kind,
}

impl JsonShape {
    /// `None` when a column has a type whose JSON only PostgreSQL can write.
    pub(crate) fn of(columns: &[Column]) -> Option<Self> {
        let field = |(index, column): (usize, &Column)| {
            let mut prefix = vec![if index == 0 { b'{' } else { b',' }];
            escape::write_string(&mut prefix, column.name.as_bytes());
            prefix.push(b':');
            Some(Field {
                prefix: prefix.into(),
                kind: Kind::of(column.type_oid)?,
            })
        };
        Some(Self {
            fields: columns.iter().enumerate().map(field).collect::<Option<_>>()?,
        })
    }
}

/// How the document begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonForm {
    /// `[…]`, with all rows.
    Array,
    /// The one row; what is written of more rows has no form.
    Object,
}

/// A JSON document that grows row by row.
#[derive(Debug)]
pub(crate) struct JsonRows {
    form: JsonForm,
    rows: u64,
    out: Writer,
}

impl JsonRows {
    pub(crate) fn new(form: JsonForm) -> Self {
        let mut out = Writer::default();
        if form == JsonForm::Array {
            out.buffer().push(b'[');
        }
        Self { form, rows: 0, out }
    }

    /// Appends a row. `None` when the message is malformed.
    pub(crate) fn push(&mut self, shape: &JsonShape, data: &[u8]) -> Option<()> {
        let out = self.out.buffer();
        if self.rows > 0 && self.form == JsonForm::Array {
            out.extend_from_slice(b", \n ");
        }
        self.rows += 1;
        let mut fields = shape.fields.iter();
        for value in Values::of(data)? {
            let field = fields.next()?;
            out.extend_from_slice(&field.prefix);
            match value? {
                Some(range) => write_value(out, &field.kind, data.get(range)?),
                None => out.extend_from_slice(b"null"),
            }
        }
        if shape.fields.is_empty() {
            out.push(b'{');
        }
        out.push(b'}');
        fields.next().is_none().then_some(())
    }

    /// The document, and how many rows are in it.
    pub(crate) fn finish(mut self) -> (Chunks, u64) {
        if self.form == JsonForm::Array {
            self.out.buffer().push(b']');
        }
        (self.out.finish(), self.rows)
    }
}
