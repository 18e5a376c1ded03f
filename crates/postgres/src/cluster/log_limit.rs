//! Keeps PostgreSQL's log from filling the disk: it logs refused values whole, and strangers choose them.
//!
//! PostgreSQL appends to the file through the handle that it was started with, so the file cannot be renamed. Its content is moved to
//! `postgres.log.1` instead, and what was there is gone. Lines that are written in that moment are lost.

use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::error::ClusterError;
use super::own_file::open_own_file;

/// A log larger than this is moved away.
pub(super) const MOST_LOG_BYTES: u64 = 16 * 1024 * 1024;
/// How often its size is looked at.
const INTERVAL: Duration = Duration::from_millis(250);

/// Watches the size of a log until it is dropped.
#[derive(Debug)]
pub(super) struct LogLimit {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LogLimit {
    /// Begins to watch.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub(super) fn start(path: &Path, most: u64) -> Result<Self, ClusterError> {
        let (stop, stopped) = channel();
        let watched = path.to_owned();
        let watch = move || {
            let mut has_failed = false;
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if let Some(error) = first_error(&mut has_failed, move_away(&watched, most)) {
                    tracing::warn!(%error, "the newest part of PostgreSQL's log could not be kept in its own file");
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("postgres-log".to_owned())
            .spawn(watch)
            .map_err(ClusterError::file(path))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for LogLimit {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where the content of a log goes that has become too large.
pub(super) fn earlier_log(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// An error to report: the first of a row, as the same one follows with each further look.
fn first_error(has_failed: &mut bool, outcome: io::Result<()>) -> Option<io::Error> {
    let had_failed = std::mem::replace(has_failed, outcome.is_err());
    outcome.err().filter(|_| !had_failed)
}

/// Moves the newest part of a log away that is larger than `most`. The log is shortened also when there is no room for what would be kept:
/// on a full disk the database needs that room.
fn move_away(path: &Path, most: u64) -> io::Result<()> {
    if path.metadata()?.len() <= most {
        return Ok(());
    }
    let mut log = open_own_file(path, true)?;
    let kept = copy_newest(&mut log, &earlier_log(path), most);
    log.set_len(0)?;
    kept
}

/// Writes the last `most` bytes of a log to another file. PostgreSQL may append faster than they are copied.
fn copy_newest(log: &mut File, target: &Path, most: u64) -> io::Result<()> {
    let mut earlier: File = open_own_file(target, true)?;
    earlier.set_len(0)?;
    let length = log.metadata()?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    io::copy(&mut log.take(most), &mut earlier)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_log_that_grows_is_bounded_and_its_newest_part_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("postgres.log");
        let mut writer = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .expect("opened");
        let _limit = LogLimit::start(&path, 10_000).expect("a thread");

        writer.write_all(&[b'a'; 50_000]).expect("written");
        writer.write_all(b"newest").expect("written");
        let deadline = Instant::now() + Duration::from_secs(60);
        while path.metadata().expect("a file").len() > 10_000 {
            assert!(Instant::now() < deadline, "it is not shortened");
            std::thread::sleep(Duration::from_millis(10));
        }
        writer.write_all(b"further").expect("written");

        assert_eq!(fs::read(&path).expect("a file"), b"further");
        let earlier = fs::read(earlier_log(&path)).expect("a file");
        assert_eq!(earlier.len(), 10_000);
        assert!(earlier.ends_with(b"newest"));
    }

    #[test]
    fn a_log_is_shortened_also_where_its_newest_part_cannot_be_kept_and_one_of_many_errors_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("postgres.log");
        fs::write(&path, [b'a'; 50_000]).expect("written");
        // Stands for a full disk.
        fs::create_dir(earlier_log(&path)).expect("made");

        let outcome = move_away(&path, 10_000);

        assert_eq!(path.metadata().expect("a file").len(), 0);
        let mut has_failed = false;
        let outcomes = [
            outcome,
            Err(io::Error::other("again")),
            Ok(()),
            Err(io::Error::other("new")),
        ];
        let reported = outcomes.map(|outcome| first_error(&mut has_failed, outcome).is_some());
        assert_eq!(reported, [true, false, false, true]);
    }
}
