//! Writes the secrets of `[db.vault]` into the vault, so that migrations and functions find them by name.

use anyhow::{Result, anyhow};
use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::{Client, Error};

/// Creates the secrets that the vault lacks and changes those with another value; others are left alone. As with the CLI, a
/// secret that refers to an environment variable that is not set is left out.
///
/// # Errors
/// Names the secret that could not be written, but neither its value nor PostgreSQL's message, which may quote the value.
pub(crate) async fn write_vault_secrets(client: &Client, secrets: &[(String, SecretString)]) -> Result<()> {
    for (name, value) in secrets {
        let value = value.expose_secret();
        let is_unset_reference = value.starts_with("env(") && value.ends_with(')');
        if value.is_empty() || is_unset_reference {
            continue;
        }
        write_secret(client, name, value).await.map_err(|error| {
            let code = error.code().map_or("the connection was lost", |code| code.code());
            anyhow!(
                "db.vault.{name}: the vault did not take the secret ({code}); see docs/extensions.md, Vault"
            )
        })?;
    }
    Ok(())
}

async fn write_secret(client: &Client, name: &str, value: &str) -> Result<(), Error> {
    let found = client
        .query_opt(
            "select id, decrypted_secret is distinct from $2 from vault.decrypted_secrets where name = $1",
            &[&name, &value],
        )
        .await?;
    match found {
        None => {
            let create = "select vault.create_secret($1, $2)";
            client.execute(create, &[&value, &name]).await?;
        }
        Some(secret) if secret.get(1) => {
            let id: uuid::Uuid = secret.get(0);
            let update = "select vault.update_secret($1, $2)";
            client.execute(update, &[&id, &value]).await?;
        }
        Some(_) => {}
    }
    Ok(())
}
