//! The format of a backup: a tar archive (ustar), written and read as a stream.
//!
//! Its parts are the folders at its top. The checksum of a part covers name, size and SHA-256 of each of its entries in
//! their order, so that a changed, missing, moved or added entry is noticed.

pub(crate) mod manifest;
pub(crate) mod verify;

use std::collections::BTreeMap;
use std::io::{Read, Write};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const BLOCK: usize = 512;
/// The bytes of the longest name that a header holds.
const MAX_NAME: usize = 100;
/// Bytes per read or write.
pub(crate) const CHUNK: usize = 256 * 1024;

/// The size and the checksum of a part of an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartSummary {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// The SHA-256 over one line for each entry, which holds its own SHA-256, size and name.
    pub(crate) sha256: String,
}

/// Computes the summary of each part while its entries are read or written.
#[derive(Default)]
struct Parts(BTreeMap<String, (PartSummary, Sha256)>);

impl Parts {
    fn add(&mut self, entry: &Entry, sha256: &str) {
        let Some((part, _)) = entry.name.split_once('/') else {
            return;
        };
        let (summary, lines) = self.0.entry(part.to_owned()).or_default();
        summary.files += u64::from(!entry.is_folder);
        summary.bytes += entry.size;
        lines.update(format!("{sha256} {} {}\n", entry.size, entry.name));
    }

    fn summary(&self, part: &str) -> PartSummary {
        let (summary, lines) = self.0.get(part).cloned().unwrap_or_default();
        PartSummary {
            sha256: hex::encode(lines.finalize()),
            ..summary
        }
    }
}

/// A file or folder of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The path without a slash at its end.
    pub(crate) name: String,
    pub(crate) is_folder: bool,
    /// The size of the content in bytes.
    pub(crate) size: u64,
}

/// Writes an archive entry by entry.
pub(crate) struct ArchiveWriter<W> {
    output: W,
    parts: Parts,
    digest: Sha256,
}

impl<W: Write> ArchiveWriter<W> {
    /// Starts an archive that is written to `output`.
    pub(crate) fn new(output: W) -> Self {
        Self {
            output,
            parts: Parts::default(),
            digest: Sha256::new(),
        }
    }

