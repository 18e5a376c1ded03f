//! Method, path and query → operation of the S3 protocol.

use actix_web::dev::RequestHead;
use actix_web::http::{Method, header};
use actix_web::{HttpRequest, HttpResponse, web};

use super::body::S3Body;
use super::context::S3Context;
use super::error::S3Error;
use super::operation::{Operation, Target};
use super::{
    bucket_lifecycle, bucket_versioning, buckets, copy_object, delete_object, delete_objects, get_object,
    list_objects, multipart, post_object, put_object, signature,
};
use crate::context::RequestContext;
use crate::error::StorageError;
use crate::state::{Storage, StorageWorker};

/// Serves one request; all errors become XML responses. `path` follows the service's mount path.
pub(crate) async fn serve_request(
    worker: StorageWorker,
    request: HttpRequest,
    payload: web::Payload,
    path: &str,
) -> HttpResponse {
    let method = request.method().clone();
    let mut resource = String::new();
    match dispatch(worker, request, payload, path, &mut resource).await {
        Ok(response) => response,
        Err(error) => error.response(&method, &resource),
    }
}

/// The response to a request whose body has not been sent yet; `None` if its signature is valid.
pub(crate) fn refuse_body(storage: &Storage, head: &RequestHead, path: &str) -> Option<HttpResponse> {
    let check = || -> Result<(), S3Error> {
        // The signature of a form is in its fields, thus in the body.
        if head.method == Method::POST && is_form(head) {
            return Ok(());
        }
        signature::verify_request(storage, head).map(drop)
    };
    let error = check().err()?;
    let resource = Target::parse(path).map_or_else(|_| String::new(), |target| target.resource());
    Some(error.response(&head.method, &resource))
}

fn is_form(head: &RequestHead) -> bool {
    let content_type = head.headers.get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(b"multipart/form-data"))
}

/// Verifies the signature and calls the operation. `resource` becomes `bucket/key` as soon as they are known, for
/// errors.
async fn dispatch(
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
    let context = RequestContext::new(worker, request.clone(), operation.name());
    if let Operation::PostObject(bucket) = &operation {
        // The signature of a form is in its fields, so it is verified there.
        return post_object::post_object(&context, bucket, payload).await;
    }
    let verified = signature::verify_request(context.storage(), request.head())?;
    let context = S3Context {
        caller: context.session_as(verified.identity),
        body: Some(S3Body::new(&request, payload, verified.payload)?),
        http: context,
    };
    run_operation(context, operation).await
}

async fn run_operation(context: S3Context, operation: Operation) -> Result<HttpResponse, S3Error> {
    match operation {
        Operation::ListBuckets => buckets::list_buckets(&context).await,
        Operation::CreateBucket(id) => buckets::create_bucket(context, id).await,
        Operation::HeadBucket(id) => buckets::head_bucket(&context, &id).await,
        Operation::DeleteBucket(id) => buckets::delete_bucket(&context, &id).await,
        Operation::GetBucketLocation(id) => buckets::get_bucket_location(&context, &id).await,
        Operation::GetBucketVersioning(id) => bucket_versioning::get_versioning(&context, &id).await,
        Operation::PutBucketVersioning(id) => bucket_versioning::put_versioning(context, &id).await,
        Operation::GetBucketLifecycle(id) => bucket_lifecycle::get_lifecycle(&context, &id).await,
        Operation::PutBucketLifecycle(id) => bucket_lifecycle::put_lifecycle(context, &id).await,
        Operation::DeleteBucketLifecycle(id) => bucket_lifecycle::delete_lifecycle(&context, &id).await,
        Operation::ListObjects(id) => list_objects::list_objects(&context, &id).await,
        Operation::ListObjectsV2(id) => list_objects::list_objects_v2(&context, &id).await,
        Operation::ListObjectVersions(id) => list_objects::list_versions(&context, &id).await,
        Operation::ListMultipartUploads(id) => multipart::list_uploads(&context, &id).await,
        Operation::DeleteObjects(id) => delete_objects::delete_objects(context, &id).await,
        Operation::PutObject(target) => put_object::put_object(context, target).await,
        Operation::CopyObject(target) => copy_object::copy_object(&context, target).await,
        Operation::GetObject(target) => get_object::get_object(&context, &target).await,
        Operation::HeadObject(target) => get_object::head_object(&context, &target).await,
        Operation::GetObjectTagging(target) => get_object::get_object_tagging(&context, &target).await,
        Operation::DeleteObject(target) => delete_object::delete_object(&context, &target).await,
        Operation::CreateMultipartUpload(target) => multipart::create_upload(&context, target).await,
        Operation::UploadPart(target) => multipart::upload_part(context, target).await,
        Operation::UploadPartCopy(target) => multipart::upload_part_copy(context, target).await,
        Operation::CompleteMultipartUpload(target) => multipart::complete_upload(context, target).await,
        Operation::AbortMultipartUpload(target) => multipart::abort_upload(&context, &target).await,
        Operation::ListParts(target) => multipart::list_parts(&context, &target).await,
        Operation::PostObject(_) => Err(S3Error::MethodNotAllowed),
    }
}
