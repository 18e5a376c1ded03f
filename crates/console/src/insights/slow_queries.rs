//! `GET /api/slow-queries?order=total|mean|calls`: statements by the time they took, from pg_stat_statements.

use actix_web::{HttpResponse, web};
use selvedge_postgres::quote_identifier;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::GenericClient;

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The number of statements that are listed.
const MOST_QUERIES: i64 = 100;

/// Matches statements whose constants the extension replaces by parameters. It keeps the text of all others as it is, so the
/// text of `alter role … password '…'` has the password.
const WITHOUT_CONSTANTS: &str =
    r"^(\s|/\*.*?\*/|--[^\n]*\n)*(select|insert|update|delete|merge|with|values|table)\M";

/// The measure by which the statements are sorted, the largest first.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Total,
    Mean,
    Calls,
}

#[derive(Debug, Deserialize)]
pub(super) struct Parameters {
    #[serde(default)]
    order: Order,
}

/// The schema of pg_stat_statements, or a sentence that says how to enable it.
enum Source {
    Schema(String),
    Missing(&'static str),
}

/// `GET /api/slow-queries` → `{available, remedy?, queries: [{id, query, calls, total_ms, mean_ms, rows}]}`
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    session: Session,
    parameters: web::Query<Parameters>,
) -> Result<HttpResponse, ConsoleError> {
    let client = state.database.connection(session.level).await?;
    let schema = match find_source(&**client).await? {
        Source::Schema(schema) => schema,
        Source::Missing(remedy) => {
            let body = json!({ "available": false, "remedy": remedy, "queries": [] });
            return Ok(HttpResponse::Ok().json(body));
        }
    };
    let order = match parameters.order {
        Order::Total => "sum(s.total_exec_time)",
        Order::Mean => "sum(s.total_exec_time) / sum(s.calls)",
        Order::Calls => "sum(s.calls)",
    };
    // One statement of several roles has several rows, which are one line here.
    let sql = format!(
        "select s.queryid::text, min(s.query), sum(s.calls)::bigint, sum(s.total_exec_time),
           sum(s.total_exec_time) / sum(s.calls), sum(s.rows)::bigint
         from {}.pg_stat_statements s
         where s.dbid = (select oid from pg_database where datname = current_database()) and s.query ~* $1
         group by s.queryid having sum(s.calls) > 0 order by {order} desc nulls last limit {MOST_QUERIES}",
        quote_identifier(&schema)
    );
    let rows = client.query(&sql, &[&WITHOUT_CONSTANTS]).await?;
    let queries: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.get::<_, Option<String>>(0),
                "query": row.get::<_, Option<String>>(1),
                "calls": row.get::<_, i64>(2),
                "total_ms": row.get::<_, f64>(3),
                "mean_ms": row.get::<_, f64>(4),
                "rows": row.get::<_, i64>(5),
            })
        })
        .collect();
    Ok(HttpResponse::Ok().json(json!({ "available": true, "queries": queries })))
}

async fn find_source(client: &impl GenericClient) -> Result<Source, ConsoleError> {
    let row = client
        .query_one(
            "select (select n.nspname::text from pg_extension e join pg_namespace n on n.oid = e.extnamespace
                     where e.extname = 'pg_stat_statements'),
               exists (select from pg_settings where name = 'pg_stat_statements.max')",
            &[],
        )
        .await?;
    // The module's settings are known only when it was loaded at the server's start.
    let (schema, is_loaded): (Option<String>, bool) = (row.get(0), row.get(1));
    Ok(match (schema, is_loaded) {
        (Some(schema), true) => Source::Schema(schema),
        (None, true) => Source::Missing(
            "Create the extension: create extension pg_stat_statements with schema extensions",
        ),
        (_, false) => Source::Missing(
            "Add pg_stat_statements to shared_preload_libraries in PostgreSQL's configuration, restart it, and create \
             the extension: create extension pg_stat_statements with schema extensions",
        ),
    })
}
