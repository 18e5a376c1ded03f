//! Reads method, path and query into the closed set of S3 operations.

use actix_web::HttpRequest;
use actix_web::http::Method;

use super::error::S3Error;
use super::unsupported::{asks_for_feature, names_sub_resource};
use crate::request::object_path::{ObjectPath, decode_path};
use crate::request::query::Query;

/// The resource that a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Service,
    Bucket(String),
    Object(ObjectPath),
}

impl Target {
    /// Reads `/s3`, `/s3/{bucket}` (a slash may follow) or `/s3/{bucket}/{key}`. Keys are decoded once and otherwise
    /// unchanged.
    pub(super) fn parse(path: &str) -> Result<Self, S3Error> {
        let rest = path.strip_prefix("/s3").unwrap_or(path);
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(match (bucket, key) {
            ("", "") => Self::Service,
            (bucket, "") => Self::Bucket(decode_path(bucket)?),
            (bucket, key) => Self::Object(ObjectPath {
                bucket: decode_path(bucket)?,
                key: decode_path(key)?,
            }),
        })
    }

    /// The resource as errors name it.
    pub(super) fn resource(&self) -> String {
        match self {
            Self::Service => String::new(),
            Self::Bucket(bucket) => bucket.clone(),
            Self::Object(object) => object.full_key(),
        }
    }
}

/// An operation and the bucket or object that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    ListBuckets,
    CreateBucket(String),
    HeadBucket(String),
    DeleteBucket(String),
    GetBucketLocation(String),
    GetBucketVersioning(String),
    PutBucketVersioning(String),
    GetBucketLifecycle(String),
    PutBucketLifecycle(String),
    DeleteBucketLifecycle(String),
    ListObjects(String),
    ListObjectsV2(String),
    ListObjectVersions(String),
    ListMultipartUploads(String),
    DeleteObjects(String),
    PostObject(String),
    PutObject(ObjectPath),
    CopyObject(ObjectPath),
    GetObject(ObjectPath),
    HeadObject(ObjectPath),
    GetObjectTagging(ObjectPath),
    DeleteObject(ObjectPath),
    CreateMultipartUpload(ObjectPath),
    UploadPart(ObjectPath),
    UploadPartCopy(ObjectPath),
    CompleteMultipartUpload(ObjectPath),
    AbortMultipartUpload(ObjectPath),
    ListParts(ObjectPath),
}

impl Operation {
    /// Reads a request.
    ///
    /// # Errors
    /// `NotImplemented` for operations that only S3 has, `MethodNotAllowed` for those that S3 does not have either.
    pub(super) fn parse(request: &HttpRequest, target: Target) -> Result<Self, S3Error> {
        let query = Query::parse(request.query_string());
        let operation = match target {
            Target::Service if *request.method() == Method::GET => Some(Self::ListBuckets),
            Target::Service => None,
            Target::Bucket(id) => Self::of_bucket(request.method(), &query, id),
            Target::Object(object) => {
                // Copies differ from uploads by this header only; method, path and query are the same.
                let copies = request.headers().contains_key("x-amz-copy-source");
                Self::of_object(request.method(), &query, copies, object)
            }
        };
        if asks_for_features(request, &query) {
            return Err(S3Error::NotImplemented);
        }
        if names_sub_resource(&query)
            && !matches!(
                operation,
                Some(
                    Self::GetBucketVersioning(_)
                        | Self::PutBucketVersioning(_)
                        | Self::GetBucketLifecycle(_)
                        | Self::PutBucketLifecycle(_)
                        | Self::DeleteBucketLifecycle(_)
                        | Self::GetObjectTagging(_)
                )
            )
        {
            return Err(S3Error::NotImplemented);
        }
        operation.ok_or(S3Error::MethodNotAllowed)
    }

