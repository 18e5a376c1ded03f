//! Reads as the owner what decides about a request: the table, its policies, and the rows that the request is about.

use tokio_postgres::Client;

use super::explain::Candidate;
use super::unsaved::resolve_unsaved;
use crate::SimulationError;
use crate::catalog::{Policy, Table, load_policies, load_table};
use crate::evaluate::read_rows;
use crate::request::{Condition, UnsavedPolicy, Verb, VerbRequest, build_condition};
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
    /// Whether more rows match than are explained, and the table has no key by which the statement could be limited to
    /// those.
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
    let mut rows = match request.verb {
        Verb::Insert => Vec::new(),
        Verb::Upsert => {
            let existing = conflict_condition(&table, request)?;
            read_rows(&transaction, &table, &existing, 1).await?
        }
        // One row more than is explained shows whether there are more.
        _ => read_rows(&transaction, &table, &condition, MAX_ROWS + 1).await?,
    };
    transaction.rollback().await?;
    let has_more = rows.len() > MAX_ROWS;
    rows.truncate(MAX_ROWS);
    let is_cut = has_more && table.key.is_empty();
    // The real statement is limited to the explained rows, because the others could not be compared.
    // Rows without a primary key stay as they are; then the result is not compared.
    let keys: Option<Vec<_>> = rows.iter().map(|row| row.key(&table)).collect();
    if let Some(keys) = keys.filter(|_| has_more && !is_cut) {
        condition.restrict_to_keys(&table, &keys)?;
    }
    let statement = build_statement(&table, request, &condition)?;
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
        is_cut,
    })
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
