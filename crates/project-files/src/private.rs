//! Which files and folders of a repository hold passwords, keys or data, by their names: those of this project, of another one in the same
//! repository, and of other tools.

use std::ffi::OsStr;
use std::path::Path;

/// Files with settings or keys of a project, and with its superuser's password.
const FILES: [&str; 4] = [
    "config.toml",
    "signing_keys.json",
    "superuser-password",
    "vault.key",
];
/// Hidden folders with passwords, keys or data. Others hold built sites, such as `.output` and `.vercel`.
const FOLDERS: [&str; 14] = [
    ".aws",
    ".branches",
    ".config",
    ".docker",
    ".git",
    ".gnupg",
    ".hg",
    ".jj",
    ".kube",
    ".selvedge",
    ".ssh",
    ".svn",
    ".temp",
    ".wrangler",
];
/// Bytes of the id in the file `binding` of a data folder.
const ID_BYTES: u64 = 32;
/// A hidden folder whose files are for everybody. Source: RFC 8615.
const WELL_KNOWN: &str = ".well-known";

/// Whether a path in a repository, relative to it, names something private: a part of it is a folder of that kind, or the last part is
/// a file of that kind or is hidden. Without regard to case, because some file systems have none.
#[must_use]
pub fn is_private_path(inner: &Path, is_folder: bool) -> bool {
    let names: Vec<String> = inner
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase())
        .collect();
    let is_in_folder = names
        .iter()
        .any(|name| FOLDERS.contains(&name.as_str()) || is_environment(name));
    let is_file = names.last().is_some_and(|name| {
        FILES.contains(&name.as_str()) || (!is_folder && name.starts_with('.') && name != WELL_KNOWN)
    });
    is_in_folder || is_file
}

/// Whether an entry of a folder that is handed out as a whole is left out: it is hidden, or a file with passwords, keys or settings.
#[must_use]
pub fn is_private_entry(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let is_hidden = name.starts_with('.') && name != WELL_KNOWN;
    is_hidden || is_environment(&name) || FILES.contains(&name.as_str())
}

/// Whether a folder is the data folder of a project, under whatever name.
#[must_use]
pub fn is_data_folder(folder: &Path) -> bool {
    let look = |name: &str| folder.join(name).symlink_metadata();
    let has_id = look("binding").is_ok_and(|meta| meta.is_file() && meta.len() == ID_BYTES);
    has_id || look("superuser-password").is_ok() || look("pgdata").is_ok_and(|meta| !meta.is_file())
}

/// `.env`, `.env.local`, `selvedge.env` and their kin.
fn is_environment(name: &str) -> bool {
    name.starts_with(".env") || name.ends_with(".env")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_109_files_with_passwords_keys_and_data_are_known_by_their_names() {
        for (path, is_folder) in [
            ("b/supabase/.selvedge", true),
            ("b/supabase/.SELVEDGE/superuser-password", false),
            ("supabase/.temp/database-url", false),
            ("apps/web/.env.local", false),
            ("selvedge.env", false),
            (".npmrc", false),
            ("b/supabase/Config.toml", false),
            (".git", true),
        ] {
            assert!(is_private_path(Path::new(path), is_folder), "{path}");
        }
        for (path, is_folder) in [
            (".output/public", true),
            ("supabase/templates/invite.html", false),
            ("dist/.well-known/assetlinks.json", false),
            ("environment/index.html", false),
        ] {
            assert!(!is_private_path(Path::new(path), is_folder), "{path}");
        }
        for name in [".env", ".htpasswd", "prod.env", "signing_keys.json", ".git"] {
            assert!(is_private_entry(OsStr::new(name)), "{name}");
        }
        for name in [".well-known", "index.html", "config.js"] {
            assert!(!is_private_entry(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn gw_109_a_data_folder_is_known_under_any_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let is_data = || is_data_folder(folder.path());

        assert!(!is_data());
        std::fs::create_dir(folder.path().join("pgdata")).expect("created");
        assert!(is_data());
    }
}
