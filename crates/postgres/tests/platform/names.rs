//! Names of the platform's relations. Tests of projects look for tables by their names alone.

use std::time::Duration;

use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::{list_faulty_objects, query_value};

/// The file that renames the tables of `_selvedge`.
const RENAMING: &str = include_str!("../../../../sql/platform/0231_table_names.sql");

/// Relations that are not in a schema of Supabase's image, nor in one of its extensions.
const OWN: &str = "
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname !~ '^pg_' and n.nspname <> all (array[
      'information_schema', 'public', 'extensions', 'auth', 'storage', 'realtime', '_realtime', 'supabase_functions',
      'supabase_migrations', 'graphql', 'graphql_public', 'vault', 'pgbouncer', 'cron', 'net', 'pgmq'
    ])";

/// The former name of a table, which nodes of an earlier version read.
const IS_FORMER_NAME: &str = "
    c.relkind = 'v' and n.nspname = '_selvedge' and exists (
      select from pg_rewrite as r join pg_depend as d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
      where r.ev_class = c.oid and d.refobjid = to_regclass('_selvedge.selvedge_' || c.relname)
    )";

/// Former names of tables that differ from these in their rights, or do not take rows.
fn differing_former_names() -> String {
    let of_relation = |relation: &str| {
        format!(
            "select string_agg(concat_ws(' ', a.grantee::regrole, a.privilege_type, a.name), ', ' order by 1) from (
               select acl.grantee, acl.privilege_type, null::name as name from pg_class as x, aclexplode(x.relacl) as acl
               where x.oid = {relation} and acl.grantee <> x.relowner
               union all
               select acl.grantee, acl.privilege_type, k.attname from pg_attribute as k, aclexplode(k.attacl) as acl
               where k.attrelid = {relation}
             ) as a (grantee, privilege_type, name) where a.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')"
        )
    };
    let (of_view, of_table) = (
        of_relation("c.oid"),
        of_relation("to_regclass('_selvedge.selvedge_' || c.relname)"),
    );
    format!(
        "select concat_ws(' ', count(*) > 20, string_agg(c.oid::regclass::text, ', ') filter (
           where pg_relation_is_updatable(c.oid, false) & 28 <> 28 or ({of_view}) is distinct from ({of_table})))
         {OWN} and {IS_FORMER_NAME}"
    )
}

/// Gives the tables their former names back, as the version before made them.
async fn undo_renaming(superuser: &Client) {
    let undo = format!(
        "set search_path = pg_catalog, pg_temp;
         do $$
         declare
           name text;
         begin
           for name in select c.relname {OWN} and {IS_FORMER_NAME} loop
             execute format('drop view _selvedge.%1$I; alter table _selvedge.%2$I rename to %1$I', name, 'selvedge_' || name);
           end loop;
         end
         $$"
    );
    superuser.batch_execute(&undo).await.expect("as before");
}

#[tokio::test]
async fn gw_017_relations_in_schemas_of_our_own_have_names_that_no_project_has() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;

    // Every version of the program finds these two by their names.
    let others = format!(
        "select string_agg(c.oid::regclass::text, ', ' order by 1) {OWN} and c.relname !~ '^selvedge_' and not ({IS_FORMER_NAME})
           and c.oid <> all (array['_selvedge.platform_migrations', '_selvedge.shipped_extensions']::regclass[])"
    );
    assert_eq!(query_value(&superuser, &others).await, "null");
    let number = query_value(&superuser, &format!("select count(*) > 50 {OWN}")).await;
    assert_eq!(number, "true", "tables, indexes and sequences");
}

/// `serve` of an earlier version goes on beside a database that a later one has brought up to date.
#[tokio::test]
async fn gw_017_former_names_of_tables_have_their_rows_and_rights() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let auth = database.connect("supabase_auth_admin").await;

    let differing = differing_former_names();
    assert_eq!(query_value(&superuser, &differing).await, "t");

    auth.batch_execute(
        "insert into _selvedge.text_message_pauses as p (phone_hash, sent_at) values ('x', now())
           on conflict (phone_hash) do update set sent_at = excluded.sent_at;
         select from _selvedge.text_message_pauses where phone_hash = 'x' for update skip locked;",
    )
    .await
    .expect("as the version before does");
    let row = "select count(*) from _selvedge.selvedge_text_message_pauses where phone_hash = 'x'";
    assert_eq!(query_value(&superuser, row).await, "1");
}

/// Default privileges say what others may do with a view that is made now. The table was made before them.
#[tokio::test]
async fn gw_017_former_names_of_tables_have_no_rights_by_default_privileges() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    undo_renaming(&superuser).await;
    superuser
        .batch_execute(
            "alter default privileges grant select on tables to public;
             alter default privileges grant all on tables to anon, postgres with grant option",
        )
        .await
        .expect("granted");

    superuser.batch_execute(RENAMING).await.expect("renamed");

    let differing = differing_former_names();
    assert_eq!(query_value(&superuser, &differing).await, "t");
    let others = format!(
        "select string_agg(c.oid::regclass::text, ', ')
         {OWN} and {IS_FORMER_NAME} and exists (
           select from aclexplode(c.relacl) as a where a.grantee <> c.relowner
             and (a.is_grantable or a.privilege_type <> all (array['SELECT', 'INSERT', 'UPDATE', 'DELETE'])))"
    );
    assert_eq!(query_value(&superuser, &others).await, "null");
}

