//! Errors of the S3 protocol: XML documents with the real HTTP status.

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode};

use super::xml_writer::Xml;
use crate::error::StorageError;
use crate::object::pending_blob::WriteError;

/// A failed S3 request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum S3Error {
    /// An error of the storage service that is not specific to S3.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Neither header, query nor form has a signature.
    #[error("Missing signature")]
    MissingSignature,
    /// A field of the signature is missing or malformed.
    #[error("{0}")]
    MalformedSignature(&'static str),
    /// The signature is not the one that the secret gives.
    #[error(
        "The request signature we calculated does not match the signature you provided. Check your key and signing method."
    )]
    SignatureDoesNotMatch,
    /// The access key is unknown.
    #[error("The Access Key Id you provided does not exist in our records.")]
    InvalidAccessKeyId,
    /// A presigned URL or form policy has expired.
    #[error("The provided token has expired.")]
    ExpiredToken,
    /// The date of the request differs too much from our clock.
    #[error("The difference between the request time and the server's time is too large.")]
    RequestTimeTooSkewed,
    /// Unsigned `x-amz-` headers, or a form that its policy does not allow.
    #[error("{0}")]
    AccessDenied(String),
    /// The body does not have the signed hash.
    #[error("The provided 'x-amz-content-sha256' header does not match what was computed.")]
    ContentSha256Mismatch,
    /// The body does not have the declared checksum.
    #[error("The {0} you specified did not match the calculated checksum.")]
    BadDigest(&'static str),
    /// A malformed checksum header.
    #[error("Value for {0} header is invalid.")]
    InvalidDigest(&'static str),
    /// The body is shorter or longer than declared.
    #[error("You did not provide the number of bytes specified by the Content-Length HTTP header")]
    IncompleteBody,
    /// An aws-chunked body is malformed.
    #[error("The request body is not valid aws-chunked content: {0}")]
    MalformedChunks(&'static str),
    /// A declared trailer is missing, or a trailer is malformed.
    #[error(
        "The request contained trailing data that was not well-formed or did not conform to our published schema."
    )]
    MalformedTrailer,
    /// The XML of the body is malformed.
    #[error("Invalid XML payload: {0}")]
    MalformedXml(String),
    /// The length of the body is required.
    #[error("You must provide the Content-Length HTTP header.")]
    MissingContentLength,
    /// There is no such multipart upload.
    #[error("Upload not found")]
    NoSuchUpload,
    /// The object has no version of this id.
    #[error("The specified version does not exist.")]
    NoSuchVersion,
    /// The object has no part of this number.
    #[error("The requested partnumber is not satisfiable")]
    InvalidPartNumber,
    /// A part of a completion was never uploaded, or has another tag.
    #[error(
        "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."
    )]
    InvalidPart,
    /// The part numbers of a completion do not ascend.
    #[error(
        "The list of parts was not in ascending order. The parts list must be specified in order by part number."
    )]
    InvalidPartOrder,
    /// A required parameter is missing.
    #[error("Missing Required Parameter {0}")]
    MissingParameter(&'static str),
    /// A parameter has an invalid value.
    #[error("Invalid Parameter {0}")]
    InvalidArgument(&'static str),
    /// A header or form that S3 refuses as well.
    #[error("{0}")]
    InvalidRequest(&'static str),
    /// A condition of the request does not hold.
    #[error("At least one of the pre-conditions you specified did not hold")]
    PreconditionFailed,
    /// The range of a copy is malformed or not within the source.
    #[error("invalid range provided")]
    InvalidCopyRange,
    /// An operation of S3 that this service does not have.
    #[error("A header or query you provided implies functionality that is not implemented")]
    NotImplemented,
    /// The resource does not have this method.
    #[error("The specified method is not allowed against this resource.")]
    MethodNotAllowed,
}

impl WriteError for S3Error {
    fn may_be_committed(&self) -> bool {
        matches!(self, Self::Storage(error) if error.may_be_committed())
    }
}

impl S3Error {
    /// HTTP status and error code.
    fn wire(&self) -> (u16, &'static str) {
        match self {
            Self::Storage(StorageError::RelatedResourceMissing) => (404, "NoSuchBucket"),
            Self::Storage(StorageError::BlobMissing) => (404, "NoSuchKey"),
            Self::Storage(StorageError::InvalidRange { .. }) => (416, "InvalidRange"),
            Self::Storage(error) => error.real_status_and_code(),
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
            Self::NoSuchVersion => (404, "NoSuchVersion"),
            Self::InvalidPartNumber => (416, "InvalidPartNumber"),
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

    /// Code and message, for one entry of a bulk response.
    pub(crate) fn entry(&self) -> (&'static str, String) {
        (self.wire().1, self.to_string())
    }

    /// The error response. `resource` is `bucket/key`, as far as the request names them. A response to HEAD has no
    /// body.
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
        response.content_type(super::xml_writer::MEDIA_TYPE);
        if method == Method::HEAD {
            return response.finish();
        }
        let message = self.to_string();
        // Unlike results, S3's errors have no namespace: with one, boto3 and the AWS CLI do not find the code.
        let mut xml = Xml::new();
        xml.element("Error", |xml| {
            xml.text("Resource", resource);
            xml.text("Code", code);
            xml.text("Message", &message);
        });
        response.body(xml.finish())
    }
}
