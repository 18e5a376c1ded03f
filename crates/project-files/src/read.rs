//! Reads a file whole, if it is a regular one and not too large.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The most bytes of a file with settings, keys, a template or code.
pub const MAX_SETTINGS_BYTES: u64 = 8 << 20;
/// The most bytes of a file with SQL. It is held twice while its statements are found.
pub const MAX_SCRIPT_BYTES: u64 = 128 << 20;

/// Reads a regular file of at most `most_bytes`.
///
/// # Errors
/// The operating system's, such as `NotFound`; `InvalidInput` for a pipe, a device or a folder, and `FileTooLarge` for a longer file.
pub fn read_file(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_file(path)?;
    let length = file.metadata()?.len();
    let too_large = || {
        let limit = most_bytes >> 20;
        io::Error::new(
            ErrorKind::FileTooLarge,
            format!("it has more than {limit} MiB, the most that is read of such a file"),
        )
    };
    if length > most_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // The file may grow meanwhile.
    file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Reads a text as [`read_file`] does.
///
/// # Errors
/// Those of [`read_file`], and `InvalidData` for bytes that are not UTF-8.
pub fn read_text(path: &Path, most_bytes: u64) -> io::Result<String> {
    String::from_utf8(read_file(path, most_bytes)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Opens a regular file. Opening a device may change it, so it is looked at before it is opened; opening a pipe that has taken the file's
/// place meanwhile does not wait for whoever writes to it.
///
/// # Errors
/// The operating system's; `InvalidInput` for a pipe, a device or a folder.
pub fn open_file(path: &Path) -> io::Result<File> {
    let refuse = |is_file: bool| match is_file {
        true => Ok(()),
        false => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
    };
    refuse(path.metadata()?.is_file())?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(path)?;
    refuse(file.metadata()?.is_file())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(path: &Path, most_bytes: u64) -> Result<usize, ErrorKind> {
        read_file(path, most_bytes)
            .map(|bytes| bytes.len())
            .map_err(|error| error.kind())
    }

    #[test]
    fn gw_109_pipes_devices_folders_and_long_files_are_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("short"), "12345").expect("written");
        std::os::unix::fs::symlink("short", path("link")).expect("linked");
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("made");
        let long = File::create(path("long")).expect("created");
        long.set_len(1 << 40).expect("sparse");

        assert_eq!(kind_of(&path("short"), 5), Ok(5));
        assert_eq!(kind_of(&path("link"), 5), Ok(5));
        assert_eq!(kind_of(&path("short"), 4), Err(ErrorKind::FileTooLarge));
        assert_eq!(
            kind_of(&path("long"), MAX_SCRIPT_BYTES),
            Err(ErrorKind::FileTooLarge)
        );
        // Its length is 0, and what is read of it has no end.
        assert_eq!(kind_of(Path::new("/dev/zero"), 5), Err(ErrorKind::InvalidInput));
        assert_eq!(kind_of(&path("pipe"), 5), Err(ErrorKind::InvalidInput));
        assert_eq!(kind_of(folder.path(), 5), Err(ErrorKind::InvalidInput));
        assert_eq!(kind_of(&path("missing"), 5), Err(ErrorKind::NotFound));
        // A regular file that says nothing about its length.
        assert_eq!(
            kind_of(Path::new("/proc/self/status"), 5),
            Err(ErrorKind::FileTooLarge)
        );
    }

    #[test]
    fn gw_109_a_text_is_utf_8() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        std::fs::write(&path, [0xff, 0xfe]).expect("written");

        let refused = read_text(&path, 10).map_err(|error| error.kind());

        assert_eq!(refused, Err(ErrorKind::InvalidData));
    }
}
