//! Sessions of a project that go on while its database is reset.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::{find_trapped, query, text_of};
use crate::support::Project;

/// A trigger that would run as whoever empties the table.
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