    fn of_bucket(method: &Method, query: &Query, id: String) -> Option<Self> {
        Some(match *method {
            Method::HEAD => Self::HeadBucket(id),
            Method::PUT if query.has_key("versioning") => Self::PutBucketVersioning(id),
            Method::PUT if query.has_key("lifecycle") => Self::PutBucketLifecycle(id),
            Method::PUT => Self::CreateBucket(id),
            Method::DELETE if query.has_key("lifecycle") => Self::DeleteBucketLifecycle(id),
            Method::DELETE => Self::DeleteBucket(id),
            Method::POST if query.has_key("delete") => Self::DeleteObjects(id),
            Method::POST => Self::PostObject(id),
            Method::GET if query.has_key("location") => Self::GetBucketLocation(id),
            Method::GET if query.has_key("versioning") => Self::GetBucketVersioning(id),
            Method::GET if query.has_key("lifecycle") => Self::GetBucketLifecycle(id),
            Method::GET if query.has_key("versions") => Self::ListObjectVersions(id),
            Method::GET if query.has_key("uploads") => Self::ListMultipartUploads(id),
            Method::GET if query.text("list-type").ok().flatten() == Some("2") => Self::ListObjectsV2(id),
            Method::GET => Self::ListObjects(id),
            _ => return None,
        })
    }

    fn of_object(method: &Method, query: &Query, copies: bool, object: ObjectPath) -> Option<Self> {
        let has_upload = query.has_key("uploadId");
        Some(match *method {
            Method::HEAD => Self::HeadObject(object),
            Method::GET if has_upload => Self::ListParts(object),
            Method::GET if query.has_key("tagging") => Self::GetObjectTagging(object),
            Method::GET => Self::GetObject(object),
            Method::PUT if has_upload && copies => Self::UploadPartCopy(object),
            Method::PUT if has_upload => Self::UploadPart(object),
            Method::PUT if copies => Self::CopyObject(object),
            Method::PUT => Self::PutObject(object),
            Method::POST if query.has_key("uploads") => Self::CreateMultipartUpload(object),
            Method::POST if has_upload => Self::CompleteMultipartUpload(object),
            Method::DELETE if has_upload => Self::AbortMultipartUpload(object),
            Method::DELETE => Self::DeleteObject(object),
            _ => return None,
        })
    }

    /// The value of `storage.operation()` in policies.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::ListBuckets => "storage.s3.bucket.list",
            Self::CreateBucket(_) => "storage.s3.bucket.create",
            Self::HeadBucket(_) => "storage.s3.bucket.get",
            Self::DeleteBucket(_) => "storage.s3.bucket.delete",
            Self::GetBucketLocation(_) => "storage.s3.bucket.get_location",
            Self::GetBucketVersioning(_) => "storage.s3.bucket.get_versioning",
            Self::PutBucketVersioning(_) => "storage.s3.bucket.put_versioning",
            Self::GetBucketLifecycle(_) => "storage.s3.bucket.get_lifecycle",
            Self::PutBucketLifecycle(_) => "storage.s3.bucket.put_lifecycle",
            Self::DeleteBucketLifecycle(_) => "storage.s3.bucket.delete_lifecycle",
            Self::ListObjects(_) | Self::ListObjectsV2(_) | Self::ListObjectVersions(_) => {
                "storage.s3.object.list"
            }
            Self::ListMultipartUploads(_) => "storage.s3.upload.list_multipart",
            Self::DeleteObjects(_) => "storage.s3.object.delete_many",
            Self::PutObject(_) | Self::PostObject(_) => "storage.s3.upload",
            Self::CopyObject(_) => "storage.s3.object.copy",
            Self::GetObject(_) => "storage.s3.object.get",
            Self::HeadObject(_) => "storage.s3.object.info",
            Self::GetObjectTagging(_) => "storage.s3.object.get_tagging",
            Self::DeleteObject(_) => "storage.s3.object.delete",
            Self::CreateMultipartUpload(_) => "storage.s3.upload.create_multipart",
            Self::UploadPart(_) => "storage.s3.upload.part",
            Self::UploadPartCopy(_) => "storage.s3.upload.part_copy",
            Self::CompleteMultipartUpload(_) => "storage.s3.upload.complete_multipart",
            Self::AbortMultipartUpload(_) => "storage.s3.upload.abort_multipart",
            Self::ListParts(_) => "storage.s3.upload.list_parts",
        }
    }
}

