//! Whether the server's user may read the project, and who else may read its secrets: from owners, modes and access lists, before anything is changed.

use std::ffi::CString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use nix::unistd::{Gid, Group, User, getgrouplist};
use selvedge_config::Config;
use selvedge_project_files::is_environment_file;

use super::access_list::AccessList;
use super::answers::Answers;
use super::places::USER;
use super::variables::read_local_settings;

/// Folders of a project that the server does not read.
const SKIPPED: [&str; 5] = ["node_modules", ".git", ".selvedge", ".temp", ".branches"];
/// More than any project has: a link to a disk is not searched to its end.
const MOST_ENTRIES: usize = 100_000;
/// Folders that the units of the server do not see as they are.
const HIDDEN: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];
/// A folder that the server makes.
const FUNCTIONS_CACHE: &str = "selvedge.functions.cache_dir";
const READ: u32 = 4;
const ENTER: u32 = 1;

/// Who reads: a user and groups, or nobody that the machine knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Reader {
    user: Option<u32>,
    groups: Vec<u32>,
}

impl Reader {
    /// The server's user, who may be missing before the first run.
    ///
    /// # Errors
    /// When the machine's users cannot be read.
    pub(super) fn of_server() -> Result<Self> {
        let user = User::from_name(USER)?;
        let group = Group::from_name(USER)?;
        let mut groups: Vec<Gid> = group.map(|group| group.gid).into_iter().collect();
        if let Some(user) = &user {
            groups.extend(getgrouplist(&CString::new(USER)?, user.gid)?);
        }
        Ok(Self {
            user: user.map(|user| user.uid.as_raw()),
            groups: groups.into_iter().map(Gid::as_raw).collect(),
        })
    }

    fn has_bits(&self, path: &Path, meta: &Metadata, bits: u32) -> bool {
        let has = |shift: u32| meta.mode() >> shift & bits == bits;
        if self.user == Some(meta.uid()) {
            return has(6);
        }
        match AccessList::of(path) {
            Some(list) => list
                .allows(self.user, &self.groups, meta.gid(), bits)
                .unwrap_or_else(|| has(0)),
            None if self.groups.contains(&meta.gid()) => has(3),
            None => has(0),
        }
    }
}

/// What the server's user may not read.
#[derive(Debug, PartialEq, Eq)]
struct Closed {
    path: PathBuf,
    /// For a folder on the way to what is read, which has to let the user pass and no more: its group.
    passage: Option<u32>,
}

/// Refuses a project, or files elsewhere that its configuration names, that the server's user could not read, and a data folder that it could
/// not reach.
///
/// # Errors
/// The file or folder, and how to let the server read it, and nobody else.
pub(super) fn check_access(answers: &Answers, config: &Config, reader: &Reader) -> Result<()> {
    let mut closed = [&answers.project, &answers.home]
        .into_iter()
        .filter_map(|path| find_passage(path, reader));
    if let Some(closed) = closed.next() {
        return refuse(&answers.project, &closed, reader);
    }
    // A release is often behind a link, which only leads there.
    let project = answers.project.canonicalize();
    let project = project.as_deref().unwrap_or(&answers.project);
    let named = list_named_files(config)?;
    check_seen(&named)?;
    refuse_unreadable(project, &named, reader)
}

/// Refuses files in folders of people, which the units do not see, whoever may read them.
fn check_seen(named: &[PathBuf]) -> Result<()> {
    for path in named {
        let target = path.canonicalize();
        let target = target.as_ref().unwrap_or(path);
        let is_hidden = |path: &Path| HIDDEN.iter().any(|folder| path.starts_with(folder));
        if is_hidden(path) || is_hidden(target) {
            bail!(
                "{} is in a folder of people or of temporary files, which the server does not see: put it elsewhere, such as into /etc/selvedge",
                path.display()
            );
        }
    }
    Ok(())
}

fn refuse_unreadable(project: &Path, named: &[PathBuf], reader: &Reader) -> Result<()> {
    match find_closed(project, named, reader) {
        Some(closed) => refuse(project, &closed, reader),
        None => Ok(()),
    }
}

fn refuse(project: &Path, closed: &Closed, reader: &Reader) -> Result<()> {
    let make = match reader.user {
        Some(_) => String::new(),
        None => format!(
            "\n  make this user first:  useradd --system --user-group --no-create-home --shell /usr/sbin/nologin {USER}"
        ),
    };
    let shown = closed.path.display();
    let change = match closed.path.starts_with(project) {
        _ if closed.passage.is_some() => describe_passage(closed, reader),
        true => format!(
            "chgrp -R {USER} {0} && chmod -R g+rX,o-rwx {0}",
            project.display()
        ),
        false => format!("chgrp {USER} {shown} && chmod g+r,o-rwx {shown}"),
    };
    bail!("{shown} cannot be read by the server's user {USER}{make}\n  let the server read it:  {change}")
}

