//! `DELETE /object/{bucket}` with `{"prefixes": […]}`: removes objects by exact key, or by key and version. Compat: the field is
//! called `prefixes`, but its entries are keys.

use actix_web::{HttpResponse, web};
use serde::Deserialize;

use crate::context::RequestContext;
use crate::database::object_row::ObjectRow;
use crate::error::StorageError;
use crate::request::json_body::{Fields, read_object};
use crate::request::object_path::ObjectPath;
use crate::response::json::json_response;
use crate::validation::names::check_bucket_name;
use crate::versions::{Removal, delete_keys, remove_version};

/// Most keys of one request: those of upstream with its hard limits, which are off there by default.
const MAX_KEYS: usize = 1000;
/// Keys per transaction. Earlier batches stay deleted when a later one fails.
const BATCH: usize = 500;

/// The rows that are gone, or the markers in their places. Keys that are missing or that the caller may not delete are skipped without an
/// error, and so are versions that nothing has. Source: STORE-019, STORE-020, STORE-212.
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
    let service = context.service();
    let mut deleted: Vec<ObjectRow> = Vec::new();
    for batch in keys.chunks(BATCH) {
        deleted.extend(delete_keys(&caller, &service, bucket, batch).await?);
    }
    for VersionEntry { path, version_id } in versions {
        let target = ObjectPath {
            bucket: bucket.to_owned(),
            key: path,
        };
        let removal = remove_version(&caller, &service, &target, Some(&version_id)).await?;
        if let Removal::Removed(row) = removal {
            deleted.push(*row);
        }
    }
    Ok(json_response(&deleted))
}

/// An entry that names a version.
#[derive(Deserialize)]
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
    use serde_json::{Value, json};

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
