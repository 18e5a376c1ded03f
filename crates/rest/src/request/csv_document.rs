//! A CSV body: rows that become a JSON array of objects once it is known that their columns exist.
//!
//! Each row repeats the names of the header, so a small document may become a large one. When it is parsed, only its size is
//! computed; [`CsvDocument::into_json`] reserves that before it writes a byte.

use bytes::Bytes;
use csv_core::ReadRecordResult;
use selvedge_memory::{COUNTED_FROM, MemoryBudget};

use super::headers::write_string;
use crate::error::RequestError;

/// Most fields of a line; no table has as many columns.
const MOST_FIELDS: usize = 10_000;

/// A CSV document whose lines were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvDocument {
    bytes: Bytes,
    /// The names that the rows have a value for, in the order of the header.
    columns: Vec<String>,
    /// Bytes of the document as JSON, not fewer than it will have.
    json_bytes: usize,
}

impl CsvDocument {
    /// Checks the lines, and computes how large they are as JSON.
    ///
    /// # Errors
    /// PGRST102 for a document without a header, for lines of different lengths, and for one with more fields than are read.
    pub fn parse(bytes: &Bytes) -> Result<Self, RequestError> {
        if bytes.len() > COUNTED_FROM && has_too_many_fields(bytes) {
            let message = format!("A line of the CSV has more than {MOST_FIELDS} fields");
            return Err(RequestError::Body(message));
        }
        let mut reader = read_csv(bytes);
        let header = reader.headers().map_err(unreadable)?;
        if header.is_empty() {
            let message = "parse error (not enough input) at \"\"";
            return Err(RequestError::Body(message.to_owned()));
        }
        let mut columns: Vec<String> = header.iter().map(str::to_owned).collect();
        let mut record = csv::StringRecord::new();
        let (mut rows, mut cells, mut width) = (0usize, 0usize, None);
        while reader.read_record(&mut record).map_err(unreadable)? {
            // A line of another length is most likely a misplaced quote or comma.
            // Compat: lines may be shorter or longer than the header, as long as they are all of one length.
            let fields = record.len().min(columns.len());
            if *width.get_or_insert(fields) != fields {
                let message = "All lines must have same number of fields";
                return Err(RequestError::Body(message.to_owned()));
            }
            rows += 1;
            cells += record.iter().take(fields).map(json_string_bytes).sum::<usize>();
        }
        // Compat: a header without rows has no keys.
        columns.truncate(width.unwrap_or(0));
        // Each name with its colon and comma, and each row with its braces and comma.
        let names: usize = columns.iter().map(|name| json_string_bytes(name) + 2).sum();
        let json_bytes = names
            .saturating_add(3)
            .saturating_mul(rows)
            .saturating_add(cells)
            .saturating_add(2);
        Ok(Self {
            bytes: bytes.clone(),
            columns,
            json_bytes,
        })
    }

    /// The names that the rows have a value for, in the order of the header.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows as a JSON array of objects; the cell `NULL` becomes null. `None` when `memory` has no room for it.
    pub fn into_json(self, memory: &MemoryBudget) -> Option<Bytes> {
        let reserved = match self.json_bytes {
            0..COUNTED_FROM => None,
            bytes => Some(memory.reserve(bytes)?),
        };
        let mut reader = read_csv(&self.bytes);
        let mut record = csv::StringRecord::new();
        let mut out = String::with_capacity(self.json_bytes);
        out.push('[');
        // The lines were read without an error before.
        while let Ok(true) = reader.read_record(&mut record) {
            out.push_str(if out.len() > 1 { ",{" } else { "{" });
            for (index, (name, cell)) in self.columns.iter().zip(record.iter()).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(&mut out, name.as_bytes());
                out.push(':');
                if cell == "NULL" {
                    out.push_str("null");
                } else {
                    write_string(&mut out, cell.as_bytes());
                }
            }
            out.push('}');
        }
        out.push(']');
        let json = Bytes::from(out);
        Some(match reserved {
            Some(reserved) => reserved.hold(json),
            None => json,
        })
    }
}

