//! Policy checks by probe rows: SELECT policies are tested by reading rows that were just inserted, INSERT policies by
//! inserting a row. Every transaction ends with a rollback, so no probe is ever visible to others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::{Object, Pool};
use futures_util::future::try_join_all;
use futures_util::{FutureExt, join};
use selvedge_postgres::{Database, statements_for_workers};
use selvedge_token::Claims;
use tokio::time::timeout;
use tokio_postgres::Statement;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::error::CheckError;
use super::pool_pressure::PoolPressure;
use super::shared_checks::SharedChecks;
use crate::metrics::METRICS;

/// The value of the column `extension` in `realtime.messages`, by which policies distinguish broadcast and presence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Extension {
    Broadcast,
    Presence,
}

impl Extension {
    fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Presence => "presence",
        }
    }
}

/// The caller and the topic of a check: everything that a policy may look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) claims: &'a Claims,
    /// The topic's name without the prefix `realtime:`, as `realtime.topic()` returns it.
    pub(crate) topic: &'a str,
    /// Request headers as a JSON object, for `request.headers`.
    pub(crate) headers: &'a str,
}

/// The settings under which a check runs. Checks with equal settings have equal results.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Settings {
    topic: String,
    /// The whole claims as JSON text.
    claims: String,
    user: String,
    role: String,
    headers: String,
}

impl Settings {
    fn from_subject(subject: Subject<'_>) -> Self {
        Self {
            topic: subject.topic.to_owned(),
            claims: subject.claims.json().to_owned(),
            user: subject.claims.subject().unwrap_or_default().to_owned(),
            role: subject.claims.role().unwrap_or_default().to_owned(),
            headers: subject.headers.to_owned(),
        }
    }
}

/// Which kinds of message the SELECT policies let the caller read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReadVerdict {
    pub(crate) broadcast: bool,
    /// `None` when presence was not asked about.
    pub(crate) presence: Option<bool>,
}

/// Asks PostgreSQL for the verdicts of policies on `realtime.messages`. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Authorizer {
    transactions: CheckTransactions,
    reads: SharedChecks<(Settings, bool), Result<ReadVerdict, CheckError>>,
    writes: SharedChecks<(Settings, Extension), Result<bool, CheckError>>,
}

/// Begins a transaction as a role that no policy restricts.
const BEGIN: &str = "begin; set local role service_role";

const INSERT_READ_PROBES: &str = "insert into realtime.messages (id, topic, extension) \
     select probe.id, $1, probe.extension from unnest($2::uuid[], $3::text[]) as probe (id, extension)";

/// Sets what policies read, all for this transaction only. The role is set last, because the new role may lack the
/// right to execute `set_config`.
const BECOME_CALLER: &str = "select set_config('realtime.topic', $1, true), set_config('request.jwt.claims', $2, true), \
     set_config('request.jwt.claim.sub', $3, true), set_config('request.jwt.claim.role', $4, true), \
     set_config('request.headers', $5, true), set_config('role', $4, true)";

const SELECT_READ_PROBES: &str = "select id from realtime.messages where id = any($1::uuid[])";

/// Without RETURNING, because PostgreSQL would then require a SELECT policy for the row as well.
const INSERT_WRITE_PROBE: &str = "insert into realtime.messages (topic, extension) values ($1, $2)";

impl Authorizer {
    /// An authorizer on connections whose login may become `service_role`, as which probe rows are inserted regardless of the
    /// policies, and the caller's role. `timeout` bounds the wait for a connection, and again the check itself.
    pub(crate) fn new(database: Arc<Database>, pool: Pool, timeout: Duration) -> Self {
        let pressure = PoolPressure::new(pool.status().max_size);
        Self {
            transactions: CheckTransactions {
                database,
                pool,
                pressure,
                timeout,
            },
            reads: SharedChecks::new(),
            writes: SharedChecks::new(),
        }
    }

    /// Which messages of a topic the SELECT policies let the caller read. Equal checks at the same time are run once.
    ///
    /// # Errors
    /// A failed check, which callers must treat as a denial.
    pub(crate) async fn check_read(
        &self,
        subject: Subject<'_>,
        with_presence: bool,
    ) -> Result<ReadVerdict, CheckError> {
        let question = (Settings::from_subject(subject), with_presence);
        let begin = || {
            let (transactions, (settings, with_presence)) = (self.transactions.clone(), question.clone());
            async move { transactions.check_read(&settings, with_presence).await }.boxed()
        };
        self.reads.share(question.clone(), begin).await
    }

    /// Whether the INSERT policies let the caller write to a topic. Equal checks at the same time are run once.
    ///
    /// # Errors
    /// A failed check, which callers must treat as a denial.
    pub(crate) async fn check_write(
        &self,
        subject: Subject<'_>,
        extension: Extension,
    ) -> Result<bool, CheckError> {
        let question = (Settings::from_subject(subject), extension);
        let begin = || {
            let (transactions, (settings, extension)) = (self.transactions.clone(), question.clone());
            async move { transactions.check_write(&settings, extension).await }.boxed()
        };
        self.writes.share(question.clone(), begin).await
    }
}

/// Runs each check as one transaction, which is always rolled back. Cheap to clone.
#[derive(Clone)]
struct CheckTransactions {
    database: Arc<Database>,
    pool: Pool,
    pressure: PoolPressure,
    timeout: Duration,
}

