//! The text in `cron.job_run_details` for a finished statement: its command tag, or the number of returned rows. Pure.

use selvedge_postgres::migrate::split_statements;
use tokio_postgres::error::DbError;

/// Returns the message for the last statement of a command. `rows` is the number that PostgreSQL reported with the command
/// tag, and `has_columns` says whether the statement returned rows.
///
/// tokio-postgres does not return the tag itself, so it is built from the statement's keywords.
pub(super) fn describe_result(command: &str, rows: u64, has_columns: bool) -> String {
    if has_columns {
        return format!("{rows} {}", if rows == 1 { "row" } else { "rows" });
    }
    let statements = split_statements(command).unwrap_or_default();
    let last = statements.last().map_or("", |statement| statement.text);
    let words: Vec<String> = words_of(last);
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    match word(0) {
        "" => "0 rows".to_owned(),
        "INSERT" => format!("INSERT 0 {rows}"),
        "UPDATE" | "DELETE" | "MERGE" | "SELECT" | "MOVE" | "FETCH" => format!("{} {rows}", word(0)),
        "WITH" => describe_with(&words, rows),
        "CREATE" | "ALTER" | "DROP" | "TRUNCATE" | "LOCK" => name_object(&words),
        "REFRESH" => "REFRESH MATERIALIZED VIEW".to_owned(),
        other => other.to_owned(),
    }
}

/// The words of a statement in capitals, without its leading comments.
fn words_of(statement: &str) -> Vec<String> {
    let mut rest = statement.trim_start();
    while rest.starts_with("--") || rest.starts_with("/*") {
        let end = if rest.starts_with("--") {
            rest.find('\n').map(|at| at + 1)
        } else {
            rest.find("*/").map(|at| at + 2)
        };
        rest = end.map_or("", |end| rest[end..].trim_start());
    }
    rest.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_uppercase)
        .collect()
}

/// `with … insert`: the last word that names a change, as the parts before it return rows to it.
fn describe_with(words: &[String], rows: u64) -> String {
    let change = words
        .iter()
        .rev()
        .find(|word| matches!(word.as_str(), "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "SELECT"));
    match change.map(String::as_str) {
        Some("INSERT") => format!("INSERT 0 {rows}"),
        Some(change) => format!("{change} {rows}"),
        None => format!("SELECT {rows}"),
    }
}

/// `CREATE TABLE` of `create or replace temporary table`.
fn name_object(words: &[String]) -> String {
    const MODIFIERS: [&str; 10] = [
        "OR",
        "REPLACE",
        "TEMP",
        "TEMPORARY",
        "UNLOGGED",
        "GLOBAL",
        "LOCAL",
        "UNIQUE",
        "RECURSIVE",
        "CONSTRAINT",
    ];
    let kind = words[1..]
        .iter()
        .find(|word| !MODIFIERS.contains(&word.as_str()))
        .map_or("", String::as_str);
    match (words[0].as_str(), kind) {
        (verb, "MATERIALIZED") => format!("{verb} MATERIALIZED VIEW"),
        (verb, "FOREIGN") => format!("{verb} FOREIGN TABLE"),
        (verb, "EVENT") => format!("{verb} EVENT TRIGGER"),
        (verb @ ("TRUNCATE" | "LOCK"), _) => format!("{verb} TABLE"),
        (verb, kind) => format!("{verb} {kind}"),
    }
}

/// An error in libpq's form.
pub(super) fn describe_error(error: &DbError) -> String {
    let mut text = format!("{}:  {}\n", error.severity(), error.message());
    for (name, part) in [
        ("DETAIL", error.detail()),
        ("HINT", error.hint()),
        ("CONTEXT", error.where_()),
    ] {
        if let Some(part) = part {
            text.push_str(&format!("{name}:  {part}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_described_by_command_tags() {
        for (command, rows, has_columns, expected) in [
            ("select 1", 1, true, "1 row"),
            ("select * from t", 3, true, "3 rows"),
            ("delete from t", 5, false, "DELETE 5"),
            ("-- tidy up\ninsert into t values (1)", 1, false, "INSERT 0 1"),
            ("select 1; update t set a = 1;", 2, false, "UPDATE 2"),
            ("with old as (select 1) delete from t", 4, false, "DELETE 4"),
            ("VACUUM", 0, false, "VACUUM"),
            ("call process_updates()", 0, false, "CALL"),
            ("create or replace view v as select 1", 0, false, "CREATE VIEW"),
            (
                "create materialized view v as select 1",
                0,
                false,
                "CREATE MATERIALIZED VIEW",
            ),
            (
                "refresh materialized view concurrently v",
                0,
                false,
                "REFRESH MATERIALIZED VIEW",
            ),
            ("truncate t", 0, false, "TRUNCATE TABLE"),
            ("do $$ begin delete from t; end $$", 0, false, "DO"),
            ("", 0, false, "0 rows"),
        ] {
            assert_eq!(describe_result(command, rows, has_columns), expected, "{command}");
        }
    }
}
