//! What a project has added to the platform's tables, and its event triggers: pg_dump writes neither when it leaves the platform's
//! schemas out.

pub mod addition_changes;

use anyhow::Result;
use selvedge_postgres::migrate::join_statements;
use selvedge_postgres::{quote_identifier, quote_literal};
use tokio_postgres::Client;

use crate::platform_schemas;

/// The schemas of the platform with tables on which projects have policies and triggers.
const SCHEMAS: [&str; 3] = ["auth", "storage", "realtime"];

/// Lists event triggers that call a function of the project.
const EVENT_TRIGGERS: &str = "
    select t.evtname::text, t.evtevent::text, coalesce(t.evttags, '{}'), p.oid::regprocedure::text
    from pg_event_trigger as t
      join pg_proc as p on p.oid = t.evtfoid
      join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = any ($1::text[])";

/// Lists event triggers of a database of ours, which call copies of the project's functions, with the original functions. Databases are also read
/// that an earlier version has made, where this table has no other name (sql/platform/0231_table_names.sql).
const COPIED_EVENT_TRIGGERS: &str = "
    select t.evtname::text, t.evtevent::text, coalesce(t.evttags, '{}'), f.original::regprocedure::text
    from pg_event_trigger as t join _selvedge.event_trigger_functions as f on f.copy = t.evtfoid";

const HAS_COPIES: &str = "
    select coalesce(has_schema_privilege(to_regnamespace('_selvedge'), 'usage')
      and has_table_privilege(to_regclass('_selvedge.event_trigger_functions'), 'select'), false)";

const PROJECT_SCHEMAS: &str = "
    select nspname::text from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema' and nspname <> all ($1::text[])";

/// Something that a project has added to the platform, as SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The statement that makes it.
    pub make: String,
    /// The statement that removes it, which also tells it from others: `drop policy x on storage.objects`.
    pub remove: String,
}

/// An event trigger of a project.
pub struct EventTrigger {
    pub name: String,
    /// Such as `ddl_command_end`.
    pub event: String,
    /// The commands after which it fires; all when there are none.
    pub tags: Vec<String>,
    /// The function with its arguments, as SQL: `public.f()`.
    pub function: String,
}

impl EventTrigger {
    fn to_addition(&self) -> Addition {
        let tags: Vec<String> = self.tags.iter().map(|tag| quote_literal(tag)).collect();
        let condition = match tags.is_empty() {
            true => String::new(),
            false => format!(" when tag in ({})", tags.join(", ")),
        };
        let name = quote_identifier(&self.name);
        Addition {
            make: format!(
                "create event trigger {name} on {}{condition} execute function {}",
                self.event, self.function
            ),
            remove: format!("drop event trigger {name}"),
        }
    }
}

/// The policies and triggers on tables of Auth, Storage and Realtime that belong to a project with these schemas.
///
/// # Errors
/// When a query fails.
pub async fn list_table_additions(client: &Client, schemas: &[String]) -> Result<Vec<Addition>> {
    let rows = client
        .query(include_str!("additions.sql"), &[&SCHEMAS.as_slice(), &schemas])
        .await?;
    let additions = rows.iter().map(|row| Addition {
        make: row.get(0),
        remove: row.get(1),
    });
    Ok(additions.collect())
}

/// The event triggers of a project with these schemas.
///
/// # Errors
/// When a query fails.
pub async fn list_event_triggers(client: &Client, schemas: &[String]) -> Result<Vec<EventTrigger>> {
    let mut rows = client.query(EVENT_TRIGGERS, &[&schemas]).await?;
    if client.query_one(HAS_COPIES, &[]).await?.get(0) {
        rows.extend(client.query(COPIED_EVENT_TRIGGERS, &[]).await?);
    }
    let triggers = rows.iter().map(|row| EventTrigger {
        name: row.get(0),
        event: row.get(1),
        tags: row.get(2),
        function: row.get(3),
    });
    Ok(triggers.collect())
}

/// Everything that the project of a database has added. The statements name all objects with their schemas.
///
/// # Errors
/// When a query fails.
pub async fn list_additions(client: &Client) -> Result<Vec<Addition>> {
    client
        .batch_execute("set search_path = pg_catalog, pg_temp")
        .await?;
    let platform: Vec<&str> = platform_schemas().collect();
    let rows = client.query(PROJECT_SCHEMAS, &[&platform]).await?;
    let schemas: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let mut additions = list_table_additions(client, &schemas).await?;
    let triggers = list_event_triggers(client, &schemas).await?;
    additions.extend(triggers.iter().map(EventTrigger::to_addition));
    Ok(additions)
}

/// The statements that make these, for a text that begins with nothing of them.
pub fn write_additions(additions: &[Addition]) -> String {
    let statements: Vec<&str> = additions.iter().map(|one| one.make.as_str()).collect();
    join_statements(&statements)
}
