//! Sessions: rows of `selvedge_console.selvedge_sessions`, cached for a moment so that not every request queries the database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::sync::Cache;
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::caller::Session;
use super::limits::{RequestLimit, StatementLimit, StatementPermit};
use super::member_lookup::{end_auth_session, find_member};
use super::secret::{Digest, digest, random_secret};
use super::throttle::Throttle;
use crate::error::ConsoleError;
use crate::state::{ConsoleConfig, ConsoleDatabase, Level, SignInWays};

/// How long a row is trusted without asking again. A sign-out on another node ends the session after at most this time.
const CACHE_LIFETIME: Duration = Duration::from_millis(500);

/// Finds a session of an account, or of a user whom Auth's tables have to confirm; and whether the time of its last request is older than 15 s.
const FIND_SESSION: &str = "
    select s.header_digest, a.name, a.level, s.user_id, s.auth_session, s.seen_at < now() - interval '15 s'
    from selvedge_console.selvedge_sessions s
    left join selvedge_console.selvedge_accounts a on a.name = s.account and $3
    where s.cookie_digest = $1 and s.expires_at > now() and s.seen_at > now() - make_interval(secs => $2)
      and (a.name is not null or s.user_id is not null and $4)";

/// Writes the time of a session's last request, which keeps it from ending, unless another request has just done so. Returns whether the
/// session is still there.
const MARK_SEEN: &str = "
    with marked as (
      update selvedge_console.selvedge_sessions set seen_at = now()
      where cookie_digest = $1 and expires_at > now() and seen_at > now() - make_interval(secs => $2)
        and seen_at < now() - interval '15 s'
    )
    select exists (
      select from selvedge_console.selvedge_sessions
      where cookie_digest = $1 and expires_at > now() and seen_at > now() - make_interval(secs => $2)
    )";

const INSERT_SESSION: &str = "
    with ended as (delete from selvedge_console.selvedge_sessions where expires_at < now())
    insert into selvedge_console.selvedge_sessions (cookie_digest, header_digest, account, user_id, auth_session, address, expires_at)
    values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))";

/// The session at Auth of a project user, as long as the console's own names it.
const FIND_AUTH_SESSION: &str = "select auth_session, user_id from selvedge_console.selvedge_sessions
    where cookie_digest = $1 and auth_session is not null and user_id is not null";

/// The owner of a session.
pub(super) enum Owner<'a> {
    /// An account of the console.
    Account(&'a str),
    /// A user of the project, with the session at Auth that the sign-in has made.
    User { id: Uuid, auth_session: Uuid },
}

/// Sessions that were asked for recently, and the limits of their callers.
pub(crate) struct SessionStore {
    recent: Cache<Digest, Known>,
    requests: RequestLimit,
    statements: StatementLimit,
    pub(super) throttle: Throttle,
    /// Limits how many passwords are hashed at once, because each takes 19 MB and tens of milliseconds.
    pub(super) hashing: Semaphore,
    sign_in: SignInWays,
    idle: Duration,
    lifetime: Duration,
}

#[derive(Clone)]
struct Known {
    header_digest: Digest,
    account: Arc<str>,
    level: Level,
    asked_at: Instant,
}

/// The two secrets of a new session, which only the browser keeps.
pub(super) struct Secrets {
    pub(super) cookie: String,
    pub(super) header: String,
}

impl SessionStore {
    pub(crate) fn new(config: &ConsoleConfig) -> Self {
        Self {
            recent: Cache::builder()
                .max_capacity(10_000)
                .time_to_live(CACHE_LIFETIME)
                .build(),
            requests: RequestLimit::default(),
            statements: StatementLimit::default(),
            throttle: Throttle::default(),
            hashing: Semaphore::new(2),
            sign_in: config.sign_in,
            idle: config.idle,
            lifetime: config.lifetime,
        }
    }

    /// Returns account and level of the session with these secrets; `None` if there is none, or it has ended. Without the
    /// header's secret only the cookie's is checked.
    pub(super) async fn find(
        &self,
        database: &ConsoleDatabase,
        cookie: Digest,
        header_secret: Option<&str>,
    ) -> Result<Option<(Arc<str>, Level)>, ConsoleError> {
        let known = match self
            .recent
            .get(&cookie)
            .filter(|known| known.asked_at.elapsed() < CACHE_LIFETIME)
        {
            Some(known) => known,
            None => {
                let Some(known) = self.find_in_database(database, cookie).await? else {
                    return Ok(None);
                };
                self.recent.insert(cookie, known.clone());
                known
            }
        };
        let is_own = header_secret.is_none_or(|secret| digest(secret).ct_eq(&known.header_digest).into());
        Ok(is_own.then_some((known.account, known.level)))
    }

    /// Whether a session still exists. While the database does not respond, it is assumed to.
    pub(crate) async fn is_alive(&self, database: &ConsoleDatabase, session: &Session) -> bool {
        let Some(digest) = session.digest else {
            return true;
        };
        self.find_in_database(database, digest)
            .await
            .map_or(true, |known| {
                known.is_some_and(|known| known.level >= session.level)
            })
    }

