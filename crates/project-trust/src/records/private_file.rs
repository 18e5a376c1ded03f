//! Files with secrets, which only their owner may read.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Replaces a file atomically by a text and a line break, with the mode 0600.
///
/// # Errors
/// When the folder cannot be written. The file is unchanged then.
pub fn write_private_file(path: &Path, text: &str) -> std::io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let temporary = Path::new(&temporary);
    // A leftover of an interrupted write. `create_new` then guarantees the mode: an existing file would keep its own.
    let _ = std::fs::remove_file(temporary);
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(temporary)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    // Written to disk before the rename, so that after a power failure either the old or the new file exists.
    file.sync_all()?;
    std::fs::rename(temporary, path)
}