/// Tables that the program makes where it needs them, as `import` and `login add` do, in databases of every version. An import that was cut off
/// goes on by statements that change its tables, which views refuse.
#[tokio::test]
async fn gw_017_tables_that_the_program_makes_by_itself_keep_their_names() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "create table _selvedge.unfinished_import (source text not null);
             create table _selvedge.copied_objects (id uuid not null);
             create index copied_objects_id on _selvedge.copied_objects (id);
             create table _selvedge.database_logins (name text primary key)",
        )
        .await
        .expect("made");
    let relations = "select string_agg(concat_ws(' ', c.relname, c.relkind), ', ' order by c.relname) from pg_class as c
        where c.relnamespace = '_selvedge'::regnamespace and c.relname ~ '^(unfinished_import|copied_objects|database_logins)'";
    let before = query_value(&superuser, relations).await;

    superuser.batch_execute(RENAMING).await.expect("renamed");

    assert_eq!(query_value(&superuser, relations).await, before);
    assert_eq!(
        before,
        "copied_objects r, copied_objects_id i, database_logins r, database_logins_pkey i, unfinished_import r"
    );
}

#[tokio::test]
async fn gw_017_nothing_of_the_platform_needs_the_former_names() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    // Commands that work on databases of every version ask for these two.
    let former = format!(
        "{OWN} and {IS_FORMER_NAME} and c.relname <> all (array['installed_extensions', 'event_trigger_functions'])"
    );

    let callers = format!(
        "select string_agg(p.oid::regprocedure || ' ' || c.relname, ', ') {}",
        former.replacen("from ", "from pg_proc as p, ", 1)
    ) + " and p.prosrc ~ ('\\m_selvedge\\.' || c.relname || '\\M')";
    assert_eq!(query_value(&superuser, &callers).await, "null");
    let drop = format!(
        "do $$
         declare
           former regclass;
         begin
           for former in select c.oid {former} loop
             execute format('drop view %s', former);
           end loop;
         end
         $$;
         select realtime.maintain_messages_partitions()"
    );
    superuser.batch_execute(&drop).await.expect("partitions are made");
}

/// A sweep has a row of the program's locks for as long as it takes.
#[tokio::test]
async fn gw_017_an_upgrade_waits_for_a_sweep_before_it_locks_what_sign_ins_need() {
    let database = TestDatabase::create().await;
    let [superuser, sweep, upgrade] = [(); 3].map(|()| database.superuser());
    let (superuser, sweep, upgrade) = (superuser.await, sweep.await, upgrade.await);
    undo_renaming(&superuser).await;
    sweep
        .batch_execute("begin; select from _selvedge.internal_locks where name = 'storage sweep' for update")
        .await
        .expect("locked");
    let process = query_value(&upgrade, "pg_backend_pid()").await;

    let look = async {
        let waits = format!("exists (select from pg_locks where pid = {process} and not granted)");
        while query_value(&superuser, &waits).await != "true" {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let locked = "select string_agg(l.relation::regclass::text, ', ') from pg_locks as l
            where l.granted and l.mode = 'AccessExclusiveLock' and l.pid = ";
        let locked = query_value(&superuser, &format!("{locked}{process}")).await;
        sweep.batch_execute("commit").await.expect("swept");
        locked
    };
    let (renamed, locked) = tokio::join!(upgrade.batch_execute(RENAMING), look);

    renamed.expect("after the sweep");
    assert_eq!(locked, "null");
}

/// The rules find rights of a former name that its table does not give, and guarded tables that were renamed or have another owner.
#[tokio::test]
async fn gw_012_rules_find_former_names_with_more_rights_and_guarded_tables_that_are_missing() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let postgres = database.connect("postgres").await;
    let list = || list_faulty_objects(&postgres);
    assert_eq!(list().await, Vec::<String>::new());

    superuser
        .batch_execute(
            "grant select on _selvedge.outgoing_mails to dashboard_user;
             grant update (name) on _selvedge.worker_sessions to public;
             alter table _selvedge.selvedge_project_settings rename to moved;
             alter table _selvedge.selvedge_installed_extensions owner to postgres",
        )
        .await
        .expect("a superuser may");
    let mut found = list().await;

    found.retain(|object| object.starts_with("_selvedge."));
    found.sort();
    for expected in [
        "_selvedge.outgoing_mails: SELECT to dashboard_user",
        "_selvedge.selvedge_installed_extensions is no superuser's",
        "_selvedge.selvedge_project_settings is missing",
        "_selvedge.worker_sessions: UPDATE to PUBLIC",
    ] {
        assert!(
            found.iter().any(|object| object == expected),
            "{expected}: {found:?}"
        );
    }
}
