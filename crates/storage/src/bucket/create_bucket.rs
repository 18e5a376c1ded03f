//! `POST /bucket`: makes a bucket.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::file_size_limit;
use crate::answer::json_answer;
use crate::error::{StorageError, Taken};
use crate::identity::Owner;
use crate::json_body::read_object;
use crate::limits::parse_allowed_mime_types;
use crate::names::check_new_bucket_name;
use crate::serve::Call;
use crate::session::Statement;

/// Without `returning`: creating needs an INSERT policy only.
const INSERT: &str = "insert into storage.buckets \
     (id, name, public, owner, owner_id, file_size_limit, allowed_mime_types) \
     values ($1, $2, $3::boolean, $4::uuid, $5, $6::bigint, \
     case when $7::jsonb is null then null else array(select jsonb_array_elements_text($7::jsonb)) end)";

/// `{"name"}` from `{name, id?, public?, type?, file_size_limit?, allowed_mime_types?}`. Source: STORE-029.
///
/// # Errors
/// `BucketAlreadyExists`, `InvalidBucketName`, `AccessDenied`, `EntityTooLarge`, `InvalidMimeType`.
pub(crate) async fn create_bucket(call: &Call, payload: web::Payload) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let body = read_object(&call.request, payload).await?;
    let name = body.required_text("name")?;
    let id = body
        .text("id")?
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| name.clone());
    let public = body.boolean("public")?.unwrap_or(false);
    if body.one_of("type", &["STANDARD", "ANALYTICS"])? == Some("ANALYTICS") {
        return Err(StorageError::FeatureNotEnabled("iceberg_catalog"));
    }
    let limit = file_size_limit(call, &body)?;
    check_new_bucket_name(&name)?;
    check_new_bucket_name(&id)?;
    let types = body
        .value("allowed_mime_types")
        .map_or(Ok(None), parse_allowed_mime_types)?;
    let owner = Owner::of(caller.identity());
    let statement = Statement::new(INSERT)
        .taken_means(Taken::Bucket)
        .bind(id)
        .bind(&name)
        .bind(public.to_string())
        .bind_optional(owner.uuid())
        .bind_optional(owner.id.as_deref())
        .bind_optional(limit.map(|limit| limit.to_string()))
        .bind_optional(types.map(|types| json!(types).to_string()));
    caller.write(statement).await?;
    Ok(json_answer(&json!({ "name": name })))
}
