//! Changes the history of migrations without running any: for `migration repair` and `migration fetch`.

use std::path::{Path, PathBuf};

use tokio_postgres::Client;

use super::{
    error::MigrateError,
    file_names::{migration_path, write_new_file},
    migration_file::{Migration, read_file},
    project::{INSERT_HISTORY, has_history, prepare_history},
    split::{join_statements, split_statements},
};

/// Records migrations as applied, with the statements of their files. `client` must be logged in as `postgres`.
///
/// # Errors
/// A file that cannot be read or split, or a query that fails; then nothing has changed.
pub async fn record_migrations(client: &mut Client, migrations: &[&Migration]) -> Result<(), MigrateError> {
    let transaction = client.transaction().await?;
    prepare_history(transaction.client()).await?;
    for migration in migrations {
        let text = read_file(&migration.path)?;
        let statements = split_statements(&text).map_err(|source| MigrateError::Split {
            path: migration.path.clone(),
            source,
        })?;
        let statements: Vec<&str> = statements.iter().map(|statement| statement.text).collect();
        transaction
            .execute(
                "delete from supabase_migrations.schema_migrations where version = $1",
                &[&migration.version],
            )
            .await?;
        transaction
            .execute(
                INSERT_HISTORY,
                &[&migration.version, &migration.name, &statements],
            )
            .await?;
    }
    Ok(transaction.commit().await?)
}

/// Removes versions from the history, so that they count as not applied. `client` must be logged in as `postgres`.
///
/// # Errors
/// When a query fails.
pub async fn forget_migrations(client: &Client, versions: &[String]) -> Result<(), MigrateError> {
    prepare_history(client).await?;
    client
        .execute(
            "delete from supabase_migrations.schema_migrations where version = any ($1)",
            &[&versions],
        )
        .await?;
    Ok(())
}

/// The versions, names and statements of the history. Compat: histories that old versions of the Supabase CLI made lack the
/// columns `name` and `statements`.
const READ_STATEMENTS: &str = "
    select m.version, coalesce(h.entry ->> 'name', ''),
      case jsonb_typeof(h.entry -> 'statements')
        when 'array' then array(select jsonb_array_elements_text(h.entry -> 'statements'))
        else array[]::text[]
      end
    from supabase_migrations.schema_migrations as m cross join lateral (select to_jsonb(m)) as h (entry)
    order by m.version";

/// Writes a file for every version of the history that has none in `folder`, from the statements that the history keeps.
/// Returns the new files. The database is only read.
///
/// # Errors
/// A version that is not digits, a file that cannot be written, or a query that fails.
pub async fn fetch_migrations(
    client: &Client,
    folder: &Path,
    local: &[Migration],
) -> Result<Vec<PathBuf>, MigrateError> {
    if !has_history(client).await? {
        return Ok(Vec::new());
    }
    let rows = client.query(READ_STATEMENTS, &[]).await?;
    std::fs::create_dir_all(folder).map_err(MigrateError::file(folder))?;
    // Everything is checked before the first file is written.
    let mut files = Vec::new();
    for row in rows {
        let (version, name): (String, String) = (row.get(0), row.get(1));
        if local.iter().any(|migration| migration.version == version) {
            continue;
        }
        // Whoever may write the history may not choose the file: neither version nor name leads out of the folder.
        let statements: Vec<String> = row.get(2);
        files.push((
            migration_path(folder, &version, &name)?,
            join_statements(&statements),
        ));
    }
    for (path, text) in &files {
        write_new_file(path, text)?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