impl CheckTransactions {
    /// Probe rows are inserted as a role that is exempt from the policies; those that the caller can then select
    /// are readable.
    async fn check_read(&self, settings: &Settings, with_presence: bool) -> Result<ReadVerdict, CheckError> {
        self.measured(async |client: &Object| {
            let extensions: &[&str] = if with_presence {
                &["broadcast", "presence"]
            } else {
                &["broadcast"]
            };
            // Random ids, so that probe rows cannot collide with real ones.
            let ids: Vec<Uuid> = extensions.iter().map(|_| Uuid::new_v4()).collect();
            let insert = client.prepare_cached(INSERT_READ_PROBES).await?;
            let become_caller = client.prepare_cached(BECOME_CALLER).await?;
            let select = client.prepare_cached(SELECT_READ_PROBES).await?;
            // Cancellation safety: the first poll of `join!` queues all five messages on the connection, in this order.
            // A socket that closes meanwhile, or the timeout, drops only the waiting: the queued rollback still runs, so
            // the connection cannot return to the pool with an open transaction or the caller's role.
            let probes: [&(dyn ToSql + Sync); 3] = [&settings.topic, &ids, &extensions];
            let probe_ids: [&(dyn ToSql + Sync); 1] = [&ids];
            let for_workers = self.settings_for_workers(settings);
            let (begun, inserted, became, told, visible, ended) = join!(
                client.batch_execute(BEGIN),
                client.execute(&insert, &probes),
                set_caller(client, &become_caller, settings),
                try_join_all(for_workers.iter().map(|text| client.batch_execute(text))),
                client.query(&select, &probe_ids),
                client.batch_execute("rollback"),
            );
            begun?;
            inserted?;
            became?;
            told?;
            let visible: Vec<Uuid> = visible?
                .iter()
                .map(|row| row.try_get(0))
                .collect::<Result<_, _>>()?;
            ended?;
            Ok(ReadVerdict {
                broadcast: visible.contains(&ids[0]),
                presence: ids.get(1).map(|id| visible.contains(id)),
            })
        })
        .await
    }

    /// The caller inserts a probe row, which succeeds if a policy allows it.
    async fn check_write(&self, settings: &Settings, extension: Extension) -> Result<bool, CheckError> {
        self.measured(async |client: &Object| {
            let become_caller = client.prepare_cached(BECOME_CALLER).await?;
            let insert = client.prepare_cached(INSERT_WRITE_PROBE).await?;
            let probe: [&(dyn ToSql + Sync); 2] = [&settings.topic, &extension.name()];
            // Queued before any await, for the same cancellation safety as in `check_read`.
            let for_workers = self.settings_for_workers(settings);
            let (begun, became, told, inserted, ended) = join!(
                client.batch_execute("begin"),
                set_caller(client, &become_caller, settings),
                try_join_all(for_workers.iter().map(|text| client.batch_execute(text))),
                client.execute(&insert, &probe),
                client.batch_execute("rollback"),
            );
            begun?;
            became?;
            told?;
            ended?;
            match inserted {
                Ok(_) => Ok(true),
                // 42501 means that a policy or a missing grant forbids the row: a verdict, not a failure.
                Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(false),
                Err(error) => Err(error.into()),
            }
        })
        .await
    }

    /// Returns the statements that repeat the settings for Citus's workers, where functions of policies may read distributed tables.
    fn settings_for_workers(&self, settings: &Settings) -> Vec<String> {
        let repeated = [
            ("realtime.topic", settings.topic.as_str()),
            ("request.jwt.claims", &settings.claims),
            ("request.headers", &settings.headers),
        ];
        statements_for_workers(&self.database.role_settings(), &repeated)
    }

    /// Runs a check on a separate connection with the timeout, and records its duration.
    async fn measured<T>(
        &self,
        check: impl AsyncFnOnce(&Object) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        let started = Instant::now();
        let outcome = async {
            let client = self.connection().await?;
            timeout(self.timeout, check(&client))
                .await
                .unwrap_or(Err(CheckError::Canceled))
        };
        let outcome = outcome.await;
        METRICS.policy_checks.observe(started.elapsed().as_secs_f64());
        outcome
    }

    /// Takes a connection of the pool.
    ///
    /// # Errors
    /// [`CheckError::PoolExhausted`] when none became free in time, or when too many checks have waited in vain lately.
    async fn connection(&self) -> Result<Object, CheckError> {
        if self.pressure.is_exceeded(Instant::now()) {
            return Err(CheckError::PoolExhausted);
        }
        let mut waits = self.pool.timeouts();
        waits.wait = Some(self.timeout);
        let connection = self.pool.timeout_get(&waits).await.map_err(CheckError::from);
        if let Err(CheckError::PoolExhausted) = connection {
            tracing::warn!(
                error_code = "IncreaseSubscriptionConnectionPool",
                "no connection for policy checks became free; see realtime.database_connections"
            );
            self.pressure.note_time_out(Instant::now());
        }
        connection
    }
}

/// Takes the caller's role and sets the settings that policies read (realtime contract §10.1). The values are
/// parameters, so nothing in a token or header can become SQL.
async fn set_caller(
    client: &Object,
    statement: &Statement,
    settings: &Settings,
) -> Result<(), tokio_postgres::Error> {
    client
        .query(
            statement,
            &[
                &settings.topic,
                &settings.claims,
                &settings.user,
                &settings.role,
                &settings.headers,
            ],
        )
        .await
        .map(drop)
}
