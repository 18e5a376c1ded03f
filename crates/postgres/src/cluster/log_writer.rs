//! Writes PostgreSQL's log. What strangers send is in it, as PostgreSQL logs refused values whole: lines are cut, only so many of errors
//! are written in a second, and the file is put aside when it is large.
//!
//! PostgreSQL writes into a pipe, which a thread reads until all processes with its other end have ended.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use selvedge_limits::LogRate;

use super::error::ClusterError;

/// A log larger than this is put aside.
const MOST_LOG_BYTES: u64 = 16 * 1024 * 1024;
/// Longest line; the rest of a longer one is left out.
const LONGEST_LINE: usize = 4096;
/// Bytes about errors and warnings that are written in a second, and at once after a quiet second. Lines beyond that are left out.
const BYTES_PER_SECOND: usize = 512 * 1024;
/// Ends the severity of an entry, which follows time, process and login. Behind it is text that may have anything in it, as clients send it.
const END_OF_SEVERITY: &[u8] = b":  ";
/// The severity of what is written because of a setting, such as statements and their plans. Clients cause the rest.
const BY_SETTING: &[u8] = b"LOG";
/// The severity with which PostgreSQL ends all sessions.
const PANIC: &[u8] = b"PANIC";
/// What further parts of an entry have in the place of a severity.
const PARTS: [&[u8]; 6] = [
    b"DETAIL",
    b"HINT",
    b"QUERY",
    b"CONTEXT",
    b"LOCATION",
    b"STATEMENT",
];
/// Where the end of a severity is looked for: a login and the name of a database have 63 bytes each.
const LONGEST_PREFIX: usize = 200;
/// How much of the pipe is read at once.
const READ_BYTES: usize = 64 * 1024;
/// How long [`LogWriter::finish`] waits for processes that hold the pipe open.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The thread that writes the log.
#[derive(Debug)]
pub(super) struct LogWriter(JoinHandle<()>);

impl LogWriter {
    /// Opens the log, and begins to write what comes through the pipe whose end is returned.
    ///
    /// # Errors
    /// When the log cannot be opened, or there can be no further pipe or thread.
    pub(super) fn start(path: &Path) -> Result<(Self, PipeWriter), ClusterError> {
        let mut log = Log::open(path).map_err(ClusterError::file(path))?;
        let (reader, writer) = pipe().map_err(ClusterError::file(path))?;
        let thread = thread::Builder::new()
            .name("postgres-log".to_owned())
            .spawn(move || log.copy(reader))
            .map_err(ClusterError::file(path))?;
        Ok((Self(thread), writer))
    }

