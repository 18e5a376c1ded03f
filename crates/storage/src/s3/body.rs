//! The body of an S3 request: decoded where it is aws-chunked, and compared with every length, hash and checksum that
//! the client declared or signed. A mismatch is an error at the end of the stream, before the object becomes visible.

use actix_web::HttpRequest;
use actix_web::web;
use aws_smithy_checksums::ChecksumAlgorithm;
use aws_smithy_checksums::http::HttpChecksum;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use md5::Md5;
use selvedge_gateway::Caller;
use selvedge_limits::ClientId;
use selvedge_memory::ARRIVING_COUNTED_FROM;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::chunks::{ChunkDecoder, ChunkEvent};
use super::error::S3Error;
use super::signature::SignedPayload;
use crate::error::StorageError;

/// Largest XML document in bytes.
const DOCUMENT_MAX_BYTES: usize = 4 * 1024 * 1024;
/// How often a document is in memory: its bytes, and the tree of its elements.
const DOCUMENT_COPIES: usize = 3;
/// Checksum headers, which may also be trailers, and their algorithms.
const CHECKSUMS: [(&str, &str); 5] = [
    ("x-amz-checksum-crc32", "crc32"),
    ("x-amz-checksum-crc32c", "crc32c"),
    ("x-amz-checksum-crc64nvme", "crc64nvme"),
    ("x-amz-checksum-sha1", "sha1"),
    ("x-amz-checksum-sha256", "sha256"),
];

/// A body that is being read and checked.
pub(crate) struct S3Body {
    payload: web::Payload,
    decoder: Option<ChunkDecoder>,
    /// Size of the object in bytes, if declared.
    declared_bytes: Option<u64>,
    received_bytes: u64,
    sha256: Option<(Sha256, String)>,
    md5: Option<(Md5, Vec<u8>)>,
    checksums: Vec<Checksum>,
    is_over: bool,
    /// Whose memory a document is reserved from.
    caller: Caller,
}

/// A declared checksum. Its value is `None` while a trailer is still to bring it.
struct Checksum {
    name: &'static str,
    state: Box<dyn HttpChecksum>,
    expected: Option<String>,
}

impl S3Body {
    /// A body as headers and signature of the request describe it.
    ///
    /// # Errors
    /// `InvalidDigest` for malformed checksum headers.
    pub(crate) fn new(
        request: &HttpRequest,
        payload: web::Payload,
        signed: SignedPayload,
    ) -> Result<Self, S3Error> {
        let header = |name: &str| find_header(request, name);
        let length = |name: &str| find_header(request, name).and_then(|text| text.parse::<u64>().ok());
        let trailer = header("x-amz-trailer").map(str::to_ascii_lowercase);
        let md5 = match header("content-md5") {
            Some(text) => {
                let bytes = STANDARD.decode(text).ok().filter(|bytes| bytes.len() == 16);
                Some((Md5::new(), bytes.ok_or(S3Error::InvalidDigest("Content-MD5"))?))
            }
            None => None,
        };
        let checksums = find_checksums(request, trailer.as_deref())?;
        let (decoder, declared_bytes, sha256) = match signed {
            SignedPayload::Unsigned => (None, length("content-length"), None),
            SignedPayload::Sha256(hash) => (None, length("content-length"), Some((Sha256::new(), hash))),
            SignedPayload::Chunked {
                chain,
                trailer: has_trailer,
            } => {
                let trailer = trailer.filter(|_| has_trailer);
                let decoder = ChunkDecoder::new(chain, has_trailer, trailer.as_deref());
                // Content-Length also counts the heads and signatures of the chunks, so another header declares the
                // size of the object.
                (Some(decoder), length("x-amz-decoded-content-length"), None)
            }
        };
        Ok(Self {
            payload,
            decoder,
            declared_bytes,
            received_bytes: 0,
            sha256,
            md5,
            checksums,
            is_over: false,
            caller: Caller::extract(request),
        })
    }

    /// Size of the object in bytes, if the client declared it.
    pub(crate) fn declared_bytes(&self) -> Option<u64> {
        self.declared_bytes
    }

    /// The bytes of the object as a stream.
    pub(crate) fn stream(self) -> impl Stream<Item = Result<Bytes, S3Error>> + Unpin {
        Box::pin(futures_util::stream::unfold(self, async |mut body| {
            let chunk = body.next().await?;
            Some((chunk, body))
        }))
    }

