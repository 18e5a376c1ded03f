//! Makes the template that new clusters of development are copied from: a cluster with the platform schema, and nothing else.

mod make;

use std::io;

use sha2::{Digest as _, Sha256};

use self::make::{MakeError, make_cluster};
use crate::cluster::{Binaries, ClusterConfig, ClusterError, Owner, Template, describe_locales};
use crate::migrate::platform_digest;

/// Raised when the same programs and files have to make another template.
const FORMAT: u32 = 1;

/// Why there is no template.
#[derive(Debug, thiserror::Error)]
enum TemplateError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Make(#[from] MakeError),
    #[error(transparent)]
    File(#[from] io::Error),
    #[error("another process makes it, and does not end")]
    Locked,
}

/// The template for a cluster that this configuration starts for the first time; made when it is missing. `None` for a cluster that exists or is
/// for production, where templates have no place of their own, and after a failure, which is logged: `initdb` makes the cluster then.
pub async fn ensure_template(config: &ClusterConfig) -> Option<Template> {
    if config.production.is_some() || !config.makes_data_dir() {
        return None;
    }
    let of_project = config.clone();
    // Whatever keeps the programs from being found is reported by the start, which needs them as well.
    let (template, binaries) = run_blocking(move || find_place(&of_project)).await.ok()??;
    match make_unless_usable(config, &template, &binaries).await {
        Ok(()) => Some(template),
        Err(error) => {
            tracing::warn!(%error, "no template of new clusters could be made, initdb makes this one");
            None
        }
    }
}

async fn make_unless_usable(
    config: &ClusterConfig,
    template: &Template,
    binaries: &Binaries,
) -> Result<(), TemplateError> {
    if !template.is_usable() {
        let waiting = template.clone();
        let lock = run_blocking(move || Ok(waiting.lock()?)).await?;
        let lock = lock.ok_or(TemplateError::Locked)?;
        // Another process may have made it meanwhile.
        if !template.is_usable() {
            let workshop = template.make_workshop()?;
            let data_dir = make_cluster(config, binaries, workshop.path().to_owned()).await?;
            let installed = template.clone();
            run_blocking(move || Ok(installed.install(&lock, &data_dir)?)).await?;
        }
    }
    template.mark_as_used();
    Ok(())
}

/// Where the template is for the programs that the cluster will run. `None` where they are in the project's own folder, or are copied into it.
fn find_place(config: &ClusterConfig) -> Result<Option<(Template, Binaries)>, TemplateError> {
    let owner = Owner::for_project(&config.state_dir)?;
    let home = config.home(&owner)?;
    let trees = config.shared_folder()?;
    if trees == home {
        return Ok(None);
    }
    let found = config.find_binaries()?;
    if found.may_be_copied_for(&owner) {
        return Ok(None);
    }
    let programs = found.clone().make_usable_by(&owner, &home)?;
    let mut fingerprint = Sha256::new();
    // The name of the programs' folder changes with what is installed.
    fingerprint.update(format!("{FORMAT} {}\n", programs.folder().display()));
    fingerprint.update(describe_locales(programs.major_version()));
    fingerprint.update(platform_digest());
    let fingerprint = &hex::encode(fingerprint.finalize())[..16];
    let name = format!("{}-{fingerprint}", programs.major_version());
    Ok(Some((Template::in_folder_of_trees(&trees, &name), found)))
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TemplateError> + Send + 'static,
) -> Result<T, TemplateError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(TemplateError::Cluster(ClusterError::Interrupted)),
    }
}
