//! Reads as the owner what decides about a request: the table, its policies, and the rows that the request is about.

use tokio_postgres::{Client, GenericClient};

use super::explain::Candidate;
use super::unsaved::resolve_unsaved;
use crate::SimulationError;
use crate::catalog::{ColumnRight, Policy, Table, load_policies, load_table};
use crate::evaluate::{StoredRow, read_rows};
use crate::request::{Condition, Page, UnsavedPolicy, Verb, VerbRequest, build_condition};
use crate::truth::{Statement, build_statement};

/// The number of rows that one simulation explains.
pub(crate) const MAX_ROWS: usize = 100;

// Without a search path all names come qualified. With row_security off PostgreSQL raises an error instead of hiding
// rows, should the login not bypass policies.
const READ_AS_OWNER: &str =
    "set local search_path = ''; set local row_security = off; set local statement_timeout = '2s'";

/// The facts about a request that were read as the owner.
pub(crate) struct Collected {
    pub(crate) table: Table,
    pub(crate) policies: Vec<Policy>,
    pub(crate) statement: Statement,
    pub(crate) candidates: Vec<Candidate>,
    /// Whether more rows match than are explained.
    pub(crate) has_more: bool,
    /// Whether the statement runs on the explained rows alone, although more match.
    pub(crate) is_restricted: bool,
    /// Whether more rows match than are explained, and the statement can be limited to those neither by their key nor by the
    /// limit of the request.
    pub(crate) is_cut: bool,
}

/// Reads the table, its policies and the rows that the request is about.
///
/// # Errors
/// Unknown tables, roles and columns, and PostgreSQL's errors.
pub(crate) async fn collect(
    owner: &mut Client,
    request: &VerbRequest,
    unsaved: &[UnsavedPolicy],
    role: &str,
) -> Result<Collected, SimulationError> {
    let oid = request.table.parse().map_err(|_| SimulationError::NoTable)?;
    let transaction = owner.build_transaction().read_only(true).start().await?;
    transaction.batch_execute(READ_AS_OWNER).await?;
    let table = load_table(&transaction, oid, role).await?;
    let mut policies = load_policies(&transaction, oid, role).await?;
    for proposed in unsaved {
        policies.push(resolve_unsaved(&transaction, proposed, role).await?);
    }
    let mut condition = build_condition(&table, request.row.as_ref(), &request.filters)?;
    let mut rows = read_request_rows(&transaction, &table, request, &condition).await?;
    transaction.rollback().await?;
    let has_more = rows.len() > MAX_ROWS;
    rows.truncate(MAX_ROWS);
    // A page of its own limits the result, too: it is the one that a client gets.
    let is_page = request.verb == Verb::Select && request.page.cuts(MAX_ROWS);
    let is_restricted = has_more && !is_page && is_readable_by_key(&table);
    let is_cut = has_more && !is_page && !is_restricted;
    // The real statement is limited to the explained rows, because the others could not be compared.
    let keys: Option<Vec<_>> = rows.iter().map(|row| row.key(&table)).collect();
    if let Some(keys) = keys.filter(|_| is_restricted) {
        condition.restrict_to_keys(&table, &keys)?;
    }
    let statement = build_statement(&table, request, &condition, has_more.then_some(MAX_ROWS))?;
    // A row that does not exist yet is a candidate without stored values, which are put together later.
    let candidates = match (request.verb, rows.is_empty()) {
        (Verb::Insert, _) | (Verb::Upsert, true) => vec![Candidate::default()],
        _ => rows.into_iter().map(Candidate::stored).collect(),
    };
    Ok(Collected {
        table,
        policies,
        statement,
        candidates,
        has_more,
        is_restricted,
        is_cut,
    })
}

/// Reads the stored rows that a request is about, and one more than is explained, which shows whether there are more.
async fn read_request_rows(
    owner: &impl GenericClient,
    table: &Table,
    request: &VerbRequest,
    condition: &Condition,
) -> Result<Vec<StoredRow>, SimulationError> {
    match request.verb {
        Verb::Insert => Ok(Vec::new()),
        Verb::Upsert => {
            let existing = conflict_condition(table, request)?;
            read_rows(owner, table, &existing, &Page::default(), 1).await
        }
        _ => read_rows(owner, table, condition, &request.page, MAX_ROWS + 1).await,
    }
}

/// Whether rows can be chosen by their primary key in the subject's own statement, which needs SELECT on its columns.
fn is_readable_by_key(table: &Table) -> bool {
    let mut columns = table
        .columns
        .iter()
        .filter(|column| table.key.contains(&column.name));
    !table.key.is_empty() && columns.all(|column| column.allows(ColumnRight::Select))
}

/// Returns the condition for the existing row with the same primary key, with which an upsert conflicts.
fn conflict_condition(table: &Table, request: &VerbRequest) -> Result<Condition, SimulationError> {
    let mut condition = Condition::default();
    let key: Option<Vec<String>> = table
        .key
        .iter()
        .map(|name| request.values.get(name).cloned().flatten())
        .collect();
    // A key with a missing or null value conflicts with no row: the condition is false.
    let keys: Vec<Vec<String>> = key.into_iter().filter(|key| !key.is_empty()).collect();
    condition.restrict_to_keys(table, &keys)?;
    Ok(condition)
}
