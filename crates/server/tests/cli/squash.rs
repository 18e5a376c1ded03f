//! One migration in the place of many, a dump and a pull make the same database: rights that were taken away, policies and triggers on
//! the platform's tables, roles, comments. The catalogs of both databases are compared.

use crate::support::{Project, kill_when};

/// Everything of the catalogs; see the file.
const STATE: &str = include_str!("../../../postgres/src/migrate/database_state.sql");

/// What gets lost when only the project's own schemas are written with the rights that they have.
const MIGRATIONS: [(&str, &str); 3] = [
    (
        "20260101000000_tables.sql",
        r#"
        create role editor nologin;
        create table public.notes (id int generated always as identity primary key, body text default 'new');
        create table public.secrets (id int primary key);
        create table public.exposed (id int primary key, visible text, hidden text);
        create sequence public.counter;
        create view public.note_bodies as select body from public.notes;
        create schema private;
        create table private.kept (id int references public.secrets);
        "#,
    ),
    (
        "20260102000000_functions.sql",
        r#"
        create function public.admin_only() returns int language sql security definer as 'select 1';
        create function public.handle_new_user() returns trigger language plpgsql as 'begin return new; end';
        create function public.note_ddl() returns event_trigger language plpgsql as 'begin end';
        create function public.is_editor() returns boolean language sql as 'select false';
        "#,
    ),
    (
        "20260103000000_rights.sql",
        r#"
        revoke all on public.secrets from anon, authenticated;
        revoke all on public.exposed from anon;
        grant select (visible) on public.exposed to anon;
        revoke insert, update, delete on public.notes from anon;
        revoke all on sequence public.counter from anon, authenticated, service_role;
        revoke execute on function public.admin_only() from public, anon, authenticated;
        revoke all on public.note_bodies from anon;
        grant select on public.notes to editor;
        grant usage on schema private to editor;
        alter table public.secrets owner to postgres;
        alter table public.notes enable row level security;
        create policy "read by all" on public.notes for select using (true);
        create policy "read by all" on storage.objects as restrictive for select to authenticated using (public.is_editor());
        comment on policy "read by all" on storage.objects is 'editors';
        create policy "listen" on realtime.messages for select to authenticated using (true);
        create trigger on_auth_user_created after insert on auth.users for each row execute function public.handle_new_user();
        create trigger "on update" after update on auth.users for each row when (new.email is distinct from old.email)
          execute function public.handle_new_user();
        alter table auth.users enable always trigger "on update";
        create event trigger note_ddl on ddl_command_end when tag in ('CREATE TABLE') execute function public.note_ddl();
        comment on schema public is 'of this project';
        comment on column public.notes.body is 'text';
        alter publication supabase_realtime add table public.notes;
        alter role authenticator set pgrst.db_max_rows = '7';
        alter default privileges in schema private grant select on tables to editor;
        alter default privileges in schema public revoke all on functions from anon;
        "#,
    ),
];

async fn read_state(project: &Project) -> Vec<String> {
    let database = project.superuser().await;
    database
        .batch_execute("set search_path = pg_catalog, pg_temp")
        .await
        .expect("set");
    let rows = database
        .query(
            &format!("select concat_ws(': ', s.part, s.value) from ({STATE}) as s order by 1"),
            &[],
        )
        .await
        .expect("rows");
    rows.iter()
        .map(|row| row.get(0))
        // A project whose migrations were not applied yet has no history. Event triggers call copies of functions, with numbers in their
        // names.
        .filter(|line: &String| {
            !line.contains("supabase_migrations") && !line.contains("function _selvedge.event_trigger_")
        })
        .map(|line: String| match line.split_once("_selvedge.event_trigger_") {
            Some((before, after)) => {
                before.to_owned() + after.trim_start_matches(|char: char| char.is_ascii_digit())
            }
            None => line,
        })
        .collect()
}

/// A project with these migrations, which has not been started.
fn project_with(migrations: &[(&str, &str)]) -> Project {
    let project = Project::new();
    for (name, text) in migrations {
        project.write(&format!("migrations/{name}"), text);
    }
    project
}

