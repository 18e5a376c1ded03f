//! `selvedge console user`: adds, changes and removes accounts of the console. No SQL of the project does this, because `postgres` has no right to write them.

use std::io::IsTerminal as _;

use anyhow::{Result, bail};
use secrecy::{ExposeSecret as _, SecretString};
use selvedge_config::Config;
use selvedge_console::{Level, add_account, list_accounts, remove_account, set_account_level};
use selvedge_database::target::run_as_console;
use selvedge_terminal::{DIM, GOOD, ask_secret, read_line};

use crate::cli::{ConsoleArea, ConsoleArgs, UserAction};

/// Runs `selvedge console user`.
///
/// # Errors
/// When there is no such account, the name or password is refused, or the database does not respond.
pub(super) async fn run(config: &Config, args: ConsoleArgs) -> Result<()> {
    let ConsoleArea::User(action) = args.area;
    match action {
        UserAction::Add { name, level } => add(config, &name, level).await,
        UserAction::List => list(config).await,
        UserAction::Remove { name } => {
            run_as_console(config, async |client| Ok(remove_account(client, &name).await?)).await?;
            anstream::println!("{GOOD}removed{GOOD:#} {name}; its sessions have ended");
            Ok(())
        }
        UserAction::SetLevel { name, level } => {
            run_as_console(config, async |client| {
                Ok(set_account_level(client, &name, level).await?)
            })
            .await?;
            anstream::println!("{GOOD}changed{GOOD:#} {name} to {level}; its sessions have ended");
            Ok(())
        }
    }
}

async fn add(config: &Config, name: &str, level: Level) -> Result<()> {
    let password = ask_password(name)?;
    run_as_console(config, async |client| {
        Ok(add_account(client, name, level, &password).await?)
    })
    .await?;
    anstream::println!("{GOOD}added{GOOD:#} {name} as {level}");
    Ok(())
}

async fn list(config: &Config) -> Result<()> {
    let accounts = run_as_console(config, async |client| Ok(list_accounts(client).await?)).await?;
    if accounts.is_empty() {
        anstream::println!("no accounts; make one with:  selvedge console user add NAME --level viewer");
    }
    for account in accounts {
        let since = account.created_at.format("%Y-%m-%d");
        anstream::println!(
            "  {:<8} {} {DIM}since {since}, {} sessions{DIM:#}",
            account.level,
            account.name,
            account.sessions
        );
    }
    Ok(())
}

/// Reads the password: twice and unseen in a terminal, else the first line of standard input, for scripts. An argument would
/// be seen by every user of the machine.
fn ask_password(name: &str) -> Result<SecretString> {
    if !std::io::stdin().is_terminal() {
        return read_line();
    }
    let password = ask_secret(&format!("Password for {name}: "))?;
    let again = ask_secret("Once more: ")?;
    if password.expose_secret() != again.expose_secret() {
        bail!("the two passwords differ");
    }
    Ok(password)
}
