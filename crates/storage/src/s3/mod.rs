//! The S3 protocol at `/s3`: the same buckets and objects for clients that speak S3.
//!
//! [`serve`] reads method, path and query into an [`Operation`], verifies the signature ([`signature`]), and calls the
//! one file that answers. Operations run under the role of whoever signed: the service with its own pair of keys, a user
//! with a session token; policies decide as everywhere. Errors are XML with their real status.

mod body;
mod buckets;
mod chunks;
mod conditions;
mod copy_object;
mod declared;
mod delete_objects;
mod error;
mod get_object;
mod list_objects;
mod multipart;
mod operation;
mod post_object;
mod put_object;
mod signature;
mod xml;

use actix_web::{HttpRequest, HttpResponse, web};

use self::body::Body;
use self::error::S3Error;
use self::operation::{Operation, Target};
use crate::error::StorageError;
use crate::names::{check_bucket_name, check_key};
use crate::object::find::{self, Bucket};
use crate::route::ObjectPath;
use crate::serve::{Call, StorageWorker};
use crate::session::Session;

/// A verified request.
struct S3Call {
    call: Call,
    /// Under the signer's role.
    caller: Session,
    body: Option<Body>,
}

impl S3Call {
    /// The body; it can be taken once.
    fn take_body(&mut self) -> Result<Body, S3Error> {
        self.body
            .take()
            .ok_or_else(|| StorageError::internal("the body was taken before").into())
    }

    /// How many bytes the body has, if the client said so.
    fn declared_bytes(&self) -> Option<u64> {
        self.body.as_ref()?.declared_bytes()
    }

    /// A header as text.
    fn header(&self, name: &str) -> Option<&str> {
        self.call.header(name)
    }

    /// A parameter of the query; an empty one counts as absent.
    fn parameter(&self, name: &str) -> Result<Option<&str>, S3Error> {
        Ok(self.call.query.text(name)?.filter(|text| !text.is_empty()))
    }

    /// A number between 0 and 1000; absent, and zero, mean 1000.
    fn page_size(&self, name: &'static str) -> Result<i64, S3Error> {
        const MOST: i64 = 1000;
        match self.parameter(name)? {
            None => Ok(MOST),
            Some(text) => match text.parse() {
                // Compat: zero asks for everything.
                Ok(0) => Ok(MOST),
                Ok(size @ 1..) => Ok(Ord::min(size, MOST)),
                _ => Err(S3Error::InvalidArgument(name)),
            },
        }
    }

    /// The bucket, which must exist; looked up past the policies.
    async fn bucket(&self, id: &str) -> Result<Bucket, S3Error> {
        check_bucket_name(id)?;
        Ok(find::get_bucket(&self.call.service(), id).await?)
    }

    /// The largest object of a bucket in bytes.
    fn size_limit(&self, bucket: &Bucket) -> u64 {
        let global = self.call.storage().config().file_size_limit_bytes;
        let own = bucket.file_size_limit.and_then(|limit| u64::try_from(limit).ok());
        own.map_or(global, |own| own.min(global))
    }
}

/// Checks both parts of an address.
fn check_target(target: &ObjectPath) -> Result<(), S3Error> {
    check_bucket_name(&target.bucket)?;
    Ok(check_key(&target.key)?)
}

/// Answers one request. `path` is what follows the service's mount path.
pub(crate) async fn serve(
    worker: StorageWorker,
    request: HttpRequest,
    payload: web::Payload,
    path: &str,
) -> HttpResponse {
    let method = request.method().clone();
    let mut resource = String::new();
    match answer(worker, request, payload, path, &mut resource).await {
        Ok(response) => response,
        Err(error) => error.response(&method, &resource),
    }
}

async fn answer(
    worker: StorageWorker,
    request: HttpRequest,
    payload: web::Payload,
    path: &str,
    resource: &mut String,
) -> Result<HttpResponse, S3Error> {
    if worker.storage().config().s3_protocol.is_none() {
        let method = request.method().to_string();
        let path = path.to_owned();
        return Err(StorageError::RouteNotFound { method, path }.into());
    }
    let target = Target::parse(path)?;
    *resource = target.resource();
    let operation = Operation::parse(&request, target)?;
    let call = Call::new(worker, request.clone(), operation.name());
    if let Operation::PostObject(bucket) = &operation {
        // A form carries its signature inside.
        return post_object::post_object(&call, bucket, payload).await;
    }
    let verified = signature::verify(call.storage(), &request)?;
    let call = S3Call {
        caller: call.session_of(verified.identity),
        body: Some(Body::new(&request, payload, verified.payload)?),
        call,
    };
    match operation {
        Operation::ListBuckets => buckets::list_buckets(&call).await,
        Operation::CreateBucket(id) => buckets::create_bucket(call, id).await,
        Operation::HeadBucket(id) => buckets::head_bucket(&call, &id).await,
        Operation::DeleteBucket(id) => buckets::delete_bucket(&call, &id).await,
        Operation::GetBucketLocation(id) => buckets::get_location(&call, &id).await,
        Operation::GetBucketVersioning(id) => buckets::get_versioning(&call, &id).await,
        Operation::ListObjects(id) => list_objects::list_objects(&call, &id).await,
        Operation::ListObjectsV2(id) => list_objects::list_objects_v2(&call, &id).await,
        Operation::ListMultipartUploads(id) => multipart::list_uploads(&call, &id).await,
        Operation::DeleteObjects(id) => delete_objects::delete_objects(call, &id).await,
        Operation::PutObject(target) => put_object::put_object(call, target).await,
        Operation::CopyObject(target) => copy_object::copy_object(&call, target).await,
        Operation::GetObject(target) => get_object::get_object(&call, &target).await,
        Operation::HeadObject(target) => get_object::head_object(&call, &target).await,
        Operation::GetObjectTagging(target) => get_object::get_tagging(&call, &target).await,
        Operation::DeleteObject(target) => delete_objects::delete_object(&call, &target).await,
        Operation::CreateMultipartUpload(target) => multipart::create_upload(&call, target).await,
        Operation::UploadPart(target) => multipart::upload_part(call, target).await,
        Operation::UploadPartCopy(target) => multipart::upload_part_copy(call, target).await,
        Operation::CompleteMultipartUpload(target) => multipart::complete_upload(call, target).await,
        Operation::AbortMultipartUpload(target) => multipart::abort_upload(&call, &target).await,
        Operation::ListParts(target) => multipart::list_parts(&call, &target).await,
        Operation::PostObject(_) => Err(S3Error::MethodNotAllowed),
    }
}
