//! Runs scripts that were written for psql, without psql, which not every PostgreSQL comes with.
//!
//! In: a connection and a file. Out: the rows of all queries as psql prints them without headings and alignment
//! (`-A -t`), and the first error, at which a script stops (`ON_ERROR_STOP`). Every statement is sent by itself, so that
//! it commits unless the script has opened a transaction.

mod error;
mod script;
mod variables;

use std::path::Path;

use tokio_postgres::{Client, SimpleQueryMessage};

pub use error::PsqlError;

use self::{
    script::{Script, Step},
    variables::Variables,
};

/// Runs a file, and calls `print` with each line of its output.
///
/// # Errors
/// [`PsqlError`] at the first statement or command that fails; what was printed before it stays printed.
pub async fn run_psql_file(
    client: &Client,
    path: &Path,
    mut print: impl FnMut(&str),
) -> Result<(), PsqlError> {
    let mut variables = Variables::default();
    let mut script = Script::open(path)?;
    while let Some(step) = script.next_step()? {
        match step {
            Step::Statement { text, path, line } => {
                let messages = client
                    .simple_query(&variables.interpolate(&text))
                    .await
                    .map_err(|source| PsqlError::statement(&path, line, source))?;
                for message in messages {
                    if let SimpleQueryMessage::Row(row) = message {
                        let fields: Vec<&str> = (0..row.len())
                            .map(|index| row.get(index).unwrap_or_default())
                            .collect();
                        fields.join("|").lines().for_each(&mut print);
                    }
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
