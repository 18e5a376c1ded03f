//! Folders that root makes or gives away. Each is opened name by name from `/`, so that a link of another user, or a folder that one exchanges
//! meanwhile, never leads root elsewhere. Links of root on the way (`/var`, which an administrator has moved to a larger disk) are followed, as long
//! as nobody else may put something in their place.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Component, Path};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, readlinkat};
use nix::sys::stat::{Mode, fstatat, mkdirat};
use nix::unistd::geteuid;
use selvedge_postgres::cluster::is_used_folder;

/// As many links are followed as Linux follows.
const MOST_LINKS: usize = 40;

/// Opens the folder; `None` where it is missing, or one above it.
///
/// # Errors
/// When another user may exchange a folder on the way, or the last name is a link or a file.
pub(super) fn open_folder(path: &Path) -> Result<Option<File>> {
    let inner = path.strip_prefix("/").context("the path begins with /")?;
    open_below(open_root()?, Path::new("/"), inner, LastLink::Refused)
}

/// Makes the folder where it is missing, and gives it its owner and mode. One that is there stays only if it is its already, or root's and empty.
///
/// # Errors
/// As [`open_folder`]; a folder of somebody else, or with something in it.
pub(super) fn make_folder(path: &Path, mode: u32, owner: (u32, u32)) -> Result<()> {
    let inner = path.strip_prefix("/").context("the path begins with /")?;
    make_below(open_root()?, Path::new("/"), inner, mode, owner)
}

/// Whether nothing is in an open folder, but for what file systems put into each.
///
/// # Errors
/// When it cannot be read.
pub(super) fn is_empty(folder: &File) -> Result<bool> {
    let opened = format!("/proc/self/fd/{}", folder.as_raw_fd());
    Ok(!is_used_folder(Path::new(&opened))?)
}

fn open_root() -> Result<File> {
    let root = open("/", flags(), Mode::empty()).context("/")?;
    Ok(root.into())
}

fn flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC
}

/// What becomes of a last name that is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastLink {
    Followed,
    /// The folder itself is given away and removed, and no other one.
    Refused,
}

fn open_below(mut folder: File, base: &Path, inner: &Path, last: LastLink) -> Result<Option<File>> {
    let mut shown = base.to_owned();
    let mut left: VecDeque<OsString> = list_names(inner)?;
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        check_parent(&folder, &shown)?;
        let path = shown.join(&name);
        let follows = last == LastLink::Followed || !left.is_empty();
        if let Some(target) = read_link(&folder, &name).filter(|_| follows) {
            links += 1;
            if links > MOST_LINKS {
                bail!("{} is a link that leads to itself", path.display());
            }
            if target.is_absolute() {
                (folder, shown) = (open_root()?, "/".into());
            }
            let mut names = list_names(target.strip_prefix("/").unwrap_or(&target))?;
            names.append(&mut left);
            left = names;
            continue;
        }
        match open_entry(&folder, &name, &path)? {
            Some(next) => (folder, shown) = (next, path),
            None => return Ok(None),
        }
    }
    Ok(Some(folder))
}

fn list_names(path: &Path) -> Result<VecDeque<OsString>> {
    let names = path.components().filter(|name| *name != Component::CurDir);
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Ok(name.to_owned()),
        _ => bail!("{} leads up again: name the folder itself", path.display()),
    };
    names.map(name).collect()
}

/// Where a link of root's leads; `None` for everything else.
fn read_link(folder: &File, name: &OsStr) -> Option<std::path::PathBuf> {
    let target = readlinkat(folder, name).ok()?;
    let found = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()?;
    is_own(found.st_uid).then(|| target.into())
}

fn make_below(root: File, base: &Path, inner: &Path, mode: u32, (user, group): (u32, u32)) -> Result<()> {
    let shown = base.join(inner);
    let (Some(parent), Some(name)) = (inner.parent(), inner.file_name()) else {
        bail!("{} is no folder for this", shown.display());
    };
    let Some(parent) = open_below(root, base, parent, LastLink::Followed)? else {
        bail!("the folder above {} is missing", shown.display());
    };
    check_parent(&parent, shown.parent().unwrap_or(base))?;
    match mkdirat(&parent, name, Mode::S_IRWXU) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(error) => return Err(error).with_context(|| format!("cannot make {}", shown.display())),
    }
    let Some(folder) = open_entry(&parent, name, &shown)? else {
        bail!("{} was removed", shown.display());
    };
    let found = folder.metadata()?.uid();
    if found != user && !(is_own(found) && is_empty(&folder)?) {
        bail!(
            "{} belongs to somebody else, or something is in it",
            shown.display()
        );
    }
    fchown(&folder, Some(user), Some(group))
        .and_then(|()| folder.set_permissions(Permissions::from_mode(mode)))
        .with_context(|| format!("cannot give {} to its owner", shown.display()))
}

