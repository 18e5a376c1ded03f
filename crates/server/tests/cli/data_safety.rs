//! What migrations have decided stays, what a command says is what happened, and what comes from another database is data.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::Project;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_014_later_starts_leave_default_privileges_as_migrations_have_left_them() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_close.sql",
        "alter default privileges in schema public revoke all on tables from anon;",
    );
    let acl = "select coalesce(string_agg(defaclrole::regrole || defaclobjtype::text || defaclacl::text, ' ' order by oid), '')
               from pg_default_acl";
    let running = project.start().await;
    let first: String = project
        .database()
        .await
        .query_one(acl, &[])
        .await
        .expect("a row")
        .get(0);
    running.stop();

    let running = project.start().await;
    let database = project.database().await;
    let second: String = database.query_one(acl, &[]).await.expect("a row").get(0);
    database
        .batch_execute("create table later (id int)")
        .await
        .expect("created");
    let is_open = "select has_table_privilege('anon', 'later', 'select')";
    let is_open: bool = database.query_one(is_open, &[]).await.expect("a row").get(0);
    drop(running);

    assert_eq!(first, second);
    assert!(!is_open);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_014_a_start_after_migrations_of_a_stopped_project_leaves_default_privileges_as_they_are() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_close.sql",
        "alter default privileges in schema public revoke all on tables from anon;",
    );
    project.run_and_expect_success(&["migration", "up"]);
    let acl = "select coalesce(string_agg(defaclrole::regrole || defaclobjtype::text || defaclacl::text, ' ' order by oid), '') as acl
               from pg_default_acl";
    let before = project.run_and_expect_success(&["db", "query", "-o", "csv", acl]);

    let running = project.start().await;
    let after = project.run_and_expect_success(&["db", "query", "-o", "csv", acl]);
    drop(running);

    assert_eq!(before, after);
}

#[test]
fn gw_021_a_transaction_of_the_migrations_own_is_recorded_or_told() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_whole.sql",
        "BEGIN;\ncreate table whole (id int);\nCOMMIT;\n",
    );
    project.run_and_expect_success(&["migration", "up"]);
    let listed = project.run_and_expect_success(&["migration", "list"]);
    assert!(
        listed.contains("applied") && !listed.contains("pending"),
        "{listed}"
    );

    project.write(
        "migrations/20260102000000_half.sql",
        "create table half (id int);\ncommit;\nselect nothing;\n",
    );
    let printed = project.run_and_expect_failure(&["migration", "up"]);
    assert!(
        printed.contains("20260102000000_half.sql:2: the file ends its transaction itself"),
        "{printed}"
    );
    assert!(printed.contains("COMMIT on line 2"), "{printed}");
}

#[test]
fn gw_023_a_comment_before_a_semicolon_swallows_nothing() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create schema private -- internal\n;\ncreate table notes (id int);",
    );

    let place = project.run_and_expect_success(&[
        "db",
        "query",
        "-o",
        "csv",
        "select 1 where to_regclass('public.notes') is null",
    ]);
    // The query alone applies no migrations.
    assert_eq!(place, "?column?\n1\n");
    project.run_and_expect_success(&["migration", "up"]);
    let place = project.run_and_expect_success(&[
        "db",
        "query",
        "-o",
        "csv",
        "select to_regclass('public.notes') is not null and to_regclass('private.notes') is null as is_public",
    ]);
    assert_eq!(place, "is_public\nt\n");
}

