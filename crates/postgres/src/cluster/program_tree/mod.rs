//! A tree of PostgreSQL's programs that `postgres` may create extensions with.
//!
//! At Supabase `postgres` is no superuser and still creates extensions that PostgreSQL reserves for superusers, on any
//! connection. PostgreSQL decides this by the extension's control file (`trusted = true`) and finds control files
//! relative to its own program. So the cluster runs from a tree of its own: programs that look for their folders are
//! copied with everything that they load, control files of the extensions in question are rewritten, and the extensions
//! that are part of this program are added.
//!
//! A tree is made once per installation. Its name holds a fingerprint of the files that it was made from: when the
//! machine's packages change, the next start makes another one, and a cluster that still runs keeps its own, in which nothing changes.

mod added;
mod complete;
mod control;
mod copy;
mod downloaded;
mod installation;
mod leftover;
mod location;

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

pub use self::added::{ExtensionFile, ExtensionPlace};
pub(super) use self::complete::{is_complete, is_copy_complete, record_files};
pub(super) use self::leftover::{
    UNFINISHED, find_older, hold_tree_of, mark_as_used, remove_tree, remove_unfinished,
};
pub(super) use self::location::{is_ours_alone, is_safe, shared_folder, sync_files};
use self::{
    added::AddedExtensions,
    complete::LOCK_FILE,
    control::{belongs_to, extension_of_control_file, grant_trust, is_privileged},
    copy::{copy_file, copy_folder, list_copied_files},
    downloaded::DownloadedPrograms,
    installation::Installation,
    leftover::{remove_broken_tree, remove_leftover_trees},
    location::create_folder,
};
use super::{error::ClusterError, owner::Owner};
use crate::extensions::SHIPPED;

/// Raised when the same files have to be arranged differently.
const FORMAT: u32 = 3;

/// The programs of a tree. They are copied, because PostgreSQL follows links before it looks for its folders, and not
/// hard-linked, because a change of owner or mode in the cache would reach the installation.
const PROGRAMS: [&str; 2] = ["postgres", "initdb"];

/// Folders whose `lib` holds the libraries of the whole machine, which programs find without a link in the tree.
const SYSTEM_ROOTS: [&str; 3] = ["/", "/usr", "/usr/local"];

/// The folder of the tree's programs. The tree is made when it is missing; `None` for an installation whose folders are
/// not known.
///
/// # Errors
/// When files cannot be read or written.
pub(super) fn ensure_program_tree(
    bin: &Path,
    major_version: u32,
    owner: &Owner,
    home: &Path,
) -> Result<Option<PathBuf>, ClusterError> {
    let Some(installation) = Installation::find(bin, major_version) else {
        return Ok(None);
    };
    let folder = shared_folder(owner, home);
    let added = AddedExtensions::in_folder_of_trees(&folder, major_version);
    let tree = folder.join(tree_name(&installation, &added, major_version)?);
    let programs = installation.path_in(&tree, &installation.bin);
    if is_usable(&tree) {
        mark_as_used(&tree);
        return Ok(Some(programs));
    }
    if is_ours_alone(&tree) {
        remove_broken_tree(&tree)?;
    }
    remove_leftover_trees(&folder);
    Ok(make_tree(&installation, &added, &tree, owner)?.then_some(programs))
}

/// Whether a tree has all of its files, and nobody else can change them.
fn is_usable(tree: &Path) -> bool {
    is_ours_alone(tree) && is_complete(tree)
}

/// Makes a tree under another name and renames it when it is on the disk. Returns false when its programs would not use its files.
fn make_tree(
    installation: &Installation,
    added: &AddedExtensions,
    tree: &Path,
    owner: &Owner,
) -> Result<bool, ClusterError> {
    let folder = tree.parent().unwrap_or(tree);
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(folder)
        .map_err(ClusterError::file(folder))?;
    let root = unfinished.path();
    // Temporary folders are private; the cluster may run as another user.
    std::fs::set_permissions(root, std::fs::Permissions::from_mode(0o755))
        .and_then(|()| build(installation, added, root))
        .map_err(ClusterError::file(root))?;
    if !uses_shared_files_of(installation, root, owner) {
        return Ok(false);
    }
    record_files(root)
        .and_then(|()| sync_files(root))
        .map_err(ClusterError::file(root))?;
    match std::fs::rename(root, tree) {
        // Another start may have made the same tree in the meantime.
        Err(_) if is_usable(tree) => {}
        Err(error) => return Err(ClusterError::file(tree)(error)),
        Ok(()) => {
            // The folder has another name now, so there is nothing left to delete.
            let _renamed = unfinished.keep();
        }
    }
    Ok(true)
}

fn tree_name(
    installation: &Installation,
    added: &AddedExtensions,
    major_version: u32,
) -> Result<String, ClusterError> {
    let print = fingerprint(installation, added).map_err(ClusterError::file(&installation.share))?;
    Ok(format!("postgresql-{major_version}-{print}"))
}

