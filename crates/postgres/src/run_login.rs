//! A login of the rights of `postgres` for one run of a command, where only a superuser's password is known.
//!
//! A session that was authenticated as a superuser stays one: `set role` and `set session authorization` are undone by any statement
//! that follows. So SQL of the project (migrations, seeds, tests, dumps) runs in a session that was authenticated as another role. The
//! superuser makes it for the run, a member of `postgres` with a password by chance that is valid for minutes, and drops it at the end.

use std::sync::{Mutex, PoisonError};

use secrecy::{ExposeSecret, SecretString};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error};

use crate::database::name_application;
use crate::hosts::open_session;
use crate::migrate::scram_verifier;
use crate::{PrivilegedSession, quote_identifier, quote_literal};

/// Names of the roles begin with this; `sql/platform` knows it, too.
const NAME_PREFIX: &str = "selvedge_run_";

/// Roles of runs that were killed: they have no session, and nobody can log in as them any more.
const LEFTOVERS: &str = "
    select a.rolname::pg_catalog.text from pg_catalog.pg_authid as a
    where a.rolname operator(pg_catalog.~) '^selvedge_run_[0-9a-f]{16}$'::pg_catalog.text
      and a.rolvaliduntil operator(pg_catalog.<) pg_catalog.now()
      and not exists (
        select from pg_catalog.pg_stat_activity as s where s.usesysid operator(pg_catalog.=) a.oid
      )";

/// The session begins with the settings that a login of `postgres` has.
const COPY_SETTINGS: &str = "
    insert into pg_catalog.pg_db_role_setting (setdatabase, setrole, setconfig)
    select s.setdatabase, run.oid, s.setconfig
    from pg_catalog.pg_db_role_setting as s
    join pg_catalog.pg_authid as p on p.oid operator(pg_catalog.=) s.setrole
    cross join pg_catalog.pg_authid as run
    where p.rolname operator(pg_catalog.=) 'postgres'::pg_catalog.name
      and run.rolname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name";

/// Tasks that drop the role of a session that has ended.
static ENDINGS: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// A role that exists until [`RunLogin::drop_role`], or until the session of [`RunLogin::open_session`] ends.
pub struct RunLogin {
    superuser: PrivilegedSession,
    name: String,
    config: Config,
}

impl RunLogin {
    /// Creates the role. `config` has the address of the database that `superuser` is connected to.
    ///
    /// # Errors
    /// When PostgreSQL refuses, for example on a standby.
    pub async fn create(superuser: PrivilegedSession, config: &Config) -> Result<Self, Error> {
        Self::create_with(superuser, config, "inherit", &["postgres"]).await
    }

    /// Creates a role that writes whole databases: it passes row-level security by, and is also a member of `roles`, whose tables it
    /// writes. Its sessions begin as `postgres`, too, and may become the role itself, which has no default privileges.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn create_for_import(
        superuser: PrivilegedSession,
        config: &Config,
        roles: &[&str],
    ) -> Result<Self, Error> {
        Self::create_with(
            superuser,
            config,
            "inherit bypassrls",
            &[&["postgres"], roles].concat(),
        )
        .await
    }

    async fn create_with(
        superuser: PrivilegedSession,
        config: &Config,
        attributes: &str,
        roles: &[&str],
    ) -> Result<Self, Error> {
        for row in superuser.query(LEFTOVERS, &[]).await? {
            // Another run may drop it at the same time.
            drop_role(&superuser, row.get(0)).await.ok();
        }
        let name = format!("{NAME_PREFIX}{}", random_hex::<8>());
        let password = SecretString::from(random_hex::<24>());
        let valid_until = "select (pg_catalog.now() operator(pg_catalog.+) '15 minutes'::pg_catalog.interval)::pg_catalog.text";
        let valid_until: String = superuser.query_one(valid_until, &[]).await?.get(0);
        let roles: Vec<String> = roles.iter().map(|role| quote_identifier(role)).collect();
        let create = format!(
            "create role {} login {attributes} password '{}' valid until {} in role {}",
            quote_identifier(&name),
            scram_verifier(&password),
            quote_literal(&valid_until),
            roles.join(", ")
        );
        superuser.batch_execute(&create).await?;
        superuser.execute(COPY_SETTINGS, &[&name]).await?;
        let mut config = config.clone();
        config.user(&name).password(password.expose_secret());
        become_postgres(&mut config);
        Ok(Self {
            superuser,
            name,
            config,
        })
    }

    /// The name of the role.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How to log in, for other programs.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Opens the session. The role is dropped when it has ended; see [`finish_run_logins`].
    ///
    /// # Errors
    /// When the login fails.
    pub async fn open_session(self) -> Result<Client, Error> {
        let (client, connection) = match open_session(&name_application(&self.config)).await {
            Ok(opened) => opened,
            Err(error) => {
                self.drop_role().await.ok();
                return Err(error);
            }
        };
        let ended = tokio::spawn(async move {
            connection.run().await;
            if let Err(error) = self.drop_role().await {
                tracing::warn!(%error, "the role of this run could not be dropped; the next run does so");
            }
        });
        let mut endings = ENDINGS.lock().unwrap_or_else(PoisonError::into_inner);
        endings.retain(|other| !other.is_finished());
        endings.push(ended);
        Ok(client)
    }

    /// Drops the role, and gives what it owns to `postgres`.
    ///
    /// # Errors
    /// When PostgreSQL refuses.
    pub async fn drop_role(self) -> Result<(), Error> {
        drop_role(&self.superuser, &self.name).await
    }
}

/// Waits until the roles of sessions that have ended are dropped: before the program ends.
pub async fn finish_run_logins() {
    let endings = std::mem::take(&mut *ENDINGS.lock().unwrap_or_else(PoisonError::into_inner));
    for ending in endings {
        ending.await.ok();
    }
}

/// Makes the session begin as `postgres`, of whom the login is a member, also after `reset role`.
pub fn become_postgres(config: &mut Config) {
    let given = config.get_options().unwrap_or_default().to_owned();
    config.options(format!("{given} -c role=postgres").trim_start());
}

async fn drop_role(superuser: &Client, name: &str) -> Result<(), Error> {
    let name = quote_identifier(name);
    // A migration may say `set role none` and then create something.
    let statements = format!("reassign owned by {name} to postgres; drop owned by {name}; drop role {name}");
    superuser.batch_execute(&statements).await
}

fn random_hex<const BYTES: usize>() -> String {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).expect("the operating system has random bytes");
    hex::encode(random)
}
