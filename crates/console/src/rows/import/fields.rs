//! Leaves columns out of a CSV file, and keeps count of its lines. What is kept stays as it is, quotes included, because
//! PostgreSQL parses it.

use std::collections::VecDeque;

/// The places that are remembered at which lines were left out. PostgreSQL reports a fault soon after the line was sent.
const MOST_SHIFTS: usize = 100_000;

/// A line of the file is `\.`, which older PostgreSQL takes for the end of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndMarker;

/// Reads a CSV file field by field and writes only the fields of the columns that are imported.
pub(super) struct Fields {
    keep: Vec<bool>,
    delimiter: u8,
    field: usize,
    is_quoted: bool,
    /// Whether a field of the current record has been written, so that the next one needs a delimiter before it.
    has_field: bool,
    after_return: bool,
    line: u64,
    /// The lines within quotes of columns that are left out, and where.
    left_out: u64,
    shifts: VecDeque<(u64, u64)>,
    marker: Marker,
}

/// How much of a line `\.` has been passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Start,
    Backslash,
    Whole,
    Other,
}

impl Fields {
    /// Creates the splitter. `keep` says for each column of the file whether it is imported.
    pub(super) fn new(keep: Vec<bool>, delimiter: u8) -> Self {
        let mut fields = Self {
            keep,
            delimiter,
            field: 0,
            is_quoted: false,
            has_field: false,
            after_return: false,
            line: 1,
            left_out: 0,
            shifts: VecDeque::new(),
            marker: Marker::Start,
        };
        fields.begin_record();
        fields
    }

    /// The line of the file, from 1, that is being read.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The line of the file that PostgreSQL calls `line`.
    pub(super) fn line_in_file(&self, line: u64) -> u64 {
        let shift = self.shifts.iter().rev().find(|(at, _)| *at < line);
        line + shift.map_or(0, |(_, left_out)| *left_out)
    }

    /// Appends what is kept of a piece of the file.
    ///
    /// # Errors
    /// When a line would end the import silently.
    pub(super) fn write_kept(&mut self, piece: &[u8], kept: &mut Vec<u8>) -> Result<(), EndMarker> {
        for &byte in piece {
            let is_end = matches!(byte, b'\n' | b'\r');
            if is_end && !(byte == b'\n' && self.after_return) {
                self.count_line();
            }
            self.after_return = byte == b'\r';
            if self.is_quoted || !(is_end || byte == self.delimiter) {
                self.is_quoted ^= byte == b'"';
                if self.keeps() {
                    self.watch(byte);
                    kept.push(byte);
                }
            } else if is_end {
                if self.marker == Marker::Whole {
                    return Err(EndMarker);
                }
                kept.push(byte);
                self.begin_record();
            } else {
                self.field += 1;
                if self.keeps() {
                    if self.has_field {
                        kept.push(byte);
                        self.marker = Marker::Other;
                    }
                    self.has_field = true;
                }
            }
        }
        Ok(())
    }

    /// Looks at the end of the file.
    ///
    /// # Errors
    /// When its last line would end the import silently.
    pub(super) fn finish(&self) -> Result<(), EndMarker> {
        if self.marker == Marker::Whole {
            return Err(EndMarker);
        }
        Ok(())
    }

    fn begin_record(&mut self) {
        self.field = 0;
        self.has_field = self.keeps();
        self.marker = Marker::Start;
    }

    /// Fields without a column are kept, so that PostgreSQL refuses them.
    fn keeps(&self) -> bool {
        self.keep.get(self.field).copied().unwrap_or(true)
    }

    fn watch(&mut self, byte: u8) {
        self.marker = match (self.marker, byte) {
            (Marker::Start, b'\\') => Marker::Backslash,
            (Marker::Backslash, b'.') => Marker::Whole,
            _ => Marker::Other,
        };
    }

    fn count_line(&mut self) {
        if self.is_quoted && !self.keeps() {
            let sent = self.line - self.left_out;
            self.left_out += 1;
            if self.shifts.len() == MOST_SHIFTS {
                self.shifts.pop_front();
            }
            self.shifts.push_back((sent, self.left_out));
        }
        self.line += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep_columns(keep: &[bool], file: &str) -> (String, Fields) {
        let mut fields = Fields::new(keep.to_vec(), b',');
        let mut kept = Vec::new();
        for byte in file.as_bytes() {
            fields.write_kept(&[*byte], &mut kept).expect("no end marker");
        }
        (String::from_utf8(kept).expect("UTF-8"), fields)
    }

    #[test]
    fn console_059_columns_are_left_out_and_the_others_stay_as_they_are() {
        let file = "a,b,c\r\n1,\"x,\"\"\n\",\r\n,\"\",3\r\n";
        assert_eq!(keep_columns(&[true, true, true], file).0, file);
        assert_eq!(keep_columns(&[true, false, true], file).0, "a,c\r\n1,\r\n,3\r\n");
        assert_eq!(
            keep_columns(&[false, true, false], file).0,
            "b\r\n\"x,\"\"\n\"\r\n\"\"\r\n"
        );
        assert_eq!(
            keep_columns(&[false, true], "1,2,3\n").0,
            "2,3\n",
            "PostgreSQL refuses it"
        );
    }

    #[test]
    fn console_059_lines_are_those_of_the_file_also_where_some_are_left_out() {
        let (_, fields) = keep_columns(&[true, false], "a,b\n1,\"x\ny\nz\"\n2,\n3,");
        assert_eq!(fields.line(), 6);
        assert_eq!([1, 2, 3, 4].map(|line| fields.line_in_file(line)), [1, 2, 5, 6]);
    }

    #[test]
    fn console_059_a_line_that_would_end_the_import_silently_is_found() {
        let mut fields = Fields::new(vec![true], b',');
        assert_eq!(fields.write_kept(b"1\n\\.\n2\n", &mut Vec::new()), Err(EndMarker));
        assert_eq!(fields.line(), 3);
        let mut fields = Fields::new(vec![true], b',');
        fields
            .write_kept(b"\"\\.\"\n\\.x\nx\\.\n\\.", &mut Vec::new())
            .expect("none yet");
        assert_eq!(fields.finish(), Err(EndMarker));
    }
}