/// Whether a line has more than [`MOST_FIELDS`]. The reader of records keeps a place for each field of a line, which of a line
/// of commas is many times its length.
fn has_too_many_fields(bytes: &[u8]) -> bool {
    let mut reader = csv_core::Reader::new();
    // Neither texts nor places are looked at.
    let (mut text, mut ends) = ([0; 4096], [0; 256]);
    let (mut at, mut fields) = (0, 0);
    loop {
        let (result, read, _, ended) = reader.read_record(&bytes[at..], &mut text, &mut ends);
        at += read;
        fields += ended;
        if fields > MOST_FIELDS {
            return true;
        }
        match result {
            ReadRecordResult::Record => fields = 0,
            ReadRecordResult::End => return false,
            ReadRecordResult::InputEmpty
            | ReadRecordResult::OutputFull
            | ReadRecordResult::OutputEndsFull => {}
        }
    }
}

fn read_csv(bytes: &Bytes) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(bytes.as_ref())
}

fn unreadable(error: csv::Error) -> RequestError {
    RequestError::Body(error.to_string())
}

/// Bytes of a text as a JSON string, with its quotes; at least as many as [`write_string`] writes.
fn json_string_bytes(text: &str) -> usize {
    let escapes: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
            0..0x20 | 0x7f => 5,
            _ => 0,
        })
        .sum();
    text.len() + escapes + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CsvDocument {
        CsvDocument::parse(&Bytes::copy_from_slice(text.as_bytes())).expect("a CSV document")
    }

    #[test]
    fn rest_099_the_size_as_json_is_known_before_it_is_written() {
        for text in [
            "a,b\n1,NULL\n,\"x\"\"y\"\n",
            "a\n",
            "é,\"b\"\"\"\n\"line\nbreak\",\u{1}\u{7f}\\\n\t,\r\n",
            "a,b\n1\n2\n",
            "a\n1,2\n3,4\n",
        ] {
            let document = parse(text);
            let bytes = document.json_bytes;

            let json = document.into_json(&MemoryBudget::unlimited()).expect("room");

            serde_json::from_slice::<serde_json::Value>(&json).expect("JSON");
            assert!(json.len() <= bytes, "{text:?}: {} of {bytes}", json.len());
            assert!(bytes <= json.len() + 16, "{text:?}: {} of {bytes}", json.len());
        }
    }

    #[test]
    fn rest_099_a_line_of_commas_is_refused_before_its_fields_are_kept() {
        let commas = ",".repeat(1 << 20);
        let quoted = format!("a\n\"{commas}\"\n{}", "1\n".repeat(100));

        for text in [
            commas.clone(),
            format!("a\n1\n{commas}\n"),
            format!("a\n\"{commas}"),
        ] {
            let parsed = CsvDocument::parse(&Bytes::from(text.clone()));
            assert_eq!(parsed.is_err(), !text.contains('"'), "{}", &text[..10]);
        }
        assert_eq!(parse(&quoted).columns(), ["a"]);
    }

    #[test]
    fn rest_099_a_csv_document_that_would_grow_beyond_the_memory_is_not_written() {
        let memory = MemoryBudget::new(64 << 20);
        let document = parse(&format!("{}\n{}", "k".repeat(512 << 10), "1\n".repeat(600)));
        assert!(document.json_bytes > 300 << 20, "{}", document.json_bytes);

        assert_eq!(document.into_json(&memory), None);

        assert_eq!(memory.used(), 0);
        let small = parse(&format!("a\n{}", "1\n".repeat(10_000)));
        let json = small.into_json(&memory).expect("there is room");
        assert!(memory.used() >= json.len());
        drop(json);
        assert_eq!(memory.used(), 0);
    }
}
