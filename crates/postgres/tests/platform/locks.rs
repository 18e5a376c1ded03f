//! Locks that every role may take stop no run of this program, and runs keep apart nevertheless.

use std::time::Duration;

use selvedge_postgres::PrivilegedLogin;
use selvedge_postgres::migrate::{
    MigrateError, SeedFile, apply_platform, apply_seeds, claim_import, create_tenant, lock_tenants,
    release_import, release_tenants,
};
use selvedge_testing::TestDatabase;

use super::{api, query_value};

/// Advisory locks of this and of earlier versions.
const LOCKS: [&str; 3] = [
    "selvedge platform migrations",
    "selvedge tenants",
    "selvedge import",
];

#[tokio::test]
async fn gw_012_locks_that_every_role_may_take_stop_no_run() {
    let database = TestDatabase::create().await;
    let anon = api(&database, "anon", "{}").await;
    for name in LOCKS {
        let lock = "select pg_advisory_lock(hashtextextended($1, 0))";
        anon.execute(lock, &[&name]).await.expect("every role may");
    }
    let superuser = PrivilegedLogin::new(database.config("supabase_admin"));
    let one = superuser.connect().await.expect("a session");
    let other = superuser.connect().await.expect("a session");
    one.batch_execute(
        "drop function _selvedge.release_tenants(), _selvedge.forget_ended_sessions();
         delete from _selvedge.platform_migrations where version = 134",
    )
    .await
    .expect("forgotten");

    let (first, second) = tokio::join!(apply_platform(&one), apply_platform(&other));

    let applied = [first, second].map(|report| report.expect("applied").applied.len());
    assert_eq!(applied.iter().sum::<usize>(), 1, "{applied:?}");
    assert!(claim_import(&one).await.expect("an answer"));
    assert!(
        !claim_import(&other).await.expect("an answer"),
        "one import at a time"
    );
    let mut postgres = database.connect("postgres").await;
    lock_tenants(&postgres, |_| panic!("nobody else changes tenants"))
        .await
        .expect("claimed");
    create_tenant(&mut postgres, "tenant_a").await.expect("created");
}

#[tokio::test]
async fn gw_012_runs_wait_for_each_other_until_the_session_of_one_ends() {
    let database = TestDatabase::create().await;
    let first = database.connect("postgres").await;
    lock_tenants(&first, |_| ()).await.expect("claimed");
    first
        .batch_execute("set application_name = 'a test'")
        .await
        .expect("set");
    let second = database.connect("postgres").await;
    let (waits, waited) = tokio::sync::oneshot::channel();
    let wait = lock_tenants(&second, |other| {
        let _ = waits.send(other.clone());
    });

    let end_first = async {
        let other = waited.await.expect("it says that it waits");
        let own = query_value(&first, "pg_backend_pid()").await;
        assert_eq!(other.pid.to_string(), own);
        let described = other.to_string();
        assert!(
            described.contains(&format!("session {own} of a test, which began at 20")),
            "{described}"
        );
        drop(first);
    };
    let (claimed, ()) = tokio::join!(wait, end_first);

    claimed.expect("claimed");
    // Only `postgres` may claim it.
    let anon = api(&database, "anon", "{}").await;
    assert!(
        anon.batch_execute("select _selvedge.claim_tenants()")
            .await
            .is_err()
    );
    // A superuser's run is waited for.
    let superuser = PrivilegedLogin::new(database.config("supabase_admin"));
    let running = superuser.connect().await.expect("a session");
    running
        .batch_execute("select pg_advisory_lock(hashtextextended('selvedge platform migrations', 0))")
        .await
        .expect("locked");
    let next = superuser.connect().await.expect("a session");
    let apply = apply_platform(&next);
    let end_running = async {
        let waiting = database.superuser().await;
        let tries = "exists (select from pg_stat_activity where query like '%pg_locks as l%' and query not like 'select (exists%'
            and datname = current_database())";
        let seen = async {
            while query_value(&waiting, tries).await != "true" {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), seen)
            .await
            .expect("it looks for the holder");
        drop(running);
    };
    let (applied, ()) = tokio::join!(apply, end_running);
    assert!(applied.expect("applied").applied.is_empty());
}

