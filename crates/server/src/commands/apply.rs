//! Applies pending migrations: `migrate up` and `db push`.

use anyhow::Result;
use selvedge_config::Config;
use selvedge_database::embedded::{self, Embedded};
use selvedge_database::external::apply_platform_to_external;
use selvedge_database::home::is_home;
use selvedge_database::target::TargetDatabase;
use selvedge_terminal::GOOD;

/// Applies the platform's schema if it is missing or old, then the project's migrations, and prints what it has applied.
pub(super) async fn apply_migrations(config: &Config) -> Result<()> {
    let applied = match TargetDatabase::find_or_allow_start(config).await? {
        Some(TargetDatabase::External(database)) => {
            // The platform schema needs a superuser; the project's migrations must not have one, so they have a session of their own.
            drop(apply_platform_to_external(config, &database).await?);
            embedded::apply_migrations(config, &database.connect_as_postgres().await?).await?
        }
        Some(database) => {
            let mut administrator = database.connect().await?;
            match is_home(config) {
                true => embedded::bring_up_project(config, &mut administrator, false).await?,
                false => embedded::apply_migrations(config, &administrator).await?,
            }
        }
        None => {
            // Starting the cluster applies pending migrations already.
            let embedded = Embedded::start(config).await?;
            let applied = embedded.report.migrations.clone();
            embedded.cluster.stop().await?;
            applied
        }
    };
    match applied.as_slice() {
        [] => anstream::println!("{GOOD}up to date{GOOD:#}"),
        applied => print_applied("applied", applied),
    }
    Ok(())
}

fn print_applied(what: &str, names: &[String]) {
    for name in names {
        anstream::println!("{GOOD}{what}{GOOD:#} {name}");
    }
}
