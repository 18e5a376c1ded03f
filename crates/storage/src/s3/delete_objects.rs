//! `POST /{bucket}?delete`: removes the objects that a document lists.

use std::collections::HashSet;

use actix_web::HttpResponse;
use serde_json::json;

use super::context::S3Context;
use super::error::S3Error;
use super::versions::is_only_version;
use super::xml_reader::Element;
use super::xml_writer::{Xml, xml_response};
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;

/// Most keys of one request, as in S3.
const MAX_KEYS: usize = 1000;
/// Keys per transaction; keeps each transaction short.
const BATCH: usize = 500;

const DELETE: &str = "delete from storage.objects o where o.bucket_id = $1 \
     and o.name = any (array(select jsonb_array_elements_text($2::jsonb))) returning o.version, o.name";

/// Run as the service after the deletion: keys that still exist were denied, all others are deleted or never existed.
const SELECT_REMAINING_NAMES: &str = "select o.name from storage.objects o where o.bucket_id = $1 \
     and o.name = any (array(select jsonb_array_elements_text($2::jsonb)))";

/// `DeleteResult` with one entry per key: deleted, or the error. With `Quiet` only errors are listed.
///
/// # Errors
/// `NoSuchBucket`; `MalformedXml`, also for no keys or more than 1000.
pub(super) async fn delete_objects(mut context: S3Context, bucket: &str) -> Result<HttpResponse, S3Error> {
    context.find_bucket(bucket).await?;
    let (caller, service) = (context.caller.clone(), context.service());
    let document = Element::parse(&context.take_body()?.document().await?)?;
    let quiet = document.text_of("Quiet").map(str::trim) == Some("true");
    let entries: Vec<Entry<'_>> = document
        .children_named("Object")
        .filter_map(Entry::read)
        .collect();
    if entries.is_empty() {
        return Err(S3Error::MalformedXml(
            "Delete must have at least one Object with a Key".to_owned(),
        ));
    }
    if entries.len() > MAX_KEYS {
        return Err(S3Error::MalformedXml(format!(
            "Delete must have at most {MAX_KEYS} Objects"
        )));
    }
    let keys: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.names_only_version())
        .map(|entry| entry.key)
        .collect();
    let mut denied = HashSet::new();
    for batch in keys.chunks(BATCH) {
        denied.extend(delete_batch(&caller, &service, bucket, batch).await?);
    }
    // The response is 200 even if every key failed, as in S3; clients read the errors per key.
    Ok(xml_response(Xml::document("DeleteResult", |xml| {
        for entry in entries {
            if !entry.names_only_version() {
                entry.write_error(xml, &S3Error::NoSuchVersion);
            } else if denied.contains(entry.key) {
                entry.write_error(xml, &S3Error::AccessDenied("Access denied".to_owned()));
            } else if !quiet {
                xml.element("Deleted", |xml| entry.write_name(xml));
            }
        }
    })))
}

/// An object that the document lists.
struct Entry<'d> {
    key: &'d str,
    version: Option<&'d str>,
}

impl<'d> Entry<'d> {
    /// Reads `<Object>`; `None` without a key.
    fn read(object: &'d Element) -> Option<Self> {
        Some(Self {
            key: object.text_of("Key")?,
            version: object.text_of("VersionId").map(str::trim),
        })
    }

    /// Whether the object itself is meant, and not a version that it does not have.
    fn names_only_version(&self) -> bool {
        self.version.is_none_or(is_only_version)
    }

    fn write_name(&self, xml: &mut Xml) {
        xml.text("Key", self.key);
        xml.optional("VersionId", self.version);
    }

    fn write_error(&self, xml: &mut Xml, error: &S3Error) {
        let (code, text) = error.entry();
        xml.element("Error", |xml| {
            self.write_name(xml);
            xml.text("Code", code);
            xml.text("Message", &text);
        });
    }
}

/// Deletes a batch of keys; returns those that exist and that the caller may not delete.
async fn delete_batch(
    caller: &DbSession,
    service: &DbSession,
    bucket: &str,
    keys: &[&str],
) -> Result<Vec<String>, S3Error> {
    let keys = json!(keys).to_string();
    caller
        .delete_objects(Statement::new(DELETE).bind(bucket).bind(&keys))
        .await?;
    let remaining = service
        .read(Statement::new(SELECT_REMAINING_NAMES).bind(bucket).bind(&keys))
        .await?;
    remaining
        .iter()
        .map(|row| {
            row.try_get(0)
                .map_err(|error| StorageError::internal(error).into())
        })
        .collect()
}
