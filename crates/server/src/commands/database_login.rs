//! `selvedge database login`: logins of people and their programs to the database of a home, which they reach through its gate.

use anyhow::{Context as _, Result, bail};
use secrecy::{ExposeSecret as _, SecretString};
use selvedge_config::Config;
use selvedge_database::embedded;
use selvedge_database::home::is_home;
use selvedge_database::people::{
    add_login, list_definer_functions, list_logins, remove_login, settle_logins,
};
use selvedge_postgres::PrivilegedSession;
use selvedge_postgres::cluster::{DATABASE, RunningCluster};
use selvedge_terminal::{BOLD, DIM, GOOD, WARN, print_warnings, show_foreign};

use crate::cli::{AddLoginArgs, DatabaseArea, DatabaseArgs, LoginAction};

/// The most functions that a warning names.
const MAX_LISTED_FUNCTIONS: usize = 10;
/// Random bytes in a password.
const PASSWORD_BYTES: usize = 24;

/// Runs `selvedge database login`.
///
/// # Errors
/// Outside of a home, while its PostgreSQL does not run, and when the database refuses the change.
pub(super) async fn run(config: &Config, args: DatabaseArgs) -> Result<()> {
    let DatabaseArea::Login(action) = args.area;
    if !is_home(config) || config.selvedge.database_url.is_some() {
        bail!(
            "logins for people are made in the database of `selvedge serve --data-dir`\n  on another server:  create role … login, as its \
             superuser"
        );
    }
    let running = RunningCluster::find(&config.selvedge.data_dir).await?;
    let running = running.with_context(|| format!("PostgreSQL of {} does not run", config.project.id))?;
    let superuser = embedded::connect_privileged(&running.superuser_login()).await?;
    embedded::bring_platform_up_to_date(&running, &superuser).await?;
    match action {
        LoginAction::Add(args) => add(config, &running, &superuser, &args).await,
        LoginAction::List => list(&superuser).await,
        LoginAction::Remove { name } => {
            let owner = embedded::connect(&embedded::login_to_running(&running, "postgres")).await?;
            let former = remove_login(&superuser, &owner, &name).await?;
            let name = show_foreign(&name);
            anstream::println!("{GOOD}removed{GOOD:#} {name}; its sessions have ended");
            if let Some(former) = former {
                anstream::println!(
                    "  what it owned belongs to {former}, as which nobody logs in. To take it over, after a look at functions in its indexes:\n  \
                     reassign owned by {former} to postgres; drop owned by {former}; drop role {former}"
                );
            }
            Ok(())
        }
    }
}

async fn add(
    config: &Config,
    running: &RunningCluster,
    superuser: &PrivilegedSession,
    args: &AddLoginArgs,
) -> Result<()> {
    let Some(gate) = &config.selvedge.database_gate else {
        bail!(
            "logins come through the gate, which is off\n  to open it:  SELVEDGE_DATABASE_GATE_PORT=5432 in the server's environment, and a \
             restart (docs/operations.md)"
        );
    };
    let owner = embedded::connect(&embedded::login_to_running(running, "postgres")).await?;
    let password = make_password();
    print_warnings(&settle_logins(superuser).await?);
    add_login(superuser, &owner, &args.name, args.write, &password).await?;
    let does = if args.write { "reads and writes" } else { "reads" };
    anstream::println!(
        "{GOOD}added{GOOD:#} {} {DIM}{does} the project's tables{DIM:#}",
        args.name
    );
    // Without a certificate the gate lets in programs of this machine alone.
    let (host, encryption) = match (config.acme(), &config.api.tls) {
        (Some(section), _) => (
            section.domains.first().map_or("HOST", String::as_str),
            "?sslmode=verify-full&sslrootcert=system",
        ),
        (None, Some(_)) => ("HOST", "?sslmode=verify-full"),
        (None, None) => ("127.0.0.1", ""),
    };
    anstream::println!(
        "  {BOLD}postgresql://{}:{}@{host}:{}/{DATABASE}{encryption}{BOLD:#}",
        args.name,
        password.expose_secret(),
        gate.port
    );
    anstream::println!(
        "  The password is shown once. The login may have 5 connections, and 60 s for a statement unless it sets another limit."
    );
    if !args.write {
        warn_of_functions(&list_definer_functions(superuser).await?);
    }
    Ok(())
}

/// Names functions that write for whoever may not.
fn warn_of_functions(names: &[String]) {
    if names.is_empty() {
        return;
    }
    let shown = names
        .iter()
        .take(MAX_LISTED_FUNCTIONS)
        .map(|name| show_foreign(name))
        .collect::<Vec<_>>()
        .join(", ");
    let more = if names.len() > MAX_LISTED_FUNCTIONS {
        ", …"
    } else {
        ""
    };
    anstream::println!(
        "  {WARN}warning{WARN:#} it may run functions that have the rights of postgres (security definer), and what they write:  {shown}{more}\n  \
         to take that away:  revoke execute on function … from public"
    );
}

async fn list(superuser: &PrivilegedSession) -> Result<()> {
    let logins = list_logins(superuser).await?;
    if logins.is_empty() {
        anstream::println!("no logins; make one with:  selvedge database login add NAME --read-only");
    }
    for login in logins {
        let does = match login {
            _ if !login.may_log_in => "removed",
            _ if login.writes => "write",
            _ => "read-only",
        };
        anstream::println!(
            "  {does:<10} {} {DIM}{} sessions{DIM:#}",
            show_foreign(&login.name),
            login.sessions
        );
        if let Some(statements) = &login.further_memberships {
            anstream::println!(
                "             {WARN}refused{WARN:#} by the gate, as other roles were granted to it; the next start of the server takes them back, or:  {}",
                show_foreign(statements)
            );
        }
    }
    Ok(())
}

fn make_password() -> SecretString {
    let mut random = [0; PASSWORD_BYTES];
    getrandom::fill(&mut random).expect("the operating system has random bytes");
    hex::encode(random).into()
}