/// How a folder lets the user pass. A group of others may need it, too.
fn describe_passage(closed: &Closed, reader: &Reader) -> String {
    let shown = closed.path.display();
    match closed.passage {
        Some(group) if reader.groups.contains(&group) => format!("chmod g+x {shown}"),
        Some(0) => format!("chgrp {USER} {shown} && chmod g+x {shown}"),
        _ => format!("chmod o+x {shown}"),
    }
}

/// Files that the configuration and variables of this machine name and that may be outside of the project.
///
/// # Errors
/// When the variables cannot be read.
fn list_named_files(config: &Config) -> Result<Vec<PathBuf>> {
    let own = config.api.tls.as_ref();
    let named = [
        config.auth.signing_keys_path.as_ref(),
        config.selvedge.site.as_ref(),
        own.map(|tls| &tls.certificate),
        own.map(|tls| &tls.key),
        config.acme().and_then(|section| section.ca_file.as_ref()),
    ];
    let of_files = config.selvedge.paths_of_files.iter();
    let of_files = of_files.filter(|path| !path.is_program() && path.key() != FUNCTIONS_CACHE);
    // Files with secrets.
    let variables = read_local_settings()?.into_iter();
    let secrets = variables.filter(|(name, _)| name.ends_with("_FILE"));
    let secrets = secrets
        .map(|(_, path)| PathBuf::from(path))
        .filter(|path| path.is_absolute());
    Ok(named
        .into_iter()
        .flatten()
        .cloned()
        .chain(of_files.map(|path| path.path().to_owned()))
        .chain(config.environment_files.iter().cloned())
        .chain(secrets)
        .collect())
}

/// Lists files with secrets that everybody on this machine may read.
pub(super) fn list_open_secrets(project: &Path) -> Vec<PathBuf> {
    let anybody = Reader::default();
    let may_pass = |folder: &Path| {
        folder
            .metadata()
            .is_ok_and(|meta| anybody.has_bits(folder, &meta, ENTER))
    };
    if !project.ancestors().all(may_pass) {
        return Vec::new();
    }
    let mut found = Vec::new();
    walk(project, &mut |path, meta| {
        if meta.is_dir() {
            return anybody.has_bits(path, meta, ENTER);
        }
        let is_secret =
            is_environment_file(path) || path.file_name().is_some_and(|name| name == "signing_keys.json");
        if is_secret && anybody.has_bits(path, meta, READ) {
            found.push(path.to_owned());
        }
        true
    });
    found
}

/// Whether everybody on this machine may read a file.
pub(super) fn is_open(path: &Path) -> bool {
    let anybody = Reader::default();
    path.metadata()
        .is_ok_and(|meta| anybody.has_bits(path, &meta, READ))
        && find_passage(path, &anybody).is_none()
}

fn find_closed(project: &Path, named: &[PathBuf], reader: &Reader) -> Option<Closed> {
    let mut begins = [project].into_iter().chain(named.iter().map(PathBuf::as_path));
    begins.find_map(|begin| find_closed_below(begin, reader))
}

/// Looks at the folders above, then at the file or folder with all that is in it. What is missing is no matter of rights.
fn find_closed_below(begin: &Path, reader: &Reader) -> Option<Closed> {
    // Where a link leads, other folders are passed as well.
    let target = begin.canonicalize().ok();
    let mut ways = [Some(begin), target.as_deref()].into_iter().flatten();
    if let Some(closed) = ways.find_map(|way| find_passage(way, reader)) {
        return Some(closed);
    }
    let mut found = None;
    walk(begin, &mut |path, meta| {
        let bits = if meta.is_dir() { READ | ENTER } else { READ };
        if found.is_none() && !reader.has_bits(path, meta, bits) {
            found = Some(Closed {
                path: path.to_owned(),
                passage: None,
            });
        }
        found.is_none()
    });
    found
}

/// The folder above that the user may not pass. One that is missing will be made so that everybody may.
fn find_passage(path: &Path, reader: &Reader) -> Option<Closed> {
    let may_pass = |folder: &Path| {
        folder
            .metadata()
            .map_or(true, |meta| reader.has_bits(folder, &meta, ENTER))
    };
    let closed = path.ancestors().skip(1).find(|folder| !may_pass(folder))?;
    Some(Closed {
        path: closed.to_owned(),
        passage: closed.metadata().ok().map(|meta| meta.gid()),
    })
}

