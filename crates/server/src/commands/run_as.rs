//! Lets root work on the project of another user as that user.

use std::ffi::CString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::unistd::{User, geteuid, setgid, setuid};
use selvedge_config::{Config, Environment};
use selvedge_terminal::print_note;

/// When this process is root and the project belongs to somebody else, goes on as that user. Files that root wrote there (the lock, the
/// password, logs) would keep its owner out afterwards, and PostgreSQL runs only for the owner of its data. A project that was never started
/// belongs to whoever called `sudo`, if its folder does.
///
/// # Errors
/// When the machine does not know the owner.
pub(super) fn become_owner(config: &Config) -> Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let Some((uid, place)) = find_owner(
        &config.selvedge.data_dir,
        &config.project.folder,
        &Environment::of_process(),
    ) else {
        return Ok(());
    };
    let Some(user) = User::from_uid(uid.into())? else {
        bail!(
            "{} belongs to user {uid}, whom this machine does not know: run this command as that user",
            place.display(),
        );
    };
    let explain = || format!("cannot go on as {}, the owner of {}", user.name, place.display());
    set_groups(&user).with_context(explain)?;
    setgid(user.gid).with_context(explain)?;
    setuid(user.uid).with_context(explain)?;
    print_note(&format!(
        "{} belongs to {}, so this runs as that user and not as root",
        place.display(),
        user.name
    ));
    Ok(())
}

/// The user other than root to whom the project belongs, and the folder that shows it.
fn find_owner(data_dir: &Path, project: &Path, environment: &Environment) -> Option<(u32, PathBuf)> {
    if let Ok(meta) = data_dir.metadata() {
        return (meta.uid() != 0).then(|| (meta.uid(), data_dir.to_owned()));
    }
    let caller: u32 = environment.get("SUDO_UID")?.parse().ok()?;
    let folder = project.ancestors().find(|folder| folder.is_dir())?;
    let uid = folder.metadata().ok()?.uid();
    (uid != 0 && uid == caller).then(|| (uid, folder.to_owned()))
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use super::*;

    #[test]
    fn a_new_project_belongs_to_who_called_sudo_if_its_folder_does() {
        let folder = tempfile::tempdir().unwrap();
        // Only root can give a folder away; another user owns it already.
        let owner = if geteuid().is_root() {
            54_321
        } else {
            geteuid().as_raw()
        };
        chown(folder.path(), Some(owner), None).unwrap();
        let (data_dir, project) = (
            folder.path().join("supabase/.selvedge"),
            folder.path().join("supabase"),
        );
        let find = |caller: &str| {
            let environment = [("SUDO_UID", caller)].into_iter().collect();
            find_owner(&data_dir, &project, &environment)
        };

        let of_caller = find(&owner.to_string());
        let of_stranger = find("1");
        let without_sudo = find_owner(&data_dir, &project, &Environment::default());
        std::fs::create_dir_all(&data_dir).unwrap();
        chown(&data_dir, Some(owner), None).unwrap();
        let of_data = find_owner(&data_dir, &project, &Environment::default());

        assert_eq!(of_caller, Some((owner, folder.path().to_owned())));
        assert_eq!((of_stranger, without_sudo), (None, None));
        assert_eq!(of_data, Some((owner, data_dir)));
    }
}
