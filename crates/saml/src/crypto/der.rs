//! The little of ASN.1 DER that certificates and keys need: reading values one after another, and writing them.

/// Tags of the types that occur in certificates.
pub(crate) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const NULL: u8 = 0x05;
    pub(crate) const OID: u8 = 0x06;
    pub(crate) const PRINTABLE_STRING: u8 = 0x13;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;
    /// `[0]`, constructed: the version of a certificate.
    pub(crate) const CONTEXT_0: u8 = 0xa0;
    /// `[2]`, primitive: a DNS name among alternative names.
    pub(crate) const CONTEXT_2_PRIMITIVE: u8 = 0x82;
    /// `[3]`, constructed: the extensions of a certificate.
    pub(crate) const CONTEXT_3: u8 = 0xa3;
}

/// Reads values from the front of DER bytes. Every method returns `None` when the bytes are not what is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn next_tag(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Takes the next value, whatever it is: its tag and its content.
    pub(crate) fn take_any(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[tag, first], rest) = self.0.split_first_chunk::<2>()?;
        // A first byte below 0x80 is the length itself; any other is the number of length bytes that follow.
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            // Zero would be the indefinite length, which DER forbids; four bytes are far beyond any certificate.
            if count == 0 || count > 4 {
                return None;
            }
            let (digits, rest) = rest.split_at_checked(count)?;
            let length = digits
                .iter()
                .fold(0_usize, |sum, digit| sum << 8 | usize::from(*digit));
            (length, rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// Takes the next value if it has this tag.
    pub(crate) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.next_tag() != Some(tag) {
            return None;
        }
        self.take_any().map(|(_, content)| content)
    }
}

/// A value with this tag and content.
pub(crate) fn write_value(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut value = vec![tag];
    match length {
        0..0x80 => value.push(length as u8),
        0x80..0x100 => value.extend([0x81, length as u8]),
        _ => value.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    value.extend_from_slice(content);
    value
}

/// A value whose content is these values one after another.
pub(crate) fn write_list(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    write_value(tag, &parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        for length in [0, 1, 127, 128, 255, 256, 65_000] {
            let value = write_value(tag::OCTET_STRING, &vec![7; length]);
            let mut reader = Reader::new(&value);
            assert_eq!(reader.take(tag::OCTET_STRING).map(<[u8]>::len), Some(length));
            assert_eq!(reader.next_tag(), None);
        }
    }

    #[test]
    fn values_that_are_longer_than_the_bytes_are_not_read() {
        for bytes in [
            &[][..],
            &[0x30],
            &[0x30, 1],
            &[0x30, 0x80],
            &[0x30, 0x85, 0, 0, 0, 0, 1],
            &[0x30, 0x84, 255, 255, 255, 255],
        ] {
            assert!(Reader::new(bytes).take_any().is_none(), "{bytes:?}");
        }
    }
}
