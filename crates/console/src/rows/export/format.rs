//! The forms in which rows are exported, and what each form puts around them.

use serde::Deserialize;

/// The format of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::rows) enum ExportFormat {
    /// CSV that spreadsheets open as UTF-8, in which no cell can be taken for a formula.
    Spreadsheet,
    /// CSV with PostgreSQL's text unchanged, as `COPY` reads it back.
    Csv,
    /// An array of JSON objects, one a line.
    Json,
    /// One INSERT statement per row.
    Sql,
}

impl ExportFormat {
    /// The media type of the file.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Spreadsheet | Self::Csv => "text/csv; charset=utf-8",
            Self::Json => "application/json",
            Self::Sql => "application/sql; charset=utf-8",
        }
    }

    /// The file name's extension.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Spreadsheet | Self::Csv => "csv",
            Self::Json => "json",
            Self::Sql => "sql",
        }
    }

    /// Whether PostgreSQL writes the file itself; otherwise it sends one text a row.
    pub(super) fn is_csv(self) -> bool {
        matches!(self, Self::Spreadsheet | Self::Csv)
    }

    /// Text before the first row. Spreadsheets recognise UTF-8 by the byte order mark.
    pub(super) fn start(self) -> &'static str {
        match self {
            Self::Spreadsheet => "\u{feff}",
            Self::Json => "[",
            Self::Csv | Self::Sql => "",
        }
    }

    /// Text before a row.
    pub(super) fn before_row(self, is_first: bool) -> &'static str {
        match self {
            Self::Json if is_first => "\n",
            Self::Json => ",\n",
            _ => "",
        }
    }

    /// Text after a row.
    pub(super) fn after_row(self) -> &'static str {
        if self == Self::Sql { "\n" } else { "" }
    }

    /// Text after the last row.
    pub(super) fn end(self) -> &'static str {
        if self == Self::Json { "\n]\n" } else { "" }
    }
}

/// Returns a file name of ASCII letters, digits, `-` and `_`, so that no table's name can break a header or leave a folder.
pub(super) fn file_name(table: &str, format: ExportFormat) -> String {
    let safe = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' || letter == '_' {
            letter
        } else {
            '_'
        }
    };
    let stem: String = table.chars().take(100).map(safe).collect();
    format!("{stem}.{}", format.extension())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_058_file_names_hold_nothing_but_letters_and_digits() {
        assert_eq!(file_name("../a\"\r\nb", ExportFormat::Json), "___a___b.json");
        assert_eq!(file_name("notes", ExportFormat::Spreadsheet), "notes.csv");
    }
}
