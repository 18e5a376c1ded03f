//! The number by which PostgreSQL tells clusters apart.
//!
//! `initdb` makes it from the time. It is at the beginning of `global/pg_control`, which ends with a checksum, and in the first page of each
//! file of the write-ahead log, which has none in its header. PostgreSQL refuses a log of another number.
//!
//! The same file has the nonce of which PostgreSQL makes salts for names that are no roles. Two clusters with the same one would tell
//! which roles they have.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Where `pg_control` has the cluster's state (`DBState` in PostgreSQL's catalog/pg_control.h): after the identifier, the version of the
/// file and that of the catalog.
const STATE: usize = 16;
/// The state after a shutdown in order.
const SHUT_DOWN: u32 = 1;

/// The first page of a log file: 16 bits of magic, 16 of flags, and the identifier at the end of the page's usual header (`XLogLongPageHeaderData`
/// in access/xlog_internal.h).
const IDENTIFIER_IN_LOG: usize = 24;
/// How much of a log file is read.
const LOG_HEADER: usize = 32;

/// Refuses a data directory whose log has more than its files.
pub(super) fn check_shut_down(data_dir: &Path) -> io::Result<()> {
    let control = read_control(&control_file(data_dir))?;
    match read_u32(&control, STATE) {
        SHUT_DOWN => Ok(()),
        state => Err(io::Error::other(format!(
            "the cluster was not shut down: state {state}"
        ))),
    }
}

/// How much of the nonce is replaced: it is before the checksum, with up to three bytes between them (`mock_authentication_nonce`, 32 bytes).
const NONCE_LENGTH: usize = 28;

/// Gives a cluster that is shut down another identifier and another nonce.
pub(super) fn replace(data_dir: &Path) -> io::Result<()> {
    check_shut_down(data_dir)?;
    let file = control_file(data_dir);
    let mut control = read_control(&file)?;
    let checksum = find_checksum(&control)
        .ok_or_else(|| io::Error::other("pg_control has another form, or is damaged"))?;
    let (earlier, new) = (read_u64(&control, 0), make_identifier());
    for log in list_logs(data_dir)? {
        replace_in_log(&log, earlier, new)?;
    }
    control[..8].copy_from_slice(&new.to_ne_bytes());
    getrandom::fill(&mut control[checksum - NONCE_LENGTH..checksum])
        .map_err(|error| io::Error::other(error.to_string()))?;
    let sum = crc32c::crc32c(&control[..checksum]);
    control[checksum..checksum + 4].copy_from_slice(&sum.to_ne_bytes());
    OpenOptions::new()
        .write(true)
        .open(&file)?
        .write_all_at(&control, 0)
}

fn replace_in_log(file: &Path, earlier: u64, new: u64) -> io::Result<()> {
    let log = OpenOptions::new().read(true).write(true).open(file)?;
    let mut header = [0; LOG_HEADER];
    log.read_exact_at(&mut header, 0)?;
    // Files for later are empty, or earlier ones under another name.
    if header[..2] == [0, 0] {
        return Ok(());
    }
    if read_u64(&header, IDENTIFIER_IN_LOG) != earlier {
        return Err(io::Error::other(format!(
            "{} is of another cluster",
            file.display()
        )));
    }
    let place = u64::try_from(IDENTIFIER_IN_LOG).map_err(io::Error::other)?;
    log.write_all_at(&new.to_ne_bytes(), place)
}

/// As PostgreSQL makes it, seconds before fractions of them, with 32 bits of chance in place of microseconds and process id, as the clocks
/// of many machines may agree.
fn make_identifier() -> u64 {
    let seconds = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (chance, _) = uuid::Uuid::new_v4().as_u64_pair();
    seconds << 32 | chance >> 32
}

/// Where the checksum is that ends what `pg_control` says. The length differs between versions of PostgreSQL.
fn find_checksum(control: &[u8]) -> Option<usize> {
    (STATE + NONCE_LENGTH..control.len().min(512) - 4)
        .step_by(4)
        .find(|place| crc32c::crc32c(&control[..*place]) == read_u32(control, *place))
}

fn control_file(data_dir: &Path) -> PathBuf {
    data_dir.join("global/pg_control")
}

fn read_control(file: &Path) -> io::Result<Vec<u8>> {
    let mut control = Vec::new();
    File::open(file)?.read_to_end(&mut control)?;
    match control.len() >= 512 {
        true => Ok(control),
        false => Err(io::Error::other("pg_control is cut off")),
    }
}

