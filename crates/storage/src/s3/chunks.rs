//! aws-chunked content: `size[;chunk-signature=…]\r\n`, the bytes, `\r\n`, again and again; a chunk without bytes ends
//! it, and trailers may follow. Each signature covers its chunk and the signature before, so that nothing can be cut out,
//! swapped or added.

use bytes::{Buf, Bytes, BytesMut};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::error::S3Error;
use super::signature::{Chain, EMPTY_SHA256};

/// Largest signed chunk.
const CHUNK_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Longest line of a chunk's head or of a trailer.
const LINE_MAX_BYTES: usize = 1024;
/// Most trailers.
const TRAILERS_MAX: usize = 16;
const TRAILER_SIGNATURE: &str = "x-amz-trailer-signature";

/// What the decoder has to say.
pub(super) enum Piece {
    /// Bytes of the object.
    Data(Bytes),
    /// It needs more input.
    Hungry,
    /// That was all.
    End,
}

enum State {
    Head,
    Data { left: u64 },
    DataEnd,
    Trailers,
    Done,
}

/// Decodes what it is fed.
pub(super) struct Decoder {
    chain: Option<Chain>,
    has_trailer: bool,
    /// Names that must have come at the end.
    declared: Vec<String>,
    input: BytesMut,
    state: State,
    /// Hash and signature of the chunk that is being read.
    chunk: Sha256,
    chunk_signature: String,
    trailers: Vec<(String, String)>,
    trailer_text: String,
}

