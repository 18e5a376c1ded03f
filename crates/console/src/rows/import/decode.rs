//! Turns the bytes of a file into UTF-8, piece by piece.

use encoding_rs::{Decoder, DecoderResult};

/// The file has bytes that its encoding does not know.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Decodes a piece of the file and appends it to `text`. In case of an error the text before it is appended, too, so that
/// the line can be counted.
pub(super) fn decode(
    decoder: &mut Decoder,
    piece: &[u8],
    is_last: bool,
    text: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let start = text.len();
    let longest = decoder.max_utf8_buffer_length_without_replacement(piece.len());
    text.resize(start + longest.unwrap_or(piece.len().saturating_mul(3)) + 4, 0);
    let (result, _, written) = decoder.decode_to_utf8_without_replacement(piece, &mut text[start..], is_last);
    text.truncate(start + written);
    match result {
        DecoderResult::InputEmpty => Ok(()),
        // The buffer has the length that the decoder demands, so it is never full.
        DecoderResult::OutputFull | DecoderResult::Malformed(..) => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{UTF_8, UTF_16LE, WINDOWS_1252};

    use super::*;

    fn decode_all(mut decoder: Decoder, bytes: &[u8]) -> Result<String, Malformed> {
        let mut text = Vec::new();
        // Single bytes, so that characters are divided between pieces.
        for byte in bytes {
            decode(&mut decoder, &[*byte], false, &mut text)?;
        }
        decode(&mut decoder, &[], true, &mut text)?;
        Ok(String::from_utf8(text).expect("UTF-8"))
    }

    #[test]
    fn console_059_encodings_are_read_and_faulty_bytes_are_refused() {
        assert_eq!(
            decode_all(UTF_8.new_decoder_with_bom_removal(), "\u{feff}é".as_bytes()),
            Ok("é".to_owned())
        );
        assert_eq!(
            decode_all(UTF_16LE.new_decoder(), b"\xfe\xff\x20\xac\x00a"),
            Ok("€a".to_owned())
        );
        assert_eq!(
            decode_all(WINDOWS_1252.new_decoder_without_bom_handling(), b"\x80\xe9"),
            Ok("€é".to_owned())
        );
        assert_eq!(
            decode_all(UTF_8.new_decoder_with_bom_removal(), b"a\xe9,"),
            Err(Malformed)
        );
        assert_eq!(
            decode_all(UTF_8.new_decoder_with_bom_removal(), b"a\xc3"),
            Err(Malformed)
        );
    }
}
