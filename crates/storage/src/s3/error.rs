//! What the S3 protocol answers instead of a result: XML, with the real status.

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode};

use super::xml::Xml;
use crate::error::StorageError;

/// A failed S3 request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum S3Error {
    /// What the storage service itself refuses.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Neither header, query nor form carries a signature.
    #[error("Missing signature")]
    MissingSignature,
    /// The signature's fields cannot be read.
    #[error("{0}")]
    MalformedSignature(&'static str),
    /// The signature is not the one that the secret makes.
    #[error(
        "The request signature we calculated does not match the signature you provided. Check your key and signing method."
    )]
    SignatureDoesNotMatch,
    /// No secret belongs to the access key.
    #[error("The Access Key Id you provided does not exist in our records.")]
    InvalidAccessKeyId,
    /// A presigned URL or policy is too old.
    #[error("The provided token has expired.")]
    ExpiredToken,
    /// The request's date is too far from ours.
    #[error("The difference between the request time and the server's time is too large.")]
    RequestTimeTooSkewed,
    /// Headers that change what is done are not covered by the signature, or a policy does not allow the request.
    #[error("{0}")]
    AccessDenied(String),
    /// The bytes do not have the hash that was signed.
    #[error("The provided 'x-amz-content-sha256' header does not match what was computed.")]
    ContentSha256Mismatch,
    /// The bytes do not have the checksum that was declared.
    #[error("The {0} you specified did not match the calculated checksum.")]
    BadDigest(&'static str),
    /// A checksum header that is none.
    #[error("Value for {0} header is invalid.")]
    InvalidDigest(&'static str),
    /// Fewer bytes came than were declared, or more.
    #[error("You did not provide the number of bytes specified by the Content-Length HTTP header")]
    IncompleteBody,
    /// The chunks of an aws-chunked body cannot be told apart.
    #[error("The request body is not valid aws-chunked content: {0}")]
    MalformedChunks(&'static str),
    /// A trailer was declared and did not come.
    #[error(
        "The request contained trailing data that was not well-formed or did not conform to our published schema."
    )]
    MalformedTrailer,
    /// The XML of the body cannot be read.
    #[error("Invalid XML payload: {0}")]
    MalformedXml(String),
    /// The length must be known.
    #[error("You must provide the Content-Length HTTP header.")]
    MissingContentLength,
    /// No such multipart upload.
    #[error("Upload not found")]
    NoSuchUpload,
    /// A part of a completion was never uploaded, or has another tag.
    #[error(
        "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."
    )]
    InvalidPart,
    /// Parts of a completion must ascend.
    #[error(
        "The list of parts was not in ascending order. The parts list must be specified in order by part number."
    )]
    InvalidPartOrder,
    /// A parameter that must be there.
    #[error("Missing Required Parameter {0}")]
    MissingParameter(&'static str),
    /// A parameter that has an impossible value.
    #[error("Invalid Parameter {0}")]
    InvalidArgument(&'static str),
    /// A header that S3 would refuse.
    #[error("{0}")]
    InvalidRequest(&'static str),
    /// A condition of the request does not hold.
    #[error("At least one of the pre-conditions you specified did not hold")]
    PreconditionFailed,
    /// The range of a copy cannot be satisfied.
    #[error("invalid range provided")]
    InvalidCopyRange,
    /// An operation that S3 has and we do not.
    #[error("A header or query you provided implies functionality that is not implemented")]
    NotImplemented,
    /// A method that the resource does not have.
    #[error("The specified method is not allowed against this resource.")]
    MethodNotAllowed,
}

impl S3Error {
    /// HTTP status and code.
    fn wire(&self) -> (u16, &'static str) {
        match self {
            Self::Storage(StorageError::RelatedResourceMissing) => (404, "NoSuchBucket"),
            Self::Storage(StorageError::BlobMissing) => (404, "NoSuchKey"),
            Self::Storage(StorageError::InvalidRange { .. }) => (416, "InvalidRange"),
            Self::Storage(error) => error.real(),
            Self::MissingSignature | Self::AccessDenied(_) => (403, "AccessDenied"),
            Self::MalformedSignature(_) => (400, "InvalidSignature"),
            Self::SignatureDoesNotMatch => (403, "SignatureDoesNotMatch"),
            Self::InvalidAccessKeyId => (403, "InvalidAccessKeyId"),
            Self::ExpiredToken => (400, "ExpiredToken"),
            Self::RequestTimeTooSkewed => (403, "RequestTimeTooSkewed"),
            Self::ContentSha256Mismatch => (400, "XAmzContentSHA256Mismatch"),
            Self::BadDigest(_) => (400, "BadDigest"),
            Self::InvalidDigest(_) => (400, "InvalidDigest"),
            Self::IncompleteBody => (400, "IncompleteBody"),
            Self::MalformedChunks(_) => (400, "InvalidRequest"),
            Self::MalformedTrailer => (400, "MalformedTrailerError"),
            Self::MalformedXml(_) => (400, "MalformedXML"),
            Self::MissingContentLength => (400, "MissingContentLength"),
            Self::NoSuchUpload => (404, "NoSuchUpload"),
            Self::InvalidPart => (400, "InvalidPart"),
            Self::InvalidPartOrder => (400, "InvalidPartOrder"),
            Self::MissingParameter(_) => (400, "MissingParameter"),
            Self::InvalidArgument(_) => (400, "InvalidParameter"),
            Self::InvalidRequest(_) => (400, "InvalidRequest"),
            Self::PreconditionFailed => (412, "PreconditionFailed"),
            Self::InvalidCopyRange => (400, "InvalidRange"),
            Self::NotImplemented => (501, "NotImplemented"),
            Self::MethodNotAllowed => (405, "MethodNotAllowed"),
        }
    }

    /// Code and text, as one entry of a bulk answer says them.
    pub(crate) fn entry(&self) -> (&'static str, String) {
        (self.wire().1, self.to_string())
    }

    /// The answer. `resource` is `bucket/key` as far as the request names them.
    pub(crate) fn response(&self, method: &Method, resource: &str) -> HttpResponse {
        if let Self::Storage(error) = self {
            error.log();
        }
        let (status, code) = self.wire();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = HttpResponse::build(status);
        response.insert_header(("cache-control", "no-store"));
        if let Self::Storage(StorageError::InvalidRange { size_bytes }) = self {
            response.insert_header(("content-range", format!("bytes */{size_bytes}")));
        }
        response.content_type(super::xml::MEDIA_TYPE);
        if method == Method::HEAD {
            return response.finish();
        }
        let message = self.to_string();
        response.body(Xml::document("Error", |xml| {
            xml.text("Resource", resource);
            xml.text("Code", code);
            xml.text("Message", &message);
        }))
    }
}
