//! Memberships and attributes of roles by which `postgres` becomes more than `postgres`: which are found, taken back and named.

use selvedge_postgres::migrate::{
    PrivilegeFault, RolePasswords, TakenMembership, find_role_faults, list_taken_memberships,
    take_back_memberships, write_role_passwords,
};
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::query_value;

async fn take_back_all(superuser: &Client) -> Vec<String> {
    let taken = list_taken_memberships(superuser, true).await.expect("a list");
    take_back_memberships(superuser, &taken).await.expect("revoked")
}

/// Whether `postgres` becomes every role that is no superuser, as it has CREATEROLE.
async fn reaches_all(client: &Client) -> bool {
    query_value(client, "current_setting('server_version_num')::int < 160000").await == "true"
}

/// Roles belong to the server, which other tests use meanwhile, so everything is in a transaction that is rolled back.
#[tokio::test]
async fn gw_012_memberships_that_postgres_has_taken_are_taken_back_and_what_others_have_is_named() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "begin; update pg_authid set rolsuper = false where rolname ~ '^pg_';
             create role planned; create role unexpected superuser; create role of_unexpected in role unexpected;
             grant pg_execute_server_program, pg_write_all_data to postgres with admin option;
             grant pg_read_server_files, pg_write_all_data to planned; grant pg_read_server_files to postgres;
             grant selvedge_replication to planned with admin option; alter role selvedge_replication login password 'known';
             alter role pgbouncer replication;",
        )
        .await
        .expect("a superuser may");
    let describe = |faults: Vec<PrivilegeFault>| -> Vec<String> {
        faults.into_iter().map(|fault| fault.object).collect()
    };
    let before = describe(find_role_faults(&superuser).await.expect("a list"));
    let reaches_all = reaches_all(&superuser).await;

    let revoked = take_back_all(&superuser).await;
    let after = describe(find_role_faults(&superuser).await.expect("a list"));
    let again = take_back_all(&superuser).await;
    superuser.batch_execute("rollback").await.expect("as before");

    let named = |found: &[String], part: &str| found.iter().any(|line| line.contains(part));
    for role in [
        "pg_execute_server_program",
        "pg_write_all_data",
        "pg_read_server_files",
    ] {
        let part = format!("postgres is a member of {role}");
        assert!(
            named(&before, &part) && !named(&after, &part),
            "{before:?} {after:?}"
        );
        assert!(
            named(&revoked, &format!("postgres was a member of {role}")),
            "{revoked:?}"
        );
    }
    // Roles of somebody else, which postgres becomes on PostgreSQL 15 alone. What pg_write_all_data writes is guarded.
    for (member, role) in [
        ("planned", "pg_read_server_files"),
        ("of_unexpected", "unexpected"),
    ] {
        let is_named = named(&after, &format!("{member} is a member of {role}"));
        assert_eq!(is_named, !reaches_all, "{member}: {after:?}");
        assert_eq!(
            named(&revoked, &format!("{member} was a member of {role}")),
            reaches_all,
            "{revoked:?}"
        );
    }
    for part in ["planned is a member of pg_write_all_data", "unexpected"] {
        assert!(named(&after, part), "{part}: {after:?}");
    }
    for part in [
        "planned was a member of selvedge_replication",
        "selvedge_replication could log in",
        "pgbouncer had REPLICATION",
    ] {
        assert!(named(&revoked, part), "{part}: {revoked:?}");
    }
    assert_eq!(revoked.len(), if reaches_all { 8 } else { 6 }, "{revoked:?}");
    assert_eq!(again, Vec::<String>::new());
}

#[tokio::test]
async fn gw_012_memberships_through_other_roles_are_found_however_long_the_way_is() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "begin; update pg_authid set rolsuper = false where rolname ~ '^pg_';
             create role near; create role far; create role strange; create role root superuser;
             grant far to near; grant near to postgres;
             grant pg_execute_server_program, pg_write_all_data, root to far;
             grant pg_read_server_files to supabase_storage_admin; grant root to strange;",
        )
        .await
        .expect("a superuser may");
    let reaches_all = reaches_all(&superuser).await;
    let list = async |with_files: bool| -> Vec<(String, bool)> {
        let taken = list_taken_memberships(&superuser, with_files)
            .await
            .expect("a list");
        let describe = |membership: &TakenMembership| {
            (
                format!("{} {}", membership.member, membership.role),
                membership.is_of_another_role(),
            )
        };
        taken.iter().map(describe).collect()
    };

    let found = list(true).await;
    let without_files = list(false).await;
    let revoked = take_back_all(&superuser).await;
    let left = list(true).await;
    superuser.batch_execute("rollback").await.expect("as before");

    let expect = |ways: &[&str]| {
        ways.iter()
            .map(|way| ((*way).to_owned(), true))
            .collect::<Vec<_>>()
    };
    let mut all = vec![
        "far pg_execute_server_program",
        "supabase_storage_admin pg_read_server_files",
        "far pg_write_all_data",
        "far root",
    ];
    if reaches_all {
        all.push("strange root");
    }
    assert_eq!(found, expect(&all));
    // Whoever lets postgres have the three roles on PostgreSQL 15 lets it have this way, too.
    assert_eq!(without_files, expect(if reaches_all { &all[2..] } else { &all }));
    assert_eq!((revoked.len(), left), (all.len(), vec![]), "{revoked:?}");
}

/// Who logs in with REPLICATION names a library that PostgreSQL loads, and PostgreSQL 15 lets `postgres` give such a role another name.
#[tokio::test]
async fn gw_012_no_role_with_a_known_password_has_replication() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "begin; lock table pg_authid in share row exclusive mode;
             alter role pgbouncer rename to gw_012_former; alter role supabase_etl_admin rename to pgbouncer;
             alter role authenticator replication; alter role postgres replication;",
        )
        .await
        .expect("a superuser may");
    let known = RolePasswords::same_for_all(&"known".into());
    write_role_passwords(&superuser, &known).await.expect("set");
    let having = "select string_agg(rolname, ' ' order by rolname) from pg_authid
        where rolreplication and not rolsuper and rolpassword is not null";
    let after_passwords = query_value(&superuser, having).await;
    superuser
        .batch_execute(
            "alter role postgres replication; select pg_create_physical_replication_slot('gw_012_kept');
             create role supabase_etl_admin login replication password 'known'; alter role dashboard_user replication",
        )
        .await
        .expect("a superuser may");
    let revoked = take_back_all(&superuser).await;
    let of_postgres = query_value(
        &superuser,
        "select rolreplication from pg_roles where rolname = 'postgres'",
    )
    .await;
    let of_others = "select string_agg(rolname || ' ' || rolreplication, ', ' order by rolname) from pg_roles
        where rolname in ('supabase_etl_admin', 'dashboard_user')";
    let of_others = query_value(&superuser, of_others).await;
    superuser
        .batch_execute("rollback; select pg_drop_replication_slot('gw_012_kept')")
        .await
        .expect("as before");

    // From PostgreSQL 16 on nobody but superusers renames them, and who streams as postgres goes on while there are slots.
    let (having, kept, others) = match reaches_all(&superuser).await {
        true => ("supabase_replication_admin", "false", "false"),
        false => ("postgres supabase_replication_admin", "true", "true"),
    };
    assert_eq!(after_passwords, having);
    assert_eq!(
        of_others,
        format!("dashboard_user true, supabase_etl_admin {others}")
    );
    assert_eq!(of_postgres, kept, "{revoked:?}");
}
