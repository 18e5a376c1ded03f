//! Deletes expired rows; `crate::cleanup` calls it every ten minutes. Source: Auth contract §6, "Clean-up".
//!
//! Every statement deletes a bounded number of rows and skips locked ones, so that several nodes may clean up at the
//! same time without waiting for each other. It is repeated while it finds any: of some kinds anybody can write more rows between
//! two clean-ups than one statement deletes.

use std::time::{Duration, Instant};

use deadpool_postgres::GenericClient;

use super::{DbResult, Params, execute_statement};

/// The project's settings that decide what has expired.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CleanupRules {
    /// How long a session lives after its creation; `None` for no limit.
    pub(crate) timebox: Option<Duration>,
    /// How long a session lives after its last refresh; `None` for no limit.
    pub(crate) inactivity: Option<Duration>,
    /// Whether anonymous users are deleted after 30 days.
    pub(crate) anonymous_users: bool,
}

/// How long rows of one kind are deleted; the rest waits for the next clean-up. All kinds together take less than the time between two.
const LONGEST: Duration = Duration::from_secs(10);
/// Between two statements, so that a clean-up of many rows leaves the disk to requests.
const PAUSE: Duration = Duration::from_millis(50);

/// Deletes the expired rows of each kind; returns how many. A kind that cannot be deleted, because a table of the project refers to its rows, does
/// not keep the others.
///
/// # Errors
/// The first one, after the other kinds.
pub(crate) async fn delete_expired_rows(db: &impl GenericClient, rules: &CleanupRules) -> DbResult<u64> {
    let mut deleted = Deleted::default();
    for sql in [
        include_str!("../../sql/delete_stale_refresh_tokens.sql"),
        include_str!("../../sql/delete_stale_flow_states.sql"),
        include_str!("../../sql/delete_stale_challenges.sql"),
        include_str!("../../sql/delete_stale_factors.sql"),
        include_str!("../../sql/delete_stale_passkey_challenges.sql"),
        include_str!("../../sql/delete_stale_oauth_client_states.sql"),
        include_str!("../../sql/delete_stale_oauth_authorizations.sql"),
        include_str!("../../sql/delete_stale_exchanged_codes.sql"),
        include_str!("../../sql/delete_stale_ended_users.sql"),
        include_str!("../../sql/delete_stale_saml_relay_states.sql"),
        include_str!("../../sql/delete_stale_saml_assertions.sql"),
        include_str!("../../sql/delete_stale_saml_session_ends.sql"),
        include_str!("../../sql/delete_stale_flow_sessions.sql"),
        include_str!("../../sql/delete_stale_contested_accounts.sql"),
        include_str!("../../sql/delete_stale_vouched_passwords.sql"),
        include_str!("../../sql/delete_stale_unproven_sign_ins.sql"),
        include_str!("../../sql/delete_stale_codes.sql"),
        include_str!("../../sql/delete_stale_code_requests.sql"),
        include_str!("../../sql/delete_stale_factor_attempts.sql"),
        include_str!("../../sql/delete_stale_counted_attempts.sql"),
        include_str!("../../sql/delete_stale_text_message_pauses.sql"),
    ] {
        deleted.add(delete_in_batches(db, sql, &[]).await);
    }
    // `make_interval` of PostgreSQL takes seconds as a floating-point number.
    let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
    let (timebox, inactivity) = (seconds(rules.timebox), seconds(rules.inactivity));
    const SESSIONS: &str = include_str!("../../sql/delete_stale_sessions.sql");
    deleted.add(delete_in_batches(db, SESSIONS, &[&timebox, &inactivity]).await);
    if rules.anonymous_users {
        const USERS: &str = include_str!("../../sql/delete_stale_anonymous_users.sql");
        deleted.add(delete_in_batches(db, USERS, &[]).await);
    }
    match deleted.failure {
        None => Ok(deleted.rows),
        Some(failure) => Err(failure),
    }
}

/// How many rows were deleted, and the first failure.
#[derive(Default)]
struct Deleted {
    rows: u64,
    failure: Option<tokio_postgres::Error>,
}

