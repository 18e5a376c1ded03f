//! The database into which a project is imported: that of `DATABASE_URL`, or the project's own, which is started if it does not
//! run.

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::consent::{agree_to_empty_external, agree_to_empty_own};
use selvedge_database::external::{ExternalDatabase, apply_platform_to_external};
use selvedge_database::identity::find_identity;
use selvedge_database::initialized::mark_initialized;
use selvedge_database::objects_owner::ObjectsOwner;
use selvedge_database::target::TargetDatabase;
use selvedge_database::{embedded, unfinished_import};
use selvedge_postgres::cluster::Cluster;
use selvedge_postgres::migrate::{
    claim_import, clear_project, discover_migrations, drop_project_roles, fetch_migrations,
    record_auto_expose, release_import,
};
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession, RunLogin, finish_run_logins, quote_identifier};
use selvedge_terminal::GOOD;
use tokio_postgres::{Client, Config as Login};

use super::catalog::list_project_schemas;
use crate::options::ImportOptions;

/// This table has a row from the commit of the imported database until all objects are copied, too. A superuser writes it beside the
/// import's transaction, and the row counts when that one is committed.
const RECORD_BEGIN: &str = "
    create table if not exists _selvedge.unfinished_import (source pg_catalog.text not null);
    alter table _selvedge.unfinished_import add column if not exists xid pg_catalog.xid8";
const RECORD_END: &str = "drop table if exists _selvedge.unfinished_import, _selvedge.copied_objects;
    notify pgrst, 'reload schema'";

/// The schema public stays, with the rights of a new database. The roles of the API get theirs from the source, which may have
/// taken some away.
const END_CLEAR: &str = "revoke all on schema public from anon, authenticated, service_role cascade;
    grant usage on schema public to public";

/// Roles that own what an import writes, or may own objects of a project. `postgres` can become each of them, too, so that whoever
/// has attached code to their tables gains nothing by it.
const OWNERS: [&str; 8] = [
    "supabase_auth_admin",
    "supabase_storage_admin",
    "supabase_realtime_admin",
    "supabase_functions_admin",
    "authenticator",
    "anon",
    "authenticated",
    "service_role",
];

/// As at the source, so that both write names in definitions alike. A time limit of the role `postgres` is not meant for this.
const BEGIN_SESSION: &str =
    "set search_path = ''; set lock_timeout = 0; set datestyle = iso; set intervalstyle = postgres";

const CONTENT_OF_SERVICES: &str =
    "select (select count(*) from auth.users), (select count(*) from storage.buckets)";

/// The target database and a superuser's connection to it, which reads catalogs and writes what the platform itself notes.
pub(crate) struct Target {
    pub(crate) superuser: PrivilegedSession,
    /// A session of `postgres`, for what reads tables of the project.
    pub(crate) administrator: Client,
    logins: Logins,
    /// The cluster, if it was started for the import.
    cluster: Option<Cluster>,
    /// Whether the project has the cluster for itself. The cluster's roles are the project's then, and are replaced, too.
    is_embedded: bool,
}

/// How to log in to the target.
struct Logins {
    superuser: PrivilegedLogin,
    /// The address, with settings under which statements of a project can run.
    address: Login,
}

/// The session in which everything of the source is written. It has the rights of `postgres` and of [`OWNERS`], and was not authenticated
/// as a superuser, so that neither code of the source nor code that somebody has left in the target has more.
pub(crate) struct Writer {
    pub(crate) client: Client,
    /// The quoted name of the role that has logged in.
    role: String,
}

impl Writer {
    /// Becomes the role of the run, until the transaction ends. What it creates gets no default privileges, which those of `postgres`
    /// and `supabase_admin` would add to the rights that the source gives.
    pub(crate) async fn become_creator(&self) -> Result<()> {
        Ok(self
            .client
            .batch_execute(&format!("set local role {}", self.role))
            .await?)
    }

    /// Becomes `postgres`, as which the session has begun.
    pub(crate) async fn become_postgres(&self) -> Result<()> {
        Ok(self.client.batch_execute("set local role postgres").await?)
    }

    /// Gives what is left in the ownership of the creator to `postgres`.
    pub(crate) async fn end_creator(&self) -> Result<()> {
        self.become_creator().await?;
        let reassign = format!(
            "reassign owned by {} to postgres; set local role postgres",
            self.role
        );
        Ok(self.client.batch_execute(&reassign).await?)
    }

    /// Makes the creator a member of a role, so that it may give it objects. Says whether that is possible.
    pub(crate) async fn join_role(&self, role: &str) -> Result<bool> {
        let grant = format!("grant {} to {}", quote_identifier(role), self.role);
        Ok(try_statement(&self.client, &grant).await?.is_none())
    }
}

