//! Snippets as rows of the account that has saved them.

use tokio_postgres::{GenericClient, Row};

use super::snippet::{Base, Snippet, digest_of, not_found, overtaken};
use crate::error::ConsoleError;

/// The largest number of snippets of an account, so that they cannot fill the database.
const MAX_SNIPPETS: i64 = 500;

/// Writes a snippet, and changes no row when it would be one more than an account may have.
const SAVE: &str = "
    insert into selvedge_console.selvedge_snippets (account, name, text)
    select $1, $2, $3
    where (select count(*) from selvedge_console.selvedge_snippets where account = $1 and name <> $2) < $4
    on conflict (account, name) do update set text = excluded.text, updated_at = now()";

/// Writes a snippet whose name is free.
const SAVE_NEW: &str = "
    insert into selvedge_console.selvedge_snippets (account, name, text)
    select $1, $2, $3
    where (select count(*) from selvedge_console.selvedge_snippets where account = $1) < $4
    on conflict (account, name) do nothing";

/// Replaces the snippet that the caller has read, whose digest is compared in the statement, so that what another window saves
/// meanwhile is compared, too.
const REPLACE: &str = "
    update selvedge_console.selvedge_snippets set text = $3, updated_at = now()
    where account = $1 and name = $2
      and pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(text, 'UTF8')), 'hex') = $4";

/// Removes a snippet, or only the text that the caller has read.
const DELETE: &str = "
    delete from selvedge_console.selvedge_snippets
    where account = $1 and name = $2
      and ($3::text is null or pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(text, 'UTF8')), 'hex') = $3)";

/// Lists the snippets of an account by name.
pub(super) async fn list(client: &impl GenericClient, account: &str) -> Result<Vec<Snippet>, ConsoleError> {
    let rows = client
        .query(
            "select name, null::text, updated_at from selvedge_console.selvedge_snippets where account = $1 order by name",
            &[&account],
        )
        .await?;
    Ok(rows.iter().map(read_snippet).collect())
}

/// Reads a snippet of an account.
pub(super) async fn read(
    client: &impl GenericClient,
    account: &str,
    name: &str,
) -> Result<Snippet, ConsoleError> {
    let row = client
        .query_opt(
            "select name, text, updated_at from selvedge_console.selvedge_snippets where account = $1 and name = $2",
            &[&account, &name],
        )
        .await?;
    row.as_ref().map(read_snippet).ok_or_else(|| not_found(name))
}

/// Writes a snippet of an account over its base.
///
/// # Errors
/// 409 when something else is saved than the base, and 422 when the account has too many snippets.
pub(super) async fn save(
    client: &impl GenericClient,
    account: &str,
    name: &str,
    text: &str,
    base: &Base,
) -> Result<(), ConsoleError> {
    let written = match base {
        Base::Anything => {
            client
                .execute(SAVE, &[&account, &name, &text, &MAX_SNIPPETS])
                .await?
        }
        Base::Nothing => {
            client
                .execute(SAVE_NEW, &[&account, &name, &text, &MAX_SNIPPETS])
                .await?
        }
        Base::Digest(digest) => client.execute(REPLACE, &[&account, &name, &text, digest]).await?,
    };
    if written > 0 {
        return Ok(());
    }
    let is_overtaken = match base {
        Base::Anything => false,
        Base::Nothing => read(client, account, name).await.is_ok(),
        Base::Digest(_) => true,
    };
    if is_overtaken {
        return Err(overtaken(name));
    }
    Err(ConsoleError::invalid(format!(
        "An account has at most {MAX_SNIPPETS} snippets"
    )))
}

/// Removes a snippet of an account, or only the text with this digest.
///
/// # Errors
/// 404 when there is none, and 409 when it has another text.
pub(super) async fn delete(
    client: &impl GenericClient,
    account: &str,
    name: &str,
    digest: Option<&str>,
) -> Result<(), ConsoleError> {
    let removed = client.execute(DELETE, &[&account, &name, &digest]).await?;
    if removed > 0 {
        return Ok(());
    }
    read(client, account, name).await?;
    Err(overtaken(name))
}

fn read_snippet(row: &Row) -> Snippet {
    let text: Option<String> = row.get(1);
    Snippet {
        name: row.get(0),
        digest: text.as_deref().map(digest_of),
        text,
        updated_at: row.get(2),
    }
}