/// Shows each file and folder, as links lead to it, and goes into the folders for which `look` says so. Those behind links are not searched.
fn walk(begin: &Path, look: &mut dyn FnMut(&Path, &Metadata) -> bool) {
    let mut left = vec![begin.to_owned()];
    let mut count = 0;
    while let Some(path) = left.pop() {
        count += 1;
        let Ok(meta) = path.metadata() else { continue };
        if count > MOST_ENTRIES || !look(&path, &meta) {
            continue;
        }
        let is_link = path != begin && path.is_symlink();
        if !meta.is_dir() || is_link {
            continue;
        }
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        let read = entries.filter(|entry| !SKIPPED.iter().any(|name| entry.file_name() == *name));
        left.extend(read.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use nix::unistd::{getegid, geteuid};

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("closed/app");
        fs::create_dir_all(project.join("functions")).unwrap();
        for path in [
            &project.join("functions"),
            &project,
            project.parent().unwrap(),
            folder.path(),
        ] {
            set(path, 0o755);
        }
        for name in ["config.toml", ".env", "functions/.env"] {
            fs::write(project.join(name), "").unwrap();
            set(&project.join(name), 0o640);
        }
        (folder, project)
    }

    #[test]
    fn prod_008_a_file_that_the_server_could_not_read_is_named_before_anything_is_changed() {
        let (folder, project) = project();
        let of_group = Reader {
            user: Some(geteuid().as_raw() + 1),
            groups: vec![getegid().as_raw()],
        };
        let nobody = Reader::default();
        let check = |named: &[PathBuf], reader: &Reader| {
            refuse_unreadable(&project, named, reader).map_err(|error| error.to_string())
        };
        let refused = |named: &[PathBuf], reader: &Reader, path: &Path, advice: &str| {
            let message = check(named, reader).unwrap_err();
            let begin = format!("{} cannot be read", path.display());
            assert!(
                message.starts_with(&begin) && message.contains(advice),
                "{message}"
            );
            message
        };
        assert_eq!(check(&[], &of_group), Ok(()));
        set(&project, 0o750);
        assert_eq!(check(&[], &of_group), Ok(()));
        let message = refused(&[], &nobody, &project, "chgrp -R selvedge");
        assert!(
            message.contains("useradd") && message.contains("o-rwx"),
            "{message}"
        );

        let secret = project.join("functions/.env");
        set(&secret, 0o600);
        let message = refused(&[], &of_group, &secret, "chgrp -R selvedge");
        assert!(!message.contains("useradd"), "{message}");
        set(&secret, 0o640);
        // Files of others beside the project are no matter of the server.
        fs::write(project.with_file_name(".env.other"), "").unwrap();
        set(&project.with_file_name(".env.other"), 0o600);
        assert_eq!(check(&[], &of_group), Ok(()));
        // Where the configuration says.
        for path in [project.with_file_name(".env"), folder.path().join("key.pem")] {
            fs::write(&path, "").unwrap();
            set(&path, 0o600);
            refused(std::slice::from_ref(&path), &of_group, &path, "chmod g+r,o-rwx");
            set(&path, 0o640);
        }
        assert_eq!(
            check(&[folder.path().join("key.pem"), "/none".into()], &of_group),
            Ok(())
        );

        // A link that everybody may follow, as certbot makes them, and a folder behind it that is closed.
        let archive = folder.path().join("archive");
        fs::create_dir(&archive).unwrap();
        fs::write(archive.join("key1.pem"), "").unwrap();
        set(&archive.join("key1.pem"), 0o640);
        set(&archive, 0o700);
        let live = folder.path().join("live.pem");
        symlink("archive/key1.pem", &live).unwrap();
        refused(std::slice::from_ref(&live), &of_group, &archive, "chmod g+x");
        set(&archive, 0o750);
        assert_eq!(check(std::slice::from_ref(&live), &of_group), Ok(()));

        let above = project.parent().unwrap();
        set(above, 0o700);
        refused(&[], &of_group, above, "chmod g+x");
    }

    #[test]
    fn prod_008_files_that_the_units_do_not_see_are_refused_whoever_may_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("key.pem");
        // Of what is there: where a link leads nowhere, no file can be read.
        symlink("/root", &link).unwrap();

        for hidden in [Path::new("/root/key.pem"), Path::new("/home/ana/site"), &link] {
            assert!(check_seen(&[hidden.to_owned()]).is_err(), "{hidden:?}");
        }
        assert!(check_seen(&["/etc/ssl/private/key.pem".into(), "/run/secrets/key".into()]).is_ok());
    }

    #[test]
    fn prod_008_secrets_that_everybody_may_read_are_named() {
        let (_folder, project) = project();
        assert_eq!(list_open_secrets(&project), [] as [PathBuf; 0]);

        set(&project.join("functions/.env"), 0o644);
        assert!(is_open(&project.join("functions/.env")) && !is_open(&project.join(".env")));
        assert_eq!(list_open_secrets(&project), [project.join("functions/.env")]);
        set(&project, 0o750);

        assert_eq!(list_open_secrets(&project), [] as [PathBuf; 0]);
    }
}
