//! Reads a whole backup and compares it with the manifest at its end: before a restore changes anything, and before a backup says that it is
//! one.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail};
use selvedge_project_files::open_file;

use super::manifest::{DATABASE, MANIFEST, Manifest, OBJECTS};
use super::{ArchiveReader, CHUNK};
use crate::progress::Progress;

/// An archive in a file.
pub(crate) type Reader = ArchiveReader<BufReader<File>>;

/// Reads the whole file and compares its parts with the manifest at its end. `visit` gets the name of each entry.
///
/// # Errors
/// When it cannot be read, is cut off or damaged, or is of another format.
pub(crate) fn verify_archive(path: &Path, mut visit: impl FnMut(&str)) -> Result<Manifest> {
    let mut reader = open_archive(path)?;
    let mut progress = Progress::new("checked");
    let mut manifest = None;
    while let Some(entry) = reader.next_entry()? {
        visit(&entry.name);
        let mut text = Vec::new();
        reader.read_content(|chunk| {
            progress.add(chunk.len() as u64);
            if entry.name == MANIFEST {
                text.extend_from_slice(chunk);
            }
            Ok(())
        })?;
        if entry.name == MANIFEST {
            manifest = Some(Manifest::parse(&text)?);
        }
    }
    let manifest = manifest.context("the file is not a complete backup: it has no manifest")?;
    compare_checksums(&reader, &manifest)?;
    Ok(manifest)
}

/// Opens a backup.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn open_archive(path: &Path) -> Result<Reader> {
    let file = open_file(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(ArchiveReader::new(BufReader::with_capacity(CHUNK, file)))
}

/// Compares what was read with the manifest.
///
/// # Errors
/// When a part is another one.
pub(crate) fn compare_checksums(reader: &Reader, manifest: &Manifest) -> Result<()> {
    for (part, expected) in [(DATABASE, &manifest.database), (OBJECTS, &manifest.objects)] {
        if reader.summary(part) != *expected {
            bail!("the backup is damaged: the checksum of its part {part} is wrong. Nothing was changed");
        }
    }
    Ok(())
}
