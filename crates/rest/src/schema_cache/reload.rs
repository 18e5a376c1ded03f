//! One reload: settings and catalog are read over one connection, then swapped in as a whole.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use selvedge_postgres::Login;
use tokio_postgres::{Client, Error};

use super::cache::{ReloadScope, SchemaCache, Snapshot};
use super::tenant_catalogs::TenantCatalogs;
use crate::catalog::{Catalog, CatalogScope, list_schemas_by_pattern};
use crate::config::{EffectiveConfig, read_settings};

/// How long the connection of the last reload may take to prove that it is alive.
const READER_PROBE: Duration = Duration::from_secs(2);

impl SchemaCache {
    /// Reads anew; returns whether that succeeded. A failure is logged and kept for the health report.
    pub(super) async fn reload(&self, scope: ReloadScope) -> bool {
        match self.try_reload(scope).await {
            Ok(()) => {
                self.failure.store(Arc::new(None));
                true
            }
            Err(error) => {
                let reason = error.to_string();
                tracing::error!(
                    reason,
                    "rest: the catalog could not be loaded; the previous one stays"
                );
                self.failures.fetch_add(1, Ordering::AcqRel);
                self.failure.store(Arc::new(Some(reason)));
                false
            }
        }
    }

    /// Reads over the kept connection, else over a new one, which is kept if all went well.
    async fn try_reload(&self, scope: ReloadScope) -> Result<(), ReloadError> {
        let mut client = match self.take_live_reader().await {
            Some(client) => client,
            None => self.database.client(Login::Authenticator).await?,
        };
        self.read(&mut client, scope).await?;
        // Behind a transaction pooler a connection that is kept is one that other clients lack.
        if self.snapshot().config.prepared_statements {
            *self.reader() = Some(client);
        }
        Ok(())
    }

    /// The connection of the last reload, if it is still alive; its settings are those after its login.
    async fn take_live_reader(&self) -> Option<Client> {
        let client = self.reader().take()?;
        // `reset all` proves that the connection works, and takes back settings that a pre-config function made for good.
        let probe = tokio::time::timeout(READER_PROBE, client.batch_execute("reset all")).await;
        matches!(probe, Ok(Ok(()))).then_some(client)
    }

