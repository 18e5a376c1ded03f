//! Hints for errors of Citus, which says what it cannot do, but rarely what to do instead.

/// For statements whose rows are on several nodes.
const OTHER_NODES: &str = "The rows are on several nodes: name the distribution column in a filter, so that one node can answer, or use several requests.";

/// For writes to views.
const WRITE_TO_TABLE: &str = "Write to the table instead of the view.";

/// For writes of roles to whose rows no policy applies.
const NO_POLICY: &str =
    "The role may write to the table, but no policy applies to it: add a policy, or revoke the privilege.";

/// Beginnings of messages, and the hints for them.
const HINTS: [(&str, &str); 17] = [
    // When no policy applies to a role, PostgreSQL plans no scan of the table, and Citus misses its shard in the plan.
    ("could not find valid entry for shard", NO_POLICY),
    // On reference tables the same makes Citus call itself until the stack is full. Functions of the project may cause this, too.
    (
        "stack depth limit exceeded",
        "Either a function calls itself without end, or the role may write to a reference table to which none of its policies applies: add a policy, or revoke the privilege.",
    ),
    (
        "cannot modify views when the query contains citus tables",
        WRITE_TO_TABLE,
    ),
    (
        "functions used in the WHERE clause of the ON CONFLICT clause",
        WRITE_TO_TABLE,
    ),
    ("cannot perform a lateral outer join", OTHER_NODES),
    ("cannot push down this subquery", OTHER_NODES),
    ("complex joins are only supported", OTHER_NODES),
    ("correlated subqueries are not supported", OTHER_NODES),
    ("direct joins between distributed and local tables", OTHER_NODES),
    ("could not run distributed query", OTHER_NODES),
    (
        "Distributed queries with outer joins and pseudoconstant quals",
        OTHER_NODES,
    ),
    (
        "modifying the partition value of rows is not allowed",
        "Leave the distribution column out of the update.",
    ),
    (
        "the partition column of table",
        "Give the distribution column a value in each row.",
    ),
    (
        "no matching oid for function",
        "This aggregate cannot be computed over several nodes.",
    ),
    (
        "non-IMMUTABLE functions are not allowed in the RETURNING clause",
        "Select the computed columns in a second request.",
    ),
    (
        "could not create distributed plan",
        "Citus cannot run this SQL function on distributed tables: write it in PL/pgSQL.",
    ),
    (
        "cannot execute a distributed query from a query on a shard",
        "A policy or trigger reads another distributed table: set citus.allow_nested_distributed_execution = on for the API's roles, or write it without that table.",
    ),
];

/// Returns the hint for a message of Citus; `None` for all other messages.
pub(super) fn find_hint(message: &str) -> Option<String> {
    // An INSTEAD OF trigger makes a view writable for PostgreSQL, but Citus looks for a table.
    let is_view = message.starts_with("relation ") && message.ends_with(" is not distributed");
    let known = HINTS.iter().find(|(beginning, _)| message.starts_with(beginning));
    let hint = known
        .map(|(_, hint)| *hint)
        .or_else(|| is_view.then_some(WRITE_TO_TABLE))?;
    Some(hint.to_owned())
}
