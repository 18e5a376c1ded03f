//! CONSOLE-042: for each lint a fixture with the fault shows the finding, and after the fix the finding disappears.

use std::collections::BTreeSet;

use selvedge_advisors::{Finding, run_lints};
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

/// A fault that one lint must find: the lint, the object's name, the SQL that makes the fault, the SQL that mends it
/// where the finding has no statement, and the SQL that removes what is left.
struct Fixture {
    lint: &'static str,
    object: &'static str,
    fault: &'static str,
    fix: Option<&'static str>,
    remove: &'static str,
}

const fn fixture(
    lint: &'static str,
    object: &'static str,
    fault: &'static str,
    fix: Option<&'static str>,
    remove: &'static str,
) -> Fixture {
    Fixture {
        lint,
        object,
        fault,
        fix,
        remove,
    }
}

/// The schema `hidden` is not exposed, so that a fixture shows nothing but its own fault.
const FIXTURES: &[Fixture] = &[
    fixture(
        "auth_users_exposed",
        "members",
        "create view members as select id, email from auth.users; grant select on members to anon",
        None,
        "drop view members",
    ),
    fixture(
        "rls_disabled_in_public",
        "open_table",
        "create table open_table (id int primary key); grant select on open_table to anon",
        None,
        "drop table open_table",
    ),
    fixture(
        "policy_exists_rls_disabled",
        "ruled",
        "create table hidden.ruled (id int primary key); create policy p on hidden.ruled for select using (id = 1)",
        None,
        "drop table hidden.ruled",
    ),
    fixture(
        "security_definer_view",
        "shown",
        "create view shown as select 1 as one; grant select on shown to anon",
        None,
        "drop view shown",
    ),
    fixture(
        "rls_references_user_metadata",
        "trusting",
        "create table hidden.trusting (id int primary key); alter table hidden.trusting enable row level security;
         create policy p on hidden.trusting for select
           using (((select auth.jwt()) -> 'user_metadata' ->> 'admin') = 'yes')",
        Some("alter policy p on hidden.trusting using (((select auth.jwt()) -> 'app_metadata' ->> 'admin') = 'yes')"),
        "drop table hidden.trusting",
    ),
    fixture(
        "insecure_queue_exposed_in_api",
        "q_jobs",
        "create schema if not exists pgmq; create table pgmq.q_jobs (id int primary key)",
        None,
        "drop table pgmq.q_jobs",
    ),
    fixture(
        "sensitive_columns_exposed",
        "logins",
        "create table logins (id int primary key, password_hash text); grant select on logins to anon",
        None,
        "drop table logins",
    ),
    fixture(
        "fkey_to_auth_unique",
        "contacts",
        "create table hidden.contacts (phone text primary key references auth.users (phone))",
        None,
        "drop table hidden.contacts",
    ),
    fixture(
        "sequence_near_end",
        "small_id_seq",
        "create table hidden.small (id smallserial primary key); select setval('hidden.small_id_seq', 30000)",
        Some("alter table hidden.small alter id type bigint; alter sequence hidden.small_id_seq as bigint"),
        "drop table hidden.small",
    ),
    fixture(
        "auth_rls_initplan",
        "slow",
        "create table hidden.slow (id uuid primary key); alter table hidden.slow enable row level security;
         create policy p on hidden.slow for select using (id = auth.uid())",
        Some("alter policy p on hidden.slow using (id = (select auth.uid()))"),
        "drop table hidden.slow",
    ),
    fixture(
        "multiple_permissive_policies",
        "crowded",
        "create table hidden.crowded (id int primary key); alter table hidden.crowded enable row level security;
         create policy a on hidden.crowded for select using (id = 1);
         create policy b on hidden.crowded for select using (id = 2)",
        Some("drop policy b on hidden.crowded"),
        "drop table hidden.crowded",
    ),
    fixture(
        "duplicate_index",
        "twice",
        "create table hidden.twice (id int primary key, name text unique); create unique index on hidden.twice (name)",
        None,
        "drop table hidden.twice",
    ),
    fixture(
        "function_search_path_mutable",
        "loose",
        "create function hidden.loose() returns int language sql as 'select 1'",
        None,
        "drop function hidden.loose",
    ),
    fixture(
        "extension_in_public",
        "citext",
        "create extension citext schema public",
        None,
        "drop extension citext",
    ),
    fixture(
        "materialized_view_in_api",
        "frozen",
        "create materialized view frozen as select 1 as one; grant select on frozen to anon",
        None,
        "drop materialized view frozen",
    ),
    fixture(
        "foreign_table_in_api",
        "remote",
        "create extension postgres_fdw schema extensions; create server away foreign data wrapper postgres_fdw;
         create foreign table remote (id int) server away; grant select on remote to anon",
        None,
        "drop extension postgres_fdw cascade",
    ),
    fixture(
        "unsupported_reg_types",
        "registered",
        "create table hidden.registered (id int primary key, name regproc)",
        None,
        "drop table hidden.registered",
    ),
    fixture(
        "extension_versions_outdated",
        "hstore",
        "create extension hstore schema extensions version '1.4'",
        None,
        "drop extension hstore",
    ),
    fixture(
        "rls_policy_always_true",
        "anybody",
        "create table hidden.anybody (id int primary key); alter table hidden.anybody enable row level security;
         create policy p on hidden.anybody for insert to anon with check (1 = 1)",
        Some("alter policy p on hidden.anybody with check (id > 0)"),
        "drop table hidden.anybody",
    ),
    fixture(
        "public_bucket_allows_listing",
        "avatars",
        "insert into storage.buckets (id, name, public) values ('avatars', 'avatars', true);
         create policy listing on storage.objects for select to anon using (bucket_id = 'avatars')",
        None,
        "select set_config('storage.allow_delete_query', 'true', false); delete from storage.buckets where id = 'avatars'",
    ),
    fixture(
        "pg_graphql_anon_table_exposed",
        "listed",
        "create table listed (id int primary key); alter table listed enable row level security;
         create policy p on listed for select using (id = 1); revoke all on listed from authenticated; grant select on listed to anon;
         set allow_system_table_mods = on;
         insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
           values (99999, 'pg_graphql', 10, 'extensions'::regnamespace, false, '1')",
        None,
        "drop table listed; delete from pg_extension where oid = 99999",
    ),
    fixture(
        "pg_graphql_authenticated_table_exposed",
        "listed",
        "create table listed (id int primary key); alter table listed enable row level security;
         create policy p on listed for select using (id = 1); revoke all on listed from anon; grant select on listed to authenticated;
         set allow_system_table_mods = on;
         insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
           values (99999, 'pg_graphql', 10, 'extensions'::regnamespace, false, '1')",
        None,
        "drop table listed; delete from pg_extension where oid = 99999",
    ),
    fixture(
        "anon_security_definer_function_executable",
        "raise_me",
        "create function raise_me() returns int language sql security definer set search_path = '' as 'select 1';
         revoke execute on function raise_me from public, authenticated; grant execute on function raise_me to anon",
        None,
        "drop function raise_me",
    ),
    fixture(
        "authenticated_security_definer_function_executable",
        "raise_me",
        "create function raise_me() returns int language sql security definer set search_path = '' as 'select 1';
         revoke execute on function raise_me from public, anon; grant execute on function raise_me to authenticated",
        None,
        "drop function raise_me",
    ),
    fixture(
        "idle_replication_slot",
        "forgotten",
        "select _selvedge.pg_create_logical_replication_slot('forgotten', 'pgoutput')",
        None,
        "select 1",
    ),
    fixture(
        "unindexed_foreign_keys",
        "child",
        "create table hidden.parent (id int primary key);
         create table hidden.child (id int primary key, parent int references hidden.parent)",
        None,
        "drop table hidden.child, hidden.parent",
    ),
    fixture(
        "no_primary_key",
        "nameless",
        "create table hidden.nameless (id int)",
        Some("alter table hidden.nameless add primary key (id)"),
        "drop table hidden.nameless",
    ),
    fixture(
        "unused_index",
        "idle",
        "create table hidden.idle (id int primary key, name text); create index on hidden.idle (name)",
        None,
        "drop table hidden.idle",
    ),
    fixture(
        "rls_enabled_no_policy",
        "sealed",
        "create table hidden.sealed (id int primary key); alter table hidden.sealed enable row level security",
        Some("create policy p on hidden.sealed for select using (id = 1)"),
        "drop table hidden.sealed",
    ),
    fixture(
        "auth_allow_anonymous_sign_ins",
        "lenient",
        "insert into auth.users (id, is_anonymous) values ('33333333-3333-4333-8333-333333333333', true);
         create table hidden.lenient (id int primary key); alter table hidden.lenient enable row level security;
         create policy p on hidden.lenient for select to authenticated using (id = 1)",
        Some("alter policy p on hidden.lenient using (((select auth.jwt()) ->> 'is_anonymous') = 'false')"),
        "drop table hidden.lenient; delete from auth.users",
    ),
    fixture(
        "table_bloat",
        "swollen",
        "create table hidden.swollen (id int primary key, filler text);
         insert into hidden.swollen select n, repeat('x', 1000) from generate_series(1, 16000) as n;
         delete from hidden.swollen where id between 100 and 15900",
        None,
        "drop table hidden.swollen",
    ),
];

