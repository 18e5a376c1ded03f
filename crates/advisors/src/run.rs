//! Runs the lints on a database.

use std::fmt::Write as _;
use std::sync::LazyLock;

use tokio_postgres::{Error, GenericClient, Row};

use crate::finding::{Finding, FindingObject};
use crate::lints::{LINTS, Lint, SHARED_SQL};

/// All lints in one statement, whose rows begin with the lint's index. PostgreSQL then reads the project's tables and
/// functions once, which takes most of the time, and not once for each lint.
static ALL_LINTS_SQL: LazyLock<String> = LazyLock::new(|| {
    let mut sql = SHARED_SQL.to_owned();
    for (index, lint) in LINTS.iter().enumerate() {
        let union = if index == 0 { "" } else { "union all" };
        let query = lint.sql;
        write!(
            sql,
            "{union} select {index}::int4, found.* from (\n{query}) as found\n"
        )
        .expect("writing to a string does not fail");
    }
    sql
});

/// Runs all lints, the most important findings first. The search path must be empty, because some lints read the text of
/// expressions and look for qualified names.
///
/// # Errors
/// PostgreSQL refuses the query, or the connection is lost.
pub async fn run_lints(
    client: &impl GenericClient,
    exposed_schemas: &[String],
) -> Result<Vec<Finding>, Error> {
    let rows = client.query(ALL_LINTS_SQL.as_str(), &[&exposed_schemas]).await?;
    let mut found: Vec<(usize, Finding)> = rows.iter().map(read_finding).collect();
    // PostgreSQL does not promise that the parts of a union stay in order.
    found.sort_by_key(|(index, finding)| (finding.level, *index));
    Ok(found.into_iter().map(|(_, finding)| finding).collect())
}

/// Reads a row of the statement: index of the lint, schema, name and kind of the object, the part of it that is at fault,
/// a sentence and a fix. Returns the index, too.
fn read_finding(row: &Row) -> (usize, Finding) {
    let index = usize::try_from(row.get::<_, i32>(0)).expect("an index is not negative");
    let lint: &Lint = &LINTS[index];
    let object = FindingObject {
        schema: row.get(1),
        name: row.get(2),
        kind: row.get(3),
    };
    // Two findings of a lint on one object differ in their part, such as the name of a policy.
    let part: String = row.get(4);
    let finding = Finding {
        name: lint.name,
        level: lint.level,
        title: lint.title,
        why: format!("{} {}", row.get::<_, String>(5), lint.why),
        key: format!("{}:{}.{}:{part}", lint.name, object.schema, object.name),
        object,
        fix: row.get(6),
    };
    (index, finding)
}
