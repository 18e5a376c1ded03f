//! Runs a simulation, from the request to the report.

mod collect;
mod explain;
mod facts;
mod options;
mod prediction;
mod report;
mod sql_text;
mod table_request;
mod unsaved;

use deadpool_postgres::Client as CallerClient;
use selvedge_postgres::{RequestContext, RoleSettings};
use tokio_postgres::{Client, GenericClient};

pub use options::Options;
pub use report::Report;

use crate::SimulationError;
use crate::request::{Request, Subject, UnsavedPolicy, Verb, VerbRequest, parse_rest_request};
use crate::truth::run_sql;

/// The connections of a simulation.
pub struct Connections<'c> {
    /// The connection that reads the catalog and all rows, under a login that bypasses row-level security.
    pub owner: &'c mut Client,
    /// The connection of the login `authenticator`, which takes the subject's role.
    pub caller: &'c mut CallerClient,
    pub roles: &'c RoleSettings,
}

/// Explains a request of a subject, runs it, and compares both.
///
/// # Errors
/// A table, role or column that does not exist, a request that makes no sense, and a lost connection.
pub async fn simulate(
    connections: Connections<'_>,
    options: &Options,
    subject: Subject,
    request: Request,
    unsaved: &[UnsavedPolicy],
) -> Result<Report, SimulationError> {
    // Texts of a viewer's own are refused, because an expression can call set_config() and so become another role.
    if !options.run_for_real && (!unsaved.is_empty() || matches!(request, Request::Sql { .. })) {
        return Err(SimulationError::Invalid(
            "A viewer sees saved policies explained; SQL and policies of one's own need an administrator."
                .into(),
        ));
    }
    match request {
        Request::Verb(request) => simulate_verb(connections, options, subject, &request, unsaved).await,
        Request::Sql { text } => simulate_sql(connections, options, subject, &text).await,
        Request::Rest {
            method,
            path,
            headers,
            body,
        } => {
            let parsed = parse_rest_request(&method, &path, &headers, body.as_deref())?;
            // A request without a profile means the first exposed schema, as it does for the API.
            let schema = match &parsed.schema {
                Some(schema) => schema.clone(),
                None => options.exposed_schemas.first().cloned().unwrap_or_default(),
            };
            let mut verb = parsed.verb;
            verb.table = find_table(connections.owner, &schema, &parsed.table).await?;
            let mut report = simulate_verb(connections, options, subject, &verb, unsaved).await?;
            if !parsed.ignored.is_empty() {
                report.add_banner(format!(
                    "These parameters of the request are not part of the explanation: {}.",
                    parsed.ignored.join(", ")
                ));
            }
            Ok(report)
        }
    }
}

async fn find_table(owner: &impl GenericClient, schema: &str, name: &str) -> Result<String, SimulationError> {
    let sql = "select c.oid::text from pg_class c join pg_namespace n on n.oid = c.relnamespace \
               where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')";
    let row = owner.query_opt(sql, &[&schema, &name]).await?;
    row.map(|row| row.get(0)).ok_or(SimulationError::NoTable)
}

/// Simulates one verb. If explanation and reality differ, it runs once more, because a row may have changed in between.
async fn simulate_verb(
    connections: Connections<'_>,
    options: &Options,
    subject: Subject,
    request: &VerbRequest,
    unsaved: &[UnsavedPolicy],
) -> Result<Report, SimulationError> {
    let claims = subject.claims.to_string();
    let context = request_context(options, &subject, &claims, method_of(request.verb));
    let mut simulation = table_request::Simulation {
        owner: connections.owner,
        caller: connections.caller,
        roles: connections.roles,
        options,
        subject: &subject,
        context,
        request,
        unsaved,
    };
    let report = simulation.run().await?;
    match report.agrees {
        Some(false) => simulation.run().await,
        _ => Ok(report),
    }
}

async fn simulate_sql(
    connections: Connections<'_>,
    options: &Options,
    subject: Subject,
    text: &str,
) -> Result<Report, SimulationError> {
    let mut report = Report::new(subject.clone());
    // The plan depends on the search path of requests, because the text may name tables without a schema.
    let transaction = connections
        .owner
        .build_transaction()
        .read_only(true)
        .start()
        .await?;
    transaction
        .execute(
            "select set_config('search_path', $1, true)",
            &[&options.search_path],
        )
        .await?;
    sql_text::report_tables_of_sql(&mut report, &transaction, &subject, text).await?;
    transaction.rollback().await?;
    let claims = subject.claims.to_string();
    let context = request_context(options, &subject, &claims, "POST");
    let truth = run_sql(connections.caller, &context, connections.roles, text).await?;
    table_request::report_result(&mut report, &truth);
    report.truth = Some(truth);
    report.add_banner(
        "The statement was rolled back. Numbers taken from sequences and calls to the outside stay.",
    );
    Ok(report)
}

fn request_context<'c>(
    options: &'c Options,
    subject: &'c Subject,
    claims: &'c str,
    method: &'c str,
) -> RequestContext<'c> {
    RequestContext {
        search_path: &options.search_path,
        role: &subject.role,
        claims,
        method,
        path: "/",
        headers: "{}",
        cookies: "{}",
        extra: &[],
    }
}

fn method_of(verb: Verb) -> &'static str {
    match verb {
        Verb::Select => "GET",
        Verb::Insert | Verb::Upsert => "POST",
        Verb::Update => "PATCH",
        Verb::Delete => "DELETE",
    }
}