/// Returns the lints that report the same fault as `lint`.
fn comes_along(lint: &str) -> &'static [&'static str] {
    match lint {
        "auth_users_exposed" => &["security_definer_view"],
        "sensitive_columns_exposed" => &["rls_disabled_in_public"],
        _ => &[],
    }
}

/// Makes a database with the platform's schema. It is dropped with the first value.
async fn create_database() -> (TestDatabase, Client) {
    let database = TestDatabase::create().await;
    let client = database.superuser().await;
    (database, client)
}

async fn find_all(client: &Client) -> Vec<Finding> {
    client
        .batch_execute("set search_path = ''")
        .await
        .expect("a setting");
    let exposed = ["public".to_owned(), "pgmq_public".to_owned()];
    let findings = run_lints(client, &exposed).await.expect("the lints run");
    client
        .batch_execute("set search_path = public")
        .await
        .expect("a setting");
    findings
}

#[tokio::test]
async fn console_042_each_lint_shows_its_fault_and_is_silent_after_the_fix() {
    let (_database, client) = create_database().await;
    client
        .batch_execute("set search_path = public; create schema hidden")
        .await
        .expect("a schema");
    let before = find_all(&client).await;
    assert!(
        before.is_empty(),
        "a project without objects has findings: {before:#?}"
    );

    for case in FIXTURES {
        run_each(&client, case.fault).await;
        if case.lint == "table_bloat" {
            run_each(&client, "vacuum analyze hidden.swollen").await;
        }
        let findings = find_all(&client).await;
        let finding = findings.iter().find(|finding| finding.name == case.lint);
        let finding = finding.unwrap_or_else(|| panic!("{} is not found: {findings:#?}", case.lint));
        assert_eq!(finding.object.name, case.object, "{}", case.lint);
        let others: BTreeSet<_> = findings.iter().map(|finding| finding.name).collect();
        let mut expected = BTreeSet::from([case.lint]);
        expected.extend(comes_along(case.lint));
        assert_eq!(others, expected, "{findings:#?}");

        let fix = case.fix.or(finding.fix.as_deref());
        run_each(&client, fix.unwrap_or_else(|| panic!("{} has no fix", case.lint))).await;
        let after = find_all(&client).await;
        assert!(
            !after.iter().any(|finding| finding.name == case.lint),
            "{} is still found after its fix: {after:#?}",
            case.lint
        );
        run_each(&client, case.remove).await;
    }
}

/// Runs statements one by one, because some do not run in the transaction that several of them would share.
async fn run_each(client: &Client, sql: &str) {
    for statement in sql.split(';').filter(|statement| !statement.trim().is_empty()) {
        let done = client.batch_execute(statement).await;
        done.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }
}

#[tokio::test]
async fn console_042_a_table_that_vacuum_does_not_reach_is_found() {
    let (_database, client) = create_database().await;
    // The statistics are changed in a transaction that is rolled back, so that autovacuum never sees them.
    client
        .batch_execute(
            "begin; create schema hidden; create table hidden.ancient (id int primary key);
             set local allow_system_table_mods = on;
             update pg_class set relfrozenxid = ((pg_current_xact_id()::text::bigint + 4294967296 - 1200000000) % 4294967296)::text::xid
             where oid = 'hidden.ancient'::regclass",
        )
        .await
        .expect("an old table");

    let findings = find_all(&client).await;

    let names: Vec<_> = findings.iter().map(|finding| finding.name).collect();
    assert_eq!(names, ["transaction_wraparound"]);
    assert_eq!(findings[0].object.name, "ancient");
}
