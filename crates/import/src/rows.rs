//! Copies rows by streaming `COPY … TO` of the source into `COPY … FROM` of the target.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt as _, TryStreamExt as _};
use selvedge_postgres::quote_identifier;
use tokio_postgres::Client;

use super::catalog::{Table, count_rows, list_tables, quote_qualified};
use super::report::Report;
use super::source::Source;
use super::target::Writer;

/// Rows are collected to messages of about this size, because one message per row is slow.
const MESSAGE_BYTES: usize = 128 * 1024;

/// Platform tables whose rows are copied. Left out are those of Auth whose rows expire within minutes, such as flow states, and
/// `storage.objects`, whose rows are copied together with the bytes.
const PLATFORM_TABLES: [&str; 20] = [
    "auth.audit_log_entries",
    "auth.custom_oauth_providers",
    "auth.identities",
    "auth.mfa_amr_claims",
    "auth.mfa_factors",
    "auth.mfa_recovery_code_sets",
    "auth.mfa_recovery_codes",
    "auth.oauth_authorizations",
    "auth.oauth_clients",
    "auth.oauth_consents",
    "auth.one_time_tokens",
    "auth.refresh_tokens",
    "auth.saml_providers",
    "auth.sessions",
    "auth.sso_domains",
    "auth.sso_providers",
    "auth.users",
    "auth.webauthn_credentials",
    "pgmq.meta",
    "storage.buckets",
];

/// Whether pgmq is there and belongs to a superuser, or to an extension: a schema of this name may be the project's.
const HAS_PGMQ: &str = "select exists (
    select from pg_catalog.pg_extension as e where e.extname operator(pg_catalog.=) 'pgmq'::pg_catalog.name
  ) or exists (
    select from pg_catalog.pg_namespace as n
    join pg_catalog.pg_authid as o on o.oid operator(pg_catalog.=) n.nspowner
    where n.nspname operator(pg_catalog.=) 'pgmq'::pg_catalog.name and o.rolsuper
  )";

/// Copies all rows of the project and of [`PLATFORM_TABLES`]. Triggers and foreign keys are disabled meanwhile.
pub(crate) async fn copy_all_rows(source: &Source, writer: &Writer, report: &mut Report) -> Result<()> {
    let target = &writer.client;
    // As in a migration: queues belong to `postgres`.
    writer.become_postgres().await?;
    create_queues(source, target).await?;
    writer.become_creator().await?;
    target
        .batch_execute("set local session_replication_role = replica")
        .await?;
    let mut further: Vec<String> = PLATFORM_TABLES.iter().map(|name| (*name).to_owned()).collect();
    further.extend(list_queue_tables(source).await?);
    let own = list_tables(target, &source.schemas, &further).await?;
    let own: BTreeMap<String, &Table> = own.iter().map(|table| (table.quoted(), table)).collect();
    for table in list_tables(&source.client, &source.schemas, &further).await? {
        let name = format!("{}.{}", table.schema, table.name);
        match own.get(&table.quoted()) {
            None => report.leave_out(format!("rows of {name}: there is no such table here")),
            // `create_queues` has inserted its rows.
            Some(_) if name == "pgmq.meta" => {}
            Some(target_table) => {
                let shared = find_shared_columns(&table, target_table, report);
                let copied = copy_table(source, target, &shared).await?;
                report.rows.insert(name, copied);
            }
        }
    }
    copy_sequences(source, target).await?;
    target
        .batch_execute("set local session_replication_role = origin")
        .await?;
    Ok(())
}

/// Returns the source's table with the columns that the target has, too. The others are reported as left out.
fn find_shared_columns(source: &Table, target: &Table, report: &mut Report) -> Table {
    let (shared, missing): (Vec<String>, Vec<String>) = source
        .columns
        .iter()
        .cloned()
        .partition(|column| target.columns.contains(column));
    for column in missing {
        report.leave_out(format!(
            "column {}.{}.{column}: it does not exist here",
            source.schema, source.name
        ));
    }
    Table {
        columns: shared,
        ..source.clone()
    }
}

/// Copies a table and compares the number of rows.
///
/// # Errors
/// When PostgreSQL refuses a row, or the numbers differ.
async fn copy_table(source: &Source, target: &Client, table: &Table) -> Result<u64> {
    let name = table.quoted();
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| quote_identifier(column))
        .collect();
    let columns = columns.join(", ");
    let copied = stream_rows(
        &source.client,
        target,
        &format!("copy {name} ({columns}) to stdout"),
        &format!("copy {name} ({columns}) from stdin"),
    )
    .await
    .with_context(|| format!("the rows of {name} cannot be copied"))?;
    let (expected, found) = (
        count_rows(&source.client, table).await?,
        count_rows(target, table).await?,
    );
    if expected != found {
        bail!("{name} has {expected} rows at the source and {found} here. Nothing was changed");
    }
    Ok(copied)
}

async fn stream_rows(source: &Client, target: &Client, read: &str, write: &str) -> Result<u64> {
    let mut rows = std::pin::pin!(source.copy_out(read).await?);
    let mut sink = std::pin::pin!(target.copy_in::<_, Bytes>(write).await?);
    let mut message = BytesMut::new();
    while let Some(row) = rows.try_next().await? {
        message.extend_from_slice(&row);
        if message.len() >= MESSAGE_BYTES {
            sink.send(message.split().freeze()).await?;
        }
    }
    sink.send(message.freeze()).await?;
    Ok(sink.finish().await?)
}

async fn copy_sequences(source: &Source, target: &Client) -> Result<()> {
    let rows = source
        .client
        .query(include_str!("sql/sequences.sql"), &[&source.schemas])
        .await?;
    for row in rows {
        let name = quote_qualified(row.get(0), row.get(1));
        let query = format!("select last_value, is_called from {name}");
        let value = source.client.query_one(&query, &[]).await?;
        let (last, is_called): (i64, bool) = (value.get(0), value.get(1));
        target
            .execute(
                "select setval(found, $2, $3) from to_regclass($1) as found where found is not null",
                &[&name, &last, &is_called],
            )
            .await?;
    }
    Ok(())
}

/// Creates the queues of pgmq. pg_dump does not contain their tables where they belong to the extension.
async fn create_queues(source: &Source, target: &Client) -> Result<()> {
    let queues = "select queue_name::text, is_unlogged from pgmq.meta order by 1";
    let has_pgmq = target.query_one(HAS_PGMQ, &[]).await?;
    if !has_pgmq.get::<_, bool>(0) {
        return Ok(());
    }
    for row in source.try_query(queues).await?.unwrap_or_default() {
        let (name, is_unlogged): (String, bool) = (row.get(0), row.get(1));
        let create = match is_unlogged {
            true => "select from pgmq.create_unlogged($1)",
            false => "select from pgmq.create($1)",
        };
        target.execute(create, &[&name]).await?;
    }
    Ok(())
}

/// Lists the tables of the source's queues as `schema.table`.
async fn list_queue_tables(source: &Source) -> Result<Vec<String>> {
    let tables =
        "select 'pgmq.' || prefix || lower(queue_name) from pgmq.meta, unnest(array['q_', 'a_']) as prefix";
    let rows = source.try_query(tables).await?.unwrap_or_default();
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
