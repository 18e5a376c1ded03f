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
/// How the names of files with keys, or with what a tool knows of a cloud, begin or end.
const KEY_ENDINGS: [&str; 6] = [".key", ".p12", ".pfx", ".jks", ".tfstate", "key.pem"];
const KEY_BEGINNINGS: [&str; 3] = ["id_rsa", "id_ecdsa", "id_ed25519"];
/// Hidden folders whose files are for everybody: what tools have built, and [`WELL_KNOWN`].
const PUBLIC_FOLDERS: [&str; 11] = [
    WELL_KNOWN,
    ".build",
    ".dist",
    ".next",
    ".netlify",
    ".nuxt",
    ".output",
    ".site",
    ".svelte-kit",
    ".vercel",
    ".vitepress",
];
/// Where package managers keep packages, in hidden folders as well. Hidden files of a package are for whoever develops it.
const PACKAGES: &str = "node_modules";
/// What is hidden among packages and may have a password all the same.
const HIDDEN_SETTINGS: [&str; 3] = [".git", ".npmrc", ".yarnrc.yml"];
/// Bytes of the id in the file `binding` of a data folder.
const ID_BYTES: u64 = 32;
/// A hidden folder whose files are for everybody. Source: RFC 8615.
const WELL_KNOWN: &str = ".well-known";

/// Whether a path in a repository, relative to it, names something private: a part of it is hidden and not known as public, holds variables, or
/// the last part is a file with keys or settings. Without regard to case, because some file systems have none.
#[must_use]
pub fn is_private_path(inner: &Path) -> bool {
    let names: Vec<String> = inner
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase())
        .collect();
    let mut is_in_packages = false;
    for name in &names {
        let is_hidden = match is_in_packages {
            true => HIDDEN_SETTINGS.contains(&name.as_str()),
            false => name.starts_with('.') && !PUBLIC_FOLDERS.contains(&name.as_str()),
        };
        if is_hidden || is_environment(name) {
            return true;
        }
        is_in_packages |= name == PACKAGES;
    }
    names.last().is_some_and(|name| {
        FILES.contains(&name.as_str())
            || KEY_ENDINGS.iter().any(|ending| name.ends_with(ending))
            || KEY_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    })
}

/// Whether an entry of a folder that is handed out as a whole is left out: it is hidden, or a file with passwords, keys or settings.
#[must_use]
pub fn is_private_entry(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    let is_hidden = name.starts_with('.') && name != WELL_KNOWN;
    is_hidden || is_environment(&name) || FILES.contains(&name.as_str())
}

/// Whether a folder is the data folder of a project, under whatever name, or a data directory of PostgreSQL.
#[must_use]
pub fn is_data_folder(folder: &Path) -> bool {
    let look = |name: &str| folder.join(name).symlink_metadata();
    let has_id = look("binding").is_ok_and(|meta| meta.is_file() && meta.len() == ID_BYTES);
    has_id || look("superuser-password").is_ok() || look("PG_VERSION").is_ok_and(|meta| meta.is_file())
}

/// Whether a path names a file with variables: `.env`, `.env.local`, `selvedge.env` and their kin.
#[must_use]
pub fn is_environment_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    is_environment(&name.to_ascii_lowercase())
}

fn is_environment(name: &str) -> bool {
    name.starts_with(".env") || name.ends_with(".env")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_109_files_with_passwords_keys_and_data_are_known_by_their_names() {
        for path in [
            "b/supabase/.selvedge",
            "b/supabase/.SELVEDGE/superuser-password",
            "supabase/.temp/database-url",
            "apps/web/.env.local",
            "Selvedge.ENV",
            ".npmrc",
            "b/supabase/Config.toml",
            ".git",
            ".terraform/terraform.tfstate",
            "infra/terraform.tfstate",
            ".secrets/db.txt",
            ".gcloud/key.json",
            "certs/Server.key",
            "certs/privkey.pem",
            "deploy/id_ed25519",
            ".vercel/.env.production.local",
            "node_modules/x/.npmrc",
            "node_modules/x/.env",
        ] {
            assert!(is_private_path(Path::new(path)), "{path}");
        }
        for path in [
            ".output/public",
            ".vercel/output/static",
            "supabase/templates/invite.html",
            "dist/.well-known/assetlinks.json",
            "environment/index.html",
            "certs/ca.pem",
            "node_modules/.pnpm/hono/index.js",
            "node_modules/hono/.eslintrc",
        ] {
            assert!(!is_private_path(Path::new(path)), "{path}");
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
        let data = folder.path().join("pgdata");

        // The usual volume of a compose file, beside the project: no folder around it is private.
        std::fs::create_dir(&data).expect("created");
        std::fs::write(data.join("PG_VERSION"), "17").expect("written");
        assert!(is_data_folder(&data) && !is_data_folder(folder.path()));

        std::fs::write(folder.path().join("superuser-password"), "").expect("written");
        assert!(is_data_folder(folder.path()));
    }
}