    async fn find_in_database(
        &self,
        database: &ConsoleDatabase,
        cookie: Digest,
    ) -> Result<Option<Known>, ConsoleError> {
        let asked_at = Instant::now();
        let client = database.service().await?;
        let statement = client.prepare_cached(FIND_SESSION).await?;
        let Some(row) = client
            .query_opt(
                &statement,
                &[
                    &cookie.as_slice(),
                    &self.idle.as_secs_f64(),
                    &self.sign_in.accounts,
                    &self.sign_in.project,
                ],
            )
            .await?
        else {
            return Ok(None);
        };
        let (header, is_stale): (Vec<u8>, bool) = (row.get(0), row.get(5));
        let (user, auth_session): (Option<Uuid>, Option<Uuid>) = (row.get(3), row.get(4));
        // The connection is given back before another one is asked for. Requests that each hold one and wait for a second would wait for each other.
        drop(client);
        let owner = match (user, auth_session) {
            (Some(user), Some(auth_session)) => find_member(database, user, auth_session).await?,
            (Some(_), None) => None,
            // A level that this version does not know has no rights in it.
            (None, _) => {
                let (name, level): (String, String) = (row.get(1), row.get(2));
                level.parse().ok().map(|level| (name, level))
            }
        };
        let (Some((account, level)), Ok(header_digest)) = (owner, Digest::try_from(header)) else {
            return Ok(None);
        };
        // The lookup in Auth's tables may have taken long, so the session may have ended meanwhile.
        let is_old = asked_at.elapsed() > CACHE_LIFETIME;
        if (is_stale || is_old) && !self.mark_seen(database, cookie).await? {
            return Ok(None);
        }
        Ok(Some(Known {
            header_digest,
            account: account.into(),
            level,
            asked_at,
        }))
    }

    /// Notes a request of the session; false if it has ended.
    async fn mark_seen(&self, database: &ConsoleDatabase, cookie: Digest) -> Result<bool, ConsoleError> {
        let client = database.service().await?;
        let statement = client.prepare_cached(MARK_SEEN).await?;
        let row = client
            .query_one(&statement, &[&cookie.as_slice(), &self.idle.as_secs_f64()])
            .await?;
        Ok(row.get(0))
    }

    /// Makes a session with new secrets, whatever the browser has sent before.
    pub(super) async fn create(
        &self,
        database: &ConsoleDatabase,
        owner: Owner<'_>,
        address: &str,
    ) -> Result<Secrets, ConsoleError> {
        let secrets = Secrets {
            cookie: random_secret(),
            header: random_secret(),
        };
        // Only digests leave this function for the database; the secrets go to the browser alone.
        let (cookie, header) = (digest(&secrets.cookie), digest(&secrets.header));
        let (account, user_id, auth_session) = match owner {
            Owner::Account(name) => (Some(name), None, None),
            Owner::User { id, auth_session } => (None, Some(id), Some(auth_session)),
        };
        let client = database.service().await?;
        client
            .execute(
                INSERT_SESSION,
                &[
                    &cookie.as_slice(),
                    &header.as_slice(),
                    &account,
                    &user_id,
                    &auth_session,
                    &address,
                    &self.lifetime.as_secs_f64(),
                ],
            )
            .await?;
        Ok(secrets)
    }

    /// Ends a session, that at Auth first: where this fails, the console's own stays, and a second sign-out finds both.
    ///
    /// # Errors
    /// 503 while Auth's tables cannot be written.
    pub(super) async fn end(
        &self,
        database: &ConsoleDatabase,
        session: &Session,
    ) -> Result<(), ConsoleError> {
        let Some(digest) = session.digest else {
            return Ok(());
        };
        let client = database.service().await?;
        let at_auth = client.query_opt(FIND_AUTH_SESSION, &[&digest.as_slice()]).await?;
        // The connection is given back first, because the statement at Auth's tables may wait for a lock.
        drop(client);
        if let Some(row) = at_auth {
            end_auth_session(database, row.get(1), row.get(0)).await?;
        }
        let client = database.service().await?;
        client
            .execute(
                "delete from selvedge_console.selvedge_sessions where cookie_digest = $1",
                &[&digest.as_slice()],
            )
            .await?;
        // This node forgets the session immediately; others query the database again after CACHE_LIFETIME.
        self.recent.invalidate(&digest);
        Ok(())
    }

    /// Counts a request against its session's limit.
    ///
    /// # Errors
    /// 429 above 50 requests a second.
    pub(crate) fn count_request(&self, session: &Session) -> Result<(), ConsoleError> {
        self.requests.count(session)
    }

    /// Takes one of the account's places for running statements; it is given back when the permit is dropped.
    ///
    /// # Errors
    /// 429 while three statements of the account run.
    pub(crate) fn permit_statement(&self, session: &Session) -> Result<StatementPermit, ConsoleError> {
        self.statements.permit(session)
    }
}
