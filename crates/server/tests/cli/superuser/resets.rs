//! Sessions of a project that go on while its database is reset.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::{find_trapped, query, text_of};
use crate::support::Project;

/// Puts a trigger on auth.users that warns when it runs in a superuser's session, as it would if the reset emptied the table as one.
const TRIGGER: &str = "begin; set local role supabase_auth_admin;
    create function auth.waiting() returns trigger language plpgsql as $$ begin
      if exists (select from pg_catalog.pg_roles where rolsuper and rolname in (current_user, session_user)) then
        raise warning 'trapped: %', current_user;
      end if;
      return null;
    end $$;
    grant execute on function auth.waiting() to public;
    create trigger waiting before truncate on auth.users for each statement execute function auth.waiting();
    alter table auth.users enable always trigger waiting";

/// Whether somebody holds the table, and whether somebody waits for it.
const IS_HELD: &str = "select exists (select from pg_locks where relation = 'auth.users'::regclass and granted and mode = 'AccessExclusiveLock')";
const IS_AWAITED: &str =
    "select exists (select from pg_locks where relation = 'auth.users'::regclass and not granted)";

/// Waits until the condition is true, or the time is over.
async fn wait_for(watching: &Client, condition: &str, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if query(watching, condition).await {
            return true;
        }
        actix_web::rt::time::sleep(Duration::from_millis(1)).await;
    }
    false
}

/// The trigger is made while the reset empties the project, and committed when the superuser's session waits for the table.
#[actix_web::test]
async fn a_reset_runs_no_trigger_that_is_committed_while_it_waits_for_a_table() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int)",
    );
    let running = project.start().await;
    let (attacker, watching) = (project.database().await, project.database().await);
    let mut has_waited = false;

    for _ in 0..5 {
        let reset = project
            .command(&["db", "reset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        if wait_for(&watching, IS_HELD, Duration::from_secs(20)).await {
            attacker.batch_execute(TRIGGER).await.expect("the owner may");
            has_waited = wait_for(&watching, IS_AWAITED, Duration::from_secs(5)).await;
            attacker.batch_execute("commit").await.expect("made");
        }
        let output = reset.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", text_of(&output));
        if has_waited {
            break;
        }
        attacker
            .batch_execute("drop function if exists auth.waiting() cascade")
            .await
            .expect("dropped");
    }

    assert!(has_waited, "the reset has waited for the trigger's transaction");
    assert_eq!(
        find_trapped(&project.path(".selvedge/postgres.log")),
        Vec::<String>::new()
    );
    let left = "select count(*) from pg_trigger where tgname = 'waiting'";
    assert_eq!(query::<i64>(&watching, left).await, 0);
    running.stop();
}

/// Puts tables of `postgres` into the place of those of pg_net, with a trigger that would run as whoever empties one.
const REPLACE_PG_NET: &str = "begin; select _selvedge.drop_extension('pg_net', true, true);
    create schema net; create table net._http_response (id bigint); create table net.http_request_queue (id bigint);
    create function public.replaced() returns trigger language plpgsql as $$ begin
      if exists (select from pg_catalog.pg_roles where rolsuper and rolname in (current_user, session_user)) then
        raise warning 'trapped: %', current_user;
      end if;
      return null;
    end $$;
    grant execute on function public.replaced() to public;
    create trigger replaced before truncate on net._http_response for each statement execute function public.replaced();
    alter table net._http_response enable always trigger replaced";

/// Whether `postgres` has emptied the project, and not committed yet.
const IS_EMPTIED: &str = "select exists (
    select from pg_locks as l join pg_stat_activity as a on a.pid = l.pid and a.usename = 'postgres'
    where l.relation = 'auth.users'::regclass and l.granted and l.mode = 'AccessExclusiveLock')";

/// Whether the reset's superuser waits to lock a table of these schemas.
const IS_SCHEMA_AWAITED: &str = "select exists (
    select from pg_locks as l join pg_class as c on c.oid = l.relation join pg_namespace as n on n.oid = c.relnamespace
    join pg_stat_activity as a on a.pid = l.pid and a.usename = 'supabase_admin'
    where n.nspname in ($schemas) and not l.granted and l.mode = 'AccessExclusiveLock')";

/// The tables are a superuser's when the reset begins, and belong to `postgres` when its lock is granted.
#[actix_web::test]
async fn a_reset_runs_no_trigger_of_a_table_that_takes_the_place_of_one_of_the_superuser() {
    let project = Project::new();
    let running = project.start().await;
    let (attacker, reader) = (project.database().await, project.database().await);
    let watching = project.database().await;
    let (mut has_waited, mut printed) = (false, String::new());

    for _ in 0..5 {
        let reset = project
            .command(&["db", "reset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        if wait_for(&watching, IS_EMPTIED, Duration::from_secs(20)).await {
            // What the reset locks first is held, so that the tables are replaced before it comes to these.
            let read = "begin; select from auth.users limit 0";
            reader.batch_execute(read).await.expect("read");
            let of_auth = IS_SCHEMA_AWAITED.replace("$schemas", "'auth'");
            let is_held = wait_for(&watching, &of_auth, Duration::from_secs(9)).await;
            attacker
                .batch_execute(REPLACE_PG_NET)
                .await
                .expect("postgres may");
            reader.batch_execute("commit").await.expect("ended");
            // The list of extensions is read by whoever drops one, and comes first.
            let of_pg_net = IS_SCHEMA_AWAITED.replace("$schemas", "'_selvedge', 'net'");
            has_waited = is_held && wait_for(&watching, &of_pg_net, Duration::from_secs(9)).await;
            let end = if has_waited { "commit" } else { "rollback" };
            attacker.batch_execute(end).await.expect("ended");
        }
        // It may refuse what it finds, and the next one begins with dropping that.
        let output = reset.wait_with_output().expect("it ends");
        printed = text_of(&output);
        if has_waited {
            break;
        }
    }

    assert!(has_waited, "the reset has not waited for the tables: {printed}");
    project.run_and_expect_success(&["db", "reset"]);
    assert_eq!(
        find_trapped(&project.path(".selvedge/postgres.log")),
        Vec::<String>::new()
    );
    let of_superusers = "select bool_and(r.rolsuper) from pg_class as c join pg_roles as r on r.oid = c.relowner where c.relnamespace = 'net'::regnamespace";
    assert!(query::<bool>(&watching, of_superusers).await);
    running.stop();
}
