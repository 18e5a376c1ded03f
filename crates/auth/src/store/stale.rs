//! Rows that nothing will ask for again. Every statement takes a bounded number of rows and skips those in use, so that
//! several nodes may sweep at once.

use std::time::Duration;

use deadpool_postgres::GenericClient;

use super::{DbResult, execute};

/// What else ends a session's life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) timebox: Option<Duration>,
    pub(crate) inactivity: Option<Duration>,
    /// Whether anonymous users go after 30 days.
    pub(crate) anonymous_users: bool,
}

/// Removes a bounded number of stale rows of each kind; how many there were.
pub(crate) async fn delete(db: &impl GenericClient, limits: &Limits) -> DbResult<u64> {
    let mut rows = 0;
    for sql in [
        include_str!("../../sql/delete_stale_refresh_tokens.sql"),
        include_str!("../../sql/delete_stale_flow_states.sql"),
        include_str!("../../sql/delete_stale_challenges.sql"),
        include_str!("../../sql/delete_stale_factors.sql"),
        include_str!("../../sql/delete_stale_passkey_challenges.sql"),
    ] {
        rows += execute(db, sql, &[]).await?;
    }
    let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
    let (timebox, inactivity) = (seconds(limits.timebox), seconds(limits.inactivity));
    rows += execute(
        db,
        include_str!("../../sql/delete_stale_sessions.sql"),
        &[&timebox, &inactivity],
    )
    .await?;
    if limits.anonymous_users {
        rows += execute(
            db,
            include_str!("../../sql/delete_stale_anonymous_users.sql"),
            &[],
        )
        .await?;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use deadpool_postgres::{Manager, Pool};
    use selvedge_postgres::testing::TestDatabase;

    use super::*;

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
          (gen_random_uuid(), 'email', 'recovery', now() - interval '1 hour');";

    #[tokio::test]
    async fn only_what_has_no_use_goes() {
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

        let gentle = Limits {
            timebox: None,
            inactivity: None,
            anonymous_users: false,
        };
        assert_eq!(delete(&client, &gentle).await.expect("first round"), 3);
        let strict = Limits {
            timebox: Some(Duration::from_secs(20 * 86_400)),
            inactivity: None,
            anonymous_users: true,
        };
        assert_eq!(delete(&client, &strict).await.expect("second round"), 2);
        let stricter = Limits {
            timebox: None,
            inactivity: day,
            anonymous_users: true,
        };
        assert_eq!(delete(&client, &stricter).await.expect("third round"), 1);

        let tokens = client
            .query("select token from auth.refresh_tokens order by token", &[])
            .await
            .expect("tokens");
        let tokens: Vec<String> = tokens.iter().map(|row| row.get(0)).collect();
        assert_eq!(tokens, ["b", "c", "d"], "the parent of the active token stays");
        let users = client
            .query_one("select count(*) from auth.users", &[])
            .await
            .expect("users");
        assert_eq!(users.get::<_, i64>(0), 2);
    }
}
