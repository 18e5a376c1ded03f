//! Watches the primary's position, and whether each replica follows it: on the same timeline, and closely enough.

use std::sync::Arc;
use std::time::{Duration, Instant};

use postgres_types::PgLsn;
use tokio_postgres::{Client, Row};

use super::config::ReplicasConfig;
use super::positions::Sample;
use super::replica::Replica;
use super::shared::Replicas;
use crate::hosts::parse_timeline;
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
        match connection.read_state(&primary, Server::Primary).await {
            Ok(state) => replicas.record_state(asked, &state),
            Err(reason) => tracing::debug!(reason, "the primary does not say its WAL position"),
        }
        replicas.forget_old_writes();
        tokio::time::sleep(SAMPLE_INTERVAL).await;
    }
}

impl Replicas {
    /// Records the position of the primary. On a new timeline nobody gets reads before it was checked: a standby of the former primary may have
    /// replayed more than the new one has written.
    fn record_state(&self, asked: Instant, state: &ServerState) {
        let timeline = state.timeline.unwrap_or(0);
        let is_other = self.positions.is_on_other_timeline(timeline);
        // Before they are left out: a check in between would admit a replica by the former timeline.
        self.positions.record(Sample {
            asked,
            timeline,
            position: state.position,
        });
        if is_other {
            for replica in &self.replicas {
                replica.leave_out("the primary is another one, or was promoted again");
            }
        }
    }
}

/// Admits a replica that answers and follows the primary, and leaves any other out.
async fn check_replica(replicas: &Replicas, replica: &Replica, connection: &mut KeptConnection) {
    let state = match connection.read_state(&replica.database, Server::Replica).await {
        Ok(state) => state,
        Err(reason) => return replica.leave_out(&reason),
    };
    let replayed = state.position;
    // A standby that reads an archive receives nothing, and has the newer timeline in its control file.
    let followed = state.timeline.max(state.former_timeline);
    // A lag is measured against positions of the primary, so without any nothing can be said about it.
    let Some(newest) = replicas.positions.newest() else {
        return replica.leave_out("the primary has not said its WAL position yet");
    };
    let lag_bytes = u64::from(newest.position).saturating_sub(u64::from(replayed));
    // A server that does not say its timeline, as some managed services, is compared by its position alone.
    if let (Some(timeline), true) = (followed, newest.timeline != 0)
        && timeline != newest.timeline
    {
        return replica.leave_out(&format!(
            "it is on timeline {timeline}, and the primary on {}: it does not follow this primary",
            newest.timeline
        ));
    }
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
    /// A statement that returns a position, or null when the server has the other part now, and its timeline.
    ///
    /// The position of insertion and not of the flush, because a commit with `synchronous_commit = off` is acknowledged
    /// before its flush.
    fn statement(self, details: Details) -> &'static str {
        match (self, details) {
            (Self::Primary, Details::None) => {
                "select case when not pg_is_in_recovery() then pg_current_wal_insert_lsn() end, null::text, null::integer"
            }
            (Self::Primary, _) => {
                "select case when not pg_is_in_recovery() then pg_current_wal_insert_lsn() end, \
                 case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end, null::integer"
            }
            (Self::Replica, Details::Received) => {
                "select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end, \
                 lpad(to_hex(_selvedge.received_timeline()), 8, '0'), \
                 greatest(checkpoint.timeline_id, recovery.min_recovery_end_timeline) \
                 from pg_control_checkpoint() checkpoint, pg_control_recovery() recovery"
            }
            // After a failover the control file names the former timeline until the next restart point.
            (Self::Replica, Details::ControlFile) => {
                "select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end, \
                 lpad(to_hex(greatest(checkpoint.timeline_id, recovery.min_recovery_end_timeline)), 8, '0'), null::integer \
                 from pg_control_checkpoint() checkpoint, pg_control_recovery() recovery"
            }
            (Self::Replica, Details::None) => {
                "select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end, null::text, null::integer"
            }
        }
    }
}

/// What a server says besides its position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Details {
    /// The timeline that it receives, and that of its control file.
    Received,
    /// The timeline of its control file, or the one on which a primary writes.
    ControlFile,
    /// Nothing, where a managed service has closed the functions.
    None,
}

/// How long the answer counts to the question which functions a server has. A migration or a grant may have changed it by then.
const DETAILS_FOR: Duration = Duration::from_secs(60);

/// Whether a server has the platform's function, and this login may call it.
const SAYS_RECEIVED: &str = "select exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace \
     where n.nspname = '_selvedge' and p.proname = 'received_timeline' \
     and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute'))";

