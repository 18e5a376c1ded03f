//! Transactions that a file begins and ends itself. Each file runs in one transaction with its history row; a `begin` or
//! `commit` in it would end that one early. Pure.

use super::split::Statement;
use super::statement_reader::StatementReader;

/// What a statement does to the transaction in which it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    Begin,
    Commit,
    Rollback,
}

fn control_of(statement: &str) -> Option<Control> {
    let mut reader = StatementReader::new(statement);
    if reader.take("begin") || (reader.take("start") && reader.take("transaction")) {
        return Some(Control::Begin);
    }
    let control = if reader.take("commit") || reader.take("end") {
        Control::Commit
    } else if reader.take("rollback") || reader.take("abort") {
        Control::Rollback
    } else {
        return None;
    };
    // `commit prepared`, `rollback prepared` and `rollback to` leave the transaction as it is.
    let _ = reader.take("work") || reader.take("transaction");
    (!reader.take("prepared") && !reader.take("to")).then_some(control)
}

/// Leaves out a pair of `begin` and `commit` around the whole file: the file runs in a transaction anyway, and this pair would
/// commit it without its row in the history.
pub(super) fn without_outer_pair(mut statements: Vec<Statement<'_>>) -> Vec<Statement<'_>> {
    let controls: Vec<Option<Control>> = statements
        .iter()
        .map(|statement| control_of(statement.text))
        .collect();
    let inner = controls
        .get(1..controls.len().saturating_sub(1))
        .unwrap_or_default();
    let is_pair = controls.len() >= 2
        && controls.first() == Some(&Some(Control::Begin))
        && controls.last() == Some(&Some(Control::Commit))
        && inner.iter().all(Option::is_none);
    if is_pair {
        statements.pop();
        statements.remove(0);
    }
    statements
}

/// Whether a file begins or ends transactions itself.
pub(super) fn has_control(statements: &[Statement<'_>]) -> bool {
    statements
        .iter()
        .any(|statement| control_of(statement.text).is_some())
}

/// The lines of statements that end the file's transaction, so that what is before them stays when a later one fails.
pub(super) fn find_commits(statements: &[Statement<'_>]) -> Vec<usize> {
    let ends = |statement: &&Statement<'_>| {
        matches!(
            control_of(statement.text),
            Some(Control::Commit | Control::Rollback)
        )
    };
    statements
        .iter()
        .filter(ends)
        .map(|statement| statement.line)
        .collect()
}

/// The line of the last `commit` before a line, up to which a file that failed there has taken effect.
pub(super) fn last_commit_before(statements: &[Statement<'_>], line: usize) -> Option<usize> {
    statements
        .iter()
        .filter(|statement| statement.line < line && control_of(statement.text) == Some(Control::Commit))
        .map(|statement| statement.line)
        .next_back()
}

#[cfg(test)]
mod tests {
    use super::super::split::split_statements;
    use super::*;

    fn kept(sql: &str) -> Vec<&str> {
        let statements = without_outer_pair(split_statements(sql).expect("splits"));
        statements.into_iter().map(|statement| statement.text).collect()
    }

    #[test]
    fn gw_021_a_pair_around_the_whole_file_is_left_out() {
        assert_eq!(
            kept("BEGIN;\nselect 1;\nselect 2;\nCOMMIT;"),
            ["select 1", "select 2"]
        );
        assert_eq!(kept("start transaction;select 1;end work;"), ["select 1"]);
        assert_eq!(kept("begin; commit;"), Vec::<&str>::new());
        for other in [
            "begin;select 1;rollback;",
            "begin;select 1;commit;begin;select 2;commit;",
            "select 1; commit",
        ] {
            assert_eq!(
                kept(other).len(),
                split_statements(other).expect("splits").len(),
                "{other}"
            );
        }
    }

    #[test]
    fn gw_021_statements_that_end_the_transaction_are_found() {
        let text = "create table a ();\ncommit;\ncreate table b ();\nrollback to savepoint x;\ncommit prepared 'y';\nend;\nselect 1";
        let statements = split_statements(text).expect("splits");

        assert_eq!(find_commits(&statements), [2, 6]);
        assert_eq!(last_commit_before(&statements, 7), Some(6));
        assert_eq!(last_commit_before(&statements, 2), None);
        let body = split_statements(
            "create procedure p() begin atomic select 1; end; select case when true then 1 end",
        );
        assert_eq!(find_commits(&body.expect("splits")), Vec::<usize>::new());
    }
}
