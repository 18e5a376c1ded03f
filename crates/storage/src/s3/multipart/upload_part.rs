//! `PUT /{bucket}/{key}?partNumber=&uploadId=`: uploads one part.

use actix_web::HttpResponse;
use actix_web::http::header;

use super::part::NewPart;
use crate::error::StorageError;
use crate::object::receive::receive_blob;
use crate::request::object_path::ObjectPath;
use crate::response::object_headers::set_header;
use crate::s3::context::S3Context;
use crate::s3::error::S3Error;

/// 200 with the part's entity tag.
///
/// # Errors
/// `MissingContentLength`, `InvalidArgument`, `NoSuchUpload`, `AccessDenied`, `EntityTooLarge`, those of the body.
pub(in crate::s3) async fn upload_part(
    mut context: S3Context,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let part = NewPart::check(&context, &target).await?;
    // Policies are asked about the size, and the size limit is checked before any byte is read; both need a declared
    // length.
    let length = context.declared_bytes().ok_or(S3Error::MissingContentLength)?;
    if length > part.size_limit {
        return Err(StorageError::EntityTooLarge.into());
    }
    let (storage, service) = (context.storage().clone(), context.service());
    let received = receive_blob(&storage, part.size_limit, context.take_body()?.stream()).await?;
    let info = part.record(service, received).await?;
    let mut response = HttpResponse::Ok();
    set_header(&mut response, header::ETAG, &info.etag);
    Ok(response.finish())
}
