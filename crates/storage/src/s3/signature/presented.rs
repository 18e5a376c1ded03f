//! Reads the signature of a request from its Authorization header or its query.

use actix_web::dev::RequestHead;
use chrono::DateTime;

use super::canonical;
use super::key::{ALGORITHM, Scope};
use crate::s3::error::S3Error;

/// The longest life of a presigned URL in seconds: seven days.
const MAX_EXPIRES_S: i64 = 7 * 24 * 3600;

/// A signature as the client presented it, not verified yet.
pub(super) struct PresentedSignature {
    pub(super) scope: Scope,
    pub(super) timestamp: String,
    pub(super) signed_headers: Vec<String>,
    pub(super) signature: String,
    pub(super) session_token: Option<String>,
    /// Lifetime of a presigned URL in seconds; `None` for a signature in the header.
    pub(super) expires_s: Option<i64>,
}

/// Reads `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`.
///
/// # Errors
/// `MalformedSignature`.
pub(super) fn read_header(request: &RequestHead, header: &str) -> Result<PresentedSignature, S3Error> {
    let malformed = || S3Error::MalformedSignature("Invalid signature format");
    let fields = header
        .trim_start()
        .strip_prefix(ALGORITHM)
        .filter(|rest| rest.starts_with(' '))
        .ok_or_else(malformed)?;
    let field = |name: &str| {
        fields.split(',').find_map(|field| {
            let (found, value) = field.trim().split_once('=')?;
            (found == name).then(|| value.trim().to_owned())
        })
    };
    let text = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let timestamp = match text("x-amz-date") {
        Some(timestamp) => timestamp,
        None => text("date")
            .and_then(|date| DateTime::parse_from_rfc2822(&date).ok())
            .map(|date| date.to_utc().format("%Y%m%dT%H%M%SZ").to_string())
            .ok_or(S3Error::MalformedSignature("Missing x-amz-date header"))?,
    };
    Ok(PresentedSignature {
        scope: Scope::parse(&field("Credential").ok_or_else(malformed)?)?,
        timestamp,
        signed_headers: split_signed_headers(&field("SignedHeaders").ok_or_else(malformed)?),
        signature: field("Signature").ok_or_else(malformed)?,
        session_token: text("x-amz-security-token"),
        expires_s: None,
    })
}

/// Reads the parameters `X-Amz-…` of a presigned URL; `None` when there is no signature.
///
/// # Errors
/// `MalformedSignature`.
pub(super) fn read_query(query: &[canonical::Pair]) -> Result<Option<PresentedSignature>, S3Error> {
    let Some(signature) = canonical::find_value(query, "X-Amz-Signature") else {
        return Ok(None);
    };
    let required = |name: &str| {
        canonical::find_value(query, name).ok_or(S3Error::MalformedSignature(
            "The presigned URL lacks one of X-Amz-Credential, X-Amz-SignedHeaders, X-Amz-Date and X-Amz-Expires",
        ))
    };
    if canonical::find_value(query, "X-Amz-Algorithm").is_some_and(|algorithm| algorithm != ALGORITHM) {
        return Err(S3Error::MalformedSignature("Invalid X-Amz-Algorithm"));
    }
    let expires_s = required("X-Amz-Expires")?.parse().ok();
    let expires_s = expires_s.filter(|seconds| (1..=MAX_EXPIRES_S).contains(seconds));
    Ok(Some(PresentedSignature {
        scope: Scope::parse(&required("X-Amz-Credential")?)?,
        timestamp: required("X-Amz-Date")?,
        signed_headers: split_signed_headers(&required("X-Amz-SignedHeaders")?),
        signature,
        session_token: canonical::find_value(query, "X-Amz-Security-Token"),
        expires_s: Some(expires_s.ok_or(S3Error::MalformedSignature("Invalid X-Amz-Expires"))?),
    }))
}

fn split_signed_headers(list: &str) -> Vec<String> {
    list.split(';').map(str::to_ascii_lowercase).collect()
}
