//! Finds the process that listens on a port, in Linux's `/proc`. On other systems, or for processes of other users, nothing is
//! found.

use std::fs;

/// Id and name of the process that listens on `port`.
pub fn find_port_holder(port: u16) -> Option<(u32, String)> {
    let socket = format!("socket:[{}]", listening_inode(port)?);
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        // Descriptors of other users' processes cannot be read; such a process is skipped.
        let mut descriptors = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
        descriptors
            .find(|fd| fs::read_link(fd.path()).is_ok_and(|target| target.as_os_str() == socket.as_str()))?;
        let name = fs::read_to_string(entry.path().join("comm")).ok()?;
        Some((pid, name.trim().to_owned()))
    })
}

/// Whether any process listens on `port`; `None` on operating systems that do not report it.
pub(super) fn is_listening(port: u16) -> Option<bool> {
    let is_known = std::path::Path::new("/proc/net/tcp").exists();
    is_known.then(|| listening_inode(port).is_some())
}

/// The inode of the socket that listens on `port`. The columns of `/proc/net/tcp` are number, local address, remote
/// address, state (`0A` is listening), …, and the inode as the tenth.
fn listening_inode(port: u16) -> Option<String> {
    let suffix = format!(":{port:04X}");
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        fs::read_to_string(table).ok()?.lines().skip(1).find_map(|row| {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let listens = columns.get(1)?.ends_with(&suffix) && *columns.get(3)? == "0A";
            listens
                .then(|| columns.get(9).map(|inode| (*inode).to_owned()))
                .flatten()
        })
    })
}
