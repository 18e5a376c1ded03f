//! Sessions that may have more rights than `postgres`: those of the superuser, for the platform schema, backups and imports.
//!
//! `postgres` owns the database, so it may set parameters for every login to it (`alter database … set`), and it may create functions
//! and operators in schemas of a search path. [`PrivilegedLogin::connect`] is the only function that opens such a session, with
//! settings that win over those of role and database, and only in a database whose platform schema is a superuser's
//! (`trusted_database`). What runs in it reads catalogs and objects of a superuser only, with qualified names: code of the project
//! (triggers, index predicates, event triggers) must never see a superuser.

use std::ops::Deref;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage};

use crate::hosts::{WITHOUT_EVENT_TRIGGERS, open_session};

mod trusted_database;

pub use trusted_database::{DATABASE_NUMBER, DROPPED_DATABASE, REPLACED_DATABASE};
use trusted_database::{Expected, refuse_foreign};

/// Startup options, which win over `alter database … set` and `alter role … set`. Every user may set these.
const OPTIONS: [(&str, &str); 19] = [
    ("search_path", "pg_catalog,pg_temp"),
    ("role", "none"),
    ("statement_timeout", "0"),
    ("lock_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_isolation", "read\\ committed"),
    ("default_transaction_deferrable", "off"),
    ("default_tablespace", ""),
    ("default_table_access_method", "heap"),
    ("check_function_bodies", "on"),
    ("standard_conforming_strings", "on"),
    ("transform_null_equals", "off"),
    ("row_security", "on"),
    // What is stored of a password by md5 is enough to log in with, and `postgres` reads it.
    ("password_encryption", "scram-sha-256"),
    // With it the first error would end the session.
    ("exit_on_error", "off"),
    // Parallel workers begin with the settings of the database, among them its limit for transactions, which ends them.
    ("max_parallel_workers_per_gather", "0"),
    ("max_parallel_maintenance_workers", "0"),
];

/// Parameters that only a superuser may set, after the login, and those that decide how values and names are written. Triggers of the project that are ENABLE REPLICA stay off, and from
/// PostgreSQL 17 on all event triggers, until [`enable_event_triggers`].
const SUPERUSER_SETTINGS: &str = "set session_replication_role = origin;
    set datestyle = iso; set intervalstyle = postgres; set extra_float_digits = 1; set quote_all_identifiers = off;
    set array_nulls = on;
    select pg_catalog.set_config(name, case name when 'event_triggers' then 'off' when 'createrole_self_grant' then '' else '0' end, false)
    from pg_catalog.pg_settings
    where name operator(pg_catalog.=) any (array['event_triggers', 'createrole_self_grant', 'transaction_timeout'])";

/// Fails with a message that says what is wrong.
const NOT_PINNED: &str = "do language plpgsql $$begin raise exception using
    message = 'the settings of a superuser session do not stay as they are set', hint = 'Connect without a pooler.'; end$$";

/// PostgreSQL's code for a session that `transaction_timeout` has ended (from version 17 on).
const TRANSACTION_TIMEOUT: &str = "25P04";

/// How to log in as a user who may have more rights than `postgres`. The settings can be used only to open a pinned session.
#[derive(Clone)]
pub struct PrivilegedLogin {
    config: Config,
    expected: Expected,
}

/// An open session of [`PrivilegedLogin`]. It never runs statements of a project: [`connect`](crate::connect) opens sessions of
/// `postgres` for these.
pub struct PrivilegedSession {
    client: Client,
    is_superuser: bool,
    takes_options: bool,
}

impl PrivilegedLogin {
    /// Takes the connection settings of the user, to a database that has the platform schema or may get it.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let expected = Expected::WithPlatform;
        Self { config, expected }
    }

    /// The login to the project's database in a cluster that this program runs.
    #[must_use]
    pub(crate) fn to_own_database(config: Config) -> Self {
        let expected = Expected::Own;
        Self { config, expected }
    }

    /// The same login to a database of the server of which nothing is known: the session reads PostgreSQL's own catalogs only.
    #[must_use]
    pub fn to_database(&self, name: &str) -> Self {
        self.to(name, Expected::Any)
    }

    /// The same login to a copy of the project's database.
    #[must_use]
    pub fn to_copy(&self, name: &str) -> Self {
        self.to(name, Expected::WithPlatform)
    }

    fn to(&self, name: &str, expected: Expected) -> Self {
        let mut config = self.config.clone();
        config.dbname(name);
        Self { config, expected }
    }

    /// Opens a pinned session, polled in the background.
    ///
    /// # Errors
    /// When the login fails, and for a superuser where the database is not the project's or objects of the platform belong to others.
    pub async fn connect(&self) -> Result<PrivilegedSession, Error> {
        match self.connect_with("").await {
            // A limit of the database for transactions has ended the first one. Older servers do not know the parameter, so it is not
            // among the options of every login.
            Err(error) if has_code(&error, TRANSACTION_TIMEOUT) => {
                self.connect_with(" -c transaction_timeout=0").await
            }
            outcome => outcome,
        }
    }

    /// Opens a session to find out what the user may do, for logins that should not be privileged at all. Poolers of transactions
    /// refuse startup options; behind one only the session of a superuser is pinned, and the caller must send no statement that is resolved
    /// by name.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub async fn connect_through_pooler(&self) -> Result<PrivilegedSession, Error> {
        match self.connect().await {
            Err(error) if has_code(&error, SqlState::PROTOCOL_VIOLATION.code()) => {
                self.open(&self.config, false).await
            }
            outcome => outcome,
        }
    }

    async fn connect_with(&self, further: &str) -> Result<PrivilegedSession, Error> {
        let mut config = self.config.clone();
        config.options(join_options(self.config.get_options(), further));
        self.open(&config, true).await
    }

    async fn open(&self, config: &Config, takes_options: bool) -> Result<PrivilegedSession, Error> {
        let (client, connection) = open_session(config).await?;
        tokio::spawn(connection.run());
        // Some poolers drop options without a word.
        let is_superuser = pin_superuser(&client).await?;
        if is_superuser {
            refuse_foreign(&client, self.expected).await?;
        }
        Ok(PrivilegedSession {
            client,
            is_superuser,
            takes_options,
        })
    }
}

