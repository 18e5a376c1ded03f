//! `POST /bucket`: makes a bucket.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::file_size_limit::read_file_size_limit;
use super::versioning_status::read_first_status;
use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::{StorageError, UniqueKey};
use crate::identity::Owner;
use crate::request::json_body::read_object;
use crate::response::json::json_response;
use crate::validation::limits::parse_allowed_mime_types;
use crate::validation::names::check_new_bucket_name;

/// Has no `returning`, so that creating a bucket needs only an INSERT policy and no SELECT policy.
const INSERT: &str = "insert into storage.buckets \
     (id, name, public, owner, owner_id, file_size_limit, allowed_mime_types, versioning_status) \
     values ($1, $2, $3::boolean, $4::uuid, $5, $6::bigint, \
     case when $7::jsonb is null then null else array(select jsonb_array_elements_text($7::jsonb)) end, $8)";

/// `{"name"}` from `{name, id?, public?, type?, file_size_limit?, allowed_mime_types?, versioning_status?}`. Source: STORE-029.
///
/// # Errors
/// `BucketAlreadyExists`, `InvalidBucketName`, `AccessDenied`, `EntityTooLarge`, `InvalidMimeType`, `InvalidParameter`.
pub(crate) async fn create_bucket(
    context: &RequestContext,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let body = read_object(&context.request, payload).await?;
    let name = body.required_text("name")?;
    let id = body
        .text("id")?
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| name.clone());
    let public = body.boolean("public")?.unwrap_or(false);
    if body.one_of("type", &["STANDARD", "ANALYTICS"])? == Some("ANALYTICS") {
        return Err(StorageError::FeatureNotEnabled("iceberg_catalog"));
    }
    let versioning = read_first_status(&body)?;
    let limit = read_file_size_limit(context, &body)?;
    check_new_bucket_name(&name)?;
    check_new_bucket_name(&id)?;
    let types = body
        .value("allowed_mime_types")
        .map_or(Ok(None), parse_allowed_mime_types)?;
    let owner = Owner::from_identity(caller.identity());
    let statement = Statement::new(INSERT)
        .unique_violation_means(UniqueKey::Bucket)
        .bind(id)
        .bind(&name)
        .bind(public.to_string())
        .bind_optional(owner.uuid())
        .bind_optional(owner.id.as_deref())
        .bind_optional(limit.map(|limit| limit.to_string()))
        // Statements have text parameters only, so a list is sent as JSON and becomes an array in SQL.
        .bind_optional(types.map(|types| json!(types).to_string()))
        .bind(versioning);
    caller.write(statement).await?;
    Ok(json_response(&json!({ "name": name })))
}
