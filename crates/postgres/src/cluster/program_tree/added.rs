//! Extensions that were added to the embedded cluster without being installed on the machine.
//!
//! Their files lie beside the program trees, in one folder for each major version, because a module works with the version
//! that it was built for only. Every tree that is made from then on links to them.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use super::{
    control::extension_of_control_file,
    location::{create_folder, is_ours_alone},
};

/// A file of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionFile {
    /// Where PostgreSQL looks for it.
    pub place: ExtensionPlace,
    /// File name, without a folder.
    pub name: String,
    /// The file's content.
    pub content: Vec<u8>,
}

/// Where PostgreSQL looks for a file of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionPlace {
    /// `$libdir`: loadable modules.
    Modules,
    /// `extension/` in the shared files: control files and scripts.
    Scripts,
}

/// The added extensions of one major version.
#[derive(Debug)]
pub(super) struct AddedExtensions {
    folder: PathBuf,
}

impl AddedExtensions {
    /// The added files in the folder with the program trees.
    pub(super) fn in_folder_of_trees(trees: &Path, major_version: u32) -> Self {
        Self {
            folder: trees.join(format!("extensions-{major_version}")),
        }
    }

    fn place(&self, place: ExtensionPlace) -> PathBuf {
        self.folder.join(match place {
            ExtensionPlace::Modules => "modules",
            ExtensionPlace::Scripts => "scripts",
        })
    }

    /// The files in one place, sorted; none when another user could have written them.
    pub(super) fn files(&self, place: ExtensionPlace) -> Vec<PathBuf> {
        let folder = self.place(place);
        if !is_ours_alone(&self.folder) || !is_ours_alone(&folder) {
            return Vec::new();
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
    }

    /// The names of the extensions whose files were added.
    pub(super) fn names(&self) -> Vec<String> {
        let scripts = self.files(ExtensionPlace::Scripts);
        let names = scripts
            .iter()
            .filter_map(|path| extension_of_control_file(path.file_name()?.to_str()?));
        names.map(str::to_owned).collect()
    }

    /// Writes the files of an extension, each as a whole. Control files come last, because an extension exists for
    /// PostgreSQL as soon as its control file does.
    pub(super) fn write(&self, files: &[ExtensionFile]) -> io::Result<()> {
        create_folder(&self.folder)?;
        for place in [ExtensionPlace::Modules, ExtensionPlace::Scripts] {
            create_folder(&self.place(place))?;
        }
        let is_control = |file: &&ExtensionFile| extension_of_control_file(&file.name).is_some();
        let (controls, others): (Vec<_>, Vec<_>) = files.iter().partition(is_control);
        for file in others.into_iter().chain(controls) {
            if Path::new(&file.name).file_name() != Some(file.name.as_ref()) {
                let message = format!("{} is no file name", file.name);
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            write_whole(&self.place(file.place), &file.name, &file.content)?;
        }
        Ok(())
    }
}

/// Writes a file that everybody may read. It is renamed when it is complete, so that no process reads a part of it.
fn write_whole(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    // Temporary files are private; the cluster may run as another user.
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(place: ExtensionPlace, name: &str) -> ExtensionFile {
        ExtensionFile {
            place,
            name: name.to_owned(),
            content: name.as_bytes().to_vec(),
        }
    }

    #[test]
    fn gw_018_an_added_extension_is_found_for_its_own_version_only() {
        let trees = tempfile::tempdir().expect("a folder");
        let added = AddedExtensions::in_folder_of_trees(trees.path(), 18);
        let files = [
            file(ExtensionPlace::Scripts, "vector.control"),
            file(ExtensionPlace::Scripts, "vector--0.8.6.sql"),
            file(ExtensionPlace::Modules, "vector.so"),
        ];

        added.write(&files).expect("written");
        added.write(&files).expect("written again");

        assert_eq!(added.names(), ["vector"]);
        assert_eq!(added.files(ExtensionPlace::Modules).len(), 1);
        assert!(
            AddedExtensions::in_folder_of_trees(trees.path(), 17)
                .names()
                .is_empty()
        );
    }

    #[test]
    fn gw_018_a_file_outside_of_the_folder_is_refused() {
        let trees = tempfile::tempdir().expect("a folder");
        let added = AddedExtensions::in_folder_of_trees(trees.path(), 18);

        for name in ["../vector.so", "/tmp/vector.so", "a/b", ".."] {
            assert!(
                added.write(&[file(ExtensionPlace::Modules, name)]).is_err(),
                "{name}"
            );
        }
    }
}
