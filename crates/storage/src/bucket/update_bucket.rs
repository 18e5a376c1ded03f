//! `PUT /bucket/{id}`: changes visibility and limits.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::file_size_limit;
use crate::answer::message;
use crate::error::StorageError;
use crate::json_body::read_object;
use crate::limits::parse_allowed_mime_types;
use crate::serve::Call;
use crate::session::Statement;

/// Compat: `updated_at` stays; the original never touches it.
const UPDATE: &str = "update storage.buckets set \
     public = coalesce($2::boolean, public), \
     file_size_limit = case when $3::boolean then $4::bigint else file_size_limit end, \
     allowed_mime_types = case when $5::boolean then \
       case when $6::jsonb is null then null else array(select jsonb_array_elements_text($6::jsonb)) end \
       else allowed_mime_types end \
     where id = $1 returning id";

/// `{"message":"Successfully updated"}` from at least one of `public, file_size_limit, allowed_mime_types`.
/// Source: STORE-069, STORE-070.
///
/// # Errors
/// `Schema` without a known field; `NoSuchBucket`, also when hidden or not to be changed.
pub(crate) async fn update_bucket(
    call: &Call,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let body = read_object(&call.request, payload).await?;
    let public = body.boolean("public")?;
    let limit = file_size_limit(call, &body)?;
    let (gives_limit, gives_types) = (
        body.value("file_size_limit").is_some(),
        body.value("allowed_mime_types").is_some(),
    );
    if public.is_none() && !gives_limit && !gives_types {
        let text = "body must have required property 'public', body must have required property \
             'file_size_limit', body must have required property 'allowed_mime_types', body must match a schema in anyOf";
        return Err(StorageError::Schema(text.to_owned()));
    }
    let types = body
        .value("allowed_mime_types")
        .map_or(Ok(None), parse_allowed_mime_types)?;
    let statement = Statement::new(UPDATE)
        .bind(id)
        .bind_optional(public.map(|public| public.to_string()))
        .bind(gives_limit.to_string())
        .bind_optional(limit.map(|limit| limit.to_string()))
        .bind(gives_types.to_string())
        .bind_optional(types.map(|types| json!(types).to_string()));
    if caller.write(statement).await?.is_empty() {
        return Err(StorageError::NoSuchBucket);
    }
    Ok(message("Successfully updated"))
}