    /// Waits until everything is written, once PostgreSQL has ended.
    pub(super) fn finish(&self) {
        let deadline = Instant::now() + LAST_LINES;
        while !self.0.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Where the log goes that has become too large.
fn earlier_log(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

fn open_log(path: &Path) -> io::Result<File> {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        // It has values of the project's rows: those that PostgreSQL refused.
        .mode(0o600)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(path)?;
    // One of an earlier version may be open to others.
    log.set_permissions(Permissions::from_mode(0o600))?;
    Ok(log)
}

/// The log, and what may still be written into it at this moment.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
    /// The line that has not ended yet, up to its longest length.
    line: Vec<u8>,
    /// How many bytes of it were left out.
    cut: usize,
    /// Whether the entry to which the line belongs counts towards the bytes of a second.
    is_limited: bool,
    /// The process that has written it, as in `[4711]`; empty where it names none.
    process: Vec<u8>,
    rate: LogRate,
    has_failed: bool,
    most_bytes: u64,
}

impl Log {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: open_log(path)?,
            line: Vec::new(),
            cut: 0,
            is_limited: true,
            process: Vec::new(),
            rate: LogRate::new(BYTES_PER_SECOND),
            has_failed: false,
            most_bytes: MOST_LOG_BYTES,
        })
    }

    /// Writes what comes until the end.
    fn copy(&mut self, mut pipe: PipeReader) {
        let mut bytes = vec![0; READ_BYTES];
        loop {
            match pipe.read(&mut bytes) {
                Ok(0) => break,
                Ok(length) => self.take(bytes.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if !self.line.is_empty() {
            self.end_line();
        }
        let omitted = self.rate.take_omitted();
        self.note_omitted(omitted);
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let kept = text.len().min(LONGEST_LINE - self.line.len());
            self.line.extend_from_slice(text.get(..kept).unwrap_or_default());
            self.cut += text.len() - kept;
            if ends {
                self.end_line();
            }
        }
    }

    /// Writes the line, or counts it as left out.
    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if self.cut > 0 {
            self.cut += drop_partial_character(&mut line);
            line.extend_from_slice(format!(" … ({} bytes more)", self.cut).as_bytes());
            self.cut = 0;
        }
        line.push(b'\n');
        if let Some(omitted) = self.may_write(&line) {
            self.note_omitted(omitted);
            self.write(&line);
        }
        line.clear();
        self.line = line;
    }

    /// Whether the line is written. `Some` has the number of lines that were left out before it.
    fn may_write(&mut self, line: &[u8]) -> Option<u64> {
        // Further lines of a part begin with a tab.
        if !line.starts_with(b"\t") {
            let (severity, process) = read_head(line);
            let is_part = PARTS.contains(&severity) && !process.is_empty() && process == self.process;
            if !is_part {
                self.is_limited = ![BY_SETTING, PANIC].contains(&severity);
                self.process = process.to_vec();
            }
        }
        match self.is_limited {
            true => self.rate.pass(line.len()),
            false => Some(self.rate.take_omitted()),
        }
    }

    fn note_omitted(&mut self, omitted: u64) {
        if omitted > 0 {
            self.write(
                format!("LOG:  {omitted} further lines were left out here, because too many came at once\n")
                    .as_bytes(),
            );
        }
    }

    /// Writes a line. What cannot be written, as on a full disk, is lost; the first of several failures is reported.
    fn write(&mut self, line: &[u8]) {
        let outcome = self.put_aside_if_large().and_then(|()| self.file.write_all(line));
        let had_failed = std::mem::replace(&mut self.has_failed, outcome.is_err());
        if let (Err(error), false) = (outcome, had_failed) {
            tracing::warn!(%error, "PostgreSQL's log cannot be written");
        }
    }

    /// Renames a log that is too large and begins a new one. Where it cannot be renamed it is emptied, so that it stays bounded.
    fn put_aside_if_large(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() < self.most_bytes {
            return Ok(());
        }
        if std::fs::rename(&self.path, earlier_log(&self.path)).is_err() {
            return self.file.set_len(0);
        }
        self.file = open_log(&self.path)?;
        Ok(())
    }
}

/// The severity of an entry, or what a further part of it has in its place, and the process that has written it. The first end of a severity is
/// the right one, because what stands before has none: what follows may name another severity. Empty where a line has none.
fn read_head(line: &[u8]) -> (&[u8], &[u8]) {
    let head = line.get(..LONGEST_PREFIX).unwrap_or(line);
    let end = head
        .windows(END_OF_SEVERITY.len())
        .position(|window| window == END_OF_SEVERITY);
    let head = end.and_then(|end| head.get(..end)).unwrap_or_default();
    let severity = head.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let process = head
        .split(|byte| *byte == b' ')
        .find(|word| word.starts_with(b"[") && word.ends_with(b"]"));
    (severity, process.unwrap_or_default())
}