impl Decoder {
    /// A decoder of chunks that `chain` signs; `declared` is the header `x-amz-trailer`.
    pub(super) fn new(chain: Option<Chain>, has_trailer: bool, declared: Option<&str>) -> Self {
        let names = declared.unwrap_or_default().split(',');
        Self {
            chain,
            has_trailer,
            declared: names
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty())
                .collect(),
            input: BytesMut::new(),
            state: State::Head,
            chunk: Sha256::new(),
            chunk_signature: String::new(),
            trailers: Vec::new(),
            trailer_text: String::new(),
        }
    }

    /// Takes bytes as they came.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// The connection has nothing more. Some clients leave out the empty line at the very end.
    ///
    /// # Errors
    /// `IncompleteBody` anywhere else.
    pub(super) fn end(&mut self) -> Result<(), S3Error> {
        match self.state {
            State::Done => Ok(()),
            State::Trailers if self.input.is_empty() => self.end_trailers(),
            _ => Err(S3Error::IncompleteBody),
        }
    }

    /// Trailers, once all is read.
    pub(super) fn trailers(&self) -> Vec<(String, String)> {
        self.trailers.clone()
    }

    /// The next piece.
    ///
    /// # Errors
    /// `MalformedChunks`, `SignatureDoesNotMatch`, `MalformedTrailer`.
    pub(super) fn next(&mut self) -> Result<Piece, S3Error> {
        loop {
            match self.state {
                State::Head => {
                    let Some(line) = self.line()? else {
                        return Ok(Piece::Hungry);
                    };
                    self.begin_chunk(&line)?;
                }
                State::Data { left: 0 } => self.state = State::DataEnd,
                State::Data { left } => {
                    if self.input.is_empty() {
                        return Ok(Piece::Hungry);
                    }
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(self.input.len());
                    let bytes = self.input.split_to(taken).freeze();
                    if self.chain.is_some() {
                        self.chunk.update(&bytes);
                    }
                    self.state = State::Data {
                        left: left - taken as u64,
                    };
                    return Ok(Piece::Data(bytes));
                }
                State::DataEnd => {
                    if self.input.len() < 2 {
                        return Ok(Piece::Hungry);
                    }
                    if !self.input.starts_with(b"\r\n") {
                        return Err(S3Error::MalformedChunks("a chunk is longer than its head says"));
                    }
                    self.input.advance(2);
                    self.end_chunk()?;
                    self.state = State::Head;
                }
                State::Trailers => {
                    let Some(line) = self.line()? else {
                        return Ok(Piece::Hungry);
                    };
                    if line.is_empty() {
                        self.end_trailers()?;
                        self.state = State::Done;
                    } else {
                        self.take_trailer(&line)?;
                    }
                }
                State::Done => return Ok(Piece::End),
            }
        }
    }

    /// A line without its end.
    fn line(&mut self) -> Result<Option<String>, S3Error> {
        let Some(end) = self.input.iter().position(|b| *b == b'\n') else {
            if self.input.len() > LINE_MAX_BYTES {
                return Err(S3Error::MalformedChunks("a line is too long"));
            }
            return Ok(None);
        };
        let line = self.input.split_to(end + 1);
        let line = line.strip_suffix(b"\r\n").unwrap_or(&line[..end]);
        let text = std::str::from_utf8(line).map_err(|_| S3Error::MalformedChunks("a line is no text"))?;
        Ok(Some(text.to_owned()))
    }

    fn begin_chunk(&mut self, line: &str) -> Result<(), S3Error> {
        let (size, extension) = line.split_once(';').unwrap_or((line, ""));
        let is_hex = !size.is_empty() && size.bytes().all(|b| b.is_ascii_hexdigit());
        let size = u64::from_str_radix(size.trim(), 16)
            .ok()
            .filter(|size| is_hex && *size <= u64::MAX / 2)
            .ok_or(S3Error::MalformedChunks("a chunk has no size"))?;
        if self.chain.is_some() {
            let signature = extension.trim().strip_prefix("chunk-signature=");
            signature
                .ok_or(S3Error::MalformedChunks("a chunk has no signature"))?
                .clone_into(&mut self.chunk_signature);
            if size > CHUNK_MAX_BYTES {
                return Err(S3Error::MalformedChunks("a chunk is too large"));
            }
        }
        if size > 0 {
            self.state = State::Data { left: size };
            return Ok(());
        }
        self.end_chunk()?;
        self.state = State::Trailers;
        Ok(())
    }

    fn end_chunk(&mut self) -> Result<(), S3Error> {
        let hash = hex::encode(std::mem::take(&mut self.chunk).finalize());
        let Some(chain) = &mut self.chain else {
            return Ok(());
        };
        let text = format!(
            "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{}\n{EMPTY_SHA256}\n{hash}",
            chain.timestamp, chain.scope, chain.previous
        );
        let expected = chain.key.sign(text.as_bytes());
        if !bool::from(expected.as_bytes().ct_eq(self.chunk_signature.as_bytes())) {
            return Err(S3Error::SignatureDoesNotMatch);
        }
        chain.previous = expected;
        Ok(())
    }

    fn take_trailer(&mut self, line: &str) -> Result<(), S3Error> {
        let (name, value) = line.split_once(':').ok_or(S3Error::MalformedTrailer)?;
        if !self.has_trailer || self.trailers.len() >= TRAILERS_MAX {
            return Err(S3Error::MalformedTrailer);
        }
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        if name != TRAILER_SIGNATURE {
            self.trailer_text.push_str(&format!("{name}:{value}\n"));
        }
        self.trailers.push((name, value.to_owned()));
        Ok(())
    }

    fn end_trailers(&mut self) -> Result<(), S3Error> {
        let find = |name: &str| self.trailers.iter().find(|(found, _)| found == name);
        if !self.declared.iter().all(|name| find(name).is_some()) {
            return Err(S3Error::MalformedTrailer);
        }
        let Some(chain) = self.chain.as_ref().filter(|_| self.has_trailer) else {
            return Ok(());
        };
        let (_, signature) = find(TRAILER_SIGNATURE).ok_or(S3Error::MalformedTrailer)?;
        let text = format!(
            "AWS4-HMAC-SHA256-TRAILER\n{}\n{}\n{}\n{}",
            chain.timestamp,
            chain.scope,
            chain.previous,
            hex::encode(Sha256::digest(self.trailer_text.as_bytes()))
        );
        let expected = chain.key.sign(text.as_bytes());
        if !bool::from(expected.as_bytes().ct_eq(signature.as_bytes())) {
            return Err(S3Error::SignatureDoesNotMatch);
        }
        Ok(())
    }
}
