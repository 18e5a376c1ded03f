//! `DELETE /object/{bucket}` with `{"prefixes": […]}`: removes objects by exact key, or by key and version. Compat: the field is
//! called `prefixes`, but its entries are keys.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::context::RequestContext;
use crate::database::object_row::{ObjectRow, object_columns};
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{Fields, read_object};
use crate::response::json::json_response;
use crate::validation::names::check_bucket_name;

/// Most keys of one request: those of upstream with its hard limits, which are off there by default.
const MAX_KEYS: usize = 1000;
/// Keys per transaction. Earlier batches stay deleted when a later one fails.
const BATCH: usize = 500;

const DELETE: &str = concat!(
    "delete from storage.objects o where o.bucket_id = $1 ",
    "and o.name = any (array(select jsonb_array_elements_text($2::jsonb))) returning ",
    object_columns!(),
);

const DELETE_VERSIONS: &str = concat!(
    "delete from storage.objects o where o.bucket_id = $1 ",
    "and o.name = any (array(select entry ->> 'path' from jsonb_array_elements($2::jsonb) entry)) ",
    "and exists (select from jsonb_array_elements($2::jsonb) entry ",
    "where entry ->> 'path' = o.name and entry ->> 'versionId' = o.version) returning ",
    object_columns!(),
);

/// The deleted rows. Keys that are missing or that the caller may not delete are skipped without an error, and so are objects
/// that have another version than the one that their entry names. Source: STORE-019, STORE-020, STORE-212.
///
/// # Errors
/// `Schema`, `InvalidBucketName`.
pub(crate) async fn delete_objects(
    context: &RequestContext,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let body = read_object(&context.request, payload).await?;
    let (versions, keys) = read_entries(&body)?;
    check_bucket_name(bucket)?;
    let mut deleted = Vec::new();
    let batches = keys.chunks(BATCH).map(|batch| (DELETE, json!(batch))).chain(
        versions
            .chunks(BATCH)
            .map(|batch| (DELETE_VERSIONS, json!(batch))),
    );
    for (statement, entries) in batches {
        let statement = Statement::new(statement).bind(bucket).bind(entries.to_string());
        for row in caller.delete_objects(statement).await? {
            deleted.push(ObjectRow::read(&row)?);
        }
    }
    Ok(json_response(&deleted))
}

/// An entry that names a version.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct VersionEntry {
    path: String,
    #[serde(rename = "versionId")]
    version_id: String,
}

/// The entries of `prefixes` that name a version, and the keys of the others.
///
/// # Errors
/// `Schema`.
fn read_entries(body: &Fields) -> Result<(Vec<VersionEntry>, Vec<String>), StorageError> {
    let (mut versions, mut keys) = (Vec::new(), Vec::new());
    for (at, entry) in body.required_list("prefixes", Some(MAX_KEYS))?.iter().enumerate() {
        if entry.is_object() {
            let entry = VersionEntry::deserialize(entry);
            let text = format!(
                "body/prefixes/{at} must have exactly the properties 'path' and 'versionId', both strings"
            );
            versions.push(entry.map_err(|_| StorageError::Schema(text))?);
        } else {
            keys.push(body.entry_text("prefixes", at, entry)?);
        }
    }
    Ok((versions, keys))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read(prefixes: Value) -> Result<(usize, usize), String> {
        let body = Fields::of_value(json!({"prefixes": prefixes}));
        let (versions, keys) = read_entries(&body).map_err(|error| error.to_string())?;
        Ok((versions.len(), keys.len()))
    }

    #[test]
    fn store_212_entries_are_keys_or_exactly_a_path_and_a_version() {
        let version = json!({"path": "a", "versionId": "v"});

        assert_eq!(read(json!(["a", version, "b"])), Ok((1, 2)));
        assert_eq!(read(json!("a")), Ok((0, 1)));
        for bad in [
            json!([]),
            json!([["a"]]),
            json!([{"path": "a"}]),
            json!([{"versionId": "v"}]),
            json!([{"path": "a", "versionId": null}]),
            json!([{"path": "a", "versionId": 5}]),
            json!([{"path": "a", "versionId": "v", "more": 1}]),
            json!(["a", {}]),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }
}