impl Deleted {
    fn add(&mut self, kind: DbResult<u64>) {
        match kind {
            Ok(rows) => self.rows += rows,
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
    }
}

/// Repeats a statement until it finds nothing, or [`LONGEST`] has passed; returns how many rows it has deleted.
async fn delete_in_batches(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<u64> {
    let started = Instant::now();
    let mut rows = 0;
    loop {
        let batch = execute_statement(db, sql, params).await?;
        rows += batch;
        if batch == 0 || started.elapsed() >= LONGEST {
            return Ok(rows);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use deadpool_postgres::{Manager, Pool};
    use selvedge_testing::TestDatabase;

    use super::*;

    /// Rows on both sides of every limit.
    const ROWS: &str = "
        insert into auth.users (id, email, is_anonymous, created_at) values
          ('00000000-0000-4000-8000-000000000001', 'ana@example.com', false, now() - interval '90 days'),
          ('00000000-0000-4000-8000-000000000002', null, true, now() - interval '31 days'),
          ('00000000-0000-4000-8000-000000000003', null, true, now() - interval '29 days');
        insert into auth.sessions (id, user_id, created_at, not_after)
          select gen_random_uuid(), '00000000-0000-4000-8000-000000000001', now() - age, now() - past
          from (values (interval '1 hour', null), (interval '4 days', interval '2 days'),
                       (interval '9 days', interval '4 days'), (interval '30 days', null)) v (age, past);
        insert into auth.refresh_tokens (token, parent, revoked, updated_at) values
          ('a', null, true, now() - interval '3 days'), ('b', 'a', true, now() - interval '3 days'),
          ('c', 'b', false, now() - interval '3 days'), ('d', null, true, now() - interval '1 hour');
        insert into auth.flow_state (id, provider_type, authentication_method, created_at) values
          (gen_random_uuid(), 'email', 'recovery', now() - interval '25 hours'),
          (gen_random_uuid(), 'email', 'recovery', now() - interval '1 hour');
        insert into auth.oauth_client_states (id, provider_type, code_verifier, created_at) values
          (gen_random_uuid(), 'custom:loom', 'old', now() - interval '25 hours'),
          (gen_random_uuid(), 'custom:loom', 'new', now() - interval '1 hour');
        insert into _selvedge.selvedge_code_requests (request_hash, asked_at, answers, attempts) values
          ('\\x01', now() - interval '61 minutes', 5, 5), ('\\x02', now() - interval '59 minutes', 5, 5);
        insert into auth.oauth_clients
          (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method, client_type)
          values ('00000000-0000-4000-8000-0000000000c1', 'manual', 'https://app.example/', 'authorization_code', 'none',
            'public');
        insert into auth.oauth_authorizations
          (id, authorization_id, client_id, redirect_uri, scope, code_challenge, code_challenge_method, status,
           created_at, expires_at)
          select gen_random_uuid(), status, '00000000-0000-4000-8000-0000000000c1', 'https://app.example/', 'email',
            'x', 's256', status::auth.oauth_authorization_status, now() - age, now() - age + interval '10 minutes'
          from (values ('pending', interval '2 days'), ('approved', interval '3 days'), ('denied', interval '2 hours'))
            v (status, age);";

    #[tokio::test]
    async fn cleanup_deletes_only_expired_rows() {
        let database = TestDatabase::create().await;
        database
            .superuser()
            .await
            .batch_execute(ROWS)
            .await
            .expect("rows are inserted");
        let manager = Manager::new(database.config("supabase_auth_admin"), tokio_postgres::NoTls);
        let pool = Pool::builder(manager).max_size(1).build().expect("a pool");
        let client = pool.get().await.expect("a connection");
        let day = Some(Duration::from_secs(86_400));

        // Without limits on sessions: the used token `a`, the flow and the verifier of 25 hours ago, the session that ended
        // 4 days ago, the two authorizations that expired more than a day ago, and the request of more than an hour ago.
        let gentle = CleanupRules {
            timebox: None,
            inactivity: None,
            anonymous_users: false,
        };
        assert_eq!(
            delete_expired_rows(&client, &gentle).await.expect("first round"),
            7
        );
        // With a timebox of 20 days: the session of 30 days ago, and the anonymous user of 31 days ago.
        let strict = CleanupRules {
            timebox: Some(Duration::from_secs(20 * 86_400)),
            inactivity: None,
            anonymous_users: true,
        };
        assert_eq!(
            delete_expired_rows(&client, &strict).await.expect("second round"),
            2
        );
        // With an inactivity limit of one day: the session of 4 days ago.
        let stricter = CleanupRules {
            timebox: None,
            inactivity: day,
            anonymous_users: true,
        };
        assert_eq!(
            delete_expired_rows(&client, &stricter)
                .await
                .expect("third round"),
            1
        );

        let tokens = client
            .query("select token from auth.refresh_tokens order by token", &[])
            .await
            .expect("tokens");
        let tokens: Vec<String> = tokens.iter().map(|row| row.get(0)).collect();
        assert_eq!(tokens, ["b", "c", "d"], "the parent of the active token stays");
        let left = client
            .query_one(
                "select (select string_agg(code_verifier, ',') from auth.oauth_client_states) || ' ' ||
                   (select string_agg(authorization_id, ',') from auth.oauth_authorizations)",
                &[],
            )
            .await
            .expect("provider states and authorizations");
        assert_eq!(left.get::<_, &str>(0), "new denied");
        let users = client
            .query_one("select count(*) from auth.users", &[])
            .await
            .expect("users");
        assert_eq!(users.get::<_, i64>(0), 2);
    }
}
