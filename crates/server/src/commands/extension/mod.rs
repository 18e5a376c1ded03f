//! `selvedge extension`: adds extensions to the embedded PostgreSQL that the machine does not have, such as pgvector, and a PostgreSQL
//! for which an extension can be had where the machine's is not one.

mod archive;
mod download;

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_database::embedded::cluster_config;
use selvedge_database::extension_packages::{
    PACKAGES, Package, ProgramsPackage, find_package, find_programs_for, join_versions, list_versions,
};
use selvedge_postgres::cluster::{Binaries, Cluster, ClusterConfig, ClusterError, npm_platform_name};
use selvedge_terminal::{DIM, GOOD, print_note};

use self::archive::{extract_extension, unpack_programs};
use self::download::GivenFiles;
use crate::cli::{AddExtensionArgs, ExtensionAction, ExtensionArgs};

/// Runs `selvedge extension`.
///
/// # Errors
/// When there is no package for this platform and PostgreSQL, or its checksum differs.
pub(super) async fn run(config: &Config, args: &ExtensionArgs) -> Result<()> {
    match &args.action {
        ExtensionAction::Add(args) => add_extension(config, args).await,
        ExtensionAction::List => list_extensions(config),
    }
}

async fn add_extension(config: &Config, args: &AddExtensionArgs) -> Result<()> {
    let cluster = cluster_config(config)?;
    let current = find_current(&cluster)?;
    let platform = npm_platform_name();
    if let Some(binaries) = &current {
        let major_version = binaries.major_version();
        if has_extension(&cluster, binaries, &args.name)? {
            print_already_added(&args.name, major_version);
            return Ok(());
        }
        if let Some(package) = find_package(&args.name, major_version, &platform) {
            let given = GivenFiles::read(&args.file, &[package.file])?;
            install_files(&cluster, package, &given).await?;
            return print_next_step(config, &cluster, major_version);
        }
    }
    match find_programs_for(&args.name, &platform) {
        Some((programs, package)) if cluster.pg_bin.is_none() => {
            let given = GivenFiles::read(&args.file, &[programs.file, package.file])?;
            add_with_programs(&cluster, current.as_ref(), programs, package, &given).await?;
            print_next_step(config, &cluster, programs.major_version)
        }
        _ => bail!(explain_missing(&args.name, current.as_ref(), &platform)),
    }
}

