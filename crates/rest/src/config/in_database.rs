//! Settings that the database holds: `alter role authenticator set pgrst.db_schemas = '…'`, or what a pre-config
//! function makes. They beat file and environment.

use super::{IN_DATABASE, RestConfig};
use std::collections::BTreeMap;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

/// Reads the settings, by their names without `pgrst.`.
///
/// # Errors
/// The database's, those of the pre-config function included.
pub(crate) async fn read_settings(
    client: &mut Client,
    config: &RestConfig,
) -> Result<BTreeMap<String, String>, Error> {
    let transaction = client.build_transaction().read_only(true).start().await?;
    let of_role: BTreeMap<String, String> = transaction
        .query_typed(
            include_str!("sql/settings.sql"),
            &[(&IN_DATABASE, Type::TEXT_ARRAY)],
        )
        .await?
        .iter()
        .map(|row| (row.get("name"), row.get("value")))
        .collect();
    let mut settings = BTreeMap::new();
    let pre_config = of_role.get("db_pre_config").or(config.pre_config.as_ref());
    if let Some(function) = pre_config.filter(|name| !name.is_empty()) {
        transaction
            .batch_execute(&crate::identifier::call_of(function))
            .await?;
        let made = transaction
            .query_typed(
                include_str!("sql/made_settings.sql"),
                &[(&IN_DATABASE, Type::TEXT_ARRAY)],
            )
            .await?;
        settings.extend(made.iter().map(|row| (row.get("name"), row.get("value"))));
    }
    // what stands in the catalog beats what a function made
    settings.extend(of_role);
    transaction.commit().await?;
    Ok(settings)
}

impl RestConfig {
    /// This configuration with the database's settings on top. A wrong one is reported and left out.
    pub(crate) fn with_settings(&self, settings: &BTreeMap<String, String>) -> Self {
        let mut config = self.clone();
        for (name, value) in settings {
            if let Err(error) = config.set(name, value) {
                tracing::error!(
                    setting = name.as_str(),
                    "rest: the setting pgrst.{name} of the database {error}; it is ignored"
                );
            }
        }
        config
    }
}