    /// Adds an empty folder.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn add_folder(&mut self, name: &str) -> Result<()> {
        let entry = Entry {
            name: name.to_owned(),
            is_folder: true,
            size: 0,
        };
        self.begin(&entry)?;
        self.end(&entry)
    }

    /// Adds a file of `size` bytes. A source that has become shorter is filled up with zeros, one that has become longer is
    /// cut off, because the size is written first.
    pub(crate) fn add_file(&mut self, name: &str, size: u64, mut source: impl Read) -> Result<()> {
        let entry = self.begin_file(name, size)?;
        let mut buffer = vec![0; CHUNK];
        let mut left = size;
        while left > 0 {
            let wanted = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
            let mut read = source
                .read(&mut buffer[..wanted])
                .with_context(|| format!("cannot read {name}"))?;
            if read == 0 {
                buffer[..wanted].fill(0);
                read = wanted;
            }
            self.write(&buffer[..read])?;
            left -= read as u64;
        }
        self.end(&entry)
    }

    /// Begins a file whose content of exactly `size` bytes is given to [`ArchiveWriter::write`] in pieces.
    pub(crate) fn begin_file(&mut self, name: &str, size: u64) -> Result<Entry> {
        let entry = Entry {
            name: name.to_owned(),
            is_folder: false,
            size,
        };
        self.begin(&entry)?;
        Ok(entry)
    }

    fn begin(&mut self, entry: &Entry) -> Result<()> {
        self.digest = Sha256::new();
        self.output.write_all(&render_header(entry)?)?;
        Ok(())
    }

    /// Appends bytes to the current file.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.output.write_all(bytes)?;
        Ok(())
    }

    /// Ends the entry that was begun last.
    pub(crate) fn end(&mut self, entry: &Entry) -> Result<()> {
        self.output.write_all(&[0; BLOCK][..padding(entry.size)])?;
        let sha256 = hex::encode(std::mem::take(&mut self.digest).finalize());
        self.parts.add(entry, &sha256);
        Ok(())
    }

    /// Returns the summary of what was written of a part so far.
    pub(crate) fn summary(&self, part: &str) -> PartSummary {
        self.parts.summary(part)
    }

    /// Writes the end of the archive.
    pub(crate) fn finish(mut self) -> Result<W> {
        self.output.write_all(&[0; 2 * BLOCK])?;
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Reads an archive entry by entry.
pub(crate) struct ArchiveReader<R> {
    input: R,
    parts: Parts,
    entry: Option<Entry>,
    left: u64,
    digest: Sha256,
}

impl<R: Read> ArchiveReader<R> {
    /// Reads an archive from `input`.
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            parts: Parts::default(),
            entry: None,
            left: 0,
            digest: Sha256::new(),
        }
    }

    /// Reads the next entry, or returns `None` at the end. The content of the entry before must have been read.
    pub(crate) fn next_entry(&mut self) -> Result<Option<Entry>> {
        let mut header = [0; BLOCK];
        self.read_exact(&mut header)?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let entry = parse_header(&header)?;
        self.left = entry.size;
        self.digest = Sha256::new();
        self.entry = Some(entry.clone());
        Ok(Some(entry))
    }

    /// Reads the next piece of the entry's content, which is empty at its end.
    pub(crate) fn read_chunk(&mut self) -> Result<Vec<u8>> {
        let size = usize::try_from(self.left).map_or(CHUNK, |left| left.min(CHUNK));
        let mut chunk = vec![0; size];
        self.read_exact(&mut chunk)?;
        self.digest.update(&chunk);
        self.left -= size as u64;
        if self.left == 0
            && let Some(entry) = self.entry.take()
        {
            let mut zeros = [0; BLOCK];
            self.read_exact(&mut zeros[..padding(entry.size)])?;
            if zeros != [0; BLOCK] {
                bail!("the backup is damaged after {}", entry.name);
            }
            let sha256 = hex::encode(std::mem::take(&mut self.digest).finalize());
            self.parts.add(&entry, &sha256);
        }
        Ok(chunk)
    }

    /// Reads the rest of the entry's content, and passes each piece on.
    pub(crate) fn read_content(&mut self, mut pass: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        loop {
            let chunk = self.read_chunk()?;
            if chunk.is_empty() {
                return Ok(());
            }
            pass(&chunk)?;
        }
    }

    /// Returns the summary of what was read of a part so far.
    pub(crate) fn summary(&self, part: &str) -> PartSummary {
        self.parts.summary(part)
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.input
            .read_exact(bytes)
            .context("the file is not a complete backup: it was cut off")
    }
}

/// Returns the number of zeros after a content of this size, so that the next header begins at a whole block.
fn padding(size: u64) -> usize {
    let block = BLOCK as u64;
    usize::try_from((block - size % block) % block).unwrap_or_default()
}

