//! Runs scripts that were written for psql, without psql, which not every PostgreSQL comes with.
//!
//! In: a connection and a file. Out: the rows of all queries as psql prints them without headings and alignment
//! (`-A -t`), and the first error, at which a script stops (`ON_ERROR_STOP`). Every statement is sent by itself, so that
//! it commits unless the script has opened a transaction.

mod error;
mod script;
mod variables;

use std::path::Path;

use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

pub use error::PsqlError;

use self::{
    script::{Output, Script, Step},
    variables::Variables,
};

/// Runs a file, and calls `print` with each line of its output. `may_include` says which files it, or one that it includes, may include.
///
/// # Errors
/// [`PsqlError`] at the first statement or command that fails; what was printed before it stays printed.
pub async fn run_psql_file(
    client: &Client,
    path: &Path,
    may_include: impl Fn(&Path) -> bool,
    mut print: impl FnMut(&str),
) -> Result<(), PsqlError> {
    let mut variables = Variables::default();
    let mut script = Script::open(path, may_include)?;
    while let Some(step) = script.next_step()? {
        match step {
            Step::Statement {
                text,
                path,
                line,
                output,
            } => {
                let messages = client
                    .simple_query(&variables.interpolate(&text))
                    .await
                    .map_err(|source| PsqlError::statement(&path, line, source))?;
                let rows: Vec<SimpleQueryRow> = messages.into_iter().filter_map(into_row).collect();
                match output {
                    Output::Print => print_rows(&rows, &mut print),
                    Output::Variables { prefix } => set_from_row(&mut variables, &prefix, &rows)
                        .map_err(|message| PsqlError::command(&path, line, message.to_owned()))?,
                }
            }
            Step::Set { name, value } => variables.set(name, value),
            Step::Unset { name } => variables.unset(&name),
            Step::Echo { text } => print(&text),
            Step::Ignore => {}
        }
    }
    Ok(())
}

fn into_row(message: SimpleQueryMessage) -> Option<SimpleQueryRow> {
    match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    }
}

fn print_rows(rows: &[SimpleQueryRow], print: &mut impl FnMut(&str)) {
    for row in rows {
        let fields: Vec<&str> = (0..row.len())
            .map(|index| row.get(index).unwrap_or_default())
            .collect();
        fields.join("|").lines().for_each(&mut *print);
    }
}

/// Sets a variable for each column of the only row, and unsets those whose column is null, as psql does.
fn set_from_row(
    variables: &mut Variables,
    prefix: &str,
    rows: &[SimpleQueryRow],
) -> Result<(), &'static str> {
    let row = match rows {
        [row] => row,
        [] => return Err("no rows returned for \\gset"),
        _ => return Err("more than one row returned for \\gset"),
    };
    for (index, column) in row.columns().iter().enumerate() {
        let name = format!("{prefix}{}", column.name());
        match row.get(index) {
            Some(value) => variables.set(name, value.to_owned()),
            None => variables.unset(&name),
        }
    }
    Ok(())
}