#[tokio::test]
async fn gw_012_names_of_sessions_are_given_back_and_open_transactions_stop_nobody() {
    let database = TestDatabase::create().await;
    let [first, second] = [
        database.connect("postgres").await,
        database.connect("postgres").await,
    ];
    lock_tenants(&first, |_| ()).await.expect("claimed");
    release_tenants(&first).await.expect("released");
    lock_tenants(&second, |_| panic!("nobody has it"))
        .await
        .expect("claimed");
    release_tenants(&second).await.expect("released");
    let superuser = PrivilegedLogin::new(database.config("supabase_admin"));
    let [one, other] =
        [superuser.connect().await, superuser.connect().await].map(|session| session.expect("one"));
    assert!(claim_import(&one).await.expect("an answer"));
    release_import(&one).await.expect("released");
    assert!(claim_import(&other).await.expect("an answer"));

    // A transaction that is left open has the row, which is then taken for claimed, and stops neither a claim nor the workers.
    first
        .batch_execute("begin; select _selvedge.claim_tenants()")
        .await
        .expect("claimed");
    let authenticator = database.connect("authenticator").await;
    authenticator
        .batch_execute("set statement_timeout = '10s'; select _selvedge.forget_ended_sessions()")
        .await
        .expect("it does not wait");
    let claim = "set statement_timeout = '10s'; select _selvedge.claim_tenants()";
    second.batch_execute(claim).await.expect("an answer");
    assert_eq!(query_value(&second, "_selvedge.claim_tenants()").await, "false");
    // Whoever waits is told which session that is, although nothing is committed.
    let holder = "(select pid from _selvedge.find_tenants_run())";
    let first = query_value(&first, "pg_backend_pid()").await;
    assert_eq!(query_value(&second, holder).await, first);
    assert!(
        authenticator
            .batch_execute("select _selvedge.find_tenants_run()")
            .await
            .is_err(),
        "for postgres alone"
    );
}

#[tokio::test]
async fn gw_022_event_triggers_that_refuse_everything_stop_no_run_that_makes_nothing() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    lock_tenants(&postgres, |_| ()).await.expect("claimed");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("seed.sql");
    std::fs::write(&path, "select 1").expect("written");
    let seeds = [SeedFile {
        path,
        name: "seed.sql".to_owned(),
    }];
    apply_seeds(&postgres, &seeds, |_| ()).await.expect("seeded");
    postgres
        .batch_execute(
            "create function public.refuse() returns event_trigger language plpgsql as $$begin raise 'no'; end$$;
             select _selvedge.create_event_trigger('refuse', 'ddl_command_start', null, 'public.refuse()')",
        )
        .await
        .expect("created");
    assert!(postgres.batch_execute("create table public.t ()").await.is_err());

    lock_tenants(&postgres, |_| ()).await.expect("claimed");
    apply_seeds(&postgres, &seeds, |_| ()).await.expect("seeded");
}

#[tokio::test]
async fn tenants_of_a_database_of_an_earlier_version_are_refused_with_what_to_do() {
    let database = TestDatabase::create().await;
    database
        .superuser()
        .await
        .batch_execute("drop function _selvedge.find_tenants_run()")
        .await
        .expect("dropped");

    let refused = lock_tenants(&database.connect("postgres").await, |_| ()).await;

    let refused = refused.expect_err("refused");
    assert!(matches!(refused, MigrateError::NoPlatform), "{refused}");
    assert!(refused.to_string().contains("selvedge migrate up"), "{refused}");
}

/// What the files 0181 and 0193 make, taken back. Afterwards 0231 gives the tables their names again.
pub(super) const WITHOUT_USER_COUNTS: &str = "
    drop function _selvedge.describe_user_triggers();
    drop function _selvedge.count_changed_users() cascade;
    drop view _selvedge.user_counts, _selvedge.user_counts_state;
    drop table _selvedge.selvedge_user_counts, _selvedge.selvedge_user_counts_state;
    drop index auth.users_audience_created_at_id_idx;
    delete from _selvedge.platform_migrations where version in (181, 193, 231)";

#[tokio::test]
async fn gw_017_users_sign_up_while_an_upgrade_waits_for_an_open_transaction() {
    let database = TestDatabase::create().await;
    let superuser = PrivilegedLogin::new(database.config("supabase_admin"));
    let upgrade = superuser.connect().await.expect("a session");
    upgrade
        .batch_execute(WITHOUT_USER_COUNTS)
        .await
        .expect("as an earlier version left it");
    let watcher = database.superuser().await;
    let holder = database.connect("supabase_auth_admin").await;
    let other = database.connect("supabase_auth_admin").await;
    let sign_up = "insert into auth.users (id) values (gen_random_uuid())";
    holder
        .batch_execute(&format!("begin; {sign_up}"))
        .await
        .expect("an open transaction");

    let sign_ups = async {
        let waits = "exists (select from pg_locks where relation = 'auth.users'::regclass and not granted)";
        while query_value(&watcher, waits).await != "true" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let signed_up = tokio::time::timeout(Duration::from_secs(60), other.batch_execute(sign_up)).await;
        signed_up
            .expect("it does not wait for the upgrade")
            .expect("signed up");
        holder.batch_execute("commit").await.expect("it ends");
    };
    let (report, ()) = tokio::join!(apply_platform(&upgrade), sign_ups);

    assert_eq!(
        report.expect("upgraded").applied,
        [
            "0181_user_counts.sql",
            "0193_user_counts_role.sql",
            "0231_table_names.sql"
        ]
    );
}
