//! Parses the server's messages that a batch needs: headers, errors, row descriptions.

use super::Column;

/// A message's tag, and its length without the tag. `None` while fewer than five bytes have come.
pub(super) fn parse_header(bytes: &[u8]) -> Option<(u8, usize)> {
    let (tag, rest) = bytes.split_first()?;
    let (length, _) = rest.split_first_chunk()?;
    Some((*tag, u32::from_be_bytes(*length) as usize))
}

/// The fields of an `ErrorResponse`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ErrorFields {
    /// SQLSTATE.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// The C function that reported the error.
    pub(crate) routine: String,
    /// Whether the error ends the session (severity FATAL or PANIC, untranslated). SQL cannot raise such a one.
    pub(crate) ends_session: bool,
}

impl ErrorFields {
    pub(crate) fn parse(mut body: &[u8]) -> Self {
        let mut fields = Self::default();
        while let Some((kind, rest)) = body.split_first() {
            // A NUL in place of a field's type ends the message, and no text follows it.
            let Some((text, rest)) = split_text(rest) else {
                break;
            };
            match kind {
                b'C' => fields.code = text,
                b'M' => fields.message = text,
                b'D' => fields.detail = Some(text),
                b'H' => fields.hint = Some(text),
                b'R' => fields.routine = text,
                b'V' => fields.ends_session = ["FATAL", "PANIC"].contains(&text.as_str()),
                _ => {}
            }
            body = rest;
        }
        fields
    }
}

/// The columns of a `RowDescription`. `None` when it is malformed.
pub(super) fn parse_columns(body: &[u8]) -> Option<Vec<Column>> {
    let (count, mut rest) = body.split_first_chunk()?;
    let mut columns = Vec::with_capacity(usize::from(u16::from_be_bytes(*count)));
    for _ in 0..u16::from_be_bytes(*count) {
        let (name, after) = split_text(rest)?;
        // Bytes after the name: table 4, attribute 2, type 4, size 2, modifier 4, format 2.
        let type_oid = after.get(6..)?.first_chunk()?;
        columns.push(Column {
            name,
            type_oid: u32::from_be_bytes(*type_oid),
        });
        rest = after.get(18..)?;
    }
    Some(columns)
}

/// Splits a NUL-terminated string off, and returns it with what follows.
pub(crate) fn split_text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let text = String::from_utf8_lossy(bytes.get(..end)?).into_owned();
    Some((text, bytes.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn error_fields_are_parsed() {
        let fields = ErrorFields::parse(b"SERROR\0VERROR\0C23505\0Mtwice\0DKey\0RExecInsert\0\0");

        assert_eq!(
            (fields.code.as_str(), fields.message.as_str()),
            ("23505", "twice")
        );
        assert_eq!((fields.detail.as_deref(), fields.hint), (Some("Key"), None));
        assert_eq!(fields.routine, "ExecInsert");
    }

    #[test]
    fn row_descriptions_are_parsed() {
        let mut body = 1_u16.to_be_bytes().to_vec();
        body.extend(b"id\0");
        body.extend([0; 6]);
        body.extend(23_u32.to_be_bytes());
        body.extend([0; 8]);

        let found = parse_columns(&body).expect("well formed");

        assert_eq!((found[0].name.as_str(), found[0].type_oid), ("id", 23));
        assert!((0..body.len()).all(|length| parse_columns(&body[..length]).is_none()));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parsers_panic(bytes: Vec<u8>) {
            ErrorFields::parse(&bytes);
            parse_columns(&bytes);
            parse_header(&bytes);
        }
    }
}
