//! What the user has trusted of a project: adds to it, lists it, takes it back.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use selvedge_config::{Config, NamedPath};

use super::data_folder::{self, Standing};
use super::holder::write_project;
use super::records::{Record, Records};
use super::{list_named, names_data_outside};

/// Something that a file of the project names, or a link in its data folder, for people.
#[derive(Debug, PartialEq, Eq)]
pub struct TrustedPath {
    /// Key and value, or link and target.
    pub text: String,
    /// Whether it is trusted. What is not stops commands that would use it.
    pub is_trusted: bool,
}

/// Records that the data folder is this user's own, with the links in it, and that the programs may run and the paths may be read that files
/// of the project name. `agree` is given what will be trusted, a line each, before anything is changed.
///
/// # Errors
/// When nobody agrees, the folder belongs to another user, or nothing can be recorded.
pub fn trust(config: &Config, agree: impl FnOnce(&[String]) -> Result<()>) -> Result<()> {
    let records = Records::of_this_user();
    let path = &config.selvedge.data_dir;
    if let Standing::Foreign(reason) = data_folder::inspect(path, &records)?
        && reason.outlasts_trust()
    {
        bail!(reason.describe(path));
    }
    let (links, named) = (describe_links(config)?, list_named(config));
    let lines: Vec<String> = [format!("the data in {}", path.display())]
        .into_iter()
        .chain(links.values().cloned())
        .chain(named.iter().map(NamedPath::describe))
        .collect();
    agree(&lines)?;
    // Taken after the question, because the commands of this user's other projects wait for it.
    let _lock = records.lock();
    if describe_links(config)? != links {
        bail!(
            "the links in {} have changed meanwhile: nothing was trusted",
            path.display()
        );
    }
    let mut grants = match data_folder::inspect(path, &records)? {
        Standing::Moved(record) => record.grants_after_move(&config.project.folder),
        Standing::Missing => {
            data_folder::create(path)?;
            Record::default().grants
        }
        _ => find_record(config, &records).unwrap_or_default().grants,
    };
    if names_data_outside(config) {
        grants.projects.insert(config.project.folder.clone());
    }
    grants.trusted.insert(config.project.folder.clone(), named);
    data_folder::bind(path, &records, grants)?;
    if config.selvedge.is_data_dir_of_process {
        write_project(config)?;
    }
    Ok(())
}

/// Lists the links in the data folder and what files of the project name, trusted or not, then what was trusted and is not named any more.
///
/// # Errors
/// When the data folder cannot be read.
pub fn list_trusted(config: &Config) -> Result<Vec<TrustedPath>> {
    let record = find_record(config, &Records::of_this_user()).unwrap_or_default();
    let trusted = record.trusted_by(&config.project.folder);
    let named = list_named(config);
    let unused = trusted.iter().filter(|path| !named.contains(path));
    let paths = named.iter().chain(unused).map(|path| TrustedPath {
        text: path.describe(),
        is_trusted: trusted.contains(path),
    });
    let targets = list_links(config)?;
    let links = describe_links(config)?
        .into_iter()
        .map(|(name, text)| TrustedPath {
            is_trusted: record.links.get(&name) == targets.get(&name),
            text,
        });
    Ok(links.chain(paths).collect())
}

/// Takes back what was trusted of the project, but for its own data: programs, paths outside and links. Returns what that was, a line each.
///
/// # Errors
/// When the data folder cannot be read, or nothing can be recorded.
pub fn forget(config: &Config) -> Result<Vec<String>> {
    let records = Records::of_this_user();
    let forgotten = list_trusted(config)?.into_iter().filter(|path| path.is_trusted);
    let forgotten = forgotten.map(|path| path.text).collect();
    let _lock = records.lock();
    if let Some(mut record) = find_record(config, &records) {
        record.forget(&config.project.folder);
        records.save(&config.selvedge.data_dir, &record)?;
    }
    Ok(forgotten)
}

/// The record of the data folder that is there.
fn find_record(config: &Config, records: &Records) -> Option<Record> {
    let path = &config.selvedge.data_dir;
    records
        .load(path)
        .filter(|record| data_folder::is_of_record(path, record))
}

/// The links at the top of the data folder with their targets; none without a folder.
fn list_links(config: &Config) -> Result<BTreeMap<String, String>> {
    let path = &config.selvedge.data_dir;
    match path.is_dir() {
        true => data_folder::list_links(path),
        false => Ok(BTreeMap::new()),
    }
}

/// The same as lines for people.
fn describe_links(config: &Config) -> Result<BTreeMap<String, String>> {
    let path = &config.selvedge.data_dir;
    let describe = |(name, target): (String, String)| {
        // The empty name is the folder itself.
        let link = match name.is_empty() {
            true => path.clone(),
            false => path.join(&name),
        };
        (name, format!("the link {} to {target}", link.display()))
    };
    Ok(list_links(config)?.into_iter().map(describe).collect())
}
