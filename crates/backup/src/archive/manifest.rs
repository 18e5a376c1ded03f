//! The last entry of a backup: its contents, and the conditions under which it can be restored.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::PartSummary;

/// The manifest's name in the archive.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The name of the part with the files of the data directory.
pub(crate) const DATABASE: &str = "database";
/// The name of the part with the blobs.
pub(crate) const OBJECTS: &str = "objects";

/// The version of the format that this program writes and reads.
const FORMAT: u32 = 1;

/// The manifest as JSON in the backup.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The version of selvedge that has made the backup.
    pub(crate) selvedge: String,
    /// The project's id, for people who have several files.
    pub(crate) project: String,
    pub(crate) created_at: String,
    /// The architecture of the machine; files of a data directory can only be read on the same one.
    pub(crate) architecture: String,
    pub(crate) postgres_major: u32,
    pub(crate) database: PartSummary,
    pub(crate) objects: PartSummary,
    /// The objects, as `bucket/key`, whose bytes were lost before the backup.
    pub(crate) lost_objects: Vec<String>,
    /// The blobs in the archive that were deleted while it was made; a restore leaves them out.
    pub(crate) deleted_blobs: BTreeSet<Uuid>,
    /// The SHA-256 of the vault's key, which is not in the backup itself.
    pub(crate) vault_key_sha256: Option<String>,
    /// The SHA-256 of a home's keys but for those that sign, which `keys rotate` replaces. They are not in the backup either.
    #[serde(default)]
    pub(crate) home_keys_sha256: Option<String>,
}

impl Manifest {
    /// Describes a backup of the project whose data folder is `home`.
    pub(crate) fn new(project: &str, postgres_major: u32, home: &Path) -> Self {
        Self {
            format: FORMAT,
            selvedge: env!("CARGO_PKG_VERSION").to_owned(),
            project: project.to_owned(),
            created_at: chrono::Utc::now().to_rfc3339(),
            architecture: std::env::consts::ARCH.to_owned(),
            postgres_major,
            database: PartSummary::default(),
            objects: PartSummary::default(),
            lost_objects: Vec::new(),
            deleted_blobs: BTreeSet::new(),
            vault_key_sha256: hash_vault_key(home),
            home_keys_sha256: None,
        }
    }

    /// Parses the manifest.
    ///
    /// # Errors
    /// When it is malformed, or of a format that this version cannot restore.
    pub(crate) fn parse(text: &[u8]) -> Result<Self> {
        let manifest: Self = serde_json::from_slice(text).context("the manifest cannot be read")?;
        if manifest.format != FORMAT {
            bail!(
                "the backup has format {}, and this program reads format {FORMAT}",
                manifest.format
            );
        }
        let here = std::env::consts::ARCH;
        if manifest.architecture != here {
            bail!(
                "the backup was made on {}, and this machine is {here}: use pg_dump to move a database between them",
                manifest.architecture
            );
        }
        Ok(manifest)
    }

    /// Whether the vault's key in `home` is the one with which the secrets of the backup are encrypted.
    pub(crate) fn has_same_vault_key(&self, home: &Path) -> bool {
        self.vault_key_sha256.is_none() || self.vault_key_sha256 == hash_vault_key(home)
    }
}

fn hash_vault_key(home: &Path) -> Option<String> {
    let key = std::fs::read(home.join("vault.key")).ok()?;
    Some(hex::encode(Sha256::digest(key.trim_ascii())))
}
