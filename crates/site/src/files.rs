//! Reads the files of a built site into memory.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{MAIN_SEPARATOR, Path};

use anyhow::{Context, Result, anyhow, bail};
use selvedge_project_files::{is_data_folder, is_private_entry, read_file};
use walkdir::{DirEntry, WalkDir};

use super::asset::Asset;

/// Text in `index.html` that is replaced by the publishable key.
const KEY_PLACEHOLDER: &str = "%SELVEDGE_PUBLISHABLE_KEY%";
/// The most bytes of all files of a site together.
const MAX_SITE_BYTES: u64 = 512 << 20;

/// Reads all files of a folder, by their path below it.
///
/// # Errors
/// When a file cannot be read, a link leads out of the folder, or the files are too large together. Whatever is in the folder is served to
/// everybody, and a project that was cloned may bring a link to a file of whoever starts it.
pub(super) fn read_assets(folder: &Path, browser_key: &str) -> Result<HashMap<String, Asset>> {
    let root = folder
        .canonicalize()
        .with_context(|| format!("reading the site {}", folder.display()))?;
    let (mut assets, mut left) = (HashMap::new(), MAX_SITE_BYTES);
    let walk = WalkDir::new(folder).follow_links(true).into_iter();
    for entry in walk.filter_entry(is_public) {
        let entry = entry.with_context(|| format!("reading the site {}", folder.display()))?;
        let path = entry.path();
        if entry.path_is_symlink() && !path.canonicalize().is_ok_and(|target| target.starts_with(&root)) {
            bail!(
                "selvedge.site: {} is a link that leads out of the site: put the file itself there",
                path.display()
            );
        }
        let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) else {
            continue;
        };
        if !entry.file_type().is_file() || is_compressed_form(&entry) {
            continue;
        }
        let name = name.replace(MAIN_SEPARATOR, "/");
        let asset = read_asset(&name, path, left, browser_key)?;
        left = left.saturating_sub(asset.size_bytes() as u64);
        assets.insert(name, asset);
    }
    Ok(assets)
}

/// Whether an entry of a site's folder is served. Hidden files, `.env` files and data folders of a project are there by accident.
fn is_public(entry: &DirEntry) -> bool {
    entry.depth() == 0
        || !(is_private_entry(entry.file_name())
            || (entry.file_type().is_dir() && is_data_folder(entry.path())))
}

fn read_asset(name: &str, path: &Path, most_bytes: u64, browser_key: &str) -> Result<Asset> {
    let content = read_file(path, most_bytes).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => anyhow!(
            "selvedge.site: the site has more than {} MiB with {}, and is kept in memory: serve large files from a bucket",
            MAX_SITE_BYTES >> 20,
            path.display()
        ),
        _ => anyhow!(error).context(format!("reading {}", path.display())),
    })?;
    if name == "index.html" {
        let text = String::from_utf8(content).with_context(|| format!("reading {}", path.display()))?;
        return Ok(Asset::new(
            name,
            text.replace(KEY_PLACEHOLDER, browser_key).into_bytes(),
        ));
    }
    Ok(Asset::new(name, content).with_compressed_forms_of(path, most_bytes))
}

/// Whether a file is the compressed form of another one, which is read with that.
fn is_compressed_form(entry: &DirEntry) -> bool {
    let extension = entry.path().extension();
    ["br", "gz"]
        .iter()
        .any(|kind| extension.is_some_and(|extension| extension == *kind))
        && entry.path().with_extension("").is_file()
}
