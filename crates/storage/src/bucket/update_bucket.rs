//! `PUT /bucket/{id}`: changes visibility and limits.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::file_size_limit::read_file_size_limit;
use super::versioning_status::read_versioning_status;
use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::read_object;
use crate::response::json::message_response;
use crate::validation::limits::parse_allowed_mime_types;

/// Compat: like the original, this does not change `updated_at`.
const UPDATE: &str = "update storage.buckets set \
     public = coalesce($2::boolean, public), \
     file_size_limit = case when $3::boolean then $4::bigint else file_size_limit end, \
     allowed_mime_types = case when $5::boolean then \
       case when $6::jsonb is null then null else array(select jsonb_array_elements_text($6::jsonb)) end \
       else allowed_mime_types end, \
     versioning_status = coalesce($7, versioning_status) \
     where id = $1 returning id";

/// `{"message":"Successfully updated"}` from at least one of `public, file_size_limit, allowed_mime_types,
/// versioning_status`. Source: STORE-069, STORE-070, STORE-202.
///
/// # Errors
/// `Schema` without a known field; `InvalidParameter` for a status that cannot follow the present one; `NoSuchBucket`, also when a policy hides the bucket or forbids the change.
pub(crate) async fn update_bucket(
    context: &RequestContext,
    id: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let body = read_object(&context.request, payload).await?;
    let public = body.boolean("public")?;
    let versioning = read_versioning_status(&body)?;
    let limit = read_file_size_limit(context, &body)?;
    // `null` removes a limit and an absent field leaves it, so the statement has to know which fields the body
    // contains.
    let (gives_limit, gives_types) = (
        body.value("file_size_limit").is_some(),
        body.value("allowed_mime_types").is_some(),
    );
    if public.is_none() && !gives_limit && !gives_types && versioning.is_none() {
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
        .bind_optional(types.map(|types| json!(types).to_string()))
        .bind_optional(versioning);
    if caller.write(statement).await?.is_empty() {
        return Err(StorageError::NoSuchBucket);
    }
    Ok(message_response("Successfully updated"))
}
