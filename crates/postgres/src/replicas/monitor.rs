//! Watches the primary's position, and whether each replica follows it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use postgres_types::PgLsn;
use tokio_postgres::Client;

use super::config::ReplicasConfig;
use super::positions::Sample;
use super::replica::Replica;
use super::shared::Replicas;
use crate::{Database, Login};

/// How often the primary is asked for its position. For about this time after a write its author reads from the primary.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(200);
/// How often a replica is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// A server that does not answer within this time counts as away.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

impl Replicas {
    /// Describes the replicas of `primary`, and starts to watch them and the primary on the current runtime.
    pub fn start(primary: &Arc<Database>, config: ReplicasConfig) -> Arc<Self> {
        let replicas = Arc::new(Self::new(primary, config));
        spawn_tasks(&replicas, primary);
        replicas
    }
}

/// Starts the tasks; they run until the runtime ends.
fn spawn_tasks(replicas: &Arc<Replicas>, primary: &Arc<Database>) {
    tokio::spawn(sample_primary_forever(Arc::clone(replicas), Arc::clone(primary)));
    for index in 0..replicas.replicas.len() {
        let replicas = Arc::clone(replicas);
        tokio::spawn(async move {
            let mut connection = KeptConnection::default();
            loop {
                check_replica(&replicas, &replicas.replicas[index], &mut connection).await;
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
        });
    }
}

async fn sample_primary_forever(replicas: Arc<Replicas>, primary: Arc<Database>) {
    let mut connection = KeptConnection::default();
    loop {
        // Taken before the question: what is committed later need not be part of the answer.
        let asked = Instant::now();
        match connection.read_position(&primary, Server::Primary).await {
            Ok(position) => replicas.positions.record(Sample { asked, position }),
            Err(reason) => tracing::debug!(reason, "the primary does not say its WAL position"),
        }
        replicas.forget_old_writes();
        tokio::time::sleep(SAMPLE_INTERVAL).await;
    }
}

/// Admits a replica that answers and follows the primary, and leaves any other out.
async fn check_replica(replicas: &Replicas, replica: &Replica, connection: &mut KeptConnection) {
    let replayed = match connection.read_position(&replica.database, Server::Replica).await {
        Ok(replayed) => replayed,
        Err(reason) => return replica.leave_out(&reason),
    };
    // A lag is measured against positions of the primary, so without any nothing can be said about it.
    let Some(newest) = replicas.positions.newest() else {
        return replica.leave_out("the primary has not said its WAL position yet");
    };
    let lag_bytes = u64::from(newest.position).saturating_sub(u64::from(replayed));
    // What the primary wrote after its newest known position cannot be measured, so the lag is relative to that position.
    let lag = replicas
        .positions
        .asked_at(replayed)
        .map(|seen| newest.asked.saturating_duration_since(seen));
    replica
        .metrics
        .set_lag(lag_bytes, lag.unwrap_or(replicas.max_lag).as_secs_f64());
    if lag_bytes > replicas.max_lag_bytes {
        replica.leave_out(&format!("it is {lag_bytes} bytes behind"));
    } else if lag.is_none_or(|lag| lag > replicas.max_lag) {
        replica.leave_out(&format!(
            "it is more than {} s behind",
            replicas.max_lag.as_secs()
        ));
    } else {
        replica.admit();
    }
}

/// The query that a server is sent.
#[derive(Clone, Copy)]
enum Server {
    Primary,
    Replica,
}

impl Server {
    /// A statement that returns one position, or null when the server has the other part now.
    ///
    /// The position of insertion and not of the flush, because a commit with `synchronous_commit = off` is acknowledged
    /// before its flush.
    fn statement(self) -> &'static str {
        match self {
            Self::Primary => "select case when not pg_is_in_recovery() then pg_current_wal_insert_lsn() end",
            Self::Replica => "select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end",
        }
    }
}

/// A connection that is opened when it is needed, and again after a failure.
#[derive(Default)]
struct KeptConnection {
    client: Option<Client>,
}

impl KeptConnection {
    async fn read_position(&mut self, database: &Database, server: Server) -> Result<PgLsn, String> {
        let client = match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => client,
            None => connect(database, server).await?,
        };
        // After a timeout the connection is dropped, because the late result would be taken for that of the next query.
        let query = client.query_one(server.statement(), &[]);
        let row = within(ANSWER_TIMEOUT, query).await?;
        let position: Option<PgLsn> = row.try_get(0).map_err(|error| describe(&error))?;
        match (position, server) {
            (Some(position), _) => {
                self.client = Some(client);
                Ok(position)
            }
            // With several hosts in the URL, the next connection finds the server that has this role now.
            (None, Server::Primary) => Err("it is in recovery".to_owned()),
            (None, Server::Replica) => Err("it is not in recovery".to_owned()),
        }
    }
}

/// Connects to a server. The time limit allows for all hosts of the URL, because the primary may be the last one that is tried.
async fn connect(database: &Database, server: Server) -> Result<Client, String> {
    let opening = database.client(Login::Authenticator);
    match server {
        Server::Primary => opening.await.map_err(|error| describe(&error)),
        Server::Replica => within(ANSWER_TIMEOUT, opening).await,
    }
}

async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, String> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => answer.map_err(|error| describe(&error)),
        Err(_elapsed) => Err(format!("no answer within {} s", limit.as_secs())),
    }
}

/// The error with its cause, which `Display` of `tokio_postgres::Error` leaves out.
fn describe(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