    /// The whole body of a request that carries a document.
    ///
    /// # Errors
    /// `EntityTooLarge`, `OutOfMemory`, and those of the checks.
    pub(crate) async fn document(self) -> Result<Bytes, S3Error> {
        let caller = self.caller.clone();
        let mut held = None;
        let mut stream = self.stream();
        let mut bytes = Vec::new();
        while let Some(chunk) = stream.next().await {
            bytes.extend_from_slice(&chunk?);
            if bytes.len() > DOCUMENT_MAX_BYTES {
                return Err(StorageError::EntityTooLarge.into());
            }
            if bytes.len() >= ARRIVING_COUNTED_FROM && held.is_none() {
                let client = ClientId::of_connection(Some(caller.remote_ip()));
                let reserved = caller
                    .memory()
                    .reserve_for(client, DOCUMENT_MAX_BYTES * DOCUMENT_COPIES);
                held = Some(reserved.ok_or(StorageError::OutOfMemory)?);
            }
        }
        let bytes = Bytes::from(bytes);
        Ok(match held {
            Some(reserved) => reserved.hold(bytes),
            None => bytes,
        })
    }

    async fn next(&mut self) -> Option<Result<Bytes, S3Error>> {
        if self.is_over {
            return None;
        }
        match self.read_bytes().await {
            Ok(Some(bytes)) => {
                self.update_digests(&bytes);
                Some(Ok(bytes))
            }
            Ok(None) => {
                self.is_over = true;
                self.check_digests().err().map(Err)
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(error))
            }
        }
    }

    async fn read_bytes(&mut self) -> Result<Option<Bytes>, S3Error> {
        let Some(decoder) = &mut self.decoder else {
            return read_payload(&mut self.payload).await;
        };
        loop {
            match decoder.next()? {
                ChunkEvent::Data(bytes) => return Ok(Some(bytes)),
                ChunkEvent::End => return Ok(None),
                ChunkEvent::NeedsInput => match read_payload(&mut self.payload).await? {
                    Some(bytes) => decoder.feed(&bytes),
                    None => return decoder.end().map(|()| None),
                },
            }
        }
    }

    fn update_digests(&mut self, bytes: &[u8]) {
        self.received_bytes += bytes.len() as u64;
        if let Some((digest, _)) = &mut self.sha256 {
            digest.update(bytes);
        }
        if let Some((digest, _)) = &mut self.md5 {
            digest.update(bytes);
        }
        for checksum in &mut self.checksums {
            checksum.state.update(bytes);
        }
    }

    /// Compares length, hash and checksums with what was declared.
    fn check_digests(&mut self) -> Result<(), S3Error> {
        if self
            .declared_bytes
            .is_some_and(|bytes| bytes != self.received_bytes)
        {
            return Err(S3Error::IncompleteBody);
        }
        if let Some((digest, expected)) = self.sha256.take()
            && !bool::from(
                hex::encode(digest.finalize())
                    .as_bytes()
                    .ct_eq(expected.as_bytes()),
            )
        {
            return Err(S3Error::ContentSha256Mismatch);
        }
        if let Some((digest, expected)) = self.md5.take()
            && digest.finalize().as_slice() != expected
        {
            return Err(S3Error::BadDigest("Content-MD5"));
        }
        let trailers = self
            .decoder
            .as_ref()
            .map(ChunkDecoder::trailers)
            .unwrap_or_default();
        for checksum in self.checksums.drain(..) {
            let trailing = trailers
                .iter()
                .find(|(name, _)| name == checksum.name)
                .map(|(_, value)| value.clone());
            // A declared trailer that never came is an error: accepting the body would skip the check that the client
            // asked for.
            let expected = trailing.or(checksum.expected).ok_or(S3Error::MalformedTrailer)?;
            if STANDARD.encode(checksum.state.finalize()) != expected {
                return Err(S3Error::BadDigest(checksum.name));
            }
        }
        Ok(())
    }
}

/// Checksums that the request declares, by header or as a trailer.
///
/// # Errors
/// `InvalidDigest`.
fn find_checksums(request: &HttpRequest, trailer: Option<&str>) -> Result<Vec<Checksum>, S3Error> {
    let mut checksums = Vec::new();
    for (name, algorithm) in CHECKSUMS {
        let is_trailing = trailer.is_some_and(|names| names.split(',').any(|found| found.trim() == name));
        let expected = find_header(request, name).map(str::to_owned);
        if is_trailing || expected.is_some() {
            let algorithm: ChecksumAlgorithm = algorithm.parse().map_err(|_| S3Error::InvalidDigest(name))?;
            checksums.push(Checksum {
                name,
                state: algorithm.into_impl(),
                expected,
            });
        }
    }
    Ok(checksums)
}

fn find_header<'r>(request: &'r HttpRequest, name: &str) -> Option<&'r str> {
    let value = request.headers().get(name)?;
    value.to_str().ok().map(str::trim)
}

async fn read_payload(payload: &mut web::Payload) -> Result<Option<Bytes>, S3Error> {
    match payload.next().await {
        None => Ok(None),
        Some(Ok(bytes)) => Ok(Some(bytes)),
        // The connection broke, or the body is shorter than its Content-Length.
        Some(Err(_)) => Err(StorageError::Aborted.into()),
    }
}
