//! Settings that the database holds: those of the connection's role (`alter role authenticator set pgrst.db_schemas =
//! '…'`), and those that a `db-pre-config` function sets. They override file and environment.

use std::collections::BTreeMap;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::rest_config::RestConfig;
use super::setting::DATABASE_SETTINGS;

/// Reads the database's settings, by their names without `pgrst.`.
///
/// # Errors
/// PostgreSQL's own, those that the pre-config function raises included.
pub(crate) async fn read_settings(
    client: &mut Client,
    config: &RestConfig,
) -> Result<BTreeMap<String, String>, Error> {
    // Read-only: a pre-config function sets settings, and must not write anything else.
    let transaction = client.build_transaction().read_only(true).start().await?;
    let role_settings: BTreeMap<String, String> = transaction
        .query_typed(
            include_str!("sql/role_settings.sql"),
            &[(&DATABASE_SETTINGS, Type::TEXT_ARRAY)],
        )
        .await?
        .iter()
        .map(|row| Ok((row.try_get("name")?, row.try_get("value")?)))
        .collect::<Result<_, Error>>()?;
    let mut settings = BTreeMap::new();
    let pre_config = role_settings.get("db_pre_config").or(config.pre_config.as_ref());
    if let Some(function) = pre_config.filter(|name| !name.is_empty()) {
        transaction
            .batch_execute(&crate::identifier::call_statement(function))
            .await?;
        let from_function = transaction
            .query_typed(
                include_str!("sql/pre_config_settings.sql"),
                &[(&DATABASE_SETTINGS, Type::TEXT_ARRAY)],
            )
            .await?;
        for row in &from_function {
            settings.insert(row.try_get("name")?, row.try_get("value")?);
        }
    }
    // Settings of the role override those of the pre-config function.
    settings.extend(role_settings);
    transaction.commit().await?;
    Ok(settings)
}

/// A setting of the database whose value is wrong.
pub(crate) struct RefusedSetting {
    /// Its name and what is wrong, without the value.
    pub(crate) reason: String,
    /// Whether it decides who a token's bearer is.
    pub(crate) decides_identity: bool,
}

impl RestConfig {
    /// This configuration with the database's settings on top. Wrong ones are logged, left out, and returned.
    pub(crate) fn with_settings(&self, settings: &BTreeMap<String, String>) -> (Self, Vec<RefusedSetting>) {
        let mut config = self.clone();
        let mut refused = Vec::new();
        for (name, value) in settings {
            if let Err(error) = config.set(name, value) {
                tracing::error!(
                    setting = name.as_str(),
                    "rest: the setting pgrst.{name} of the database {error}; it is ignored"
                );
                refused.push(RefusedSetting {
                    reason: format!("pgrst.{name} {error}"),
                    // Without these settings a signed-in user could be treated as anonymous.
                    decides_identity: name.starts_with("jwt_"),
                });
            }
        }
        if let Err(error) = config.check_keys() {
            refused.push(RefusedSetting {
                reason: format!("pgrst.jwt_secret {error}"),
                decides_identity: true,
            });
        }
        (config, refused)
    }
}
