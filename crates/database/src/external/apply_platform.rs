//! Brings the platform schema of an external database up to date.

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_postgres::PrivilegedSession;
use selvedge_postgres::migrate::{
    apply_platform, close_slot_functions, is_platform_applied, refuse_newer_platform, set_vault_key_file,
    take_back_memberships,
};
use selvedge_terminal::{GOOD, print_warnings};

use super::ExternalDatabase;
use super::passwords::set_login_passwords;
use super::standby_passwords::warn_of_standby_passwords;
use crate::embedded;
use crate::logins::local_logins;
use crate::whole_cluster::harmful_settings::take_back_libraries;
use crate::whole_cluster::server_roles;

/// Applies the platform schema to an external database, if it is missing or out of date, and returns the session. A superuser also
/// sets the logins' passwords.
pub async fn apply_platform_to_external(
    config: &Config,
    database: &ExternalDatabase,
) -> Result<PrivilegedSession> {
    let session = database.connect().await?;
    database.check_postgres(&session).await?;
    refuse_newer_platform(&session).await?;
    let is_applied = is_platform_applied(&session).await?;
    if !is_applied && !session.is_superuser() {
        // It creates roles, event triggers and schemas with other owners.
        bail!("the platform schema needs a superuser once: use one in DATABASE_URL for this command");
    }
    let taken = match session.is_superuser() {
        true => server_roles::check_server_roles(&config.selvedge, &session).await?,
        false => Vec::new(),
    };
    let mut is_first = false;
    if !is_applied {
        let report = apply_platform(&session).await?;
        is_first = report.is_first;
        for name in &report.applied {
            anstream::println!("{GOOD}platform{GOOD:#} {name}");
        }
    }
    if session.is_superuser() {
        print_warnings(&take_back_memberships(&session, &taken).await?);
        print_warnings(&take_back_libraries(&session).await?);
        close_slot_functions(&session).await?;
        server_roles::settle_file_roles(config.selvedge.reserve_file_roles, &session).await?;
        set_login_passwords(config, database, &session, is_first).await?;
        warn_of_open_lines(&session).await?;
    }
    if let Some(path) = &config.selvedge.vault_key_file {
        set_vault_key_file(&session, path)
            .await
            .context("only a superuser may say where the vault's key is: use one in DATABASE_URL once")?;
    }
    embedded::warn_of_harmful_settings(&session).await?;
    // What shipped is compared with what is installed: somebody may have changed it since.
    embedded::warn_of_privileges(&session).await?;
    warn_of_standby_passwords(config).await;
    Ok(session)
}

async fn warn_of_open_lines(superuser: &PrivilegedSession) -> Result<()> {
    let lines = local_logins::list_open_lines(superuser).await?;
    if !lines.is_empty() {
        print_warnings(&[format!(
            "logins without a password are allowed: {}\n  {}",
            lines.join("; "),
            local_logins::ADVICE
        )]);
    }
    Ok(())
}