#[cfg(target_os = "linux")]
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_closed_terminal_and_a_killed_server_leave_no_postgresql() {
    let project = Project::new();
    let mut running = project.start().await;
    let postmaster = project.postmaster_pid().await;

    running.signal("-HUP");

    assert!(running.wait_for_exit().success(), "{}", running.output());
    assert!(!std::path::Path::new(&format!("/proc/{postmaster}")).exists());

    let mut running = project.start().await;
    let postmaster = project.postmaster_pid().await;
    running.signal("-KILL");
    running.wait_for_exit();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while std::path::Path::new(&format!("/proc/{postmaster}")).exists() {
        assert!(
            std::time::Instant::now() < deadline,
            "PostgreSQL outlives its server"
        );
        actix_web::rt::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_takes_what_a_hostile_source_says_for_data_and_keeps_what_it_forbids() {
    let source = Project::of_source();
    let running = source.start().await;
    let marker = source.path("made-by-the-source");
    source.superuser()
        .await
        .batch_execute(&format!(
            "create role app9 superuser;
             create schema app9;
             create table app9.kept (id int);
             revoke all on app9.kept from anon, authenticated;
             alter table app9.kept owner to app9;
             revoke usage on schema public from anon;
             create function public.app9(x int) returns int language sql security definer as 'select 1';
             revoke all on function public.app9(int) from public, anon, authenticated;
             create role hostile login;
             select set_config('search_path', 'public;copy(select/**/1)to/**/program''touch${{IFS}}{}''', false);
             alter role hostile set search_path from current;
             alter role hostile set session_preload_libraries = 'evil'",
            marker.display()
        ))
        .await
        .expect("a superuser may");
    let target = Project::new();

    let output = target
        .command(&["import", "--no-objects"])
        .env("SUPABASE_DB_URL", source.superuser_url())
        .output()
        .expect("the binary runs");

    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(
        printed.contains("session_preload_libraries of role hostile"),
        "{printed}"
    );
    assert!(
        printed.contains("the owner app9, who can own nothing here"),
        "{printed}"
    );
    assert!(!marker.exists());
    let query = "select has_function_privilege('anon', 'public.app9(int)', 'execute') as open,
        (select count(*) from pg_roles where rolconfig::text like '%copy(select%') as settings,
        (select string_agg(grantee::regrole::text, ' ' order by 1) from pg_namespace cross join aclexplode(nspacl)
         where nspname = 'public' and grantee = any (array['anon', 'authenticated']::regrole[])) as users,
        (select relowner::regrole from pg_class where relname = 'kept') as owner";
    let rows = target.run_and_expect_success(&["db", "query", "-o", "csv", query]);
    assert_eq!(rows, "open,settings,users,owner\nf,1,authenticated,postgres\n");

    // The history of the source has a name that no file here would have, then one that leads out of the folder.
    let outside = target.path("outside");
    source.superuser()
        .await
        .batch_execute(
            "set role postgres;
             create schema if not exists supabase_migrations;
             create table if not exists supabase_migrations.schema_migrations (version text primary key, statements text[], name text);
             insert into supabase_migrations.schema_migrations (version, name, statements)
             values ('20260101000000', 'add likes/../x', array['select 1'])",
        )
        .await
        .expect("a superuser may");
    target.run_and_expect_success(&["migration", "fetch", "--db-url", &source.superuser_url()]);
    let written = target.path("migrations/20260101000000_add_likes_.._x.sql");
    assert_eq!(std::fs::read_to_string(written).expect("a file"), "select 1;\n\n");
    source.superuser()
        .await
        .batch_execute(&format!(
            "insert into supabase_migrations.schema_migrations (version, name, statements) values ('{}', 'x', array['select 1'])",
            outside.display()
        ))
        .await
        .expect("a superuser may");
    let refused = target.run_and_expect_failure(&["migration", "fetch", "--db-url", &source.superuser_url()]);
    assert!(refused.contains("Nothing was written"), "{refused}");
    assert!(!target.path("outside_x.sql").exists());
    drop(running);
}

/// Under `nohup`, SIGHUP is ignored from the beginning.
#[cfg(target_os = "linux")]
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_server_under_nohup_survives_the_end_of_its_terminal() {
    let project = Project::new();
    let mut command = std::process::Command::new("sh");
    command
        .args([
            "-c",
            "trap '' HUP; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_selvedge"),
        ])
        .arg("--project")
        .arg(project.path(""))
        .args(project.start_arguments())
        .env("SELVEDGE_STATE_HOME", project.state_home())
        .env_remove("DATABASE_URL");
    let running = project.spawn_command(command, &[]);
    running.wait_for_output("is ready after").await;

    running.signal("-HUP");

    // A signal that ended it would have come before this one.
    let (status, _) = running.get("/health/ready").await;
    assert_eq!(status, 200);
    let printed = running.stop();
    assert!(printed.contains("stopped"), "{printed}");
}

#[test]
fn data_that_are_gone_keep_neither_stop_nor_restore_nor_reset_from_working() {
    let project = Project::new();
    project.run_and_expect_success(&["reset", "--yes"]);
    let backup = project.path("kept.tar").display().to_string();
    project.run_and_expect_success(&["backup", &backup]);
    let lose_data = || {
        std::fs::remove_dir_all(project.path(".selvedge/pgdata")).expect("removed");
        project.write(".selvedge/location", "/nonexistent/selvedge-data\n");
    };

    lose_data();
    let refused = project.run_and_expect_failure(&["db", "query", "select 1"]);
    assert!(refused.contains("/nonexistent/selvedge-data"), "{refused}");
    assert!(
        project
            .run_and_expect_success(&["stop"])
            .contains("is not running")
    );
    project.run_and_expect_success(&["restore", "--yes", &backup]);
    project.run_and_expect_success(&["db", "query", "select 1"]);

    lose_data();
    project.run_and_expect_success(&["reset", "--yes"]);
    project.run_and_expect_success(&["db", "query", "select 1"]);
}

/// What `postgres` owns in the database, but for the history of migrations, and the default privileges.
async fn list_own_objects(project: &Project) -> Vec<String> {
    let query = "
        select i.type || ' ' || i.identity
        from pg_shdepend as d cross join lateral pg_identify_object(d.classid, d.objid, d.objsubid) as i
        where d.dbid = (select oid from pg_database where datname = current_database()) and d.deptype = 'o'
          and d.refobjid = 'postgres'::regrole and i.identity not like 'supabase\\_migrations%'
        union all
        select a.defaclrole::regrole || ' ' || a.defaclobjtype::text || ' ' || e.grantee::regrole || ' ' || e.privilege_type
        from pg_default_acl as a cross join lateral aclexplode(a.defaclacl) as e
        order by 1";
    let rows = project.database().await.query(query, &[]).await.expect("rows");
    rows.iter().map(|row| row.get(0)).collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_removes_what_a_migration_has_made_besides_tables() {
    let project = Project::new();
    let _running = project.start().await;
    let fresh = list_own_objects(&project).await;
    project.write(
        "migrations/20260101000000_odd.sql",
        "create collation public.ours (provider = icu, locale = 'de');
         create text search dictionary public.plain (template = pg_catalog.simple);
         create text search configuration public.own (copy = pg_catalog.simple);
         create function public.same(int, int) returns boolean language sql as 'select $1 = $2';
         create operator public.=== (leftarg = int, rightarg = int, function = public.same);
         create table public.t (a int, b int);
         create statistics public.ab on a, b from public.t;
         create view extensions.leftover as select 1 as one;
         create function extensions.leftover() returns int language sql as 'select 1';
         create type extensions.mood as enum ('good');
         select lo_from_bytea(4711, 'x');
         alter default privileges in schema public revoke all on tables from anon;",
    );
    project.run_and_expect_success(&["migration", "up"]);
    assert_ne!(list_own_objects(&project).await, fresh);

    std::fs::remove_file(project.path("migrations/20260101000000_odd.sql")).expect("removed");
    project.run_and_expect_success(&["db", "reset"]);

    assert_eq!(list_own_objects(&project).await, fresh);
}

/// PostgreSQL's programs are copied once, for all projects of a user, so a copy that a power failure has left without contents would stop all of
/// them for ever.
#[test]
fn gw_028_programs_that_a_power_failure_has_emptied_are_copied_again() {
    let project = Project::new();
    let cache = tempfile::Builder::new()
        // Run as root, the cluster belongs to another user, who has to read its programs there.
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .expect("a temporary folder");
    let run = || {
        let mut command = project.command(&["migration", "up"]);
        let output = command.env("XDG_CACHE_HOME", cache.path()).output();
        output.expect("the binary runs")
    };
    assert!(run().status.success());

    let mut emptied = 0;
    for entry in walkdir::WalkDir::new(cache.path()).into_iter().flatten() {
        if entry.file_type().is_file() && entry.file_name() == "postgres" {
            std::fs::write(entry.path(), "").expect("emptied");
            emptied += 1;
        }
    }
    assert_eq!(emptied, 1);
    let again = run();

    assert!(
        again.status.success(),
        "{}",
        String::from_utf8_lossy(&again.stderr)
    );
    let names = std::fs::read_dir(cache.path().join("selvedge")).expect("the trees' folder");
    let leftovers = names
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(leftovers.count(), 0);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_026_roles_sql_is_not_repeated_by_the_first_start_after_another_command() {
    let project = Project::new();
    project.write("roles.sql", "create role editor nologin;");
    project.run_and_expect_success(&["migration", "up"]);

    let running = project.start().await;

    let roles = "select count(*) from pg_roles where rolname = 'editor'";
    let row = project.database().await.query_one(roles, &[]).await;
    assert_eq!(row.expect("a row").get::<_, i64>(0), 1);
    running.stop();
}