/// The programs that the project's cluster would run; `None` when this machine has none.
fn find_current(cluster: &ClusterConfig) -> Result<Option<Binaries>> {
    match cluster.find_binaries() {
        Ok(binaries) => Ok(Some(binaries)),
        Err(ClusterError::NoBinaries { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn has_extension(cluster: &ClusterConfig, binaries: &Binaries, name: &str) -> Result<bool> {
    let known = cluster.list_extensions(binaries)?;
    Ok(known.is_some_and(|known| known.contains(name)))
}

fn print_already_added(name: &str, major_version: u32) {
    anstream::println!(
        "{name} is there already for PostgreSQL {major_version}: {DIM}create extension {name}{DIM:#}"
    );
}

/// Adds the extension for another version of PostgreSQL than the current one, and that version if this machine does not have it.
async fn add_with_programs(
    cluster: &ClusterConfig,
    current: Option<&Binaries>,
    programs: &ProgramsPackage,
    package: &Package,
    given: &GivenFiles,
) -> Result<()> {
    let wanted = programs.major_version;
    match current {
        Some(binaries) => anstream::println!(
            "no package of {} is known for PostgreSQL {}, but for PostgreSQL {wanted}",
            package.extension,
            binaries.major_version()
        ),
        None => anstream::println!("this machine has no PostgreSQL; {} needs one", package.extension),
    }
    if cluster.find_binaries_of(wanted).is_none() {
        anstream::println!("PostgreSQL {wanted}, from {}", programs.file.source);
        let archive = given.fetch(&programs.file).await?;
        cluster.add_programs(programs.version, |folder| unpack_programs(&archive, folder))?;
        anstream::println!("{GOOD}added{GOOD:#} PostgreSQL {wanted}, checked by SHA-256");
    }
    let found = cluster.find_binaries_of(wanted);
    match found {
        Some(binaries) if has_extension(cluster, &binaries, package.extension)? => {
            print_already_added(package.extension, wanted);
            Ok(())
        }
        _ => install_files(cluster, package, given).await,
    }
}

/// Adds the files of a package's extension.
async fn install_files(cluster: &ClusterConfig, package: &Package, given: &GivenFiles) -> Result<()> {
    anstream::println!(
        "{} {} for PostgreSQL {}, from {}",
        package.extension,
        package.extension_version,
        package.major_version,
        package.file.source
    );
    let archive = given.fetch(&package.file).await?;
    let files = extract_extension(package, &archive)?;
    cluster.add_extension(package.major_version, &files)?;
    anstream::println!("{GOOD}added{GOOD:#} {} files, checked by SHA-256", files.len());
    Ok(())
}

/// Says when the project has the extension that was added for a major version.
fn print_next_step(config: &Config, cluster: &ClusterConfig, major_version: u32) -> Result<()> {
    let is_running = Cluster::find_running(&config.selvedge.data_dir)?.is_some();
    match cluster.existing_major_version()? {
        Some(existing) if existing != major_version => print_note(&format!(
            "the database of this project was made by PostgreSQL {existing} and stays with it. To make it again with PostgreSQL \
             {major_version}, from migrations and seeds:  {}selvedge reset\n  To keep its rows, first:  selvedge db dump \
             --data-only -f FILE",
            if is_running { "selvedge stop, then " } else { "" }
        )),
        Some(_) if is_running => anstream::println!(
            "  the project runs: it has the extension after `selvedge stop` and `selvedge start`"
        ),
        Some(_) => {}
        None if find_current(cluster)?.is_some_and(|binaries| binaries.major_version() != major_version) => {
            anstream::println!(
                "  PostgreSQL {major_version} makes the database of a project when a migration creates the extension, or when \
                 `[db] major_version` is {major_version}"
            );
        }
        None => anstream::println!(
            "  the database of this project will be made by PostgreSQL {major_version}:  selvedge start"
        ),
    }
    Ok(())
}

/// Explains why there is no package, and the alternatives.
fn explain_missing(name: &str, current: Option<&Binaries>, platform: &str) -> String {
    let target = match current {
        Some(binaries) => format!("PostgreSQL {}", binaries.major_version()),
        None => "a PostgreSQL".to_owned(),
    };
    let versions = list_versions(name, platform);
    if versions.is_empty() {
        return format!(
            "no package of {name} is known for {platform}: install it for {target} with the machine's package manager, and it \
             is found"
        );
    }
    // Where no folder of programs is named, a version with a package is downloaded instead.
    format!(
        "no package of {name} is known for {target}, but for PostgreSQL {}: either install it with the machine's package manager \
         (Debian and Ubuntu: postgresql-VERSION-pgvector), or leave out --pg-bin and [selvedge] pg_bin",
        join_versions(&versions)
    )
}

/// Lists the extensions that can be added, and whether they are installed.
fn list_extensions(config: &Config) -> Result<()> {
    let cluster = cluster_config(config)?;
    let binaries = cluster.find_binaries()?;
    let major_version = binaries.major_version();
    let known = cluster.list_extensions(&binaries)?.unwrap_or_default();
    let platform = npm_platform_name();
    let mut names: Vec<&str> = PACKAGES.iter().map(|package| package.extension).collect();
    names.dedup();
    anstream::println!("PostgreSQL {major_version}, {} extensions", known.len());
    for name in names {
        let programs = find_programs_for(name, &platform);
        let state = if known.contains(name) {
            "there".to_owned()
        } else if find_package(name, major_version, &platform).is_some() {
            format!("selvedge extension add {name}")
        } else if let Some((programs, _)) = programs.filter(|_| cluster.pg_bin.is_none()) {
            format!(
                "selvedge extension add {name}, with PostgreSQL {}",
                programs.major_version
            )
        } else {
            let versions = list_versions(name, &platform);
            format!("packages are known for PostgreSQL {}", join_versions(&versions))
        };
        anstream::println!("  {name:<12} {state}");
    }
    Ok(())
}
