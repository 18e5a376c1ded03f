//! Replication slots of projects.

use super::{VERSION, assert_contains, query};
use crate::support::{Project, connect};

/// Whether superusers alone may execute the functions that load a library, and pg_dump takes that for how PostgreSQL was installed. A dump
/// would otherwise contain the rights, and restoring it as `postgres` would fail.
const SLOT_FUNCTIONS_ARE_CLOSED: &str = "select bool_and(i.initprivs = p.proacl and not exists (
      select from aclexplode(p.proacl) as a join pg_roles as r on r.oid = a.grantee and not r.rolsuper
    ) and not exists (select from aclexplode(p.proacl) as a where a.grantee = 0))
    from pg_proc as p left join pg_init_privs as i on i.objoid = p.oid and i.classoid = 'pg_proc'::regclass
    where p.pronamespace = 11 and p.proname in ('pg_create_logical_replication_slot', 'pg_copy_logical_replication_slot')";

/// A library that a slot names would run as PostgreSQL's user of the operating system.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn no_slot_of_a_project_loads_a_library_by_its_path() {
    let project = Project::new();
    let running = project.start().await;
    let database = project.database().await;
    let refusal = async |client: &tokio_postgres::Client, sql: &str| {
        let error = client.batch_execute(sql).await.expect_err(sql);
        error.as_db_error().expect("of PostgreSQL").message().to_owned()
    };

    let ways = [
        "select pg_create_logical_replication_slot('s', '/tmp/library')",
        "select pg_copy_logical_replication_slot('s', 't', false, '/tmp/library')",
        "select _selvedge.pg_create_logical_replication_slot('s', '/tmp/library')",
        "select _selvedge.pg_create_logical_replication_slot('s', '../library')",
        "alter role postgres replication",
        "create role streaming replication",
    ];
    for way in ways {
        let message = refusal(&database, way).await;
        assert!(!message.contains("could not access"), "{way}: {message}");
    }
    // PostgreSQL 15 lets postgres become a role with REPLICATION, also in a database that it has made itself.
    if query::<i32>(&database, VERSION).await == 15 {
        database
            .batch_execute("grant supabase_replication_admin to postgres")
            .await
            .expect("PostgreSQL lets it");
    }
    for template in ["template0", "template1"] {
        let create = format!("create database of_{template} template {template}");
        database.batch_execute(&create).await.expect("postgres may");
        let url = format!(
            "postgresql://postgres:postgres@127.0.0.1:{}/of_{template}",
            project.ports.database
        );
        let client = connect(&url).await.expect("a login");
        client
            .batch_execute("set role supabase_replication_admin")
            .await
            .ok();
        let message = refusal(&client, ways[0]).await;
        assert!(!message.contains("could not access"), "{template}: {message}");
    }
    let url = format!(
        "postgresql://supabase_replication_admin:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );
    assert!(connect(&url).await.is_err(), "its password is nobody else's");

    let own = "select _selvedge.pg_create_logical_replication_slot('own', 'test_decoding');
        create table public.streamed (id int); insert into public.streamed values (7);";
    database.batch_execute(own).await.expect("a known plugin");
    let changes = "select string_agg(data, ',') from _selvedge.pg_logical_slot_get_changes('own', null, null, 'include-xids', '0')";
    let changes: String = query(&database, changes).await;
    assert!(changes.contains("id[integer]:7"), "{changes}");
    database
        .batch_execute("select _selvedge.pg_drop_replication_slot('own')")
        .await
        .expect("dropped");
    running.stop();
}

async fn open_database(project: &Project, name: &str) -> tokio_postgres::Client {
    let url = project.superuser_url().replace("/postgres", &format!("/{name}"));
    connect(&url).await.expect("a login")
}

/// A start that was killed in the middle has left databases open, and let others connect to template0.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn functions_of_slots_are_closed_in_every_database_also_after_a_start_that_was_cut_off() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    let is_closed: bool = query(&superuser, SLOT_FUNCTIONS_ARE_CLOSED).await;
    assert!(is_closed, "pg_dump would repeat what it finds");
    superuser
        .batch_execute("create database other")
        .await
        .expect("created");
    superuser
        .batch_execute(
            "delete from _selvedge.selvedge_project_settings where name = 'slot_functions.are_closed';
             alter database template0 with allow_connections true",
        )
        .await
        .expect("as the start has left it");
    for name in ["other", "template0"] {
        let opened = open_database(&project, name).await;
        let open = "do $$ begin
            execute 'grant execute on function ' || 'pg_create_logical_replication_slot'::regproc::oid::regprocedure || ' to public';
            delete from pg_init_privs where objoid = 'pg_create_logical_replication_slot'::regproc::oid;
          end $$";
        opened.batch_execute(open).await.expect("a superuser may");
        let is_closed: Option<bool> = query(&opened, SLOT_FUNCTIONS_ARE_CLOSED).await;
        assert_ne!(is_closed, Some(true), "{name} is open");
    }
    running.stop();

    let running = project.start().await;

    let superuser = project.superuser().await;
    let template = "select datallowconn from pg_database where datname = 'template0'";
    let is_template_open: bool = query(&superuser, template).await;
    assert!(!is_template_open, "nobody connects to template0");
    superuser
        .batch_execute("create database copied template template0")
        .await
        .expect("copied");
    for name in ["other", "copied", "template1"] {
        let opened = open_database(&project, name).await;
        let guard = "select exists (select from pg_event_trigger where evtname = 'selvedge_check_extension' and evtenabled = 'A')";
        let is_guarded: bool = query(&opened, guard).await;
        assert!(is_guarded, "{name}: extensions are looked at");
        let is_closed: Option<bool> = query(&opened, SLOT_FUNCTIONS_ARE_CLOSED).await;
        assert_eq!(is_closed, Some(true), "{name}");
    }
    running.stop();
}

/// Slots of any kind are read by somebody who logs in as `postgres`, and without a reader they fill the disk. Until PostgreSQL 15 `postgres` may
/// give its name to a role that has REPLICATION, so there nothing keeps it.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn postgres_keeps_replication_as_long_as_there_are_slots() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    superuser
        .batch_execute(
            "alter role postgres replication; select pg_create_physical_replication_slot('standby')",
        )
        .await
        .expect("a superuser may");
    running.stop();

    let running = project.start().await;
    let printed = running.output();
    if query::<i32>(&project.superuser().await, VERSION).await == 15 {
        assert!(printed.contains("postgres had REPLICATION"), "{printed}");
        running.stop();
        return;
    }
    assert!(printed.contains("but: postgres has REPLICATION"), "{printed}");
    let superuser = project.superuser().await;
    superuser
        .batch_execute("select pg_drop_replication_slot('standby')")
        .await
        .expect("dropped");
    running.stop();
    let running = project.start().await;
    let printed = running.output();
    assert!(printed.contains("postgres had REPLICATION"), "{printed}");
    running.stop();
}

/// PostgreSQL 15 lets `postgres` rename logins of services, and a superuser may at any time.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_start_goes_on_when_a_role_of_the_platform_has_another_name() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    superuser
        .batch_execute(
            "alter role supabase_replication_admin rename to former_admin; alter role pgbouncer rename to former_pooler",
        )
        .await
        .expect("a superuser may");
    superuser
        .batch_execute("alter role former_pooler replication; alter role former_pooler rename to pgbouncer")
        .await
        .expect("a superuser may");
    running.stop();

    let running = project.start().await;

    let printed = running.output();
    assert_contains(
        &printed,
        &[
            "there is no role supabase_replication_admin",
            "pgbouncer had REPLICATION",
        ],
    );
    running.stop();
}