    /// The kept connection, locked.
    pub(super) fn reader(&self) -> MutexGuard<'_, Option<Client>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads settings and, unless only those were asked for, the catalog; then swaps the snapshot.
    async fn read(&self, client: &mut Client, scope: ReloadScope) -> Result<(), ReloadError> {
        // `ALTER ROLE … SET` is announced by the same notification as a change of the schema.
        if let Err(error) = self.database.reload_role_settings_with(client).await {
            tracing::warn!(
                reason = describe_error(&error),
                "rest: role settings could not be read again"
            );
        }
        let before = self.snapshot();
        let (config, settings_failure) = self.read_config(client, &before).await?;
        self.settings_failure.store(Arc::new(settings_failure));
        // A change of settings alone need not read the catalog again, unless it exposes other schemas.
        let known = before
            .catalog
            .as_ref()
            .filter(|_| scope == ReloadScope::Settings && config.reads_same_catalog(&before.config));
        if let Some(catalog) = known {
            self.current.store(Arc::new(Snapshot {
                config,
                catalog: Some(Arc::clone(catalog)),
                tenants: Arc::clone(&before.tenants),
            }));
            tracing::info!("rest: settings loaded");
            return Ok(());
        }
        self.add_new_tables(client, &before, &config).await?;
        let begun = Instant::now();
        let tenants = list_tenants(client, &config).await?;
        let scope = CatalogScope::of_named_schemas(&config);
        let catalog = Catalog::load(client, &scope, &config.hoisted_settings).await?;
        let elapsed_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::info!(
            found = catalog.summary(),
            schemas_by_pattern = tenants.len(),
            "rest: catalog loaded"
        );
        self.current.store(Arc::new(Snapshot {
            config,
            catalog: Some(Arc::new(catalog)),
            tenants: Arc::new(tenants),
        }));
        self.load_time_us.store(elapsed_us, Ordering::Release);
        // Last, so that a worker that sees the new number also sees the new snapshot.
        self.loads.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Serves new tables of a large catalog before all of it has been read.
    async fn add_new_tables(
        &self,
        client: &mut Client,
        before: &Snapshot,
        config: &EffectiveConfig,
    ) -> Result<(), Error> {
        let known = before.catalog.as_ref();
        let Some(known) = known.filter(|known| known.is_large() && config.reads_same_catalog(&before.config))
        else {
            return Ok(());
        };
        let scope = CatalogScope::of_named_schemas(config);
        if let Some(catalog) = known.with_new_tables(client, &scope).await? {
            self.current.store(Arc::new(Snapshot {
                config: Arc::clone(&before.config),
                catalog: Some(Arc::new(catalog)),
                tenants: Arc::clone(&before.tenants),
            }));
            // Statements that were prepared stay: no relation has changed that they name.
        }
        Ok(())
    }

    /// The configuration with the database's settings on top, and what is wrong with those that could not be applied.
    ///
    /// Settings that cannot be read leave the configuration of `before` in force, and so do wrong ones that decide who a
    /// token's bearer is. Before the first load there is none to keep: serving by file and environment alone could take
    /// signed-in users for anonymous ones, so nothing is served.
    ///
    /// # Errors
    /// Before the first load, settings that cannot be read, and wrong ones that decide who a token's bearer is.
    async fn read_config(
        &self,
        client: &mut Client,
        before: &Snapshot,
    ) -> Result<(Arc<EffectiveConfig>, Option<String>), ReloadError> {
        let base = self.base_config.load_full();
        if !base.db_config {
            let config = EffectiveConfig::new(base.as_ref().clone(), Some(&before.config));
            return Ok((Arc::new(config), None));
        }
        let failure = match read_settings(client, &base).await {
            Ok(settings) => {
                let (config, refused) = base.with_settings(&settings);
                let reasons: Vec<&str> = refused.iter().map(|setting| setting.reason.as_str()).collect();
                let failure = (!reasons.is_empty()).then(|| reasons.join("; "));
                if !refused.iter().any(|setting| setting.decides_identity) {
                    let config = EffectiveConfig::new(config, Some(&before.config));
                    return Ok((Arc::new(config), failure));
                }
                ReloadError::Settings(failure.unwrap_or_default())
            }
            Err(error) => ReloadError::Database(error),
        };
        if before.catalog.is_none() {
            return Err(failure);
        }
        let reason = failure.to_string();
        tracing::error!(
            reason,
            "rest: the settings of the database could not be applied; the previous ones stay"
        );
        Ok((Arc::clone(&before.config), Some(reason)))
    }
}

/// The schemas that patterns expose, none of whose catalogs has been read.
async fn list_tenants(client: &Client, config: &EffectiveConfig) -> Result<TenantCatalogs, Error> {
    let names = list_schemas_by_pattern(client, config).await?;
    let paths = names.into_iter().map(|name| {
        let path = config.write_search_path(&name);
        (name, path)
    });
    Ok(TenantCatalogs::new(paths.collect()))
}

/// Why a reload failed.
#[derive(Debug, thiserror::Error)]
enum ReloadError {
    /// PostgreSQL refused, or the connection broke.
    #[error("{}", describe_error(.0))]
    Database(#[from] Error),
    /// Wrong settings in the database.
    #[error("settings of the database: {0}")]
    Settings(String),
}

/// SQLSTATE and message where PostgreSQL answered, else the driver's description.
fn describe_error(error: &Error) -> String {
    match error.as_db_error() {
        Some(refusal) => format!("{}: {}", refusal.code().code(), refusal.message()),
        None => error.to_string(),
    }
}