impl PrivilegedSession {
    /// Whether the user who logged in is a superuser.
    #[must_use]
    pub fn is_superuser(&self) -> bool {
        self.is_superuser
    }

    /// Whether the server takes startup options, which poolers of transactions refuse.
    #[must_use]
    pub fn takes_options(&self) -> bool {
        self.takes_options
    }
}

impl Deref for PrivilegedSession {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Lets event triggers fire again in a privileged session: those of the platform set owners and rights of what its files create.
///
/// # Errors
/// When the connection is lost.
pub async fn enable_event_triggers(client: &Client) -> Result<(), Error> {
    client.batch_execute(&set_event_triggers("on")).await
}

/// Undoes [`enable_event_triggers`].
///
/// # Errors
/// When the connection is lost.
pub async fn disable_event_triggers(client: &Client) -> Result<(), Error> {
    client.batch_execute(&set_event_triggers("off")).await
}

/// Sets the parameter where it exists: from PostgreSQL 17 on.
fn set_event_triggers(value: &str) -> String {
    format!(
        "select pg_catalog.set_config(name, '{value}', false) from pg_catalog.pg_settings \
         where name operator(pg_catalog.=) 'event_triggers'"
    )
}

/// Says whether a superuser has logged in. If so, compares the settings of the session with [`OPTIONS`], and sets those that are
/// others.
///
/// # Errors
/// When they cannot be set, or do not stay.
async fn pin_superuser(client: &Client) -> Result<bool, Error> {
    let session = Settings::read(client).await?;
    if !session.is_superuser {
        return Ok(false);
    }
    if !session.unpinned.is_empty() {
        let set = |(name, value): &(&str, String)| {
            format!("select pg_catalog.set_config('{name}', '{value}', false)")
        };
        let statements: Vec<String> = session.unpinned.iter().map(set).collect();
        client.batch_execute(&statements.join(";")).await?;
        if !Settings::read(client).await?.unpinned.is_empty() {
            // Only PostgreSQL makes errors of this type.
            client.batch_execute(NOT_PINNED).await?;
        }
    }
    client.batch_execute(SUPERUSER_SETTINGS).await?;
    Ok(true)
}

/// What a session has of [`OPTIONS`].
struct Settings {
    /// Whether the user who logged in is a superuser: a setting of the database may have given the session another role.
    is_superuser: bool,
    /// The options whose values are others, with the values that they should have.
    unpinned: Vec<(&'static str, String)>,
}

impl Settings {
    async fn read(client: &Client) -> Result<Self, Error> {
        let settings = OPTIONS.map(|(name, _)| format!("pg_catalog.current_setting('{name}')"));
        let query = format!(
            "select {}, (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname operator(pg_catalog.=) session_user)",
            settings.join(", ")
        );
        let messages = client.simple_query(&query).await?;
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let value = |index: usize| row.and_then(|row| row.get(index));
        let wanted = OPTIONS.map(|(name, value)| (name, value.replace('\\', "")));
        Ok(Self {
            is_superuser: value(OPTIONS.len()) == Some("t"),
            unpinned: wanted
                .into_iter()
                .enumerate()
                .filter(|(index, (_, wanted))| value(*index) != Some(wanted.as_str()))
                .map(|(_, option)| option)
                .collect(),
        })
    }
}

fn has_code(error: &Error, code: &str) -> bool {
    error.code().is_some_and(|found| found.code() == code)
}

/// The options of the caller come first, because the last value of a parameter counts.
fn join_options(given: Option<&str>, further: &str) -> String {
    let pinned = OPTIONS.map(|(name, value)| format!("-c {name}={value}"));
    // Nobody can log in where a library is missing, and `postgres`, who may log in here too, where an event trigger of the project refuses it. Both
    // settings count at the login alone, so they are not among OPTIONS, which are set again later.
    let pinned = format!(
        "{} -c local_preload_libraries= -c selvedge.without_login_triggers=on",
        pinned.join(" ")
    );
    format!(
        "{} {pinned}{further}{WITHOUT_EVENT_TRIGGERS}",
        given.unwrap_or_default()
    )
}
