//! `[selvedge.queues] expose`: whether the API reaches queues, through functions of the schema `pgmq_public`. What the dashboard's switch
//! makes in a hosted project. Source: SQL-200 to SQL-204.

use std::time::Duration;

use anyhow::{Context as _, Result};
use selvedge_terminal::print_note;
use tokio::time::sleep;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

const EXPOSE: &str = include_str!("expose_queues.sql");
const HIDE: &str = include_str!("hide_queues.sql");

const IS_EXPOSED: &str = include_str!("are_queues_exposed.sql");
const IS_HIDDEN: &str = include_str!("are_queues_hidden.sql");

/// Nodes that start at once change the same rows of the catalogue: one wins, and the others look again after pauses of up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Makes the schema, or removes it; without the key it stays as it is. `administrator` is `postgres`, who owns the project's objects.
///
/// # Errors
/// PostgreSQL's error; nothing is changed then.
pub(crate) async fn settle_queues(expose: Option<bool>, administrator: &Client) -> Result<()> {
    let (is_settled, statements, change) = match expose {
        None => return Ok(()),
        Some(true) => (IS_EXPOSED, EXPOSE, "reaches"),
        Some(false) => (IS_HIDDEN, HIDE, "does not reach"),
    };
    let is_changed = settle(administrator, is_settled, statements)
        .await
        .context("selvedge.queues.expose could not be applied")?;
    if is_changed {
        // Said aloud, because the file of this machine decides about a database that may be elsewhere.
        print_note(&format!(
            "The API {change} the queues of this database from now on (selvedge.queues.expose)."
        ));
    }
    Ok(())
}

/// Runs the statements unless the database is as they make it; returns whether they have made it so.
async fn settle(
    administrator: &Client,
    is_settled: &str,
    statements: &str,
) -> Result<bool, tokio_postgres::Error> {
    let mut pause = Duration::from_millis(20);
    loop {
        // What is as it should be writes nothing: REST reads its schema again after each change.
        if administrator.query_one(is_settled, &[]).await?.try_get(0)? {
            return Ok(false);
        }
        // One batch is one transaction.
        match administrator.batch_execute(statements).await {
            Err(error) if is_concurrent_change(&error) && pause < LONGEST_PAUSE => sleep(pause).await,
            Err(error) => return Err(error),
            // Something of another role may stay in the way of the state, of which a warning tells.
            Ok(()) => return administrator.query_one(is_settled, &[]).await?.try_get(0),
        }
        pause *= 2;
    }
}

