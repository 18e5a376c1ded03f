//! The log files that PostgreSQL's collector writes in production: one a day or for each 64 MB, as lines of JSON. The oldest are removed, so
//! that they never fill the disk.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::error::ClusterError;

/// The most bytes of all files together.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;
/// How often the sizes are looked at. PostgreSQL writes less than the most within this time.
const INTERVAL: Duration = Duration::from_secs(2);
/// What the names of the collector's files end with.
const EXTENSION: &str = "json";
/// The bytes at the end of a file that are read for an error message, and the lines that it gets.
const TAIL_BYTES: u64 = 64 * 1024;
const TAIL_LINES: usize = 15;

/// Removes the oldest files until it is dropped.
#[derive(Debug)]
pub(super) struct CollectedLogs {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CollectedLogs {
    /// Begins to watch a folder.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub(super) fn watch(folder: &Path) -> Result<Self, ClusterError> {
        let (stop, stopped) = channel();
        let watched = folder.to_owned();
        let watch = move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = remove_oldest(&watched, MOST_BYTES) {
                    tracing::warn!(%error, folder = %watched.display(), "old log files of PostgreSQL cannot be removed");
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("collected-logs".to_owned())
            .spawn(watch)
            .map_err(ClusterError::file(folder))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for CollectedLogs {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The collector's files with their sizes, the oldest first: their names begin with the time.
fn list_files(folder: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let meta = entry.metadata()?;
        if meta.is_file() && path.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push((path, meta.len()));
        }
    }
    files.sort();
    Ok(files)
}

/// Removes the oldest files until the others have at most `most` bytes together. The newest one, which PostgreSQL writes, stays.
pub(super) fn remove_oldest(folder: &Path, most: u64) -> io::Result<()> {
    let mut files = list_files(folder)?;
    files.pop();
    let mut bytes = 0;
    for (path, size) in files.iter().rev() {
        bytes += size;
        if bytes > most {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The messages at the end of the newest file, for an error; empty where there are none.
pub(super) fn read_newest_messages(folder: &Path) -> String {
    let read = || -> io::Result<String> {
        let Some((path, size)) = list_files(folder)?.pop() else {
            return Ok(String::new());
        };
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES)))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let text = read().unwrap_or_default();
    let messages: Vec<String> = text.lines().filter_map(describe_line).collect();
    messages[messages.len().saturating_sub(TAIL_LINES)..].join("\n")
}

fn describe_line(line: &str) -> Option<String> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    let part = |name: &str| line.get(name).and_then(serde_json::Value::as_str);
    Some(format!("    {}: {}", part("error_severity")?, part("message")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_018_the_oldest_files_are_removed_and_the_newest_stays_whatever_its_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for (name, bytes) in [
            ("postgresql-2026-01-01_000000.json", 500),
            ("postgresql-2026-01-02_000000.json", 500),
            ("postgresql-2026-01-03_000000.json", 400),
            ("postgresql-2026-01-04_000000.json", 5000),
            ("notes.txt", 9000),
        ] {
            fs::write(path(name), vec![b'a'; bytes]).expect("written");
        }

        remove_oldest(folder.path(), 1000).expect("removed");

        let names = list_files(folder.path()).expect("a folder");
        let names: Vec<_> = names
            .iter()
            .map(|(path, size)| (path.file_name(), *size))
            .collect();
        assert_eq!(
            names.iter().map(|(_, size)| *size).collect::<Vec<_>>(),
            [500, 400, 5000]
        );
        assert!(path("notes.txt").exists() && !path("postgresql-2026-01-01_000000.json").exists());
    }

    #[test]
    fn prod_018_the_end_of_the_newest_file_is_told_as_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let line = |severity: &str, message: &str| {
            serde_json::json!({"error_severity": severity, "message": message}).to_string()
        };
        let text = [
            "{\"a half".to_owned(),
            line("LOG", "starting"),
            line("FATAL", "could not map anonymous shared memory"),
        ];
        fs::write(folder.path().join("a.json"), text.join("\n")).expect("written");

        let told = read_newest_messages(folder.path());

        assert_eq!(
            told,
            "    LOG: starting\n    FATAL: could not map anonymous shared memory"
        );
        assert_eq!(read_newest_messages(Path::new("/no/such/folder")), "");
    }
}
