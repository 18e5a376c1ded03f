//! Sessions of a project that go on while its database is reset.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::{find_trapped, query, text_of};
use crate::support::Project;

/// A function of a trigger that warns when it runs in a superuser's session, as it would if the reset emptied its table as one.
fn trap(name: &str) -> String {
    format!(
        "create function {name}() returns trigger language plpgsql as $$ begin
           if exists (select from pg_catalog.pg_roles where rolsuper and rolname in (current_user, session_user)) then
             raise warning 'trapped: %', current_user;
           end if;
           return null;
         end $$;
         grant execute on function {name}() to public"
    )
}

/// Puts it on auth.users, in a transaction that stays open.
fn plant_on_users() -> String {
    format!(
        "begin; set local role supabase_auth_admin; {};
         create trigger waiting before truncate on auth.users for each statement execute function auth.waiting();
         alter table auth.users enable always trigger waiting",
        trap("auth.waiting")
    )
}

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
#[actix_web::rt::test(system = "selvedge_testing::System")]
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
            attacker
                .batch_execute(&plant_on_users())
                .await
                .expect("the owner may");
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

/// Puts tables of `postgres` into the place of those of pg_net, with a trigger that would run as whoever empties one. The transaction stays
/// open.
fn replace_pg_net() -> String {
    format!(
        "begin; select _selvedge.drop_extension('pg_net', true, true);
         create schema net; create table net._http_response (id bigint); create table net.http_request_queue (id bigint);
         {};
         create trigger replaced before truncate on net._http_response for each statement execute function public.replaced();
         alter table net._http_response enable always trigger replaced",
        trap("public.replaced")
    )
}

/// Whether `postgres` has emptied the project, and not committed yet.
const IS_EMPTIED: &str = "select exists (
    select from pg_locks as l join pg_stat_activity as a on a.pid = l.pid and a.usename = 'postgres'
    where l.relation = 'auth.users'::regclass and l.granted and l.mode = 'AccessExclusiveLock')";

/// Whether the reset's superuser waits to lock a table of these schemas.
const IS_SCHEMA_AWAITED: &str = "select exists (
    select from pg_locks as l join pg_class as c on c.oid = l.relation join pg_namespace as n on n.oid = c.relnamespace
    join pg_stat_activity as a on a.pid = l.pid and a.usename = 'supabase_admin'
    where n.nspname in ($schemas) and not l.granted and l.mode = 'AccessExclusiveLock')";

/// Empties the tables as a reset must not: by names that are looked up when the lock is there. So the trap is one.
async fn fall_into_the_trap(project: &Project, attacker: &Client, watching: &Client) {
    attacker
        .batch_execute(&replace_pg_net())
        .await
        .expect("postgres may");
    let superuser = project.superuser().await;
    let truncate = "begin; set local session_replication_role = replica;
        truncate net._http_response, net.http_request_queue restart identity; rollback";
    let of_pg_net = IS_SCHEMA_AWAITED.replace("$schemas", "'net'");
    let commit = async {
        let has_waited = wait_for(watching, &of_pg_net, Duration::from_secs(20)).await;
        attacker.batch_execute("commit").await.expect("ended");
        has_waited
    };
    let (emptied, has_waited) = tokio::join!(superuser.batch_execute(truncate), commit);
    emptied.expect("a superuser may");
    assert!(has_waited);
    project.run_and_expect_success(&["db", "reset"]);
}

/// The tables are a superuser's when the reset begins, and belong to `postgres` when its lock is granted.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_reset_runs_no_trigger_of_a_table_that_takes_the_place_of_one_of_the_superuser() {
    let project = Project::new();
    let running = project.start().await;
    let (attacker, reader) = (project.database().await, project.database().await);
    let watching = project.database().await;
    let log = project.path(".selvedge/postgres.log");
    fall_into_the_trap(&project, &attacker, &watching).await;
    let trapped = find_trapped(&log);
    assert_eq!(trapped.len(), 1, "{trapped:?}");
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
                .batch_execute(&replace_pg_net())
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
    assert_eq!(find_trapped(&log), trapped);
    let of_superusers = "select bool_and(r.rolsuper) from pg_class as c join pg_roles as r on r.oid = c.relowner where c.relnamespace = 'net'::regnamespace";
    assert!(query::<bool>(&watching, of_superusers).await);
    running.stop();
}

/// The reset empties a partitioned table with its tables of days. What an extension owns it does not drop.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_reset_runs_no_trigger_of_a_table_of_days_whose_function_an_extension_keeps() {
    let project = Project::new();
    let running = project.start().await;
    let postgres = project.database().await;
    let day = "select inhrelid::regclass::text from pg_inherits where inhparent = 'realtime.messages'::regclass limit 1";
    let day: String = query(&postgres, day).await;
    let plant = format!(
        "set role supabase_realtime_admin; {}; reset role;
         alter extension pg_net add function realtime.of_day(); set role supabase_realtime_admin;
         create trigger of_day before truncate on {day} for each statement execute function realtime.of_day();
         alter table {day} enable always trigger of_day; reset role",
        trap("realtime.of_day")
    );
    postgres.batch_execute(&plant).await.expect("postgres may");

    project.run_and_expect_success(&["db", "reset"]);

    assert_eq!(
        find_trapped(&project.path(".selvedge/postgres.log")),
        Vec::<String>::new()
    );
    let left = "select count(*) from pg_trigger where tgname = 'of_day'";
    assert_eq!(query::<i64>(&postgres, left).await, 0);
    running.stop();
}

/// A cast of the project would be called by a key that the reset makes again.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_reset_refuses_columns_of_the_platform_with_types_for_which_the_project_can_make_casts() {
    let project = Project::new();
    let running = project.start().await;
    let owner = project.database().await;
    // Types of `postgres`, and in its schemas, are dropped before.
    let change = "set role supabase_auth_admin; alter table auth.identities drop constraint identities_user_id_fkey;
        create type auth.strange as (id text); alter table auth.identities alter column user_id type auth.strange using null; reset role";
    owner.batch_execute(change).await.expect("the owner may");

    let message = project.run_and_expect_failure(&["db", "reset"]);

    assert!(
        message.contains("table column auth.identities.user_id (auth.strange)"),
        "{message}"
    );
    let mend = "set role supabase_auth_admin; alter table auth.identities alter column user_id type uuid using null; reset role";
    owner.batch_execute(mend).await.expect("the owner may");
    project.run_and_expect_success(&["db", "reset"]);
    let keys = "select count(*) from pg_constraint where conname = 'identities_user_id_fkey'";
    assert_eq!(query::<i64>(&owner, keys).await, 1);
    running.stop();
}
