//! A reset runs no code of a project as the superuser, whatever the project has put in place of the platform's objects. The tests restore a state directly,
//! because a whole reset would have to be met at the right moment.

use selvedge_postgres::migrate::DatabaseState;
use tokio_postgres::Client;

use super::{VERSION, assert_contains, query};
use crate::support::Project;

/// A session of the superuser as resets have it.
async fn pinned(project: &Project) -> Client {
    let superuser = project.superuser().await;
    let pin = "set search_path = pg_catalog, pg_temp";
    superuser.batch_execute(pin).await.expect("pinned");
    superuser
}

/// The body of a function that creates a superuser when a superuser calls it.
const TRAP: &str = "begin
    if current_setting('is_superuser') = 'on' and not exists (select from pg_roles where rolname = 'hunter') then
      execute 'create role hunter superuser';
    end if;
    return $result; end";

/// The project has dropped a check of the platform, and made objects of its own members of an extension.
fn plant_check() -> String {
    format!(
        "set role supabase_storage_admin;
         create function storage.trap() returns boolean language plpgsql as $$ {} $$;
         alter table storage.buckets add constraint trap check (storage.trap()); reset role",
        TRAP.replace("$result", "true")
    )
}

const PLANT_MEMBERS: &str = "set role supabase_storage_admin; alter table storage.buckets drop constraint trap;
    create type storage.added as enum ('a');
    create function storage.to_text(storage.added) returns text language sql return 'a';
    create cast (storage.added as text) with function storage.to_text(storage.added) as implicit; reset role;
    alter extension pgcrypto add type storage.added; alter extension pgcrypto add function storage.to_text(storage.added);
    alter extension pgcrypto add cast (storage.added as text);
    insert into storage.buckets (id, name, versioning_status) values ('b', 'b', 'ENABLED')";

/// A domain with the name of an enum of the platform, and an enum in the place of a text, whose owner makes casts from it.
fn plant_types() -> String {
    format!(
        "set role supabase_storage_admin;
         alter table storage.buckets drop constraint buckets_versioning_type_check, drop constraint buckets_versioning_status_check,
           alter column versioning_status drop default, alter column type drop default, alter column type type text;
         alter table storage.buckets_analytics alter column type drop default, alter column type type text;
         alter table storage.buckets_vectors alter column type drop default, alter column type type text;
         drop type storage.buckettype;
         create function storage.checked(t text) returns boolean language plpgsql as $$ {} $$;
         create domain storage.buckettype as text check (storage.checked(value));
         alter table storage.buckets alter column type type storage.buckettype;
         create type storage.st as enum ('DISABLED', 'ENABLED', 'SUSPENDED');
         alter table storage.buckets alter column versioning_status type storage.st using versioning_status::storage.st;
         create function storage.cast_to(s storage.st) returns text language plpgsql as $$ {} $$;
         create cast (storage.st as text) with function storage.cast_to(storage.st) as implicit;
         create cast (text as storage.st) with inout as assignment; reset role;
         set session_replication_role = replica;
         insert into storage.buckets (id, name, versioning_status, type) values ('h', 'h', 'ENABLED', 'STANDARD');
         reset session_replication_role",
        TRAP.replace("$result", "true"),
        TRAP.replace("$result", "enum_out(s)::text")
    )
}

const MADE: &str = "select count(*) from pg_roles where rolname = 'hunter'";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_012_a_reset_evaluates_nothing_as_the_superuser_and_refuses_other_types_of_the_same_names() {
    let project = Project::new();
    let running = project.start().await;
    let (superuser, postgres) = (pinned(&project).await, project.database().await);
    postgres
        .batch_execute(&plant_check())
        .await
        .expect("the owner may");
    let fresh = DatabaseState::of_fresh_database(&superuser)
        .await
        .expect("a state");
    postgres
        .batch_execute(PLANT_MEMBERS)
        .await
        .expect("the owner may");

    let left = fresh.restore(&superuser, &postgres).await.expect("restored");

    assert_eq!(left, Vec::<String>::new());
    assert_eq!(query::<i64>(&superuser, MADE).await, 0, "a check was evaluated");
    let checks = "select count(*) from pg_constraint where conname = 'trap'";
    assert_eq!(query::<i64>(&superuser, checks).await, 1);
    let members = "select count(*) from pg_proc where proname = 'to_text'";
    assert_eq!(query::<i64>(&superuser, members).await, 0);

    postgres
        .batch_execute(&plant_types())
        .await
        .expect("the owner may");
    let refused = fresh.restore(&superuser, &postgres).await;

    assert_eq!(query::<i64>(&superuser, MADE).await, 0, "a type's code ran");
    assert_contains(
        &refused.expect_err("refused").to_string(),
        &[
            "storage.buckets.type (storage.buckettype)",
            "storage.buckets.versioning_status (storage.st)",
        ],
    );
    let refused = project.run_and_expect_failure(&["db", "reset"]);
    let advice = "the database is empty now. Mend the cause, and repeat:  selvedge db reset";
    assert_contains(&refused, &[advice, "selvedge stop, selvedge reset"]);
    running.stop();
}

