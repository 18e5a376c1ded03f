//! Runs the lints on a database.

use tokio_postgres::{Error, GenericClient, Row};

use crate::finding::{Finding, FindingObject};
use crate::lints::{LINTS, Lint};

/// Runs all lints, the most important findings first. The search path must be empty, because some lints read the text of
/// expressions and look for qualified names.
///
/// # Errors
/// PostgreSQL refuses a query, or the connection is lost.
pub async fn run_lints(
    client: &impl GenericClient,
    exposed_schemas: &[String],
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for lint in LINTS {
        let rows = client.query(lint.sql, &[&exposed_schemas]).await?;
        findings.extend(rows.iter().map(|row| read_finding(lint, row)));
    }
    // The sort is stable, so findings of one level stay in the order of the lints.
    findings.sort_by_key(|finding| finding.level);
    Ok(findings)
}

/// Reads a row of a lint's query: schema, name and kind of the object, the part of it that is at fault, a sentence and
/// a fix.
fn read_finding(lint: &Lint, row: &Row) -> Finding {
    let object = FindingObject {
        schema: row.get(0),
        name: row.get(1),
        kind: row.get(2),
    };
    // Two findings of a lint on one object differ in their part, such as the name of a policy.
    let part: String = row.get(3);
    Finding {
        name: lint.name,
        level: lint.level,
        title: lint.title,
        why: format!("{} {}", row.get::<_, String>(4), lint.why),
        key: format!("{}:{}.{}:{part}", lint.name, object.schema, object.name),
        object,
        fix: row.get(5),
    }
}