/// The folder of the programs in the tree that the next start of a cluster will use, whether it is made already or not; `None` for an
/// installation whose folders are not known.
///
/// # Errors
/// When files of the installation cannot be read.
pub(super) fn next_program_folder(
    bin: &Path,
    major_version: u32,
    shared_folder: &Path,
) -> Result<Option<PathBuf>, ClusterError> {
    let Some(installation) = Installation::find(bin, major_version) else {
        return Ok(None);
    };
    let added = AddedExtensions::in_folder_of_trees(shared_folder, major_version);
    let tree = shared_folder.join(tree_name(&installation, &added, major_version)?);
    Ok(Some(installation.path_in(&tree, &installation.bin)))
}

/// Adds an extension to the trees that are made from now on.
///
/// # Errors
/// When files cannot be written.
pub(super) fn add_extension(
    major_version: u32,
    owner: &Owner,
    home: &Path,
    files: &[ExtensionFile],
) -> Result<(), ClusterError> {
    let folder = shared_folder(owner, home);
    AddedExtensions::in_folder_of_trees(&folder, major_version)
        .write(files)
        .map_err(ClusterError::file(&folder))
}

/// The extensions that have been added for a major version; `shared_folder` is that of [`shared_folder`].
pub(super) fn added_extensions(shared_folder: &Path, major_version: u32) -> Vec<String> {
    AddedExtensions::in_folder_of_trees(shared_folder, major_version).names()
}

/// The `native` folders of the packages that were downloaded, the newest version first.
pub(super) fn downloaded_programs(shared_folder: &Path) -> Vec<PathBuf> {
    DownloadedPrograms::in_folder_of_trees(shared_folder).native_folders()
}

/// Puts a package with PostgreSQL's programs where every project of this user finds it. `unpack` writes the package's files into
/// the folder that it is given, and is not called when this version is there already.
///
/// # Errors
/// When files cannot be written.
pub(super) fn add_programs(
    version: &str,
    owner: &Owner,
    home: &Path,
    unpack: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), ClusterError> {
    DownloadedPrograms::in_folder_of_trees(&shared_folder(owner, home)).add(version, unpack)
}

/// The extensions that an installation has control files for; `None` for an installation whose folders are not known.
pub(super) fn installed_extensions(bin: &Path, major_version: u32) -> Option<BTreeSet<String>> {
    let installation = Installation::find(bin, major_version)?;
    let files = std::fs::read_dir(installation.share.join("extension")).ok()?;
    let names = files.filter_map(|entry| {
        let name = entry.ok()?.file_name();
        Some(extension_of_control_file(name.to_str()?)?.to_owned())
    });
    Some(names.collect())
}

/// A digest of what a tree is made from: names, sizes and times of the installation's files and of added ones, and the
/// extensions of this program.
fn fingerprint(installation: &Installation, added: &AddedExtensions) -> io::Result<String> {
    let mut digest = Sha256::new();
    digest.update(format!("{FORMAT} {}\n", installation.bin.display()));
    let mut files = PROGRAMS.map(|program| installation.bin.join(program)).to_vec();
    for folder in [copied_libraries(installation), &installation.share] {
        files.extend(list_copied_files(folder)?);
    }
    files.sort();
    files.extend(added.files(ExtensionPlace::Modules));
    files.extend(added.files(ExtensionPlace::Scripts));
    for file in files {
        // Follows links: Homebrew links each file. A link without a target counts by its name.
        let (size, seconds, nanoseconds) =
            std::fs::metadata(&file).map_or((0, 0, 0), |meta| (meta.len(), meta.mtime(), meta.mtime_nsec()));
        digest.update(format!("{} {size} {seconds} {nanoseconds}\n", file.display()));
    }
    for extension in SHIPPED {
        for text in [
            extension.name,
            extension.version,
            extension.control,
            extension.script,
            &extension.older_versions.join(" "),
        ] {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        }
    }
    Ok(hex::encode(digest.finalize())[..16].to_owned())
}

/// The folder of libraries that is copied. Programs of npm's package find theirs in `../lib`, which contains the modules' folder there.
fn copied_libraries(installation: &Installation) -> &Path {
    let libraries = installation.bin.with_file_name("lib");
    let modules = &installation.modules;
    let is_self_contained = !SYSTEM_ROOTS
        .iter()
        .any(|folder| installation.root == Path::new(folder));
    modules
        .ancestors()
        .find(|folder| is_self_contained && **folder == libraries)
        .unwrap_or(modules)
}

