//! The events of a session, and how they are parsed from the server's messages.

use crate::wire::split_text;

/// Something that happened while a statement ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextEvent {
    /// The statement returns rows with these columns.
    Columns(Vec<TextColumn>),
    /// One row of the result; None is null.
    Row(Vec<Option<TextCell>>),
    /// A notice, warning or message of the statement.
    Notice(TextNotice),
    /// The requested number of rows has arrived, and there may be more.
    Suspended,
    /// The statement has ended; contains its command tag.
    Complete(String),
    /// The text contained no statement.
    Empty,
    /// The statement failed with an error.
    Error(TextNotice),
    /// The session waits for the next statement.
    Ready(TransactionStatus),
    /// The statement expects the data of `COPY … FROM stdin`, which the session refuses.
    CopyRequested,
}

/// Whether the session is in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    /// No transaction is open.
    Idle,
    /// In a transaction that has not failed.
    Open,
    /// In one that can only be rolled back.
    Failed,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumn {
    /// Its name, not always unique.
    pub name: String,
    /// The table it comes from; zero when it is computed.
    pub table_oid: u32,
    /// Its number in that table; zero when it is computed.
    pub attribute: i16,
    /// Oid of the column's type.
    pub type_oid: u32,
    /// The type's modifier, such as a length; -1 without.
    pub type_modifier: i32,
}

/// A value as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCell {
    /// The text, or its beginning.
    pub text: String,
    /// Length of the whole text in bytes.
    pub bytes: usize,
}

impl TextCell {
    /// Whether a part of the value is missing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.text.len() < self.bytes
    }
}

/// The fields of an error or a notice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextNotice {
    /// `ERROR`, `WARNING`, `NOTICE` …
    pub severity: String,
    /// SQLSTATE.
    pub code: String,
    /// The message.
    pub message: String,
    /// PostgreSQL's field DETAIL, if any.
    pub detail: Option<String>,
    /// PostgreSQL's field HINT, if any.
    pub hint: Option<String>,
    /// The character of the statement at fault, from 1.
    pub position: Option<usize>,
    /// Where it happened inside of functions.
    pub context: Option<String>,
    /// The statement that failed, if it was run by a function of the statement that was sent.
    pub internal_query: Option<String>,
    /// The error's position in `internal_query`, in characters from 1.
    pub internal_position: Option<String>,
    /// The database object that the message refers to.
    pub object: NoticeObject,
    /// Size of the message in bytes, as far as it was read.
    pub length: usize,
    /// File, line and function in PostgreSQL's source.
    pub file: Option<String>,
    pub line: Option<String>,
    pub routine: Option<String>,
}

/// The names of the database object that an error refers to; PostgreSQL fills in those that apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoticeObject {
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub data_type: Option<String>,
    pub constraint: Option<String>,
}

impl TextNotice {
    pub(super) fn parse(mut body: &[u8]) -> Self {
        let mut notice = Self::default();
        while let Some((kind, rest)) = body.split_first() {
            let Some((text, rest)) = split_text(rest) else {
                break;
            };
            match kind {
                // `S` is the same in the language of the server's messages.
                b'V' => notice.severity = text,
                b'C' => notice.code = text,
                b'M' => notice.message = text,
                b'D' => notice.detail = Some(text),
                b'H' => notice.hint = Some(text),
                b'P' => notice.position = text.parse().ok(),
                b'W' => notice.context = Some(text),
                b'q' => notice.internal_query = Some(text),
                b'p' => notice.internal_position = Some(text),
                b's' => notice.object.schema = Some(text),
                b't' => notice.object.table = Some(text),
                b'c' => notice.object.column = Some(text),
                b'd' => notice.object.data_type = Some(text),
                b'n' => notice.object.constraint = Some(text),
                b'F' => notice.file = Some(text),
                b'L' => notice.line = Some(text),
                b'R' => notice.routine = Some(text),
                _ => {}
            }
            body = rest;
        }
        notice
    }
}

/// The columns of a `RowDescription`. `None` when it is malformed.
pub(super) fn parse_columns(body: &[u8]) -> Option<Vec<TextColumn>> {
    let (count, mut rest) = body.split_first_chunk()?;
    let count = u16::from_be_bytes(*count);
    let mut columns = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let (name, after) = split_text(rest)?;
        let (table_oid, after) = after.split_first_chunk()?;
        let (attribute, after) = after.split_first_chunk()?;
        let (type_oid, after) = after.split_first_chunk()?;
        // The size of the type, two bytes, follows from the type.
        let (type_modifier, after) = after.get(2..)?.split_first_chunk()?;
        columns.push(TextColumn {
            name,
            table_oid: u32::from_be_bytes(*table_oid),
            attribute: i16::from_be_bytes(*attribute),
            type_oid: u32::from_be_bytes(*type_oid),
            type_modifier: i32::from_be_bytes(*type_modifier),
        });
        // The format, two bytes, is always text.
        rest = after.get(2..)?;
    }
    Some(columns)
}

/// The text of a value that was cut at some byte: a character that lost a part is left out.
pub(super) fn cut_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // Other wrong bytes are replaced, because they are part of the value.
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned()
        }
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_parsed_with_their_position() {
        let notice = TextNotice::parse(b"SFEHLER\0VERROR\0C42703\0Mno column\0P8\0Dmore\0\0");

        assert_eq!(
            (notice.severity.as_str(), notice.code.as_str()),
            ("ERROR", "42703")
        );
        assert_eq!((notice.message.as_str(), notice.position), ("no column", Some(8)));
        assert_eq!((notice.detail.as_deref(), notice.hint), (Some("more"), None));
    }

    #[test]
    fn row_descriptions_are_parsed_and_truncated_ones_are_none() {
        let mut body = 1_u16.to_be_bytes().to_vec();
        body.extend(b"id\0");
        body.extend(16_400_u32.to_be_bytes());
        body.extend(2_u16.to_be_bytes());
        body.extend(23_u32.to_be_bytes());
        body.extend(4_u16.to_be_bytes());
        body.extend((-1_i32).to_be_bytes());
        body.extend(0_u16.to_be_bytes());

        let found = parse_columns(&body).expect("well formed");

        assert_eq!(found[0].name, "id");
        assert_eq!((found[0].table_oid, found[0].attribute), (16_400, 2));
        assert_eq!((found[0].type_oid, found[0].type_modifier), (23, -1));
        assert!((0..body.len()).all(|length| parse_columns(&body[..length]).is_none()));
    }

    #[test]
    fn console_173_a_text_is_cut_between_characters() {
        assert_eq!(cut_text("aé".as_bytes()), "aé");
        assert_eq!(cut_text(&"aé".as_bytes()[..2]), "a");
        assert_eq!(cut_text(b"a\xff\xfeb"), "a\u{fffd}\u{fffd}b");
    }
}