/// Whether another session has made or changed the same object meanwhile. "tuple concurrently updated" has no code of its own.
fn is_concurrent_change(error: &tokio_postgres::Error) -> bool {
    let collisions = [
        SqlState::INTERNAL_ERROR,
        SqlState::UNIQUE_VIOLATION,
        SqlState::DUPLICATE_SCHEMA,
        SqlState::DUPLICATE_FUNCTION,
        SqlState::DUPLICATE_OBJECT,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    error.code().is_some_and(|code| collisions.contains(code))
}

#[cfg(test)]
mod tests {
    use selvedge_testing::TestDatabase;

    use super::*;

    /// A connection as one of the API's roles.
    async fn become_role(database: &TestDatabase, role: &str) -> Client {
        let client = database.connect("authenticator").await;
        let role = format!("set role {role}");
        client.batch_execute(&role).await.expect("the role of a request");
        client
    }

    /// A database whose queues are exposed, and its queue `q`.
    async fn database_with_queue() -> (TestDatabase, Client) {
        let database = TestDatabase::create().await;
        let postgres = database.connect("postgres").await;
        settle_queues(Some(true), &postgres).await.expect("exposed");
        postgres
            .batch_execute("select pgmq.create('q')")
            .await
            .expect("a queue");
        (database, postgres)
    }

    async fn count(client: &Client, sql: &str) -> i64 {
        client.query_one(sql, &[]).await.expect(sql).get(0)
    }

    async fn refusal(client: &Client, sql: &str) -> String {
        let error = client.batch_execute(sql).await.expect_err(sql);
        error.code().expect("PostgreSQL's").code().to_owned()
    }

    #[tokio::test]
    async fn sql_200_the_service_role_uses_all_six_functions() {
        let (database, _postgres) = database_with_queue().await;
        let service = become_role(&database, "service_role").await;

        let sent = "select count(*) from pgmq_public.send('q', '{\"n\": 1}')";
        assert_eq!(count(&service, sent).await, 1);
        let batch = "select count(*) from pgmq_public.send_batch('q', array['1', '2', '3']::jsonb[], 0)";
        assert_eq!(count(&service, batch).await, 3);
        for (sql, expected) in [
            ("select count(*) from pgmq_public.read('q', 0, 2)", 2),
            ("select count(*) from pgmq_public.read('q', 60, 0)", 0),
            ("select msg_id from pgmq_public.pop('q')", 1),
            ("select pgmq_public.archive('q', 2)::int::bigint", 1),
            ("select pgmq_public.delete('q', 3)::int::bigint", 1),
            ("select pgmq_public.delete('q', 3)::int::bigint", 0),
            ("select count(*) from pgmq_public.read('q', 60, 10)", 1),
            ("select count(*) from pgmq_public.read('q', 60, 10)", 0),
            ("select count(*) from pgmq.a_q", 1),
        ] {
            assert_eq!(count(&service, sql).await, expected, "{sql}");
        }
        let missing = "select pgmq_public.pop('none')";
        assert_eq!(refusal(&service, missing).await, "42P01");
    }

    #[tokio::test]
    async fn sql_201_others_need_grants_on_the_queue_and_see_only_what_policies_let_them() {
        let (database, postgres) = database_with_queue().await;
        let anon = become_role(&database, "anon").await;
        let send = "select pgmq_public.send('q', '{\"of\": \"anon\"}')";
        for sql in [
            send,
            "select pgmq_public.read('q', 0, 1)",
            "select pgmq_public.pop('q')",
            "select pgmq_public.archive('q', 1)",
            "select pgmq_public.delete('q', 1)",
        ] {
            assert_eq!(refusal(&anon, sql).await, "42501", "{sql}");
        }

        postgres
            .batch_execute(
                "select pgmq.send('q', '{\"of\": \"others\"}');
                 alter table pgmq.q_q enable row level security;
                 grant select, insert, update, delete on pgmq.q_q to anon;
                 create policy own on pgmq.q_q to anon using (message ->> 'of' = 'anon') with check (message ->> 'of' = 'anon')",
            )
            .await
            .expect("grants");

        anon.batch_execute(send).await.expect("allowed");
        let of_others = "select pgmq_public.send('q', '{\"of\": \"others\"}')";
        assert_eq!(refusal(&anon, of_others).await, "42501");
        let read = "select count(*) from pgmq_public.read('q', 0, 10)";
        assert_eq!(count(&anon, read).await, 1);
        let deleted = "select pgmq_public.delete('q', 1)::int::bigint";
        assert_eq!(count(&anon, deleted).await, 0, "a message that is not seen");
    }

    #[tokio::test]
    async fn sql_202_queues_are_neither_made_nor_dropped_through_the_exposed_schema() {
        let (database, postgres) = database_with_queue().await;
        let functions =
            "select count(*) from pg_proc where pronamespace = 'pgmq_public'::regnamespace and not prosecdef";
        assert_eq!(count(&postgres, functions).await, 6);
        let definers =
            "select count(*) from pg_proc where pronamespace = 'pgmq_public'::regnamespace and prosecdef";
        assert_eq!(count(&postgres, definers).await, 0);

        let anon = become_role(&database, "anon").await;
        for sql in ["select pgmq.create('mine')", "select pgmq.drop_queue('q')"] {
            assert_eq!(refusal(&anon, sql).await, "42501", "{sql}");
        }
        // A new queue with row-level security and without policies is closed for everybody but the service role.
        postgres
            .batch_execute(
                "alter table pgmq.q_q enable row level security; grant all on pgmq.q_q to authenticated",
            )
            .await
            .expect("grants");
        let service = become_role(&database, "service_role").await;
        service
            .batch_execute("select pgmq_public.send('q', '1')")
            .await
            .expect("sent");
        let user = become_role(&database, "authenticated").await;
        assert_eq!(
            count(&user, "select count(*) from pgmq_public.read('q', 0, 10)").await,
            0
        );
    }

    #[tokio::test]
    async fn sql_203_the_switch_may_be_turned_again_and_again_and_off_leaves_nothing_open() {
        let (database, postgres) = database_with_queue().await;
        let state = "select count(*) from pg_namespace where nspname = 'pgmq_public'";
        let usage = "select count(*) from unnest(array['anon', 'authenticated', 'service_role']) role
                     where has_schema_privilege(role, 'pgmq', 'usage')";

        settle_queues(Some(true), &postgres).await.expect("exposed again");
        settle_queues(None, &postgres).await.expect("left as it is");
        assert_eq!(
            (count(&postgres, state).await, count(&postgres, usage).await),
            (1, 3)
        );
        for _ in 0..2 {
            settle_queues(Some(false), &postgres).await.expect("hidden");
            assert_eq!(
                (count(&postgres, state).await, count(&postgres, usage).await),
                (0, 0)
            );
        }
        let later = "select pgmq.create('later')";
        postgres.batch_execute(later).await.expect("a queue");
        let open = "select has_table_privilege('service_role', 'pgmq.q_later', 'select')::int::bigint";
        assert_eq!(count(&postgres, open).await, 0);
        settle_queues(Some(true), &postgres).await.expect("exposed");
        let service = become_role(&database, "service_role").await;
        service
            .batch_execute("select pgmq_public.send('later', '1'), pgmq_public.send('q', '1')")
            .await
            .expect("sent");
    }

    #[tokio::test]
    async fn sql_203_nodes_that_start_at_once_expose_queues_and_later_starts_write_nothing() {
        let database = TestDatabase::create().await;
        let mut nodes = Vec::new();
        for _ in 0..6 {
            nodes.push(database.connect("postgres").await);
        }

        let all = nodes.iter().map(|node| settle_queues(Some(true), node));
        for settled in futures_util::future::join_all(all).await {
            settled.expect("exposed");
        }

        let written = "select sum(xmin::text::bigint)::bigint from pg_proc where pronamespace = 'pgmq_public'::regnamespace";
        let before = count(&nodes[0], written).await;
        settle_queues(Some(true), &nodes[1]).await.expect("exposed again");
        assert_eq!(count(&nodes[0], written).await, before);
    }

    #[tokio::test]
    async fn sql_203_what_went_missing_is_made_again() {
        let (_database, postgres) = database_with_queue().await;
        let open = "select count(*) from pg_proc where pronamespace = 'pgmq_public'::regnamespace \
                    and has_schema_privilege('anon', 'pgmq', 'usage') and has_schema_privilege('anon', 'pgmq_public', 'usage')";
        for loss in [
            "drop extension pgmq cascade; create extension pgmq",
            "drop function pgmq_public.archive(text, bigint)",
            "revoke usage on schema pgmq from anon",
            "revoke usage on schema pgmq_public from anon",
        ] {
            postgres.batch_execute(loss).await.expect(loss);

            settle_queues(Some(true), &postgres).await.expect("exposed");

            assert_eq!(count(&postgres, open).await, 6, "{loss}");
        }
    }

    #[tokio::test]
    async fn sql_203_off_writes_nothing_where_the_schema_is_the_projects_or_another_role_s() {
        let (database, postgres) = database_with_queue().await;
        postgres
            .batch_execute(
                "create table pgmq_public.own (id int);
                 create view public.waiting as select * from pgmq_public.read('q', 0, 1)",
            )
            .await
            .expect("a table and a view");
        settle_queues(Some(false), &postgres).await.expect("hidden");
        let is_settled = async |postgres: &Client| -> bool {
            postgres.query_one(IS_HIDDEN, &[]).await.expect("a state").get(0)
        };
        assert!(is_settled(&postgres).await);

        drop((database, postgres));
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        let foreign = "create schema pgmq_public; comment on schema pgmq_public is 'of another'";
        superuser.batch_execute(foreign).await.expect("a schema");
        let postgres = database.connect("postgres").await;
        settle_queues(Some(false), &postgres).await.expect("left alone");
        let comment = "select count(*) from pg_namespace where nspname = 'pgmq_public' \
                       and obj_description(oid, 'pg_namespace') = 'of another'";
        assert_eq!(count(&postgres, comment).await, 1);
    }

    #[tokio::test]
    async fn sql_203_off_keeps_what_the_project_has_put_into_the_schema() {
        let (_database, postgres) = database_with_queue().await;
        postgres
            .batch_execute(
                "create table pgmq_public.own (id int);
                 create view public.waiting as select * from pgmq_public.read('q', 0, 1)",
            )
            .await
            .expect("a table and a view");

        settle_queues(Some(false), &postgres).await.expect("hidden");

        assert_eq!(count(&postgres, "select count(*) from pgmq_public.own").await, 0);
        let functions = "select count(*) from pg_proc where pronamespace = 'pgmq_public'::regnamespace";
        assert_eq!(count(&postgres, functions).await, 1, "that of the view");
        let without_queues = TestDatabase::create().await;
        let postgres = without_queues.connect("postgres").await;
        settle_queues(Some(false), &postgres)
            .await
            .expect("nothing to do");
    }
}
