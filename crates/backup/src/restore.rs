//! `selvedge restore FILE`: restores database and objects beside the project's own, tries them, and then swaps them in.

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use selvedge_config::Config;
use selvedge_database::cluster_roles::set_passwords;
use selvedge_database::home::is_home;
use selvedge_database::initialized::initialized_file;
use selvedge_database::instance::{describe_holder, find_server};
use selvedge_database::objects_owner::{ObjectsOwner, find_other_owners, objects_folder};
use selvedge_database::own_database::connect_to_own_database;
use selvedge_database::{embedded, unfinished_import};
use selvedge_keys::find_home_keys;
use selvedge_postgres::cluster::{Cluster, ClusterConfig, ClusterError, Replacement};
use selvedge_postgres::migrate::refuse_newer_platform;
use selvedge_storage::{Backend, FileBackend, Version};
use selvedge_terminal::{GOOD, print_note};

use super::archive::Entry;
use super::archive::manifest::{DATABASE, Manifest, OBJECTS};
use super::archive::verify::{Reader, compare_checksums, open_archive, verify_archive};
use super::objects::{STORAGE_LOGIN, count_missing, read_all_rows};
use super::progress::Progress;
use super::settings::{ACCESS_RULES, BroughtSettings, Treatment, treat};
use super::supported::check_project;

/// The bytes of a configuration file that are read for its settings.
const MAX_SETTINGS: usize = 1024 * 1024;

/// Runs `selvedge restore`.
///
/// # Errors
/// When the file is not a complete backup, or does not fit this machine; the project is unchanged then.
pub async fn restore_backup(config: &Config, source: &Path, consent: Option<&str>) -> Result<()> {
    check_project(config)?;
    let data_dir = &config.selvedge.data_dir;
    // In a home the server holds a lock of its own, and would start PostgreSQL again.
    let running = match find_server(config)? {
        Some(holder) => Some(holder),
        None => Cluster::find_running(data_dir)?,
    };
    if let Some(holder) = running {
        bail!(
            "{}",
            describe_holder(&ClusterError::AlreadyRunning(Box::new(holder)))
        );
    }
    let others = agree_to_replace(config, consent)?;
    let manifest = verify_archive(source, |_| ())?;

    // Both lie in the state folder.
    let (objects, initialized) = (objects_folder(config), initialized_file(config));
    let [objects, initialized] = [&objects, &initialized].map(|path| {
        let name = path.file_name().and_then(std::ffi::OsStr::to_str);
        name.expect("the paths end with names of this program")
    });
    let replacement = Replacement::begin(data_dir, &[objects, initialized])?;
    let store = FileBackend::open(&replacement.staged(objects))?;
    extract_archive(source, &manifest, &replacement, &store).await?;
    try_database(config, &replacement, &manifest, &store).await?;
    // The restored database is complete, so that the next start runs no seeds.
    std::fs::write(replacement.staged(initialized), "")?;
    // Its folder for unfinished uploads is in use until the store is closed.
    drop(store);
    // All files in the folder are from the backup then, so another database has none there any more. One may have come since the start.
    ObjectsOwner::Own.take_replacing(config, &objects_folder(config), &others, || {
        let committed = replacement.commit();
        committed.context("the restore is complete and is put in place by the next `selvedge start`")
    })?;
    print_done(config, &manifest)
}

/// Asks before database and objects are replaced. Objects that may be of another database as well take the project's name. Returns these
/// databases.
///
/// # Errors
/// When nobody agrees. Nothing was changed then.
fn agree_to_replace(config: &Config, yes: Option<&str>) -> Result<Vec<ObjectsOwner>> {
    let id = &config.project.id;
    match yes {
        Some(given) if !given.is_empty() && given != id => {
            bail!("--yes={given} does not name the project, which is {id}. Nothing was changed")
        }
        None if embedded::has_cluster(config) => {
            bail!(
                "{id} has a database, which a restore replaces with all its rows and objects: say so with --yes"
            )
        }
        _ => {}
    }
    let folder = objects_folder(config);
    let others = find_other_owners(config, &folder)?;
    if others.is_empty() || yes == Some(id) {
        return Ok(others);
    }
    bail!(
        "{} holds objects of {}, which a restore would replace. Nothing was changed\n  restore into another folder:  \
         SELVEDGE_DATA_DIR\n  or say that all of them are of the project's own database:  --yes={id}",
        folder.display(),
        others
            .iter()
            .map(ObjectsOwner::name)
            .collect::<Vec<_>>()
            .join(" and ")
    )
}

/// Extracts database and objects beside the project's own, which stay untouched.
async fn extract_archive(
    path: &Path,
    manifest: &Manifest,
    replacement: &Replacement,
    store: &FileBackend,
) -> Result<()> {
    let mut reader = open_archive(path)?;
    let mut progress = Progress::new("restored");
    let mut settings = BroughtSettings::default();
    while let Some(entry) = reader.next_entry()? {
        progress.add(entry.size);
        match entry.name.split_once('/').unwrap_or((&entry.name, "")) {
            (DATABASE, name) => {
                extract_database_entry(&mut reader, &entry, name, replacement, &mut settings)?
            }
            (OBJECTS, name) => extract_object(&mut reader, name, manifest, store).await?,
            _ => reader.read_content(|_| Ok(()))?,
        }
    }
    // The checksums are compared again, because the file may have been changed after it was checked.
    compare_checksums(&reader, manifest)?;
    write_settings(replacement, &settings)
}