/// Runs a statement that may be refused, in the import's transaction, which goes on then. Returns the message of the refusal.
pub(crate) async fn try_statement(client: &Client, statement: &str) -> Result<Option<String>> {
    client.batch_execute("savepoint attempt").await?;
    match client.batch_execute(statement).await {
        Ok(()) => {
            client.batch_execute("release savepoint attempt").await?;
            Ok(None)
        }
        Err(error) => match error.as_db_error() {
            Some(refusal) => {
                let message = refusal.message().to_owned();
                client.batch_execute("rollback to savepoint attempt").await?;
                Ok(Some(message))
            }
            None => Err(error.into()),
        },
    }
}

impl Target {
    /// Connects, starting the project's PostgreSQL if necessary, and updates the platform schema.
    ///
    /// # Errors
    /// When the login is no superuser, another import runs, or nobody agrees to change a database that this program does not run.
    pub(crate) async fn open(config: &Config, options: &ImportOptions) -> Result<Self> {
        match TargetDatabase::find_or_allow_start(config).await? {
            Some(TargetDatabase::External(database)) => {
                agree_to_change(config, options, &database).await?;
                let superuser = apply_platform_to_external(config, &database).await?;
                if !superuser.is_superuser() {
                    bail!(
                        "an import writes the tables of Auth and Storage, so DATABASE_URL has to name a superuser"
                    );
                }
                let mut address = database.login().clone();
                embedded::pin_settings(&mut address);
                let logins = Logins {
                    superuser: database.privileged_login(),
                    address,
                };
                Self::begin(
                    superuser,
                    database.connect_as_postgres().await?,
                    logins,
                    None,
                    false,
                )
                .await
            }
            Some(TargetDatabase::Running(running)) => {
                agree_to_empty_own(options.yes.as_deref())?;
                let logins = Logins {
                    superuser: running.superuser_login(),
                    address: embedded::login_to_running(&running, "postgres"),
                };
                let superuser = embedded::connect_privileged(&logins.superuser).await?;
                let administrator = embedded::connect(&logins.address).await?;
                Self::begin(superuser, administrator, logins, None, true).await
            }
            None => {
                agree_to_empty_own(options.yes.as_deref())?;
                let cluster = Cluster::start(embedded::cluster_config(config)?).await?;
                let superuser = embedded::apply_platform_to(config, &cluster).await?;
                let logins = Logins {
                    superuser: cluster.superuser_login(),
                    address: embedded::administrator_login(&cluster),
                };
                let administrator = embedded::connect(&logins.address).await?;
                Self::begin(superuser, administrator, logins, Some(cluster), true).await
            }
        }
    }

    async fn begin(
        superuser: PrivilegedSession,
        administrator: Client,
        logins: Logins,
        cluster: Option<Cluster>,
        is_embedded: bool,
    ) -> Result<Self> {
        // Until the session ends.
        if !claim_import(&superuser).await? {
            bail!("another import into this database is running");
        }
        Ok(Self {
            superuser,
            administrator,
            logins,
            cluster,
            is_embedded,
        })
    }

    /// Opens the session that writes. Its role is dropped when the session has ended.
    pub(crate) async fn open_writer(&self) -> Result<Writer> {
        let superuser = embedded::connect_privileged(&self.logins.superuser).await?;
        let login = RunLogin::create_for_import(superuser, &self.logins.address, &OWNERS)
            .await
            .context("no login can be made for this import")?;
        let role = quote_identifier(login.name());
        let client = login
            .open_session()
            .await
            .context("the login that was made for this import does not work")?;
        client.batch_execute(BEGIN_SESSION).await?;
        Ok(Writer { client, role })
    }

    /// Closes the connection, and stops the cluster if it was started for the import.
    pub(crate) async fn close(self) -> Result<()> {
        // If the connection is lost, the session has ended, and has nothing any more.
        release_import(&self.superuser).await.ok();
        drop((self.superuser, self.administrator));
        finish_run_logins().await;
        match self.cluster {
            Some(cluster) => Ok(cluster.stop().await?),
            None => Ok(()),
        }
    }

    /// Returns the database's identity, see [`find_identity`].
    pub(crate) async fn identity(&self) -> Result<String> {
        find_identity(&self.superuser).await
    }

    /// Returns the identity of the source whose database was imported but not all of its objects; `None` without such an import.
    pub(crate) async fn find_unfinished(&self) -> Result<Option<String>> {
        let unfinished = unfinished_import::find(&self.superuser).await?;
        Ok(unfinished.map(|unfinished| unfinished.source))
    }

