//! A check of generated SQL for tests and fuzzing: that nothing a client sent has left its quotes.

use selvedge_postgres::SqlStatement;

/// Whether a statement, its quoted names left out, is free of what a name or value that broke out of its quotes would
/// leave behind.
pub(crate) fn is_sound(statement: &SqlStatement) -> bool {
    // Every other part between quotes is a name; a doubled quote inside of a name splits it into two such parts.
    let outside: String = statement.text.split('"').step_by(2).collect();
    statement.text.matches('"').count().is_multiple_of(2)
        && !outside.contains(';')
        && !outside.contains("--")
        && !outside.contains("/*")
        && !outside.contains('\0')
}
