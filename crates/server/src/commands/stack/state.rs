//! The folder of the cluster that a project's stacks share. Its name is a fingerprint of everything the template database is
//! made from, so that a changed migration or seed gets a new template, and an unchanged project finds its old one.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_postgres::cluster::{Cluster, LockPurpose};
use selvedge_postgres::migrate::find_seeds;
use selvedge_project_files::{MAX_SCRIPT_BYTES, read_file};
use sha2::{Digest, Sha256};
use walkdir::{DirEntry, WalkDir};

/// Folders of a project from which nothing gets into its database.
const FOLDERS_WITHOUT_DATA: [&str; 6] = [
    ".branches",
    ".git",
    ".selvedge",
    ".temp",
    "functions",
    "node_modules",
];

/// The folder of the project's present state, below its data folder. It need not exist.
pub(super) fn state_folder(config: &Config) -> Result<PathBuf> {
    let fingerprint = fingerprint(config, &describe_boot()?)?;
    Ok(stacks_folder(config).join(fingerprint))
}

fn stacks_folder(config: &Config) -> PathBuf {
    config.selvedge.data_dir.join("stacks")
}

/// Deletes what was made from other states of the project, unless stacks still run on it.
pub(super) fn remove_other_states(state: &Path) {
    let Some(Ok(entries)) = state.parent().map(std::fs::read_dir) else {
        return;
    };
    for other in entries.flatten().map(|entry| entry.path()) {
        if other != state
            && let Err(error) = remove_state(&other)
        {
            // A folder that cannot be deleted only takes disk space, and a later start tries again.
            tracing::debug!(folder = %other.display(), "an older template stays: {error:#}");
        }
    }
}

fn remove_state(folder: &Path) -> Result<()> {
    if Cluster::find_running(folder)?.is_some() {
        return Ok(());
    }
    Ok(Cluster::delete_whole(folder, &LockPurpose::command("stack"))?)
}

/// A hash of program, settings and files that decide what the template contains.
fn fingerprint(config: &Config, boot: &[u8]) -> Result<String> {
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        // The length keeps neighbouring parts apart: "ab" and "c" must not look like "a" and "bc".
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    };
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    add(describe_file(&program.metadata()?).as_bytes());
    // The template is written without waiting for the disk, so it is made again after each start of the machine: the last one
    // may have been a crash.
    add(boot);
    let settings = (&config.db.migrations, &config.db.seed, &config.db.settings);
    let exposes = config.api.auto_expose_new_tables;
    let storage = (config.storage.enabled, &config.storage.buckets);
    add(format!(
        "{settings:?} {exposes:?} {storage:?} {:?}",
        config.db.major_version
    )
    .as_bytes());
    add(format!("{:?}", config.selvedge.pg_bin).as_bytes());
    for file in find_sources(config)? {
        let metadata = file
            .metadata()
            .with_context(|| format!("cannot read {}", file.display()))?;
        add(file.as_os_str().as_encoded_bytes());
        // Pictures in buckets may be large, so their contents are not read at every start, nor SQL that is too long to be run.
        let is_script = file.extension().is_some_and(|extension| extension == "sql");
        match is_script && metadata.len() <= MAX_SCRIPT_BYTES {
            true => {
                let text = read_file(&file, MAX_SCRIPT_BYTES);
                add(&text.with_context(|| format!("cannot read {}", file.display()))?);
            }
            false => add(describe_file(&metadata).as_bytes()),
        }
    }
    Ok(hex::encode(hash.finalize())[..16].to_owned())
}

/// What differs from one start of the machine to the next.
fn describe_boot() -> Result<Vec<u8>> {
    choose_boot(std::fs::read("/proc/sys/kernel/random/boot_id").ok(), || {
        // macOS and the BSDs: `{ sec = 1764331000, usec = 0 } Fri Nov 28 …`. The seconds alone change when the clock is set.
        let output = std::process::Command::new("/usr/sbin/sysctl")
            .args(["-n", "kern.bootsessionuuid", "kern.boottime"])
            .output()
            .context("this system does not say when it was started")?;
        Ok(output.stdout)
    })
}

