//! Finds the end of a chunked body. Does no I/O.
//!
//! Anything that the HTTP server behind might read differently is malformed here: if the two disagreed about where a
//! body ends, a client could smuggle a request past this framer.

/// Longest line of a chunk's size with its extension, and all trailers together.
const LONGEST_LINE: usize = 4096;

/// The chunked encoding is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MalformedChunk;

/// Follows one chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkedBody {
    place: ChunkPart,
    /// The size read so far; then the bytes of the chunk that are still to come.
    left: u64,
    /// Bytes read of the current line, or of all trailers.
    read: usize,
}

/// The part of a chunked body to which the next byte belongs (RFC 9112 §7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkPart {
    Size,
    AfterSize,
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    Trailers,
    Trailer,
    TrailerEnd,
    LastLf,
}

impl ChunkedBody {
    pub(super) fn new() -> Self {
        Self {
            place: ChunkPart::Size,
            left: 0,
            read: 0,
        }
    }

    /// Advances through `bytes`. Returns how many of them belong to the body, and whether the body ends with them.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<(usize, bool), MalformedChunk> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.place == ChunkPart::Data {
                let step =
                    usize::try_from(self.left).map_or(bytes.len() - at, |left| left.min(bytes.len() - at));
                at += step;
                self.left -= step as u64;
                if self.left == 0 {
                    self.place = ChunkPart::DataCr;
                }
                continue;
            }
            at += 1;
            if self.place == ChunkPart::LastLf {
                return if byte == b'\n' {
                    Ok((at, true))
                } else {
                    Err(MalformedChunk)
                };
            }
            self.place = self.advance_byte(byte)?;
        }
        Ok((at, false))
    }

    fn advance_byte(&mut self, byte: u8) -> Result<ChunkPart, MalformedChunk> {
        self.read += 1;
        // Without a limit, endless extensions or trailers would keep the request open without any data.
        if self.read > LONGEST_LINE {
            return Err(MalformedChunk);
        }
        match (self.place, byte) {
            (ChunkPart::Size, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).ok_or(MalformedChunk)?;
                let size = self.left.checked_mul(16).ok_or(MalformedChunk)?;
                self.left = size + u64::from(digit);
                Ok(ChunkPart::Size)
            }
            // A size needs at least one digit.
            (ChunkPart::Size, _) if self.read == 1 => Err(MalformedChunk),
            (ChunkPart::Size | ChunkPart::AfterSize, b' ' | b'\t') => Ok(ChunkPart::AfterSize),
            (ChunkPart::Size | ChunkPart::AfterSize, b';') => Ok(ChunkPart::Extension),
            (ChunkPart::Size | ChunkPart::AfterSize | ChunkPart::Extension, b'\r') => Ok(ChunkPart::SizeEnd),
            (ChunkPart::Extension, _) if is_text(byte) => Ok(ChunkPart::Extension),
            (ChunkPart::SizeEnd, b'\n') => {
                self.read = 0;
                Ok(if self.left == 0 {
                    ChunkPart::Trailers
                } else {
                    ChunkPart::Data
                })
            }
            (ChunkPart::DataCr, b'\r') => Ok(ChunkPart::DataLf),
            (ChunkPart::DataLf, b'\n') => {
                self.read = 0;
                Ok(ChunkPart::Size)
            }
            (ChunkPart::Trailers, b'\r') => Ok(ChunkPart::LastLf),
            (ChunkPart::Trailers | ChunkPart::Trailer, _) if is_text(byte) => Ok(ChunkPart::Trailer),
            (ChunkPart::Trailer, b'\r') => Ok(ChunkPart::TrailerEnd),
            (ChunkPart::TrailerEnd, b'\n') => Ok(ChunkPart::Trailers),
            _ => Err(MalformedChunk),
        }
    }
}

fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_chunked_body(body: &str, piece: usize) -> Result<(usize, bool), MalformedChunk> {
        let mut chunks = ChunkedBody::new();
        let mut passed = 0;
        for part in body.as_bytes().chunks(piece) {
            let (length, ends) = chunks.advance(part)?;
            passed += length;
            if ends {
                return Ok((passed, true));
            }
        }
        Ok((passed, false))
    }

    #[test]
    fn a_chunked_body_ends_where_its_last_chunk_does() {
        for body in [
            "0\r\n\r\n",
            "3\r\nabc\r\n0\r\n\r\n",
            "A;name=\"x\"\r\n0123456789\r\n1 ; y\r\n\r\r\n000\r\n\r\n",
            "1\r\nx\r\n0\r\nTrailer: x\r\nAnother: y\r\n\r\n",
        ] {
            for piece in [1, 2, 3, 1000] {
                let stream = format!("{body}GET / HTTP/1.1\r\n\r\n");
                assert_eq!(
                    read_chunked_body(&stream, piece),
                    Ok((body.len(), true)),
                    "{body:?} by {piece}"
                );
            }
        }
    }

    #[test]
    fn ambiguous_chunked_encodings_are_malformed() {
        for body in [
            "\r\n",
            "x\r\n",
            " 1\r\na\r\n",
            "-1\r\n",
            "+1\r\n",
            "0x1\r\n",
            "1\na\r\n",
            "1\r\na\n0\r\n\r\n",
            "1\r\nab\r\n",
            "1 1\r\na\r\n",
            "1;\0\r\n",
            "1;a\nb\r\n",
            "11111111111111111\r\n",
            "0\r\nA: b\nC: d\r\n\r\n",
            "0\r\n\n",
            "0\r\n\rx",
        ] {
            assert_eq!(read_chunked_body(body, 1), Err(MalformedChunk), "{body:?}");
            assert_eq!(read_chunked_body(body, 1000), Err(MalformedChunk), "{body:?}");
        }
        let long = format!("1;{}", "x".repeat(LONGEST_LINE));
        assert_eq!(read_chunked_body(&long, 1000), Err(MalformedChunk));
    }

    #[test]
    fn the_largest_chunk_size_does_not_overflow() {
        let mut chunks = ChunkedBody::new();
        assert_eq!(chunks.advance(b"ffffffffffffffff\r\nabc"), Ok((21, false)));
        assert_eq!(chunks.left, u64::MAX - 3);
    }
}
