//! Stores the scripts of [`SHIPPED`] in the database, whose platform schema runs them when `create extension` does not find
//! an extension's files (`sql/platform/0021_shipped_extensions.sql`), and the path of the vault's key.

use tokio_postgres::Client;

use super::error::MigrateError;
use crate::SHIPPED;

/// Created before the files of the platform schema, which install extensions from it. Only its owner, a superuser, may
/// write to it, because the scripts run with that role's rights.
pub(super) const STORE_TABLE: &str = "
    create table if not exists _selvedge.shipped_extensions (
      name pg_catalog.text not null primary key,
      version pg_catalog.text not null,
      schema pg_catalog.text,
      script pg_catalog.text not null
    );
    alter table _selvedge.shipped_extensions
      add column if not exists runs_as_creator pg_catalog.bool not null default false;";

const STORE: &str = "
    insert into _selvedge.shipped_extensions as s (name, version, schema, script, runs_as_creator)
    select * from rows from (
      pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]),
      pg_catalog.unnest($3::pg_catalog.text[]), pg_catalog.unnest($4::pg_catalog.text[]),
      pg_catalog.unnest($5::pg_catalog.bool[])
    )
    on conflict (name) do update
    set version = excluded.version, schema = excluded.schema, script = excluded.script,
      runs_as_creator = excluded.runs_as_creator
    where (s.version, s.schema, s.script, s.runs_as_creator)
      is distinct from (excluded.version, excluded.schema, excluded.script, excluded.runs_as_creator)";

/// A script that this program does not bring along was put there by somebody else, and would run with a superuser's rights.
const REMOVE_OTHERS: &str = "delete from _selvedge.shipped_extensions where name <> all ($1::text[])";

/// Stores the scripts of this program. Extensions that were installed from older ones stay as they are.
pub(super) async fn store_shipped(client: &Client) -> Result<(), MigrateError> {
    let names: Vec<&str> = SHIPPED.iter().map(|extension| extension.name).collect();
    let versions: Vec<&str> = SHIPPED.iter().map(|extension| extension.version).collect();
    let schemas: Vec<Option<&str>> = SHIPPED
        .iter()
        .map(|extension| find_schema(extension.control))
        .collect();
    let scripts: Vec<&str> = SHIPPED.iter().map(|extension| extension.script).collect();
    let run_as_creator: Vec<bool> = SHIPPED
        .iter()
        .map(|extension| !extension.needs_superuser())
        .collect();
    client
        .execute(STORE, &[&names, &versions, &schemas, &scripts, &run_as_creator])
        .await?;
    client.execute(REMOVE_OTHERS, &[&names]).await?;
    Ok(())
}

/// Adds the scripts to a digest of the platform schema.
pub(super) fn digest_shipped(digest: &mut sha2::Sha256) {
    use sha2::Digest;

    for extension in SHIPPED {
        digest.update(extension.name.as_bytes());
        digest.update(extension.script.as_bytes());
    }
}

/// The schema that a control file prescribes; `None` when `create extension` chooses it.
fn find_schema(control: &str) -> Option<&str> {
    control.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "schema").then(|| value.trim().trim_matches('\''))
    })
}

/// Tells the database where its machine has the file with the vault's root key.
///
/// # Errors
/// When PostgreSQL refuses: only a superuser may change the path.
pub async fn set_vault_key_file(client: &Client, path: &str) -> Result<(), MigrateError> {
    let known = client.query_opt("select path from vault._key_file", &[]).await?;
    if known.is_none_or(|row| row.get::<_, &str>(0) != path) {
        client
            .execute(
                "insert into vault._key_file (path) values ($1)
                 on conflict (is_only) do update set path = excluded.path",
                &[&path],
            )
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_018_schemas_of_control_files_are_found_with_and_without_quotes() {
        assert_eq!(find_schema("comment = 'x'\nschema = vault\n"), Some("vault"));
        assert_eq!(find_schema("schema='pgmq'"), Some("pgmq"));
        assert_eq!(find_schema("comment = 'schema'\n"), None);
    }
}