/// Takes the kernel's id of this start, or else what `sysctl` prints.
///
/// # Errors
/// On a system that tells nothing of it: a template of before a crash would be used again.
fn choose_boot(boot_id: Option<Vec<u8>>, sysctl: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    if let Some(id) = boot_id {
        return Ok(id);
    }
    let printed = sysctl()?;
    if printed.trim_ascii().is_empty() {
        bail!(
            "this system does not say when it was started, so a template cannot be told from one of before a crash"
        );
    }
    Ok(printed)
}

fn describe_file(metadata: &Metadata) -> String {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{} {modified:?}", metadata.len())
}

/// The project's files that may get into its database or its buckets, sorted by path.
fn find_sources(config: &Config) -> Result<Vec<PathBuf>> {
    let folder = &config.project.folder;
    let mut files = list_files(folder);
    // Seeds and the files of buckets may lie outside of the project's folder.
    if config.db.seed.enabled && folder.is_dir() {
        let (seeds, _) = find_seeds(folder, &config.db.seed.sql_paths)?;
        files.extend(seeds.into_iter().map(|seed| seed.path));
    }
    for bucket in &config.storage.buckets {
        files.extend(bucket.objects_path.iter().flat_map(|path| list_files(path)));
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn list_files(folder: &Path) -> Vec<PathBuf> {
    let may_matter = |entry: &DirEntry| {
        entry.depth() == 0 || !FOLDERS_WITHOUT_DATA.iter().any(|name| entry.file_name() == *name)
    };
    // config.toml and files of variables are left out, because their values are part of the settings above.
    let is_settings = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == "config.toml" || name.starts_with(".env")
    };
    WalkDir::new(folder)
        .into_iter()
        .filter_entry(may_matter)
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && !is_settings(entry.path()))
        .map(DirEntry::into_path)
        .collect()
}

#[cfg(test)]
mod tests {
    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    fn fingerprint_of(folder: &Path) -> String {
        fingerprint_after(folder, &describe_boot().unwrap())
    }

    fn fingerprint_after(folder: &Path, boot: &[u8]) -> String {
        let project = Project::find(Some(folder), folder).unwrap();
        let loaded = Config::load_project(project, Environment::default(), &Flags::default()).unwrap();
        fingerprint(&loaded.config, boot).unwrap()
    }

    #[test]
    fn a_template_of_before_the_last_start_of_the_machine_is_not_used_again() {
        let project = tempfile::tempdir().unwrap();
        let of_macos = |seconds: &str| {
            let printed = format!("{{ sec = {seconds}, usec = 0 }} Fri Nov 28 10:00:00 2026\n");
            choose_boot(None, || Ok(printed.into_bytes())).unwrap()
        };
        let of_linux = |id: &[u8]| choose_boot(Some(id.to_vec()), || panic!("not asked for")).unwrap();
        let fingerprint = |boot: Vec<u8>| fingerprint_after(project.path(), &boot);

        let first = fingerprint(of_macos("1764331000"));
        assert_eq!(first, fingerprint(of_macos("1764331000")));
        assert_ne!(first, fingerprint(of_macos("1764331999")));
        assert_ne!(fingerprint(of_linux(b"one")), fingerprint(of_linux(b"other")));
        let silent = choose_boot(None, || Ok(b"\n".to_vec())).unwrap_err();
        assert!(
            silent.to_string().contains("does not say when it was started"),
            "{silent}"
        );
    }

    #[test]
    fn the_fingerprint_changes_with_migrations_seeds_and_settings_and_not_with_functions() {
        let project = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = project.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            fingerprint_of(project.path())
        };

        let empty = write("config.toml", "");
        let with_migration = write("migrations/20260101000000_notes.sql", "create table notes ();");
        let changed = write("migrations/20260101000000_notes.sql", "create table words ();");
        let with_seed = write("seed.sql", "insert into words default values;");
        let with_function = write(
            "functions/hello/index.ts",
            "Deno.serve(() => new Response('hello'));",
        );
        let with_sign_in = write("config.toml", "[auth]\nsite_url = \"http://localhost:3000\"\n");
        let without_seed = write("config.toml", "[db.seed]\nenabled = false\n");

        assert_ne!(empty, with_migration);
        assert_ne!(with_migration, changed);
        assert_ne!(changed, with_seed);
        assert_eq!(with_seed, with_function);
        assert_eq!(with_seed, with_sign_in);
        assert_ne!(with_sign_in, without_seed);
    }
}