/// What a server says about its WAL.
struct ServerState {
    /// What a primary has written, or a replica has replayed.
    position: PgLsn,
    /// The timeline on which a primary writes, or which a replica has received last: while the primary is away it receives none, and still gets reads.
    timeline: Option<u32>,
    /// The timeline of a replica's control file.
    former_timeline: Option<u32>,
}

/// A connection that is opened when it is needed, and again after a failure.
#[derive(Default)]
struct KeptConnection {
    kept: Option<Kept>,
}

/// An open connection, and what its server says.
struct Kept {
    client: Client,
    details: Details,
    asked_at: Instant,
    /// The timeline that its server has received last. Another connection may lead to another server, or to one that was restarted with other data.
    received: Option<u32>,
}

impl KeptConnection {
    async fn read_state(&mut self, database: &Database, server: Server) -> Result<ServerState, String> {
        let kept = self.kept.take().filter(|kept| !kept.client.is_closed());
        let mut kept = match kept {
            Some(kept) => kept,
            None => connect(database, server).await?,
        };
        if kept.asked_at.elapsed() > DETAILS_FOR {
            kept.ask_for_details(server).await?;
        }
        // After a timeout the connection is dropped, because the late result would be taken for that of the next query.
        let row = kept.query_state(server).await?;
        let position: Option<PgLsn> = row.try_get(0).map_err(|error| describe(&error))?;
        let timeline: Option<String> = row.try_get(1).map_err(|error| describe(&error))?;
        let former: Option<i32> = row.try_get(2).map_err(|error| describe(&error))?;
        let timeline = timeline.and_then(|digits| parse_timeline(&digits));
        kept.received = timeline.or(kept.received);
        match (position, server) {
            (Some(position), _) => {
                let timeline = match server {
                    Server::Primary => timeline,
                    Server::Replica => kept.received,
                };
                self.kept = Some(kept);
                Ok(ServerState {
                    position,
                    timeline,
                    former_timeline: former.and_then(|timeline| timeline.try_into().ok()),
                })
            }
            // With several hosts in the URL, the next connection finds the server that has this role now.
            (None, Server::Primary) => Err("it is in recovery".to_owned()),
            (None, Server::Replica) => Err("it is not in recovery".to_owned()),
        }
    }
}

impl Kept {
    /// Finds out what the server says besides its position.
    async fn ask_for_details(&mut self, server: Server) -> Result<(), String> {
        self.asked_at = Instant::now();
        self.details = Details::ControlFile;
        if let Server::Replica = server {
            let says = within(ANSWER_TIMEOUT, self.client.query_one(SAYS_RECEIVED, &[])).await?;
            if says.try_get(0).map_err(|error| describe(&error))? {
                self.details = Details::Received;
            }
        }
        Ok(())
    }

    /// Asks for position and timeline; for the position alone where the server refuses the rest.
    async fn query_state(&mut self, server: Server) -> Result<Row, String> {
        loop {
            let query = self.client.query_one(server.statement(self.details), &[]);
            let answer = tokio::time::timeout(ANSWER_TIMEOUT, query)
                .await
                .map_err(|_elapsed| describe_silence(ANSWER_TIMEOUT))?;
            match answer {
                Err(error) if self.details != Details::None && is_refusal(&error) => {
                    tracing::debug!(%error, "a server does not say its timeline");
                    self.details = Details::None;
                }
                answer => return answer.map_err(|error| describe(&error)),
            }
        }
    }
}

/// Whether a server will always refuse a statement, and not only now, as one that was cancelled or lacked resources.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    let is_of_moment = |code: &str| ["40", "53", "57"].iter().any(|class| code.starts_with(class));
    error
        .as_db_error()
        .is_some_and(|error| !is_of_moment(error.code().code()))
}

/// Connects to a server. The time limit allows for all hosts of the URL, because the primary may be the last one that is tried.
async fn connect(database: &Database, server: Server) -> Result<Kept, String> {
    let opening = database.client(Login::Authenticator);
    let client = match server {
        Server::Primary => opening.await.map_err(|error| describe(&error))?,
        Server::Replica => within(ANSWER_TIMEOUT, opening).await?,
    };
    let mut kept = Kept {
        client,
        details: Details::None,
        asked_at: Instant::now(),
        received: None,
    };
    kept.ask_for_details(server).await?;
    Ok(kept)
}

async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, String> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => answer.map_err(|error| describe(&error)),
        Err(_elapsed) => Err(describe_silence(limit)),
    }
}

fn describe_silence(limit: Duration) -> String {
    format!("no answer within {} s", limit.as_secs())
}

/// The error with its cause, which `Display` of `tokio_postgres::Error` leaves out.
fn describe(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