/// Whether headers or the query ask for what this service does not have. Presigned URLs carry headers in the query.
fn asks_for_features(request: &HttpRequest, query: &Query) -> bool {
    let mut headers = request.headers().iter();
    headers.any(|(name, value)| asks_for_feature(name.as_str(), &String::from_utf8_lossy(value.as_bytes())))
        || query.pairs().any(|(name, value)| asks_for_feature(name, value))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn parse(method: Method, uri: &str) -> Result<Operation, S3Error> {
        let request = TestRequest::with_uri(uri).method(method).to_http_request();
        let target = Target::parse(uri.split('?').next().unwrap_or(uri))?;
        Operation::parse(&request, target)
    }

    #[test]
    fn store_095_requests_are_read_into_operations() {
        let object = || ObjectPath {
            bucket: "b".to_owned(),
            key: "k/l m".to_owned(),
        };
        let cases = [
            (Method::GET, "/s3", Operation::ListBuckets),
            (Method::GET, "/s3/?x-id=ListBuckets", Operation::ListBuckets),
            (Method::PUT, "/s3/b", Operation::CreateBucket("b".into())),
            (Method::HEAD, "/s3/b/", Operation::HeadBucket("b".into())),
            (
                Method::GET,
                "/s3/b?location",
                Operation::GetBucketLocation("b".into()),
            ),
            (
                Method::GET,
                "/s3/b?versioning=",
                Operation::GetBucketVersioning("b".into()),
            ),
            (
                Method::GET,
                "/s3/b?uploads",
                Operation::ListMultipartUploads("b".into()),
            ),
            (
                Method::GET,
                "/s3/b/?list-type=2",
                Operation::ListObjectsV2("b".into()),
            ),
            (Method::GET, "/s3/b", Operation::ListObjects("b".into())),
            (
                Method::GET,
                "/s3/b?delimiter=&versions=",
                Operation::ListObjectVersions("b".into()),
            ),
            (Method::POST, "/s3/b?delete", Operation::DeleteObjects("b".into())),
            (Method::POST, "/s3/b", Operation::PostObject("b".into())),
            (Method::PUT, "/s3/b/k%2Fl%20m", Operation::PutObject(object())),
            (
                Method::PUT,
                "/s3/b/k/l%20m?partNumber=1&uploadId=x",
                Operation::UploadPart(object()),
            ),
            (
                Method::POST,
                "/s3/b/k/l%20m?uploads",
                Operation::CreateMultipartUpload(object()),
            ),
            (
                Method::POST,
                "/s3/b/k/l%20m?uploadId=x",
                Operation::CompleteMultipartUpload(object()),
            ),
            (
                Method::DELETE,
                "/s3/b/k/l%20m?uploadId=x",
                Operation::AbortMultipartUpload(object()),
            ),
            (
                Method::GET,
                "/s3/b/k/l%20m?uploadId=x",
                Operation::ListParts(object()),
            ),
            (
                Method::GET,
                "/s3/b/k/l%20m?tagging",
                Operation::GetObjectTagging(object()),
            ),
        ];
        for (method, uri, operation) in cases {
            assert_eq!(parse(method, uri).expect(uri), operation, "{uri}");
        }
    }

    #[test]
    fn store_095_unsupported_sub_resources_are_refused() {
        for (method, uri) in [
            (Method::PUT, "/s3/b/k?acl"),
            (Method::PUT, "/s3/b/k?tagging"),
            (Method::DELETE, "/s3/b/k?tagging"),
            (Method::PUT, "/s3/b?policy"),
            (Method::PUT, "/s3/b/k?lifecycle"),
            (Method::PUT, "/s3/b?website"),
            (Method::DELETE, "/s3/b?website"),
        ] {
            assert!(
                matches!(parse(method, uri), Err(S3Error::NotImplemented)),
                "{uri}"
            );
        }
        assert!(matches!(
            parse(Method::PATCH, "/s3/b"),
            Err(S3Error::MethodNotAllowed)
        ));
    }
}
