//! Snippets as rows of the account that has saved them.

use deadpool_postgres::Object;
use tokio_postgres::Row;

use super::snippet::{Snippet, not_found};
use crate::error::ConsoleError;

/// The largest number of snippets of an account, so that they cannot fill the database.
const MAX_SNIPPETS: i64 = 500;

/// Writes a snippet, and changes no row when it would be one more than an account may have.
const SAVE: &str = "
    insert into selvedge_console.snippets (account, name, text)
    select $1, $2, $3
    where (select count(*) from selvedge_console.snippets where account = $1 and name <> $2) < $4
    on conflict (account, name) do update set text = excluded.text, updated_at = now()";

/// Lists the snippets of an account by name.
pub(super) async fn list(service: &Object, account: &str) -> Result<Vec<Snippet>, ConsoleError> {
    let rows = service
        .query(
            "select name, null::text, updated_at from selvedge_console.snippets where account = $1 order by name",
            &[&account],
        )
        .await?;
    Ok(rows.iter().map(read_snippet).collect())
}

/// Reads a snippet of an account.
pub(super) async fn read(service: &Object, account: &str, name: &str) -> Result<Snippet, ConsoleError> {
    let row = service
        .query_opt(
            "select name, text, updated_at from selvedge_console.snippets where account = $1 and name = $2",
            &[&account, &name],
        )
        .await?;
    row.as_ref().map(read_snippet).ok_or_else(|| not_found(name))
}

/// Writes a snippet of an account.
pub(super) async fn save(
    service: &Object,
    account: &str,
    name: &str,
    text: &str,
) -> Result<(), ConsoleError> {
    let written = service
        .execute(SAVE, &[&account, &name, &text, &MAX_SNIPPETS])
        .await?;
    if written == 0 {
        return Err(ConsoleError::invalid(format!(
            "An account has at most {MAX_SNIPPETS} snippets"
        )));
    }
    Ok(())
}

/// Removes a snippet of an account.
pub(super) async fn delete(service: &Object, account: &str, name: &str) -> Result<(), ConsoleError> {
    let removed = service
        .execute(
            "delete from selvedge_console.snippets where account = $1 and name = $2",
            &[&account, &name],
        )
        .await?;
    if removed == 0 {
        return Err(not_found(name));
    }
    Ok(())
}

fn read_snippet(row: &Row) -> Snippet {
    Snippet {
        name: row.get(0),
        text: row.get(1),
        updated_at: row.get(2),
    }
}