/// PostgreSQL 15 lets `postgres` do what the superuser does here, before and while a reset runs.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_012_a_reset_gives_roles_what_they_had_and_not_what_others_of_such_a_name_had() {
    const SETTINGS: &str =
        "select coalesce(string_agg(r.rolname || ' ' || s.setconfig::text, ', ' order by r.rolname), '')
        from pg_db_role_setting as s join pg_roles as r on r.oid = s.setrole where s.setdatabase <> 0";
    let project = Project::new();
    let running = project.start().await;
    let superuser = pinned(&project).await;
    let plant = r#"create role "SUPABASE_ADMIN"; create role "a.b"; create role "a""b 'c";
        alter role "SUPABASE_ADMIN" in database postgres set search_path = 'evil';
        alter role "a.b" in database postgres set search_path = 'evil'; alter role "a""b 'c" in database postgres set work_mem = '1MB'"#;
    superuser.batch_execute(plant).await.expect("a superuser may");
    let had: String = query(&superuser, SETTINGS).await;
    let before = DatabaseState::of_database(&superuser).await.expect("a state");
    let change = r#"alter role "SUPABASE_ADMIN" in database postgres reset all; alter role "a.b" in database postgres reset all;
        alter role "a""b 'c" in database postgres reset all;
        alter role supabase_etl_admin rename to former; create role supabase_etl_admin login password 'known';
        alter role supabase_replication_admin connection limit 7"#;
    superuser.batch_execute(change).await.expect("a superuser may");

    before.restore_roles(&superuser).await.expect("restored");

    assert_eq!(query::<String>(&superuser, SETTINGS).await, had);
    let replicating =
        "select string_agg(rolname || ' ' || (rolpassword is not null), ', ' order by rolname) from pg_authid
        where rolreplication and rolname in ('supabase_etl_admin', 'supabase_replication_admin')";
    assert_eq!(
        query::<String>(&superuser, replicating).await,
        "supabase_etl_admin false, supabase_replication_admin true"
    );

    // Realtime's login has lost its password with this, and gets a new one.
    let undo = r#"drop role supabase_etl_admin; alter role former rename to supabase_etl_admin; drop owned by "SUPABASE_ADMIN", "a.b", "a""b 'c";
        drop role "SUPABASE_ADMIN", "a.b", "a""b 'c"; alter role supabase_replication_admin noreplication password null"#;
    superuser.batch_execute(undo).await.expect("a superuser may");
    project.run_and_expect_success(&["db", "reset"]);
    assert_eq!(
        query::<String>(&superuser, replicating).await,
        "supabase_etl_admin false, supabase_replication_admin true"
    );
    running.stop();
}

/// Such objects run nothing at a reset, but change what the next project in the database finds.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_109_a_reset_takes_back_sequences_subscriptions_and_rights_on_large_objects() {
    const LEFT: &str =
        "select (select count(*) from pg_subscription) + (select count(*) from pg_sequence where seqmax = 5)
        + (select count(*) from pg_default_acl where defaclobjtype = 'L')";
    let project = Project::new();
    let running = project.start().await;
    let (superuser, postgres) = (pinned(&project).await, project.database().await);
    let fresh = DatabaseState::of_fresh_database(&superuser)
        .await
        .expect("a state");
    let version = query::<i32>(&superuser, VERSION).await;
    let mut planted = 1;
    let sequence =
        "set role supabase_auth_admin; alter sequence auth.refresh_tokens_id_seq maxvalue 5; reset role";
    postgres.batch_execute(sequence).await.expect("the owner may");
    if version >= 16 {
        let subscription = "create subscription s connection 'host=127.0.0.1 password=x' publication p with (connect = false)";
        postgres.batch_execute(subscription).await.expect("postgres may");
        planted += 1;
    }
    if version >= 18 {
        let rights = "alter default privileges grant select on large objects to anon";
        postgres.batch_execute(rights).await.expect("postgres may");
        planted += 1;
    }
    assert_eq!(query::<i64>(&superuser, LEFT).await, planted);

    let left = fresh.restore(&superuser, &postgres).await.expect("restored");

    assert_eq!(left, Vec::<String>::new());
    assert_eq!(query::<i64>(&superuser, LEFT).await, 0);
    running.stop();
}
