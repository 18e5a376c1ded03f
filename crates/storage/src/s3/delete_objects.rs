//! Deleting one object, or many by a list.

use std::collections::HashSet;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::json;

use super::S3Call;
use super::error::S3Error;
use super::xml::{Element, Xml, answer};
use crate::error::StorageError;
use crate::object::find;
use crate::route::ObjectPath;
use crate::session::{Session, Statement};

/// Keys per transaction.
const BATCH: usize = 500;

const DELETE_ONE: &str =
    "delete from storage.objects o where o.bucket_id = $1 and o.name = $2 returning o.version";

const DELETE: &str = "delete from storage.objects o where o.bucket_id = $1 \
     and o.name = any (array(select jsonb_array_elements_text($2::jsonb))) returning o.version, o.name";

/// Past the policies: what is still there was denied, what is not was never there.
const LEFT: &str = "select o.name from storage.objects o where o.bucket_id = $1 \
     and o.name = any (array(select jsonb_array_elements_text($2::jsonb)))";

/// 204, also when there is no such object.
///
/// # Errors
/// `NoSuchBucket`; `AccessDenied` when it exists and the policies hide it or forbid the deletion.
pub(super) async fn delete_object(call: &S3Call, target: &ObjectPath) -> Result<HttpResponse, S3Error> {
    call.bucket(&target.bucket).await?;
    let gone = || Ok(HttpResponse::build(StatusCode::NO_CONTENT).finish());
    match find::get_visible(&call.call.service(), target).await {
        Err(StorageError::NoSuchKey) => return gone(),
        found => found?,
    };
    let statement = Statement::new(DELETE_ONE).bind(&target.bucket).bind(&target.key);
    if call.caller.delete_objects(statement).await?.is_empty() {
        return Err(StorageError::AccessDenied("Access denied".to_owned()).into());
    }
    gone()
}

/// What was deleted and what was not, key by key.
///
/// # Errors
/// `NoSuchBucket`, `MalformedXml`.
pub(super) async fn delete_objects(mut call: S3Call, bucket: &str) -> Result<HttpResponse, S3Error> {
    call.bucket(bucket).await?;
    let (caller, service) = (call.caller.clone(), call.call.service());
    let document = Element::parse(&call.take_body()?.document().await?)?;
    let quiet = document.text_of("Quiet").map(str::trim) == Some("true");
    let keys: Vec<&str> = document
        .all("Object")
        .filter_map(|object| object.text_of("Key"))
        .collect();
    if keys.is_empty() {
        return Err(S3Error::MalformedXml(
            "Delete must have at least one Object with a Key".to_owned(),
        ));
    }
    let mut denied = HashSet::new();
    for batch in keys.chunks(BATCH) {
        denied.extend(delete_batch(&caller, &service, bucket, batch).await?);
    }
    let (code, text) = S3Error::AccessDenied("Access denied".to_owned()).entry();
    Ok(answer(Xml::document("DeleteResult", |xml| {
        for key in keys {
            if denied.contains(key) {
                xml.element("Error", |xml| {
                    xml.text("Key", key);
                    xml.text("Code", code);
                    xml.text("Message", &text);
                });
            } else if !quiet {
                xml.element("Deleted", |xml| xml.text("Key", key));
            }
        }
    })))
}

/// Deletes, and returns what exists and could not be deleted.
async fn delete_batch(
    caller: &Session,
    service: &Session,
    bucket: &str,
    keys: &[&str],
) -> Result<Vec<String>, S3Error> {
    let keys = json!(keys).to_string();
    caller
        .delete_objects(Statement::new(DELETE).bind(bucket).bind(&keys))
        .await?;
    let left = service
        .read(Statement::new(LEFT).bind(bucket).bind(&keys))
        .await?;
    left.iter()
        .map(|row| {
            row.try_get(0)
                .map_err(|error| StorageError::internal(error).into())
        })
        .collect()
}
