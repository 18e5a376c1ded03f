//! Copies of a project's database beside it, which keep what the version that made them had.

use selvedge_postgres::migrate::ExtensionGuard;
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::{query_sqlstate, query_value};

/// Functions that run as a superuser, and whether `postgres` may let a table refer to one of a superuser, whose checks run as that one.
const RIGHTS: &str = "select concat_ws(' ',
    (select count(*) > 20 from pg_proc as p join pg_roles as o on o.oid = p.proowner and o.rolsuper
     where p.prosecdef and p.pronamespace <> 'pg_catalog'::regnamespace),
    (select count(*) from pg_proc as p join pg_roles as o on o.oid = p.proowner and o.rolsuper
     where p.prosecdef and p.pronamespace <> 'pg_catalog'::regnamespace) > 0,
    has_table_privilege('postgres', 'vault.secrets', 'references'))";

/// A session of the superuser with the search path of privileged ones.
async fn pinned_session(database: &TestDatabase) -> Client {
    let session = database.superuser().await;
    session
        .batch_execute("set search_path = pg_catalog, pg_temp")
        .await
        .expect("everybody may");
    session
}

#[tokio::test]
async fn gw_012_a_copy_of_an_earlier_version_has_no_functions_that_run_as_a_superuser() {
    let project = TestDatabase::create().await;
    let guard = ExtensionGuard::read(&pinned_session(&project).await)
        .await
        .expect("read");

    for (change, expected) in [
        ("select", "t t f"),
        (
            "update pg_proc set prosrc = prosrc || ' ' where oid = '_selvedge.drop_extension'::regproc;
             grant references on vault.secrets to postgres",
            "f f f",
        ),
        (
            "delete from _selvedge.platform_migrations where version = (select max(version) from _selvedge.platform_migrations)",
            "f f f",
        ),
        ("drop table _selvedge.platform_migrations", "f f f"),
    ] {
        let copy = TestDatabase::create().await;
        let superuser = copy.superuser().await;
        superuser.batch_execute(change).await.expect(change);

        guard
            .install(&pinned_session(&copy).await)
            .await
            .expect("installed");

        assert_eq!(query_value(&superuser, RIGHTS).await, expected, "{change}");
    }

    // What is switched off is refused, and statements that need no more rights than postgres has go on.
    let copy = TestDatabase::create().await;
    let superuser = pinned_session(&copy).await;
    superuser
        .batch_execute("drop table _selvedge.platform_migrations")
        .await
        .expect("a superuser may");
    guard.install(&superuser).await.expect("installed");
    let postgres = copy.connect("postgres").await;
    let create = "select _selvedge.create_extension_as_superuser('hstore', false, 'extensions', null, false)";
    assert_eq!(query_sqlstate(&postgres, create).await, "42501");
    postgres
        .batch_execute("create table public.kept (id int); create function public.kept() returns int language sql as 'select 1'")
        .await
        .expect("postgres may");
}