fn render_header(entry: &Entry) -> Result<[u8; BLOCK]> {
    let mut header = [0; BLOCK];
    let (mode, kind) = if entry.is_folder {
        (0o700, b'5')
    } else {
        (0o600, b'0')
    };
    let mut put = |offset: usize, text: &str| {
        header[offset..offset + text.len()].copy_from_slice(text.as_bytes());
    };
    if entry.name.len() > MAX_NAME {
        bail!("the path {} is too long for a backup", entry.name);
    }
    put(0, &entry.name);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(136, "00000000000");
    put(148, "        ");
    put(257, "ustar");
    put(263, "00");
    if entry.size < 1 << 33 {
        put(124, &format!("{:011o}", entry.size));
    } else {
        // Eleven octal digits end at 8 GB. Larger sizes are binary, marked by the highest bit, as GNU tar writes them.
        header[124] = 0x80;
        header[128..136].copy_from_slice(&entry.size.to_be_bytes());
    }
    header[156] = kind;
    let sum = checksum(&header);
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

/// Adds up the header's bytes, in which the eight bytes of the sum itself count as spaces.
fn checksum(header: &[u8; BLOCK]) -> u64 {
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    sum(&header[..148]) + 8 * u64::from(b' ') + sum(&header[156..])
}

fn parse_header(header: &[u8; BLOCK]) -> Result<Entry> {
    let text = |from: usize, to: usize| {
        let field = header[from..to].split(|byte| *byte == 0).next();
        String::from_utf8_lossy(field.unwrap_or_default()).into_owned()
    };
    let octal = |from, to| u64::from_str_radix(text(from, to).trim(), 8);
    let is_of_selvedge = text(257, 262) == "ustar" && octal(148, 156).ok() == Some(checksum(header));
    let size = match header[124] {
        0x80 => Some(u64::from_be_bytes(header[128..136].try_into()?)),
        _ => octal(124, 136).ok(),
    };
    let (Some(size), true) = (size, is_of_selvedge) else {
        bail!("the file is not a backup of selvedge, or it is damaged");
    };
    Ok(Entry {
        name: text(0, MAX_NAME),
        is_folder: header[156] == b'5',
        size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> Vec<u8> {
        let mut writer = ArchiveWriter::new(Vec::new());
        writer.add_folder("database/base").unwrap();
        writer.add_file("database/base/1", 700, &[7; 700][..]).unwrap();
        writer.add_file("objects/a", 4, &b"ab"[..]).unwrap();
        writer.finish().unwrap()
    }

    /// Name, size and the first bytes of an entry.
    type ReadEntry = (String, u64, Vec<u8>);

    /// Reads all entries of an archive, and the summary of its part `database`.
    fn read(bytes: &[u8]) -> Result<(Vec<ReadEntry>, PartSummary)> {
        let mut reader = ArchiveReader::new(bytes);
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry()? {
            let mut content = Vec::new();
            reader.read_content(|chunk| {
                content.extend_from_slice(chunk);
                Ok(())
            })?;
            content.truncate(4);
            entries.push((entry.name, entry.size, content));
        }
        Ok((entries, reader.summary("database")))
    }

    #[test]
    fn an_archive_is_read_as_it_was_written_and_a_file_that_shrank_is_filled_up() {
        let (entries, summary) = read(&archive()).unwrap();

        assert_eq!(
            entries,
            [
                ("database/base".to_owned(), 0, vec![]),
                ("database/base/1".to_owned(), 700, vec![7; 4]),
                ("objects/a".to_owned(), 4, b"ab\0\0".to_vec()),
            ]
        );
        assert_eq!((summary.files, summary.bytes), (1, 700));
    }

    #[test]
    fn a_changed_byte_changes_the_checksum_and_a_cut_off_file_is_refused() {
        let mut bytes = archive();
        let (_, before) = read(&bytes).unwrap();
        bytes[2 * 512 + 5] ^= 1;
        let (_, after) = read(&bytes).unwrap();
        let cut_off = read(&bytes[..3 * 512]).unwrap_err().to_string();

        assert_ne!(before.sha256, after.sha256);
        assert!(cut_off.contains("cut off"), "{cut_off}");
    }

    #[test]
    fn sizes_above_8_gb_are_kept_and_names_that_do_not_fit_are_refused() {
        let mut entry = Entry {
            name: "database/big".to_owned(),
            is_folder: false,
            size: 20_000_000_000,
        };

        assert_eq!(parse_header(&render_header(&entry).unwrap()).unwrap(), entry);
        entry.name = "x".repeat(101);
        assert!(render_header(&entry).is_err());
    }
}
