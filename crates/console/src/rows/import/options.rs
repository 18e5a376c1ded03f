//! The query parameters of an import: how the file is written, and into which columns it goes.

use encoding_rs::{Decoder, UTF_8, UTF_16LE, WINDOWS_1252};
use selvedge_introspection::TableShape;
use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use crate::error::ConsoleError;

/// The query of a request; its body is the file.
#[derive(Debug, Deserialize)]
pub(in crate::rows) struct ImportOptions {
    /// The oid of the table.
    pub(super) table: String,
    /// For each column of the file the table's column, or null where it is left out, as a JSON array.
    columns: String,
    /// Whether the first line has titles.
    #[serde(default)]
    pub(super) header: bool,
    #[serde(default = "comma")]
    delimiter: char,
    /// The unquoted text that is imported as null.
    #[serde(default)]
    pub(super) null: String,
    #[serde(default)]
    encoding: FileEncoding,
    /// Whether refused rows are skipped and returned; otherwise one refused row rejects the whole file.
    #[serde(default)]
    pub(super) rejects: bool,
}

/// The encoding of a file.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileEncoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// The byte order mark determines the byte order; without one it is little-endian, as on Windows.
    #[serde(rename = "utf-16")]
    Utf16,
    #[serde(rename = "windows-1252")]
    Windows1252,
}

fn comma() -> char {
    ','
}

impl ImportOptions {
    /// Returns the table's column for each column of the file; `None` for columns that are not imported.
    ///
    /// # Errors 422 when the parameter is not a list of names, or contains no name.
    pub(super) fn mapping(&self) -> Result<Vec<Option<String>>, ConsoleError> {
        let mapping: Vec<Option<String>> = serde_json::from_str(&self.columns)?;
        if mapping.iter().all(Option::is_none) {
            return Err(ConsoleError::invalid("No column of the file is imported"));
        }
        Ok(mapping)
    }

    /// Returns the names of the imported columns of the table, in the order of the file.
    ///
    /// # Errors
    /// As [`Self::mapping`].
    pub(super) fn names(&self) -> Result<Vec<String>, ConsoleError> {
        Ok(self.mapping()?.into_iter().flatten().collect())
    }

    /// Returns the delimiter as the single byte that `COPY` accepts.
    ///
    /// # Errors
    /// 422 for other characters.
    pub(super) fn delimiter(&self) -> Result<u8, ConsoleError> {
        u8::try_from(self.delimiter)
            .ok()
            .filter(|byte| byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r'))
            .ok_or_else(|| ConsoleError::invalid("The delimiter must be a single ASCII character"))
    }

    /// Returns a decoder of the file.
    pub(super) fn decoder(&self) -> Decoder {
        match self.encoding {
            FileEncoding::Utf8 => UTF_8.new_decoder_with_bom_removal(),
            FileEncoding::Utf16 => UTF_16LE.new_decoder(),
            FileEncoding::Windows1252 => WINDOWS_1252.new_decoder_without_bom_handling(),
        }
    }

    /// Writes the `COPY` statement. It takes no parameters, so its values are literals.
    pub(super) fn statement(&self, table: &TableShape) -> Result<String, ConsoleError> {
        let names: Vec<String> = self.names()?.iter().map(|name| quote_identifier(name)).collect();
        Ok(format!(
            "copy {}.{} ({}) from stdin (format csv, header {}, delimiter {}, null {})",
            quote_identifier(&table.schema),
            quote_identifier(&table.name),
            names.join(", "),
            self.header,
            quote_literal(&char::from(self.delimiter()?).to_string()),
            quote_literal(&self.null),
        ))
    }
}
