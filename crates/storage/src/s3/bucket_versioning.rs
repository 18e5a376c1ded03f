//! `GET|PUT /{bucket}?versioning`: whether a bucket keeps versions of its objects. Source: STORE-229.

use actix_web::HttpResponse;

use super::buckets::check_visible;
use super::context::S3Context;
use super::error::S3Error;
use super::xml_reader::Element;
use super::xml_writer::{Xml, xml_response};
use crate::database::statement::Statement;
use crate::error::StorageError;

const GET: &str = "select versioning_status from storage.buckets where id = $1";

const SET: &str = "update storage.buckets set versioning_status = $2 where id = $1 returning id";

/// Compat: a bucket that never kept versions is suspended, so that clients such as `rclone purge` list versions before they empty it.
///
/// # Errors
/// `NoSuchBucket`.
pub(super) async fn get_versioning(context: &S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    check_visible(context, id).await?;
    let rows = context.caller.read(Statement::new(GET).bind(id)).await?;
    let row = rows.first().ok_or(StorageError::NoSuchBucket)?;
    let status: String = row.try_get(0).map_err(StorageError::internal)?;
    let status = if status == "ENABLED" {
        "Enabled"
    } else {
        "Suspended"
    };
    Ok(xml_response(Xml::document("VersioningConfiguration", |xml| {
        xml.text("Status", status);
        xml.text("MfaDelete", "Disabled");
    })))
}

/// Begins or pauses keeping versions. For service keys only.
///
/// # Errors
/// `AccessDenied`, `NoSuchBucket`, `MalformedXml`; `InvalidParameter` for a pause of what never ran.
pub(super) async fn put_versioning(mut context: S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    context.caller.identity().require_service()?;
    check_visible(&context, id).await?;
    let document = Element::parse(&context.take_body()?.document().await?)?;
    let status = match document.text_of("Status").map(str::trim) {
        Some("Enabled") => "ENABLED",
        Some("Suspended") => "SUSPENDED",
        _ => {
            return Err(S3Error::MalformedXml(
                "Status must be Enabled or Suspended".to_owned(),
            ));
        }
    };
    if document.text_of("MfaDelete").map(str::trim) == Some("Enabled") {
        return Err(S3Error::NotImplemented);
    }
    let statement = Statement::new(SET).bind(id).bind(status);
    if context.caller.write(statement).await?.is_empty() {
        return Err(StorageError::NoSuchBucket.into());
    }
    Ok(HttpResponse::Ok().finish())
}