/// Removes the first bytes of a character of UTF-8 whose last ones were cut off. Returns their number.
fn drop_partial_character(line: &mut Vec<u8>) -> usize {
    let length = line.len();
    if let Err(error) = std::str::from_utf8(line)
        && error.error_len().is_none()
    {
        line.truncate(error.valid_up_to());
    }
    length - line.len()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A log in a folder of its own, and its path.
    fn log() -> (tempfile::TempDir, PathBuf, Log) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("postgres.log");
        let log = Log::open(&path).expect("opened");
        (folder, path, log)
    }

    #[test]
    fn gw_049_long_lines_are_cut_and_errors_that_come_too_fast_are_left_out() {
        let (_folder, path, mut log) = log();

        log.take(b"first\n");
        // The last character of what is kept has two bytes, of which the second one is too many.
        log.take(format!("x{}\n", "é".repeat(5_000_000)).as_bytes());
        log.rate = LogRate::new(0);
        log.take(b"omitted\nomitted\n");
        log.take(b"2026-12-01 10:00:00 UTC [1] a@b LOG:  statement: select 1,\n\t2\n");

        let text = fs::read_to_string(&path).expect("text");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "first");
        assert!(
            lines[1].ends_with("é … (9995906 bytes more)"),
            "{}",
            lines[1].len()
        );
        assert_eq!(
            lines[2..],
            [
                "LOG:  2 further lines were left out here, because too many came at once",
                "2026-12-01 10:00:00 UTC [1] a@b LOG:  statement: select 1,",
                "\t2"
            ],
            "statements are logged because somebody has asked for them"
        );
    }

    #[test]
    fn gw_049_a_value_that_looks_like_a_severity_does_not_pass_for_one() {
        let (_folder, path, mut log) = log();
        log.rate = LogRate::new(0);

        log.take(b"2026-12-01 10:00:00.000 UTC [1] a@b ERROR:  invalid input syntax for type integer: \" LOG:  x\"\n");
        log.take(b"2026-12-01 10:00:00.000 UTC [1] a@b STATEMENT:  select ' LOG:  '\n");
        log.take(b"2026-12-01 10:00:00.000 UTC [1] x:  LOG:  @b FATAL:  role does not exist\n");
        log.take(b"no severity LOG: x\n");

        assert_eq!(fs::read(&path).expect("a file"), b"");
    }

    #[test]
    fn gw_049_parts_of_an_entry_are_written_as_it_is_and_a_panic_always() {
        let (_folder, path, mut log) = log();
        log.rate = LogRate::new(0);

        log.take(b"2026-12-01 10:00:00 UTC [1] a@b LOG:  execute <unnamed>: select $1\n");
        log.take(b"2026-12-01 10:00:00 UTC [1] a@b DETAIL:  parameters: $1 = '2'\n");
        log.take(b"2026-12-01 10:00:00 UTC [2] a@b DETAIL:  of another process\n");
        log.take(b"2026-12-01 10:00:00 UTC [3] PANIC:  could not write to file\n");

        let text = fs::read_to_string(&path).expect("text");
        let ends: Vec<_> = text.lines().map(|line| line.rsplit(":  ").next()).collect();
        assert_eq!(
            ends,
            [
                Some("execute <unnamed>: select $1"),
                Some("parameters: $1 = '2'"),
                Some("1 further lines were left out here, because too many came at once"),
                Some("could not write to file")
            ]
        );
    }

    #[test]
    fn gw_049_a_large_log_is_put_aside_also_where_that_name_is_taken() {
        let (folder, path, mut log) = log();
        log.most_bytes = 1000;

        log.take(&[&[b'a'; 1000][..], b"\nnew\n"].concat());
        assert_eq!(fs::read(&path).expect("a file"), b"new\n");
        assert_eq!(fs::read(earlier_log(&path)).expect("a file").len(), 1001);

        fs::remove_file(earlier_log(&path)).expect("removed");
        fs::create_dir(folder.path().join("postgres.log.1")).expect("made");
        log.take(&[&[b'b'; 1000][..], b"\nnewest\n"].concat());
        assert_eq!(fs::read(&path).expect("a file"), b"newest\n");
    }

    #[test]
    fn what_comes_through_the_pipe_is_written_until_its_last_writer_has_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("postgres.log");
        let (writer, mut pipe) = LogWriter::start(&path).expect("started");

        pipe.write_all(b"one\ntwo").expect("written");
        drop(pipe);
        writer.finish();

        assert_eq!(fs::read(&path).expect("a file"), b"one\ntwo\n");
        let mode = path.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