/// Writes the configuration files of the restored database.
fn write_settings(replacement: &Replacement, settings: &BroughtSettings) -> Result<()> {
    for (name, text) in [
        ("postgresql.conf", settings.render()),
        ("postgresql.auto.conf", String::new()),
        ("pg_hba.conf", ACCESS_RULES.to_owned()),
        ("pg_ident.conf", String::new()),
    ] {
        replacement
            .create_file(&Path::new("pgdata").join(name))?
            .write_all(text.as_bytes())?;
    }
    if !settings.dropped().is_empty() {
        print_note(&format!(
            "settings that ALTER SYSTEM had made are not taken from a backup ({}): set those that you need in [db.settings]",
            settings.dropped().join(", ")
        ));
    }
    Ok(())
}

fn extract_database_entry(
    reader: &mut Reader,
    entry: &Entry,
    name: &str,
    replacement: &Replacement,
    settings: &mut BroughtSettings,
) -> Result<()> {
    let is_below = |component| matches!(component, Component::Normal(_));
    if !Path::new(name).components().all(is_below) {
        bail!("the backup names a file outside of the database: {name}");
    }
    let path: PathBuf = Path::new("pgdata")
        .components()
        .chain(Path::new(name).components())
        .collect();
    if entry.is_folder {
        replacement.create_dir(&path)?;
        return reader.read_content(|_| Ok(()));
    }
    match treat(name) {
        Treatment::Restore => {}
        Treatment::Drop => return reader.read_content(|_| Ok(())),
        Treatment::ReadSettings => {
            let mut text = Vec::new();
            reader.read_content(|chunk| {
                let room = MAX_SETTINGS.saturating_sub(text.len());
                text.extend_from_slice(&chunk[..chunk.len().min(room)]);
                Ok(())
            })?;
            settings.read(name, &String::from_utf8_lossy(&text));
            return Ok(());
        }
    }
    let mut file = replacement.create_file(&path)?;
    reader.read_content(|chunk| {
        file.write_all(chunk)
            .with_context(|| format!("cannot write {}", path.display()))
    })
}

async fn extract_object(
    reader: &mut Reader,
    name: &str,
    manifest: &Manifest,
    store: &FileBackend,
) -> Result<()> {
    let Some(version) = Version::parse(name) else {
        bail!("the backup names an object that selvedge cannot have stored: {name}");
    };
    if manifest.deleted_blobs.contains(&version.uuid()) {
        return reader.read_content(|_| Ok(()));
    }
    let mut writer = store.create(version).await?;
    loop {
        let chunk = reader.read_chunk()?;
        if chunk.is_empty() {
            break;
        }
        writer.write(Bytes::from(chunk)).await?;
    }
    writer.finish().await?;
    Ok(())
}

/// Starts PostgreSQL on the restored data directory, which replays the WAL of the backup, and looks for every object.
async fn try_database(
    config: &Config,
    replacement: &Replacement,
    manifest: &Manifest,
    store: &FileBackend,
) -> Result<()> {
    let cluster = Cluster::start(ClusterConfig {
        state_dir: replacement.staging().to_owned(),
        listen_tcp: false,
        ..embedded::cluster_config(config)?
    })
    .await
    .with_context(|| {
        format!(
            "the database of the backup (PostgreSQL {}) does not start. Nothing was changed",
            manifest.postgres_major
        )
    })?;
    let storage = read_all_rows(embedded::service_login(&cluster, STORAGE_LOGIN));
    let missing = async {
        // Those of the backup may be of another cluster, whose superuser's password they were made from.
        let superuser = connect_to_own_database(&cluster.superuser_login()).await?;
        set_passwords(&cluster.access(), &superuser, true).await?;
        drop(superuser);
        let client = embedded::connect(&storage).await?;
        check_usable(config, &cluster).await?;
        count_missing(&client, store, &manifest.lost_objects).await
    }
    .await;
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    cluster.stop().await?;
    match missing? {
        0 => Ok(()),
        count => bail!("the backup lacks the bytes of {count} objects of its database. Nothing was changed"),
    }
}

/// Checks that the next start accepts a restored database, as long as the project's own one is there still.
async fn check_usable(config: &Config, cluster: &Cluster) -> Result<()> {
    let superuser = embedded::connect_privileged(&cluster.superuser_login()).await?;
    refuse_newer_platform(&superuser)
        .await
        .context("the backup cannot be used here. Nothing was changed")?;
    if unfinished_import::find(&superuser).await?.is_none() {
        return Ok(());
    }
    if embedded::has_cluster(config) {
        bail!(
            "the backup was made before an import into the project was complete, and `selvedge start` would refuse its database. Nothing was \
             changed"
        );
    }
    print_note(
        "the backup was made before an import was complete: go on with it by `selvedge import` before the next start",
    );
    Ok(())
}

fn print_done(config: &Config, manifest: &Manifest) -> Result<()> {
    anstream::println!(
        "{GOOD}restored{GOOD:#} {} as of {}: a database of {} MB, {} objects",
        config.project.id,
        manifest.created_at,
        manifest.database.bytes / 1_000_000,
        manifest.objects.files - manifest.deleted_blobs.len() as u64
    );
    let home = Cluster::data_home(&config.selvedge.data_dir)?;
    if !manifest.has_same_vault_key(&home) {
        print_note(&format!(
            "secrets of the vault were encrypted with another key than this project's: copy the file vault.key of the \
             project that was backed up to {}",
            home.join("vault.key").display()
        ));
    }
    let has_same_keys =
        find_home_keys(config).is_some_and(|(_, hash)| Some(hash) == manifest.home_keys_sha256);
    if manifest.home_keys_sha256.is_some() && is_home(config) && !has_same_keys {
        print_note(&format!(
            "the backup was made with other keys than those of this home, so tokens and API keys of that time are refused: copy the file \
             keys.json of the home that was backed up to {}",
            config.selvedge.data_dir.display()
        ));
    }
    Ok(())
}