fn open_entry(folder: &File, name: &OsStr, shown: &Path) -> Result<Option<File>> {
    match openat(folder, name, flags(), Mode::empty()) {
        Ok(entry) => Ok(Some(entry.into())),
        Err(Errno::ENOENT) => Ok(None),
        Err(Errno::ELOOP | Errno::ENOTDIR) => {
            bail!("{} is a link or a file: name the folder itself", shown.display())
        }
        Err(error) => Err(error).with_context(|| shown.display().to_string()),
    }
}

/// Refuses a folder in which another user may exchange what is there. In one with the sticky bit, anybody may put something first.
fn check_parent(folder: &File, shown: &Path) -> Result<()> {
    let meta = folder.metadata()?;
    if is_own(meta.uid()) && meta.mode() & 0o022 == 0 {
        return Ok(());
    }
    bail!(
        "others than root may write in {0}, and could put something else in the place of what the server has there\n  keep it for root:  \
         chown root: {0} && chmod go-w {0}",
        shown.display()
    )
}

/// Whether a user is root, or this process's in tests.
pub(super) fn is_own(user: u32) -> bool {
    user == 0 || user == geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use nix::unistd::getegid;

    use super::*;

    fn ids() -> (u32, u32) {
        (geteuid().as_raw(), getegid().as_raw())
    }

    fn try_to_make(base: &Path, inner: &str) -> Result<(), String> {
        let root = File::open(base).unwrap();
        make_below(root, base, Path::new(inner), 0o750, ids()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn prod_008_a_folder_is_made_with_its_mode_and_only_its_last_name() {
        let base = tempfile::tempdir().unwrap();
        let data = base.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();

        try_to_make(base.path(), "data/home").unwrap();
        try_to_make(base.path(), "data/home").unwrap();
        let missing = try_to_make(base.path(), "other/home").unwrap_err();

        let mode = base.path().join("data/home").metadata().unwrap().mode();
        assert_eq!(mode & 0o7777, 0o750);
        assert!(missing.contains("is missing"), "{missing}");
        assert!(!base.path().join("other").exists());
    }

    #[test]
    fn prod_008_a_fresh_disk_is_empty_and_one_with_files_is_not() {
        let base = tempfile::tempdir().unwrap();
        let open = || File::open(base.path()).unwrap();

        fs::create_dir(base.path().join("lost+found")).unwrap();
        assert!(is_empty(&open()).unwrap());
        fs::write(base.path().join("photo.jpg"), "").unwrap();
        assert!(!is_empty(&open()).unwrap());
    }

    #[test]
    fn prod_008_no_link_leads_to_another_folder() {
        let base = tempfile::tempdir().unwrap();
        let victim = base.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::set_permissions(&victim, Permissions::from_mode(0o755)).unwrap();
        symlink(&victim, base.path().join("home")).unwrap();

        let refused = try_to_make(base.path(), "home").unwrap_err();
        assert!(refused.contains("is a link or a file"), "{refused}");
        let root = File::open(base.path()).unwrap();
        assert!(open_below(root, base.path(), Path::new("home"), LastLink::Refused).is_err());
        assert_eq!(victim.metadata().unwrap().mode() & 0o7777, 0o755);
        assert!(!victim.join("inner").exists());
    }

    #[test]
    fn prod_008_a_link_of_root_on_the_way_is_followed_and_no_way_up() {
        let base = tempfile::tempdir().unwrap();
        let disk = base.path().join("disk/var");
        fs::create_dir_all(&disk).unwrap();
        for folder in [&base.path().join("disk"), &disk] {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        symlink("./disk/var", base.path().join("var")).unwrap();
        symlink("../disk", base.path().join("up")).unwrap();
        symlink("circle/a", base.path().join("circle")).unwrap();

        try_to_make(base.path(), "var/home").unwrap();
        let refused = |inner| try_to_make(base.path(), inner).unwrap_err();

        assert!(disk.join("home").is_dir());
        assert!(refused("up/home").contains("leads up again"));
        assert!(refused("circle/home").contains("leads to itself"));
        // Who may write where it leads may put another folder there.
        fs::set_permissions(&disk, Permissions::from_mode(0o777)).unwrap();
        assert!(refused("var/home").contains("others than root may write"));
    }

    #[test]
    fn prod_008_a_folder_in_which_others_may_write_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let shared = base.path().join("shared");
        fs::create_dir(&shared).unwrap();

        for mode in [0o775, 0o757, 0o1777] {
            fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
            let refused = try_to_make(base.path(), "shared/home").unwrap_err();
            assert!(refused.contains("others than root may write"), "{refused}");
        }
        assert!(!shared.join("home").exists());
    }
}
