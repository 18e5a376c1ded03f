//! Splits a CSV file into records, so that malformed ones can be skipped. Number and line are put in front of each well-formed
//! record; its values stay unchanged, because PostgreSQL parses them.

use std::io::Write as _;

use serde::Serialize;

/// The longest record in bytes; a longer one is taken for an unclosed quote.
const LONGEST_RECORD: usize = 64_000_000;

/// A skipped record with its line in the file.
#[derive(Debug, Serialize)]
pub(super) struct Reject {
    pub(super) line: i64,
    pub(super) message: String,
    /// The values of the imported columns; the record's whole text as the only value if it has another number of columns.
    pub(super) values: Vec<Option<String>>,
}

/// The error for a record whose quote is never closed, with the line where the record begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenQuote {
    pub(super) line: i64,
}

/// The state of the splitter while a file is read.
pub(super) struct Records {
    /// For each column of the file, whether it is imported.
    keep: Vec<bool>,
    delimiter: u8,
    skips_next: bool,
    record: Vec<u8>,
    /// Offsets of the current record's fields.
    starts: Vec<usize>,
    is_quoted: bool,
    after_return: bool,
    line: i64,
    first_line: i64,
    /// The number of well-formed records so far.
    pub(super) count: i64,
    pub(super) rejects: Vec<Reject>,
}

impl Records {
    pub(super) fn new(keep: Vec<bool>, delimiter: u8, has_header: bool) -> Self {
        Self {
            keep,
            delimiter,
            skips_next: has_header,
            record: Vec::new(),
            starts: vec![0],
            is_quoted: false,
            after_return: false,
            line: 1,
            first_line: 1,
            count: 0,
            rejects: Vec::new(),
        }
    }

    /// The number, from 1, of the line that is being read.
    pub(super) fn line(&self) -> i64 {
        self.line
    }

    /// Processes a piece of the file, and appends the well-formed records that end in it to `good`.
    ///
    /// # Errors
    /// When a record is longer than [`LONGEST_RECORD`].
    pub(super) fn write_kept(&mut self, piece: &[u8], good: &mut Vec<u8>) -> Result<(), OpenQuote> {
        for &byte in piece {
            let is_end = matches!(byte, b'\n' | b'\r');
            let is_second = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            if is_end && !is_second {
                self.line += 1;
            }
            // Within quotes a line break is part of the value, as for COPY.
            if is_end && !self.is_quoted {
                if !is_second {
                    self.end_record(good);
                }
                self.first_line = self.line;
                continue;
            }
            self.is_quoted ^= byte == b'"';
            self.record.push(byte);
            if byte == self.delimiter && !self.is_quoted {
                self.starts.push(self.record.len());
            }
        }
        if self.record.len() > LONGEST_RECORD {
            return Err(OpenQuote {
                line: self.first_line,
            });
        }
        Ok(())
    }

    /// Processes the last record, which may lack a line break at its end.
    ///
    /// # Errors
    /// When its quote is not closed.
    pub(super) fn finish(&mut self, good: &mut Vec<u8>) -> Result<(), OpenQuote> {
        if self.is_quoted {
            return Err(OpenQuote {
                line: self.first_line,
            });
        }
        self.end_record(good);
        Ok(())
    }

    fn end_record(&mut self, good: &mut Vec<u8>) {
        let fields = self.starts.len();
        // Empty lines are skipped: COPY would refuse them, and many files end with one.
        let is_skipped = std::mem::take(&mut self.skips_next) || self.record.is_empty();
        if !is_skipped && fields == self.keep.len() {
            self.count += 1;
            self.write_record(good);
        } else if !is_skipped {
            self.rejects.push(Reject {
                line: self.first_line,
                message: format!("The line has {fields} values instead of {}", self.keep.len()),
                values: vec![Some(String::from_utf8_lossy(&self.record).into_owned())],
            });
        }
        self.record.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    fn write_record(&self, good: &mut Vec<u8>) {
        let delimiter = char::from(self.delimiter);
        write!(good, "{}{delimiter}{}", self.count, self.first_line).expect("writing to memory");
        let ends = self.starts.iter().skip(1).map(|start| start - 1);
        let fields = self.starts.iter().zip(ends.chain([self.record.len()]));
        for ((start, end), is_kept) in fields.zip(&self.keep) {
            if *is_kept {
                good.push(self.delimiter);
                good.extend_from_slice(&self.record[*start..end]);
            }
        }
        good.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(keep: &[bool], has_header: bool, file: &str) -> (String, Records) {
        let mut records = Records::new(keep.to_vec(), b',', has_header);
        let mut good = Vec::new();
        for byte in file.as_bytes() {
            records.write_kept(&[*byte], &mut good).expect("records that end");
        }
        records.finish(&mut good).expect("no open quote");
        (String::from_utf8(good).expect("UTF-8"), records)
    }

    #[test]
    fn console_059_well_formed_records_get_number_and_line_and_others_are_rejected() {
        let file = "a,b,c\r\n1,\"x,\"\"\r\ny\",\r\n\r\n2,only two\r\n3,\"\",z";
        let (good, records) = read(&[true, true, false], true, file);
        assert_eq!(good, "1,2,1,\"x,\"\"\r\ny\"\n2,6,3,\"\"\n");
        let rejects: Vec<_> = records
            .rejects
            .iter()
            .map(|reject| (reject.line, reject.message.as_str()))
            .collect();
        assert_eq!(rejects, [(5, "The line has 2 values instead of 3")]);
        assert_eq!(records.rejects[0].values, [Some("2,only two".to_owned())]);
    }

    #[test]
    fn console_059_an_unclosed_quote_is_reported_at_the_first_line_of_its_record() {
        let mut records = Records::new(vec![true], b',', false);
        let mut good = Vec::new();
        records
            .write_kept(b"a\n\"b\nc\n", &mut good)
            .expect("nothing long");
        assert_eq!(records.finish(&mut good), Err(OpenQuote { line: 2 }));
    }
}
