//! Names of the platform's relations. Tests of projects look for tables by their names alone.

use selvedge_testing::TestDatabase;

use super::query_value;

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
    let differing = format!(
        "select concat_ws(' ', count(*) > 20, string_agg(c.oid::regclass::text, ', ') filter (
           where pg_relation_is_updatable(c.oid, false) & 28 <> 28 or ({of_view}) is distinct from ({of_table})))
         {OWN} and {IS_FORMER_NAME}"
    );
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
