//! Decodes aws-chunked content: chunks of `size[;chunk-signature=…]\r\n`, bytes and `\r\n`, ended by a chunk of size
//! zero, after which trailers may follow. Each signature covers its chunk and the previous signature, so that chunks
//! cannot be removed, reordered or added.

use bytes::{Buf, Bytes, BytesMut};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::error::S3Error;
use super::signature::{ChunkSignatureChain, EMPTY_SHA256};

/// Largest signed chunk in bytes: a chunk is only verified once it is complete.
const CHUNK_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Longest line in bytes, of a chunk's head or a trailer.
const LINE_MAX_BYTES: usize = 1024;
/// Maximum number of trailers after a body.
const TRAILERS_MAX: usize = 16;
const TRAILER_SIGNATURE: &str = "x-amz-trailer-signature";

/// The decoder's result for its input so far.
pub(super) enum ChunkEvent {
    /// Bytes of the object.
    Data(Bytes),
    /// More input is needed to go on.
    NeedsInput,
    /// The body ended.
    End,
}

enum DecoderState {
    Head,
    Data { left: u64 },
    DataEnd,
    Trailers,
    Done,
}

/// The decoder: takes input by [`feed`](Self::feed) and returns bytes by [`next`](Self::next).
pub(super) struct ChunkDecoder {
    chain: Option<ChunkSignatureChain>,
    has_trailer: bool,
    /// Names of the trailers that must be there.
    declared: Vec<String>,
    input: BytesMut,
    state: DecoderState,
    /// Hash and declared signature of the current chunk.
    chunk: Sha256,
    chunk_signature: String,
    trailers: Vec<(String, String)>,
    trailer_text: String,
}

impl ChunkDecoder {
    /// A decoder; with a `chain` chunks must be signed. `declared` is the value of `x-amz-trailer`.
    pub(super) fn new(chain: Option<ChunkSignatureChain>, has_trailer: bool, declared: Option<&str>) -> Self {
        let names = declared.unwrap_or_default().split(',');
        Self {
            chain,
            has_trailer,
            declared: names
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty())
                .collect(),
            input: BytesMut::new(),
            state: DecoderState::Head,
            chunk: Sha256::new(),
            chunk_signature: String::new(),
            trailers: Vec::new(),
            trailer_text: String::new(),
        }
    }

    /// Adds input to the buffer.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Signals the end of the input. Compat: some clients leave out the empty line after the trailers.
    ///
    /// # Errors
    /// `IncompleteBody` when it ends anywhere else.
    pub(super) fn end(&mut self) -> Result<(), S3Error> {
        match self.state {
            DecoderState::Done => Ok(()),
            DecoderState::Trailers if self.input.is_empty() => self.end_trailers(),
            _ => Err(S3Error::IncompleteBody),
        }
    }

    /// The trailers; complete once [`ChunkEvent::End`] was returned.
    pub(super) fn trailers(&self) -> Vec<(String, String)> {
        self.trailers.clone()
    }

    /// Decodes the next bytes.
    ///
    /// # Errors
    /// `MalformedChunks`, `SignatureDoesNotMatch`, `MalformedTrailer`.
    pub(super) fn next(&mut self) -> Result<ChunkEvent, S3Error> {
        loop {
            match self.state {
                DecoderState::Head => {
                    let Some(line) = self.take_line()? else {
                        return Ok(ChunkEvent::NeedsInput);
                    };
                    self.begin_chunk(&line)?;
                }
                DecoderState::Data { left: 0 } => self.state = DecoderState::DataEnd,
                DecoderState::Data { left } => return Ok(self.take_data(left)),
                DecoderState::DataEnd => {
                    if self.input.len() < 2 {
                        return Ok(ChunkEvent::NeedsInput);
                    }
                    if !self.input.starts_with(b"\r\n") {
                        return Err(S3Error::MalformedChunks("a chunk is longer than its head says"));
                    }
                    self.input.advance(2);
                    self.end_chunk()?;
                    self.state = DecoderState::Head;
                }
                DecoderState::Trailers => {
                    let Some(line) = self.take_line()? else {
                        return Ok(ChunkEvent::NeedsInput);
                    };
                    if line.is_empty() {
                        self.end_trailers()?;
                        self.state = DecoderState::Done;
                    } else {
                        self.take_trailer(&line)?;
                    }
                }
                DecoderState::Done => return Ok(ChunkEvent::End),
            }
        }
    }

    /// Takes bytes of the current chunk, of which `left` are still to come.
    fn take_data(&mut self, left: u64) -> ChunkEvent {
        if self.input.is_empty() {
            return ChunkEvent::NeedsInput;
        }
        // Bytes are passed on before their chunk is verified. They go into a blob without a row, and a wrong signature
        // fails the stream before the row is written.
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(self.input.len());
        let bytes = self.input.split_to(taken).freeze();
        if self.chain.is_some() {
            self.chunk.update(&bytes);
        }
        self.state = DecoderState::Data {
            left: left - taken as u64,
        };
        ChunkEvent::Data(bytes)
    }

    /// Takes a complete line, without its line break, from the input.
    fn take_line(&mut self) -> Result<Option<String>, S3Error> {
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

    /// Reads the head of a chunk.
    fn begin_chunk(&mut self, line: &str) -> Result<(), S3Error> {
        let (size, extension) = line.split_once(';').unwrap_or((line, ""));
        // `from_str_radix` alone would also accept a sign.
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
            self.state = DecoderState::Data { left: size };
            return Ok(());
        }
        self.end_chunk()?;
        self.state = DecoderState::Trailers;
        Ok(())
    }

    /// Verifies the signature of a complete chunk.
    fn end_chunk(&mut self) -> Result<(), S3Error> {
        let hash = hex::encode(std::mem::take(&mut self.chunk).finalize());
        let Some(chain) = &mut self.chain else {
            return Ok(());
        };
        // AWS fixes the line before the chunk's hash as the hash of the empty string.
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

    /// Checks that all declared trailers are there, and their signature.
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
