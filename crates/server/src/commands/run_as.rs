//! Lets root work on the project of another user as that user.

use std::ffi::CString;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::unistd::{User, geteuid, setgid, setuid};

use crate::output;

/// When this process is root and the project's data folder belongs to somebody else, goes on as that user. Files that root
/// wrote there (the lock, the password, logs) would keep its owner out afterwards, and PostgreSQL runs only for the owner of its
/// data.
///
/// # Errors
/// When the machine does not know the owner.
pub(super) fn become_owner(data_dir: &Path) -> Result<()> {
    let Ok(meta) = data_dir.metadata() else {
        return Ok(());
    };
    if !geteuid().is_root() || meta.uid() == 0 {
        return Ok(());
    }
    let Some(user) = User::from_uid(meta.uid().into())? else {
        bail!(
            "{} belongs to user {}, whom this machine does not know: run this command as that user",
            data_dir.display(),
            meta.uid()
        );
    };
    let explain = || {
        format!(
            "cannot go on as {}, the owner of {}",
            user.name,
            data_dir.display()
        )
    };
    set_groups(&user).with_context(explain)?;
    setgid(user.gid).with_context(explain)?;
    setuid(user.uid).with_context(explain)?;
    output::print_note(&format!(
        "{} belongs to {}, so this runs as that user and not as root",
        data_dir.display(),
        user.name
    ));
    Ok(())
}

#[cfg(not(target_vendor = "apple"))]
fn set_groups(user: &User) -> nix::Result<()> {
    let name = CString::new(user.name.as_str()).map_err(|_| nix::Error::EINVAL)?;
    nix::unistd::initgroups(&name, user.gid)
}

#[cfg(target_vendor = "apple")]
fn set_groups(_: &User) -> nix::Result<()> {
    Ok(())
}