    /// The database whose objects the copied files are.
    pub(crate) async fn objects_owner(&self, config: &Config) -> Result<ObjectsOwner> {
        match ExternalDatabase::of_project(config)? {
            Some(external) if !self.is_embedded => {
                ObjectsOwner::of_session(config, &self.superuser, &external.describe()).await
            }
            _ => Ok(ObjectsOwner::Own),
        }
    }

    /// Describes the project that the database contains, such as `3 tables and views, 2 users`; `None` when it is empty.
    pub(crate) async fn describe_content(&self) -> Result<Option<String>> {
        describe_content(&self.superuser, Some(&self.administrator)).await
    }

    /// Removes the project from the database, in the caller's transaction.
    pub(crate) async fn clear(&self, writer: &Writer) -> Result<()> {
        clear_project(&writer.client, &[]).await?;
        if self.is_embedded {
            drop_project_roles(&writer.client).await?;
        }
        Ok(writer.client.batch_execute(END_CLEAR).await?)
    }

    /// Notes that the objects are not copied yet. The note counts once the writer's open transaction is committed.
    pub(crate) async fn record_begin(&self, writer: &Writer, source: &str) -> Result<()> {
        let xid = "select pg_catalog.pg_current_xact_id()::pg_catalog.text";
        let xid: String = writer.client.query_one(xid, &[]).await?.get(0);
        self.superuser.batch_execute(RECORD_BEGIN).await?;
        let insert = "insert into _selvedge.unfinished_import (source, xid)
            values ($1, $2::pg_catalog.text::pg_catalog.xid8)";
        self.superuser.execute(insert, &[&source, &xid]).await?;
        Ok(())
    }

    /// Writes the source's migrations to files, as far as the folder does not have them: `start` refuses a history of migrations
    /// without files.
    pub(crate) async fn write_migration_files(&self, config: &Config) -> Result<()> {
        if !self.is_embedded {
            return Ok(());
        }
        let folder = embedded::migrations_folder(config);
        let known = discover_migrations(&folder)?.migrations;
        for path in fetch_migrations(&self.administrator, &folder, &known).await? {
            anstream::println!("{GOOD}written{GOOD:#} {}", path.display());
        }
        Ok(())
    }

    /// Records that the import is complete.
    pub(crate) async fn record_end(&self, config: &Config) -> Result<()> {
        // The next start must not give back what the source's default privileges leave out.
        record_auto_expose(&self.superuser, embedded::exposes_new_tables(config)).await?;
        if self.cluster.is_some() {
            // Keeps the next start from running seeds. It comes first, because a crash between the two steps must not leave a
            // finished import that would be seeded.
            mark_initialized(config)?;
        }
        self.superuser
            .batch_execute(RECORD_END)
            .await
            .context("the end of the import cannot be recorded")
    }
}

/// Lets an import go on that would change a database which this program does not run, before the platform's files or passwords of logins are.
/// On another machine the host has to be named in any case, on this one only a database with content needs `--yes`.
async fn agree_to_change(
    config: &Config,
    options: &ImportOptions,
    database: &ExternalDatabase,
) -> Result<()> {
    if !database.needs_no_name() {
        return agree_to_empty_external(database, options.yes.as_deref());
    }
    let session = database.connect().await?;
    let has_platform = "select pg_catalog.to_regclass('auth.users') is not null
        and pg_catalog.to_regclass('storage.buckets') is not null";
    let administrator = match session.query_one(has_platform, &[]).await?.get(0) {
        true => Some(database.connect_as_postgres().await?),
        false => None,
    };
    match describe_content(&session, administrator.as_ref()).await? {
        Some(content) if options.yes.is_none() => bail!(
            "{} ({}) is not empty ({content}): say with --yes that it is replaced",
            config.project.id,
            database.describe()
        ),
        Some(_) => agree_to_empty_external(database, options.yes.as_deref()),
        None => Ok(()),
    }
}

/// Describes the project that a database contains, such as `3 tables and views, 2 users`; `None` when it is empty. `administrator` is a
/// session of `postgres` to a database with the platform's tables.
async fn describe_content(client: &Client, administrator: Option<&Client>) -> Result<Option<String>> {
    let schemas = list_project_schemas(client).await?;
    let row = client
        .query_one(include_str!("sql/content.sql"), &[&schemas])
        .await?;
    let mut counts = vec![
        (row.get::<_, i64>(0), "tables and views"),
        (row.get(1), "functions"),
    ];
    if let Some(administrator) = administrator {
        // As `postgres`: the tables may have indexes and rules of the project.
        let rows = administrator.query_one(CONTENT_OF_SERVICES, &[]).await?;
        counts.extend([(rows.get(0), "users"), (rows.get(1), "buckets")]);
    }
    let found: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    Ok((!found.is_empty()).then(|| found.join(", ")))
}
