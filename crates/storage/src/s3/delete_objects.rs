//! `POST /{bucket}?delete`: removes the objects that a document lists, or versions of them.

use std::collections::{HashMap, HashSet};

use actix_web::HttpResponse;
use serde_json::json;

use super::context::S3Context;
use super::error::S3Error;
use super::versions::{WantedVersion, version_id};
use super::xml_reader::Element;
use super::xml_writer::{Xml, xml_response};
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::object::lookup::Bucket;
use crate::request::object_path::ObjectPath;
use crate::versions::{Removal, delete_keys, remove_version};

/// Most keys of one request, as in S3.
const MAX_KEYS: usize = 1000;
/// Keys per transaction; keeps each transaction short.
const BATCH: usize = 500;

/// Run as the service after the deletion: keys that still exist were denied, all others are deleted or never existed.
const SELECT_REMAINING_NAMES: &str = "select o.name from only storage.objects o where o.bucket_id = $1 \
     and o.name = any (array(select jsonb_array_elements_text($2::jsonb)))";

/// `DeleteResult` with one entry per key: deleted, or the error. With `Quiet` only errors are listed.
///
/// # Errors
/// `NoSuchBucket`; `MalformedXml`, also for no keys or more than 1000.
pub(super) async fn delete_objects(mut context: S3Context, bucket: &str) -> Result<HttpResponse, S3Error> {
    let found = context.find_bucket(bucket).await?;
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
    let mut deletion = Deletion::default();
    let current = entries
        .iter()
        .filter(|entry| matches!(entry.wanted(&found), Ok(WantedVersion::Current)));
    let keys: Vec<String> = current.map(|entry| entry.key.to_owned()).collect();
    for batch in keys.chunks(BATCH) {
        deletion.delete_batch(&caller, &service, bucket, batch).await?;
    }
    let mut outcomes = Vec::with_capacity(entries.len());
    for entry in &entries {
        outcomes.push(match entry.wanted(&found) {
            Ok(WantedVersion::Current) => deletion.outcome_of(entry.key),
            Ok(wanted) => delete_version(&caller, &service, (bucket, entry.key), wanted).await,
            Err(error) => Err(error),
        });
    }
    // The response is 200 even if every key failed, as in S3; clients read the errors per key.
    Ok(xml_response(Xml::document("DeleteResult", |xml| {
        for (entry, outcome) in entries.iter().zip(&outcomes) {
            match outcome {
                Err(error) => entry.write_error(xml, error),
                Ok(_) if quiet => {}
                Ok(marker) => xml.element("Deleted", |xml| {
                    entry.write_name(xml);
                    write_marker(xml, marker.as_deref());
                }),
            }
        }
    })))
}

fn write_marker(xml: &mut Xml, marker: Option<&str>) {
    if let Some(version) = marker {
        xml.text("DeleteMarker", "true");
        xml.text("DeleteMarkerVersionId", version);
    }
}

/// Conditions of an entry. Ignoring them would delete what they protect.
const CONDITIONS: [&str; 3] = ["ETag", "LastModifiedTime", "Size"];

/// An object that the document lists.
struct Entry<'d> {
    key: &'d str,
    version: Option<&'d str>,
    has_condition: bool,
}

/// The version of the marker that was made or removed, if there is one.
type Outcome = Result<Option<String>, S3Error>;

impl<'d> Entry<'d> {
    /// Reads `<Object>`; `None` without a key.
    fn read(object: &'d Element) -> Option<Self> {
        Some(Self {
            key: object.text_of("Key")?,
            version: object.text_of("VersionId").map(str::trim),
            has_condition: CONDITIONS.iter().any(|name| object.text_of(name).is_some()),
        })
    }

    /// # Errors
    /// `NoSuchVersion`; `NotImplemented` with a condition.
    fn wanted(&self, bucket: &Bucket) -> Result<WantedVersion<'d>, S3Error> {
        if self.has_condition {
            return Err(S3Error::NotImplemented);
        }
        WantedVersion::parse(self.version).in_bucket(bucket)
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

/// The outcome of deleting current objects.
#[derive(Default)]
struct Deletion {
    /// Keys that exist and that the caller may not delete.
    denied: HashSet<String>,
    /// The versions of the markers that were made, by their keys.
    markers: HashMap<String, String>,
}

impl Deletion {
    async fn delete_batch(
        &mut self,
        caller: &DbSession,
        service: &DbSession,
        bucket: &str,
        keys: &[String],
    ) -> Result<(), S3Error> {
        let gone = delete_keys(caller, service, bucket, keys).await?;
        let markers = gone.into_iter().filter(|row| row.is_delete_marker);
        self.markers
            .extend(markers.map(|row| (row.name.clone(), version_id(&row).to_owned())));
        let keys = json!(keys).to_string();
        let remaining = service
            .read(Statement::new(SELECT_REMAINING_NAMES).bind(bucket).bind(&keys))
            .await?;
        for row in &remaining {
            self.denied
                .insert(row.try_get(0).map_err(StorageError::internal)?);
        }
        Ok(())
    }

    fn outcome_of(&self, key: &str) -> Outcome {
        if self.denied.contains(key) {
            return Err(S3Error::AccessDenied("Access denied".to_owned()));
        }
        Ok(self.markers.get(key).cloned())
    }
}

async fn delete_version(
    caller: &DbSession,
    service: &DbSession,
    (bucket, key): (&str, &str),
    wanted: WantedVersion<'_>,
) -> Outcome {
    let target = ObjectPath {
        bucket: bucket.to_owned(),
        key: key.to_owned(),
    };
    let Some(version) = wanted.resolve(service, &target).await? else {
        return Ok(None);
    };
    let removed = match remove_version(caller, service, &target, version.0.as_deref()).await? {
        Removal::Removed(row) => row,
        Removal::Denied => return Err(S3Error::AccessDenied("Access denied".to_owned())),
        // As in AWS, where what is gone may be deleted again.
        Removal::Missing => return Ok(None),
    };
    Ok(removed.is_delete_marker.then(|| version_id(&removed).to_owned()))
}