fn list_logs(data_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(data_dir.join("pg_wal"))?;
    let is_log = |name: &str| name.len() == 24 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    entries
        .filter_map(|entry| match entry {
            Ok(entry) => is_log(&entry.file_name().to_string_lossy()).then(|| Ok(entry.path())),
            Err(error) => Some(Err(error)),
        })
        .collect()
}

fn read_u32(bytes: &[u8], place: usize) -> u32 {
    let mut value = [0; 4];
    value.copy_from_slice(&bytes[place..place + 4]);
    u32::from_ne_bytes(value)
}

fn read_u64(bytes: &[u8], place: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[place..place + 8]);
    u64::from_ne_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: u64 = 7_713_778_308_872_157_202;
    /// Where the checksum is in PostgreSQL 15.
    const CHECKSUM: usize = 288;

    /// A data directory with a control file, a used log file and one for later.
    fn make_data_dir(state: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["global", "pg_wal/archive_status"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("made");
        }
        let mut control = vec![0_u8; 8192];
        control[..8].copy_from_slice(&EARLIER.to_ne_bytes());
        control[8..12].copy_from_slice(&1300_u32.to_ne_bytes());
        control[STATE..STATE + 4].copy_from_slice(&state.to_ne_bytes());
        let sum = crc32c::crc32c(&control[..CHECKSUM]);
        control[CHECKSUM..CHECKSUM + 4].copy_from_slice(&sum.to_ne_bytes());
        std::fs::write(control_file(folder.path()), control).expect("written");
        write_log(folder.path(), "000000010000000000000001", EARLIER);
        std::fs::write(folder.path().join("pg_wal/000000010000000000000002"), [0; 64]).expect("written");
        folder
    }

    fn write_log(data_dir: &Path, name: &str, identifier: u64) {
        let mut log = vec![7_u8; 64];
        log[IDENTIFIER_IN_LOG..LOG_HEADER].copy_from_slice(&identifier.to_ne_bytes());
        std::fs::write(data_dir.join("pg_wal").join(name), log).expect("written");
    }

    #[test]
    fn gw_017_control_file_and_log_get_the_same_new_identifier() {
        let folder = make_data_dir(SHUT_DOWN);

        replace(folder.path()).expect("replaced");

        let control = std::fs::read(control_file(folder.path())).expect("a file");
        let new = read_u64(&control, 0);
        assert_ne!(new, EARLIER);
        assert_ne!(control[CHECKSUM - NONCE_LENGTH..CHECKSUM], [0; NONCE_LENGTH]);
        assert!(
            control[STATE + 4..CHECKSUM - NONCE_LENGTH]
                .iter()
                .all(|byte| *byte == 0)
        );
        assert_eq!(find_checksum(&control), Some(CHECKSUM));
        let log = std::fs::read(folder.path().join("pg_wal/000000010000000000000001")).expect("a file");
        assert_eq!(read_u64(&log, IDENTIFIER_IN_LOG), new);
        assert_eq!(
            (&log[..IDENTIFIER_IN_LOG], &log[LOG_HEADER..]),
            (&[7; 24][..], &[7; 32][..])
        );
        let later = std::fs::read(folder.path().join("pg_wal/000000010000000000000002")).expect("a file");
        assert_eq!(later, [0; 64]);
    }

    #[test]
    fn gw_017_what_is_no_cluster_that_was_shut_down_keeps_its_control_file() {
        let running = make_data_dir(6);
        let foreign = make_data_dir(SHUT_DOWN);
        write_log(foreign.path(), "000000010000000000000003", EARLIER + 1);
        let damaged = make_data_dir(SHUT_DOWN);
        let file = control_file(damaged.path());
        let mut control = std::fs::read(&file).expect("a file");
        control[100] ^= 1;
        std::fs::write(&file, control).expect("written");
        let cut_off = make_data_dir(SHUT_DOWN);
        std::fs::write(control_file(cut_off.path()), [0; 100]).expect("written");

        for folder in [running, foreign, damaged, cut_off] {
            let before = std::fs::read(control_file(folder.path())).expect("a file");
            replace(folder.path()).expect_err("refused");
            assert_eq!(
                std::fs::read(control_file(folder.path())).expect("a file"),
                before
            );
        }
    }
}