/// Makes the tree in the empty folder `root`.
fn build(installation: &Installation, added: &AddedExtensions, root: &Path) -> io::Result<()> {
    let bin = installation.path_in(root, &installation.bin);
    create_folder(&bin)?;
    for program in PROGRAMS {
        copy_file(&installation.bin.join(program), &bin.join(program))?;
    }
    for folder in [copied_libraries(installation), &installation.share] {
        copy_folder(folder, &installation.path_in(root, folder))?;
    }
    let extensions = installation.path_in(root, &installation.share.join("extension"));
    copy_missing(
        &added.files(ExtensionPlace::Modules),
        &installation.path_in(root, &installation.modules),
    )?;
    copy_missing(&added.files(ExtensionPlace::Scripts), &extensions)?;
    write_file(&root.join(LOCK_FILE), "")?;
    adapt_extensions(&extensions)
}

/// Copies files into a folder of the tree. What the machine has itself wins, because it is kept up to date there.
fn copy_missing(files: &[PathBuf], folder: &Path) -> io::Result<()> {
    for file in files {
        let target = folder.join(file.file_name().unwrap_or_default());
        if target.symlink_metadata().is_err() {
            copy_file(file, &target)?;
        }
    }
    Ok(())
}

/// Rewrites the control files of privileged extensions, and writes the files of shipped
/// extensions, which win over those of the machine.
fn adapt_extensions(folder: &Path) -> io::Result<()> {
    // Listed first, because files are replaced on the way.
    let listed: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    for path in listed.iter().map(std::fs::DirEntry::path) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if SHIPPED.iter().any(|extension| belongs_to(name, extension.name)) {
            std::fs::remove_file(&path)?;
        } else if extension_of_control_file(name).is_some_and(is_privileged) {
            let control = std::fs::read_to_string(&path)?;
            std::fs::remove_file(&path)?;
            write_file(&path, &grant_trust(&control))?;
        }
    }
    for extension in SHIPPED {
        let name = extension.name;
        let control = if extension.runs_as_creator() {
            extension.control.to_owned()
        } else {
            grant_trust(extension.control)
        };
        write_file(&folder.join(format!("{name}.control")), &control)?;
        for version in [extension.version].iter().chain(extension.older_versions) {
            write_file(&folder.join(format!("{name}--{version}.sql")), extension.script)?;
        }
    }
    Ok(())
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(path)?;
    // The umask may have taken rights away.
    file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    file.write_all(text.as_bytes())
}

/// Whether the programs in the tree use the tree's shared files. A PostgreSQL built with other relative paths still uses
/// those of the installation.
fn uses_shared_files_of(installation: &Installation, root: &Path, owner: &Owner) -> bool {
    let program = installation.path_in(root, &installation.bin).join("initdb");
    let output = owner.command(&program).args(["--show", "-D"]).arg(root).output();
    // initdb prints its settings and creates nothing.
    output.is_ok_and(|output| {
        let settings = String::from_utf8_lossy(&output.stderr);
        let share = settings.lines().find_map(|line| line.strip_prefix("share_path="));
        share.is_some_and(|share| {
            Path::new(share).canonicalize().ok()
                == installation
                    .path_in(root, &installation.share)
                    .canonicalize()
                    .ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an installation as in npm's package, with the extension `plpgsql`, in a temporary folder.
    fn installation() -> (tempfile::TempDir, Installation) {
        let folder = tempfile::tempdir().expect("a folder");
        for file in [
            "bin/postgres",
            "bin/initdb",
            "lib/postgresql/plpgsql.so",
            "share/postgresql/extension/plpgsql.control",
        ] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("below the folder")).expect("created");
            std::fs::write(path, "").expect("written");
        }
        let found = Installation::find(&folder.path().join("bin"), 18).expect("known");
        (folder, found)
    }

    fn added_file(place: ExtensionPlace, name: &str) -> ExtensionFile {
        ExtensionFile {
            place,
            name: name.to_owned(),
            content: b"default_version = '1'\n".to_vec(),
        }
    }

    #[test]
    fn gw_018_added_extensions_are_in_the_next_tree_with_the_rights_of_privileged_ones() {
        let (_folder, installation) = installation();
        let trees = tempfile::tempdir().expect("a folder");
        let added = AddedExtensions::in_folder_of_trees(trees.path(), 18);
        let before = fingerprint(&installation, &added).expect("readable");
        let files = [
            added_file(ExtensionPlace::Modules, "vector.so"),
            added_file(ExtensionPlace::Scripts, "vector.control"),
            added_file(ExtensionPlace::Scripts, "plpgsql.control"),
        ];
        added.write(&files).expect("written");

        let tree = trees.path().join("tree");
        build(&installation, &added, &tree).expect("made");

        assert_ne!(fingerprint(&installation, &added).expect("readable"), before);
        let read = |path: &str| std::fs::read_to_string(tree.join(path)).expect("linked");
        assert!(read("lib/postgresql/vector.so").starts_with("default_version"));
        assert!(read("share/postgresql/extension/vector.control").ends_with("trusted = true\n"));
        assert_eq!(read("share/postgresql/extension/plpgsql.control"), "");
    }
}
