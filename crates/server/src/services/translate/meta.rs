//! Configuration: `[selvedge.pg]` → the struct of the API of postgres-meta.

use std::sync::Arc;

use anyhow::{Result, bail};
use selvedge_config::{Config, Mode};
use selvedge_meta::{Meta, MetaConfig};
use selvedge_postgres::{Database, Logins};

/// Makes the service on connections of `owner` alone; `None` where it is switched off.
///
/// # Errors
/// In production a login with which the service key would give away the database's machine.
pub(crate) async fn make_meta(
    config: &Config,
    owner: tokio_postgres::Config,
    mode: Mode,
) -> Result<Option<Arc<Meta>>> {
    let section = &config.selvedge.pg;
    if !section.is_served(mode) {
        return Ok(None);
    }
    let limits = MetaConfig {
        statement_timeout: section.statement_timeout,
        body_bytes: section.body_size,
        result_bytes: section.result_size,
    };
    let meta = Meta::new(Database::new(Logins::with_single_login(owner)), limits);
    // On a laptop the database belongs to the same user as this process.
    if mode == Mode::Production
        && let Err(reason) = meta.check_login().await
    {
        bail!("[selvedge.pg] {reason}");
    }
    Ok(Some(meta))
}
