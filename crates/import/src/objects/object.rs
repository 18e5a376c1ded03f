//! A row of the source's `storage.objects`, and the copy of it for the target.

use anyhow::{Context, Result};
use selvedge_storage::Version;
use serde_json::{Value, json};
use uuid::Uuid;

/// A storage object of the source.
#[derive(Debug)]
pub(crate) struct SourceObject {
    pub(crate) id: Uuid,
    pub(crate) bucket: String,
    pub(crate) name: String,
    /// The version, under which the store keeps the bytes.
    pub(crate) version: Version,
    pub(crate) size: Option<u64>,
    /// The MD5 of the bytes in hexadecimal; `None` for objects that were uploaded in parts.
    pub(crate) md5: Option<String>,
    row: Value,
}

impl SourceObject {
    /// Parses a row that PostgreSQL rendered as JSON.
    ///
    /// # Errors
    /// When the row has no valid id.
    pub(crate) fn parse(row: &str) -> Result<Self> {
        let row: Value = serde_json::from_str(row)?;
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        let id: Uuid = text("id").context("an object of the source has no id")?.parse()?;
        let metadata = row.get("metadata");
        let tag = metadata
            .and_then(|metadata| metadata.get("eTag"))
            .and_then(Value::as_str);
        Ok(Self {
            id,
            bucket: text("bucket_id").unwrap_or_default().to_owned(),
            name: text("name").unwrap_or_default().to_owned(),
            version: text("version")
                .and_then(Version::parse)
                // Rows of old Storage versions have no version. Deriving it from the row lets a second import find the bytes of the
                // first one.
                .unwrap_or_else(|| Version::from_uuid(derive_version(&row, id))),
            size: metadata
                .and_then(|metadata| metadata.get("size"))
                .and_then(Value::as_u64),
            md5: tag.and_then(parse_md5),
            row,
        })
    }

    /// Why the object is not asked for at the source's API; `None` if it is. Its name becomes a part of an address to which the
    /// service role's key is sent, and whoever may upload chooses it.
    pub(crate) fn find_fault(&self) -> Option<&'static str> {
        let segments = std::iter::once(self.bucket.as_str()).chain(self.name.split('/'));
        // Also when they are percent-encoded, these lead to the folder above, by every reader of URLs.
        if segments
            .into_iter()
            .any(|segment| matches!(segment, "" | "." | ".."))
        {
            return Some(
                "its name has a part that is empty, `.` or `..`, and would be the address of something else",
            );
        }
        if self.size.is_none() {
            return Some("its row does not say how many bytes it has");
        }
        None
    }

    /// Returns `bucket/name`.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", self.bucket, self.name)
    }

    /// Returns the row to insert at the target, with a version.
    pub(crate) fn row(&self) -> Value {
        let mut row = self.row.clone();
        row["version"] = json!(self.version.to_string());
        row
    }
}

/// Derives a version from id and time of change, so that it changes with the object.
fn derive_version(row: &Value, id: Uuid) -> Uuid {
    let changed = row.get("updated_at").map(Value::to_string).unwrap_or_default();
    Uuid::new_v5(&id, changed.as_bytes())
}

/// Returns the MD5 in an entity tag; `None` for the tag of an object that was uploaded in parts, such as `"…-2"`.
pub(crate) fn parse_md5(tag: &str) -> Option<String> {
    let tag = tag
        .trim_start_matches("W/")
        .trim_matches('"')
        .to_ascii_lowercase();
    let is_md5 = tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_md5.then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_derives_a_stable_version_for_rows_without_one() {
        let row = |updated: &str| {
            json!({
                "id": "5f0c0a52-6b1c-4f6e-9a55-0d7c2d1c9b10", "bucket_id": "b", "name": "a/ü.txt", "version": null,
                "updated_at": updated, "metadata": {"size": 3, "eTag": "\"900150983cd24fb0d6963f7d28e17f72\""}
            })
            .to_string()
        };
        let (one, again, changed) = (row("1"), row("1"), row("2"));
        let parse = |row: &str| SourceObject::parse(row).unwrap();

        assert_eq!(parse(&one).version, parse(&again).version);
        assert_ne!(parse(&one).version, parse(&changed).version);
        assert_eq!(
            parse(&one).row()["version"],
            json!(parse(&one).version.to_string())
        );
        assert_eq!(
            parse(&one).md5.as_deref(),
            Some("900150983cd24fb0d6963f7d28e17f72")
        );
        assert_eq!(parse_md5("\"900150983cd24fb0d6963f7d28e17f72-2\""), None);
    }

    #[test]
    fn names_that_lead_to_another_address_are_not_asked_for() {
        let object = |name: &str, size: Value| {
            let row = json!({
                "id": "5f0c0a52-6b1c-4f6e-9a55-0d7c2d1c9b10", "bucket_id": "b", "name": name, "metadata": {"size": size}
            });
            SourceObject::parse(&row.to_string())
                .unwrap()
                .find_fault()
                .is_some()
        };

        assert!(object("me/../../../../../../auth/v1/admin/users", json!(3)));
        assert!(object("a/./b", json!(3)) && object("a//b", json!(3)) && object("", json!(3)));
        assert!(object("a/b.png", Value::Null));
        assert!(!object("a/...b..c/.d", json!(0)));
    }
}