fn assert_same(found: &[String], expected: &[String], what: &str) {
    let more: Vec<&String> = found.iter().filter(|line| !expected.contains(line)).collect();
    let less: Vec<&String> = expected.iter().filter(|line| !found.contains(line)).collect();
    assert!(
        more.is_empty() && less.is_empty(),
        "{what}: {more:#?} instead of {less:#?}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_dumps_pulls_and_squashes_make_the_same_database() {
    let original = project_with(&MIGRATIONS);
    let running = original.start().await;
    let expected = read_state(&original).await;
    assert!(
        expected
            .iter()
            .any(|line| line.starts_with("event trigger note_ddl")),
        "{expected:#?}"
    );
    let mut dump = original.command(&["db", "dump", "-f", &original.path("dump.sql").to_string_lossy()]);
    // What the shell says to pg_dump is about other servers.
    dump.env("PGSERVICE", "staging").env("PGHOSTADDR", "192.0.2.1");
    assert!(dump.status().expect("the binary runs").success());
    let dump = std::fs::read_to_string(original.path("dump.sql")).expect("a dump");

    // `db pull` into a folder without migrations is the dump as well; roles are in roles.sql there.
    let roles = original.run_and_expect_success(&["db", "dump", "--role-only"]);
    original.run_and_expect_success(&["migration", "squash"]);
    running.stop();
    let files: Vec<_> = std::fs::read_dir(original.path("migrations"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(files, ["20260103000000_rights.sql"]);
    let squashed =
        std::fs::read_to_string(original.path("migrations/20260103000000_rights.sql")).expect("it");

    for (what, text, roles) in [("squash", &squashed, ""), ("dump", &dump, roles.as_str())] {
        assert!(
            !text.contains("selvedge"),
            "{what} names something of ours: {text}"
        );
        let copy = project_with(&[("20260103000000_rights.sql", text)]);
        copy.write("roles.sql", roles);
        let running = copy.start().await;
        assert_same(&read_state(&copy).await, &expected, what);
        running.stop();
    }
}

#[test]
fn gw_032_a_squash_that_would_make_another_database_is_refused_with_the_differences() {
    let project = project_with(&[
        ("20260101000000_notes.sql", "create table public.notes (id int);"),
        (
            "20260102000000_setting.sql",
            "alter database postgres set statement_timeout = '5min'; grant select on auth.users to service_role;
             create role app login password 'secret';",
        ),
    ]);

    let message = project.run_and_expect_failure(&["migration", "squash"]);

    assert!(
        message.contains("settings of all roles in the database"),
        "{message}"
    );
    assert!(message.contains("auth.users"), "{message}");
    assert!(
        message.contains("password of role app") && !message.contains("secret"),
        "{message}"
    );
    assert!(project.path("migrations/20260101000000_notes.sql").exists());
    let kept = std::fs::read_to_string(project.path("migrations/20260102000000_setting.sql")).expect("kept");
    assert!(kept.contains("5min"), "{kept}");
    assert!(!project.path(".selvedge/shadow").exists());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_a_squash_that_was_cut_off_between_files_and_history_is_finished_by_the_next_one() {
    let older = "create table public.notes (id int primary key);";
    let project = project_with(&[
        ("20260101000000_notes.sql", older),
        (
            "20260102000000_tags.sql",
            "create table public.tags (id int primary key);",
        ),
    ]);
    let running = project.start().await;
    let mut database = project.database().await;
    let squash = project.command(&["migration", "squash"]);
    let lock = database.transaction().await.expect("a transaction");
    let is_locked = std::cell::Cell::new(false);
    kill_when(squash, async || {
        // The history is read before the migrations are tried in a shadow database, and written at the end.
        if !is_locked.get() && project.path(".selvedge/shadow").exists() {
            let history = "lock table supabase_migrations.schema_migrations in access exclusive mode";
            lock.batch_execute(history).await.expect("locked");
            is_locked.set(true);
        }
        is_locked.get() && !project.path("migrations/20260101000000_notes.sql").exists()
    })
    .await;
    lock.rollback().await.expect("unlocked");
    // As if it had been killed before it deleted the file.
    project.write("migrations/20260101000000_notes.sql", older);

    for command in [&["migration", "up"], &["migration", "list"], &["db", "reset"]] {
        let refused = project.run_and_expect_failure(command);
        assert!(
            refused.contains("finish it with:  selvedge migration squash"),
            "{refused}"
        );
    }
    let finished = project.run_and_expect_success(&["migration", "squash"]);

    assert!(finished.contains("finished"), "{finished}");
    assert!(!project.path("migrations/20260101000000_notes.sql").exists());
    let listed = project.run_and_expect_success(&["migration", "list"]);
    assert!(
        listed.contains("20260102000000")
            && !listed.contains("20260101000000")
            && !listed.contains("pending"),
        "{listed}"
    );
    project.run_and_expect_success(&["db", "reset"]);
    let tables = "select count(*) from pg_tables where tablename in ('notes', 'tags')";
    let row = database.query_one(tables, &[]).await.expect("a row");
    assert_eq!(row.get::<_, i64>(0), 2);
    let files = std::fs::read_dir(project.path("migrations")).expect("the folder");
    assert_eq!(files.count(), 1);
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_022_a_refused_history_names_the_command_that_repairs_it() {
    let project = project_with(&[
        ("20260101000000_notes.sql", "create table public.notes (id int);"),
        ("20260102000000_tags.sql", "create table public.tags (id int);"),
    ]);
    project.run_and_expect_success(&["migration", "up"]);
    std::fs::remove_file(project.path("migrations/20260101000000_notes.sql")).expect("deleted");

    let refused = project.run_and_expect_failure(&["migration", "up"]);
    let repair = refused
        .lines()
        .find_map(|line| line.split_once("selvedge migration repair "));
    let arguments = repair.expect(&refused).1.split_whitespace();
    let command: Vec<&str> = ["migration", "repair"].into_iter().chain(arguments).collect();
    project.run_and_expect_success(&command);

    project.run_and_expect_success(&["migration", "up"]);
}
