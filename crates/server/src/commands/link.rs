//! `selvedge link` and `unlink`: record the address of a database, on which commands work with `--linked`.
//!
//! The address holds a password. It is in a file that only its owner may read, in a folder that is not committed.

use std::fs;
use std::io::{ErrorKind, IsTerminal};

use anyhow::{Context, Result, anyhow, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_config::{Config, Environment, Project, link_file, read_link};
use selvedge_database::external::ExternalDatabase;
use selvedge_project_trust::{check_place, write_private_file};
use selvedge_terminal::{DIM, GOOD, ask_secret};
use url::Url;

use crate::cli::LinkArgs;

/// What is asked of a database that is linked.
const DESCRIBE: &str = "
    select current_setting('server_version_num')::int / 10000 as version,
        to_regclass('supabase_migrations.schema_migrations') is not null as has_history";

/// Runs `selvedge link`.
///
/// # Errors
/// When the address is malformed or nobody answers there, or the file cannot be written.
pub(super) async fn link(config: &Config, args: &LinkArgs) -> Result<()> {
    let Some(address) = &args.db_url else {
        if args.project_ref.is_some() {
            bail!(
                "hosted projects are linked by the stock CLI\n  to link the database of a `selvedge serve`:  selvedge link \
                 --db-url postgresql://postgres@HOST:5432/postgres"
            );
        }
        return print_link(config);
    };
    let url = complete_url(address, args.password.as_deref(), &Environment::of_process())?;
    let database = ExternalDatabase::parse_named("--db-url", &url)?;
    let found = match args.no_check {
        true => None,
        false => Some(describe(&database).await?),
    };
    write_link(&config.project, &url)?;
    anstream::println!("{GOOD}linked{GOOD:#} to {}", database.address());
    if let Some(found) = found {
        anstream::println!("  {found}");
    }
    anstream::println!(
        "  {DIM}db push, pull, dump, diff, query, migration … and gen types work on it with --linked{DIM:#}"
    );
    Ok(())
}

/// Runs `selvedge unlink`.
///
/// # Errors
/// When the file cannot be deleted.
pub(super) fn unlink(config: &Config) -> Result<()> {
    let file = link_file(&config.project.folder);
    check_place(&config.project, file.parent().unwrap_or(&file))?;
    match fs::remove_file(&file) {
        Ok(()) => anstream::println!("{GOOD}unlinked{GOOD:#} {}", config.project.id),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            anstream::println!("{} is linked to no database", config.project.id);
        }
        Err(error) => return Err(error).with_context(|| format!("cannot delete {}", file.display())),
    }
    Ok(())
}

/// Prints the recorded address without its password.
fn print_link(config: &Config) -> Result<()> {
    match read_link(&config.project.folder).map_err(|reason| anyhow!(reason))? {
        Some(url) => {
            let database = ExternalDatabase::parse_named("the recorded address", &url)?;
            anstream::println!("{} is linked to {}", config.project.id, database.address());
        }
        None => anstream::println!(
            "{} is linked to no database\n  link it:  selvedge link --db-url URL",
            config.project.id
        ),
    }
    Ok(())
}

/// Returns the address with a password: its own, the argument, the variable, or one that is typed.
fn complete_url(address: &str, argument: Option<&str>, environment: &Environment) -> Result<SecretString> {
    let given: SecretString = address.to_owned().into();
    let database = ExternalDatabase::parse_named("--db-url", &given)?;
    if database.login().get_password().is_some() {
        return Ok(given);
    }
    let password: SecretString = match argument.or_else(|| environment.get("SUPABASE_DB_PASSWORD")) {
        Some(password) => password.to_owned().into(),
        None if std::io::stdin().is_terminal() => ask_secret("Password of the database: ")?,
        // The server may let this machine in without one.
        None => return Ok(given),
    };
    let mut url = Url::parse(address).context("--db-url needs its password in the address")?;
    url.set_password(Some(password.expose_secret()))
        .map_err(|()| anyhow!("--db-url needs its password in the address"))?;
    Ok(String::from(url).into())
}

/// Connects, and says what is there.
async fn describe(database: &ExternalDatabase) -> Result<String> {
    let client = database.connect().await?;
    let row = client.query_one(DESCRIBE, &[]).await?;
    let version: i32 = row.get("version");
    if !row.get::<_, bool>("has_history") {
        return Ok(format!("PostgreSQL {version}, without a history of migrations"));
    }
    // The table is the project's, so a superuser does not read it.
    if client.is_superuser() {
        return Ok(format!("PostgreSQL {version}, with a history of migrations"));
    }
    let query = "select count(*) from supabase_migrations.schema_migrations";
    let count: i64 = client.query_one(query, &[]).await?.get(0);
    Ok(format!("PostgreSQL {version}, {count} migrations in its history"))
}

fn write_link(project: &Project, url: &SecretString) -> Result<()> {
    let file = link_file(&project.folder);
    let folder = file.parent().unwrap_or(&project.folder);
    check_place(project, folder)?;
    check_place(project, &folder.join(".gitignore"))?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // A project that was not made by `init` may commit the folder otherwise.
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").with_context(|| format!("cannot write {}", ignore.display()))?;
    }
    write_private_file(&file, url.expose_secret()).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_032_a_link_gets_the_password_that_its_address_lacks() {
        let environment: Environment = [("SUPABASE_DB_PASSWORD", "p@ss/word")].into_iter().collect();
        let complete = |address, argument| {
            let url = complete_url(address, argument, &environment).unwrap();
            let database = ExternalDatabase::parse_named("it", &url).unwrap();
            String::from_utf8(database.login().get_password().unwrap().to_vec()).unwrap()
        };

        assert_eq!(
            complete("postgresql://a:own@db.example/postgres", Some("x")),
            "own"
        );
        assert_eq!(complete("postgresql://a@db.example/postgres", Some("x y")), "x y");
        assert_eq!(complete("postgresql://a@db.example/postgres", None), "p@ss/word");
    }
}
