//! Which statements of a file run together in a transaction, and which alone outside of one. Source: the Supabase CLI 3.1.0, which
//! splits a file at the same statements. Pure.

use std::ops::Range;

use super::split::Statement;
use super::statement_reader::StatementReader;
use super::transaction_control::has_control;

/// The first line of a file whose statements all run alone.
const WITHOUT_TRANSACTION: &str = "-- pg-delta: transaction=false";

/// Statements of a file, by their indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// These run in one transaction.
    Together(Range<usize>),
    /// This one runs outside of a transaction.
    Alone(usize),
}

/// Whether a file's first line says that nothing of it runs in a transaction.
pub(super) fn is_without_transaction(text: &str) -> bool {
    text.strip_prefix('\u{feff}').unwrap_or(text).lines().next() == Some(WITHOUT_TRANSACTION)
}

/// Splits a file into its parts. The last one is a [`Part::Together`], which may be empty: the file counts as applied with it.
pub(super) fn split_parts(statements: &[Statement<'_>], is_without_transaction: bool) -> Vec<Part> {
    let alone: Vec<bool> = statements
        .iter()
        .map(|statement| runs_alone(statement.text))
        .collect();
    // A file that begins and ends transactions itself says what runs in them.
    let all_alone = is_without_transaction || (alone.contains(&true) && has_control(statements));
    let (mut parts, mut start) = (Vec::new(), 0);
    for (index, alone) in alone.into_iter().enumerate() {
        if alone || all_alone {
            if start < index {
                parts.push(Part::Together(start..index));
            }
            parts.push(Part::Alone(index));
            start = index + 1;
        }
    }
    parts.push(Part::Together(start..statements.len()));
    parts
}

/// Whether PostgreSQL refuses a statement inside of a transaction.
fn runs_alone(statement: &str) -> bool {
    let mut words = StatementReader::new(statement);
    if words.take("vacuum") || words.take("cluster") {
        return true;
    }
    if words.take("reindex") {
        return words.position_of(&["concurrently"]).is_some();
    }
    if words.take("alter") {
        return words.take("system");
    }
    let creates = words.take("create");
    if !creates && !words.take("drop") {
        return false;
    }
    if words.take("database") || words.take("tablespace") {
        return true;
    }
    let _ = creates && words.take("unique");
    words.take("index") && words.take("concurrently")
}

#[cfg(test)]
mod tests {
    use super::super::split::split_statements;
    use super::*;

    fn parts(sql: &str) -> Vec<Part> {
        split_parts(
            &split_statements(sql).expect("splits"),
            is_without_transaction(sql),
        )
    }

    #[test]
    fn gw_021_statements_that_postgresql_refuses_in_a_transaction_run_alone() {
        for alone in [
            "create index concurrently i on t (id)",
            "-- why\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON t (id)",
            "drop index concurrently i",
            "reindex (verbose) table concurrently t",
            "vacuum analyze t",
            "vacuum(full) t",
            "cluster t",
            "alter system set work_mem = '4MB'",
            "create database other",
        ] {
            assert!(runs_alone(alone), "{alone}");
        }
        for together in [
            "create index i on t (id)",
            "create index \"concurrently\" on t (id)",
            "drop index i",
            "reindex table t",
            "refresh materialized view concurrently v",
            "alter type mood add value 'sad'",
            "analyze t",
            "create table vacuum (id int)",
            "select 'create index concurrently i on t (id)'",
        ] {
            assert!(!runs_alone(together), "{together}");
        }
    }

    #[test]
    fn gw_021_the_statements_around_them_keep_their_order_and_their_transactions() {
        assert_eq!(parts("select 1; select 2"), [Part::Together(0..2)]);
        assert_eq!(
            parts("select 1; vacuum; vacuum t; select 2; select 3"),
            [
                Part::Together(0..1),
                Part::Alone(1),
                Part::Alone(2),
                Part::Together(3..5)
            ]
        );
        assert_eq!(parts("vacuum"), [Part::Alone(0), Part::Together(1..1)]);
        assert_eq!(parts(""), [Part::Together(0..0)]);
    }

    #[test]
    fn gw_021_a_file_that_manages_its_transactions_runs_statement_by_statement() {
        let alone = |count| {
            (0..count)
                .map(Part::Alone)
                .chain([Part::Together(count..count)])
                .collect::<Vec<_>>()
        };

        assert_eq!(parts("begin; select 1; commit; vacuum"), alone(4));
        assert_eq!(parts("begin; select 1; commit"), [Part::Together(0..3)]);
        assert_eq!(
            parts("-- pg-delta: transaction=false\r\nselect 1; select 2"),
            alone(2)
        );
        assert_eq!(
            parts("select 1;\n-- pg-delta: transaction=false\nselect 2"),
            [Part::Together(0..2)]
        );
    }
}
