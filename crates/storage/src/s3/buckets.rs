//! Operations on buckets: list, create, head, delete, and the two sub-resources that clients read.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use chrono::{DateTime, Utc};

use super::context::S3Context;
use super::error::S3Error;
use super::pages::url_encode;
use super::xml_writer::{Xml, xml_response};
use crate::bucket;
use crate::database::object_row::format_iso;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::validation::names::{check_bucket_name, check_new_bucket_name};

const LIST: &str = "select b.id, b.created_at from storage.buckets b \
     where starts_with(b.id, $1::text) order by b.id collate \"C\"";

const VISIBLE: &str = "select b.id from storage.buckets b where b.id = $1";

const INSERT: &str = "insert into storage.buckets (id, name, public, owner, owner_id) \
     values ($1, $1, $2::boolean, $3::uuid, $4)";

/// `GET /`: the buckets that the caller may see, with `?prefix=` only those whose name begins so.
pub(super) async fn list_buckets(context: &S3Context) -> Result<HttpResponse, S3Error> {
    let prefix = context.parameter("prefix")?.unwrap_or_default();
    let rows = context.caller.read(Statement::new(LIST).bind(prefix)).await?;
    let mut buckets: Vec<(String, Option<DateTime<Utc>>)> = Vec::with_capacity(rows.len());
    for row in &rows {
        buckets.push((
            row.try_get(0).map_err(StorageError::internal)?,
            row.try_get(1).map_err(StorageError::internal)?,
        ));
    }
    Ok(xml_response(Xml::document("ListAllMyBucketsResult", |xml| {
        xml.element("Buckets", |xml| {
            for (name, created_at) in &buckets {
                xml.element("Bucket", |xml| {
                    xml.text("Name", name);
                    xml.optional("CreationDate", created_at.map(format_iso).as_deref());
                });
            }
        });
    })))
}

/// `PUT /{bucket}`: creates a bucket; with `x-amz-acl: public-read` a public one.
pub(super) async fn create_bucket(mut context: S3Context, id: String) -> Result<HttpResponse, S3Error> {
    check_new_bucket_name(&id)?;
    let public = context.header("x-amz-acl") == Some("public-read");
    let owner = Owner::from_identity(context.caller.identity());
    let caller = context.caller.clone();
    // The body may name a region. It is read for its checksum and otherwise ignored, because we have one region.
    context.take_body()?.document().await?;
    let statement = Statement::new(INSERT)
        .unique_violation_means(UniqueKey::Bucket)
        .bind(&id)
        .bind(public.to_string())
        .bind_optional(owner.uuid())
        .bind_optional(owner.id.as_deref());
    caller.write(statement).await?;
    let location = format!("/{}", url_encode(&id));
    Ok(HttpResponse::Ok().insert_header(("location", location)).finish())
}

/// `HEAD /{bucket}`: 200 if the caller may see the bucket.
pub(super) async fn head_bucket(context: &S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    check_visible(context, id).await?;
    let mut response = HttpResponse::Ok();
    response.insert_header(("x-amz-bucket-region", region(context)));
    Ok(response.finish())
}

/// `DELETE /{bucket}`: removes an empty bucket.
pub(super) async fn delete_bucket(context: &S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    check_bucket_name(id)?;
    bucket::remove_bucket(&context.service(), &context.caller, id).await?;
    Ok(HttpResponse::build(StatusCode::NO_CONTENT).finish())
}

/// `GET /{bucket}?location`: our one region.
pub(super) async fn get_bucket_location(context: &S3Context, id: &str) -> Result<HttpResponse, S3Error> {
    check_visible(context, id).await?;
    Ok(xml_response(Xml::document("LocationConstraint", |xml| {
        xml.content(&region(context));
    })))
}

/// Refuses a bucket that does not exist or that a policy hides from the caller.
///
/// # Errors
/// `NoSuchBucket`.
pub(super) async fn check_visible(context: &S3Context, id: &str) -> Result<(), S3Error> {
    check_bucket_name(id)?;
    let rows = context.caller.read(Statement::new(VISIBLE).bind(id)).await?;
    if rows.is_empty() {
        return Err(StorageError::NoSuchBucket.into());
    }
    Ok(())
}

fn region(context: &S3Context) -> String {
    let config = context.storage().config().s3_protocol.as_ref();
    config.map(|config| config.region.clone()).unwrap_or_default()
}
