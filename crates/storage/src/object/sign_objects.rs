//! `POST /object/sign/{bucket}`: signed URLs for several keys.

use std::collections::HashSet;

use actix_web::{HttpResponse, web};
use serde::Serialize;
use serde_json::json;

use super::sign_object::build_signed_url;
use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::read_object;
use crate::request::object_path::ObjectPath;
use crate::response::json::json_response;
use crate::validation::names::check_bucket_name;

/// Most keys of one request.
const MAX_PATHS: usize = 1000;

const VISIBLE: &str = "select o.name from only storage.objects o where o.bucket_id = $1 \
     and o.name = any (array(select jsonb_array_elements_text($2::jsonb)))";

const REFUSED: &str = "Either the object does not exist or you do not have access to it";

/// One item of the response; either `error` or `signedURL` is null.
#[derive(Serialize)]
struct SignedEntry {
    error: Option<&'static str>,
    path: String,
    #[serde(rename = "signedURL")]
    signed_url: Option<String>,
}

/// One item per path, in their order; a path that the caller may not select has an error instead of a URL.
/// Source: STORE-018.
///
/// # Errors
/// `Schema`, `InvalidBucketName`. A single path never fails the request.
pub(crate) async fn sign_objects(
    context: &RequestContext,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let body = read_object(&context.request, payload).await?;
    let seconds = body.required_integer("expiresIn", 1)?;
    let paths = body.required_texts("paths", Some(MAX_PATHS))?;
    check_bucket_name(bucket)?;
    let rows = caller
        .read(
            Statement::new(VISIBLE)
                .bind(bucket)
                .bind(json!(paths).to_string()),
        )
        .await?;
    let visible = rows
        .iter()
        .map(|row| row.try_get::<_, String>(0))
        .collect::<Result<HashSet<_>, _>>();
    let visible = visible.map_err(StorageError::internal)?;

    let sign = |path: String| -> Result<SignedEntry, StorageError> {
        if !visible.contains(&path) {
            return Ok(SignedEntry {
                error: Some(REFUSED),
                path,
                signed_url: None,
            });
        }
        let target = ObjectPath {
            bucket: bucket.to_owned(),
            key: path.clone(),
        };
        Ok(SignedEntry {
            error: None,
            path,
            signed_url: Some(build_signed_url(context.storage(), &target, seconds, None)?),
        })
    };
    let signed = paths.into_iter().map(sign).collect::<Result<Vec<_>, _>>()?;
    Ok(json_response(&signed))
}
