//! Who counts users: triggers on a table that belongs to a role which `postgres` can become.

use selvedge_testing::TestDatabase;

use super::escalation::{assert_no_superuser, attacker};
use super::locks::WITHOUT_USER_COUNTS;
use super::query_value;

/// The owner of auth.users, which `postgres` can become, may give its columns types with casts of its own.
#[tokio::test]
async fn gw_012_users_are_counted_by_a_role_that_can_do_nothing_else() {
    let database = TestDatabase::create().await;
    let postgres = attacker(&database).await;
    postgres
        .batch_execute(
            "create table public.seen (as_user name); grant insert on public.seen to public;
             create type public.audience as (name text);
             create function public.name_audience(public.audience) returns text language plpgsql as $$
             begin
               perform public.evil();
               insert into public.seen values (current_user);
               return '';
             end $$;
             grant execute on function public.name_audience(public.audience) to public;
             create cast (public.audience as text) with function public.name_audience(public.audience);
             drop trigger selvedge_count_moved on auth.users; drop index auth.users_audience_created_at_id_idx;
             alter table auth.users alter column aud type public.audience using null;
             insert into auth.users (id, aud) values (gen_random_uuid(), row('x'));
             delete from auth.users",
        )
        .await
        .expect("postgres may");

    let seen = "select string_agg(distinct as_user::text, ', ') from public.seen";
    assert_eq!(query_value(&postgres, seen).await, "selvedge_user_counts");
    assert_no_superuser(&postgres, "a cast").await;
    let rights = "select concat_ws(' ', rolsuper, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
          (select string_agg(c.oid::regclass || ' ' || p.privilege, ', ') from pg_class as c, unnest(array['select', 'delete']) as p (privilege)
           where c.relnamespace in ('_selvedge'::regnamespace, 'auth'::regnamespace, 'vault'::regnamespace) and c.relkind = 'r'
             and has_table_privilege(r.oid, c.oid, p.privilege) and not has_table_privilege('anon', c.oid, p.privilege)))
        from pg_roles as r where rolname = 'selvedge_user_counts'";
    assert_eq!(query_value(&postgres, rights).await, "f f f f f f");
}

/// Each file is a transaction of its own, and whoever waits for the end of one runs before the next one.
#[tokio::test]
async fn gw_012_the_file_that_makes_the_triggers_leaves_no_function_of_the_superuser_on_users() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let upgrade = format!(
        "begin; {WITHOUT_USER_COUNTS}; set local search_path = pg_catalog, pg_temp; {}",
        include_str!("../../../../sql/platform/0181_user_counts.sql")
    );
    superuser.batch_execute(&upgrade).await.expect("upgraded");

    let owners = "select string_agg(distinct p.proowner::regrole::text, ', ') || ' ' || count(*)
        from pg_trigger as t join pg_proc as p on p.oid = t.tgfoid where t.tgrelid = 'auth.users'::regclass and not t.tgisinternal";
    assert_eq!(query_value(&superuser, owners).await, "selvedge_user_counts 4");
    superuser.batch_execute("rollback").await.expect("as before");
}
