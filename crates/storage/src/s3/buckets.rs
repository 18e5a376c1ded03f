//! Operations on buckets.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use chrono::{DateTime, Utc};

use super::error::S3Error;
use super::xml::{Xml, answer};
use super::{S3Call, list_objects};
use crate::bucket;
use crate::error::{StorageError, Taken};
use crate::identity::Owner;
use crate::names::{check_bucket_name, check_new_bucket_name};
use crate::object_row::iso;
use crate::session::Statement;

const LIST: &str = "select b.id, b.created_at from storage.buckets b order by b.id collate \"C\"";

const VISIBLE: &str = "select b.id from storage.buckets b where b.id = $1";

const INSERT: &str = "insert into storage.buckets (id, name, public, owner, owner_id) \
     values ($1, $1, $2::boolean, $3::uuid, $4)";

/// The buckets that the caller may see.
pub(super) async fn list_buckets(call: &S3Call) -> Result<HttpResponse, S3Error> {
    let rows = call.caller.read(Statement::new(LIST)).await?;
    let mut buckets: Vec<(String, Option<DateTime<Utc>>)> = Vec::with_capacity(rows.len());
    for row in &rows {
        buckets.push((
            row.try_get(0).map_err(StorageError::internal)?,
            row.try_get(1).map_err(StorageError::internal)?,
        ));
    }
    Ok(answer(Xml::document("ListAllMyBucketsResult", |xml| {
        xml.element("Buckets", |xml| {
            for (name, created_at) in &buckets {
                xml.element("Bucket", |xml| {
                    xml.text("Name", name);
                    xml.optional("CreationDate", created_at.map(iso).as_deref());
                });
            }
        });
    })))
}

/// Makes a bucket; `x-amz-acl: public-read` makes it public.
pub(super) async fn create_bucket(mut call: S3Call, id: String) -> Result<HttpResponse, S3Error> {
    check_new_bucket_name(&id)?;
    let public = call.header("x-amz-acl") == Some("public-read");
    let owner = Owner::of(call.caller.identity());
    let caller = call.caller.clone();
    // A location may be named there; we have only one.
    call.take_body()?.document().await?;
    let statement = Statement::new(INSERT)
        .taken_means(Taken::Bucket)
        .bind(&id)
        .bind(public.to_string())
        .bind_optional(owner.uuid())
        .bind_optional(owner.id.as_deref());
    caller.write(statement).await?;
    let location = format!("/{}", list_objects::url_encode(&id));
    Ok(HttpResponse::Ok().insert_header(("location", location)).finish())
}

/// Whether the caller may see it.
pub(super) async fn head_bucket(call: &S3Call, id: &str) -> Result<HttpResponse, S3Error> {
    check_visible(call, id).await?;
    let mut response = HttpResponse::Ok();
    response.insert_header(("x-amz-bucket-region", region(call)));
    Ok(response.finish())
}

/// Removes an empty bucket.
pub(super) async fn delete_bucket(call: &S3Call, id: &str) -> Result<HttpResponse, S3Error> {
    check_bucket_name(id)?;
    bucket::remove_bucket(&call.call.service(), &call.caller, id).await?;
    Ok(HttpResponse::build(StatusCode::NO_CONTENT).finish())
}

/// Our region, whatever the bucket.
pub(super) async fn get_location(call: &S3Call, id: &str) -> Result<HttpResponse, S3Error> {
    check_visible(call, id).await?;
    let mut xml = Xml::document("LocationConstraint", |_| {});
    let text = Xml::escaped(&region(call));
    xml.insert_str(xml.len() - "</LocationConstraint>".len(), &text);
    Ok(answer(xml))
}

/// Nothing is versioned.
pub(super) async fn get_versioning(call: &S3Call, id: &str) -> Result<HttpResponse, S3Error> {
    check_visible(call, id).await?;
    Ok(answer(Xml::document("VersioningConfiguration", |xml| {
        xml.text("Status", "Suspended");
        xml.text("MfaDelete", "Disabled");
    })))
}

async fn check_visible(call: &S3Call, id: &str) -> Result<(), S3Error> {
    check_bucket_name(id)?;
    let rows = call.caller.read(Statement::new(VISIBLE).bind(id)).await?;
    if rows.is_empty() {
        return Err(StorageError::NoSuchBucket.into());
    }
    Ok(())
}

fn region(call: &S3Call) -> String {
    let config = call.call.storage().config().s3_protocol.as_ref();
    config.map(|config| config.region.clone()).unwrap_or_default()
}
