//! What a signature covers of a request's body.

use super::key::SigningKey;
use super::presented::PresentedSignature;
use crate::s3::error::S3Error;

/// SHA-256 of no bytes, in hex.
pub(in crate::s3) const EMPTY_SHA256: &str =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// What a signature covers of the body.
pub(crate) enum SignedPayload {
    /// The body is not part of the signature.
    Unsigned,
    /// SHA-256 of the body in hex.
    Sha256(String),
    /// The body is aws-chunked.
    Chunked {
        /// Verifies each chunk; `None` when chunks are not signed.
        chain: Option<ChunkSignatureChain>,
        /// Whether checksums follow the last chunk.
        trailer: bool,
    },
}

/// The state from which the next chunk's signature is computed.
pub(crate) struct ChunkSignatureChain {
    pub(crate) key: SigningKey,
    pub(crate) timestamp: String,
    pub(crate) scope: String,
    /// Signature of the previous chunk; for the first chunk that of the request.
    pub(crate) previous: String,
}

impl SignedPayload {
    /// Reads the value that was signed as the hash of the body.
    ///
    /// # Errors
    /// `InvalidRequest` for an unknown value.
    pub(super) fn read(hash: &str, key: SigningKey, presented: PresentedSignature) -> Result<Self, S3Error> {
        let chain = || ChunkSignatureChain {
            key,
            scope: presented.scope.text(),
            timestamp: presented.timestamp,
            previous: presented.signature,
        };
        Ok(match hash {
            "UNSIGNED-PAYLOAD" => Self::Unsigned,
            "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" => Self::Chunked {
                chain: Some(chain()),
                trailer: false,
            },
            "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER" => Self::Chunked {
                chain: Some(chain()),
                trailer: true,
            },
            "STREAMING-UNSIGNED-PAYLOAD-TRAILER" => Self::Chunked {
                chain: None,
                trailer: true,
            },
            hash if hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Self::Sha256(hash.to_ascii_lowercase())
            }
            _ => {
                return Err(S3Error::InvalidRequest(
                    "x-amz-content-sha256 has an unsupported value",
                ));
            }
        })
    }
}
