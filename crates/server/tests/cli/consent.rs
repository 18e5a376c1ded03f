//! What a command refuses, what it asks for before it changes anything, and what it says of what it has not done.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Output, Stdio};

use crate::support::{Project, Running};

fn text_of(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

/// A project that does not run, and another one that does.
struct Neighbours {
    ours: Project,
    theirs: Project,
    _running: Running,
}

impl Neighbours {
    async fn start() -> Self {
        let (ours, theirs) = (Project::new(), Project::new());
        theirs.write("config.toml", "project_id = \"neighbour\"\n");
        theirs.write(
            "migrations/20260101000000_notes.sql",
            "create table notes (id int);",
        );
        let running = theirs.start().await;
        Self {
            ours,
            theirs,
            _running: running,
        }
    }

    fn url(&self, user: &str, password: &str) -> String {
        let port = self.theirs.ports.database;
        format!("postgresql://{user}:{password}@127.0.0.1:{port}/postgres")
    }

    /// Versions of migrations, tables, and what is stored of passwords.
    async fn state(&self) -> String {
        let query = "select json_build_object(
            'history', (select json_agg(m) from supabase_migrations.schema_migrations as m),
            'platform', (select json_agg(p) from _selvedge.platform_migrations as p),
            'tables', (select json_agg(relname order by relname) from pg_class where relnamespace = 'public'::regnamespace),
            'passwords', (select json_agg(rolpassword order by rolname) from pg_authid))::text";
        let superuser = self.theirs.superuser().await;
        superuser.query_one(query, &[]).await.expect("a row").get(0)
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_029_a_variable_that_leads_to_the_database_of_another_project_is_refused_by_commands_that_write() {
    let neighbours = Neighbours::start().await;
    let before = neighbours.state().await;
    let ours = &neighbours.ours;
    ours.write(
        "migrations/20260101000000_ours.sql",
        "create table ours (id int);",
    );
    ours.write("tests/first.sql", "select 1;");
    let url = neighbours.url("postgres", "postgres");
    let run = |arguments: &[&str]| {
        let output = ours.command(arguments).env("DATABASE_URL", &url).output();
        output.expect("the binary runs")
    };

    for arguments in [
        &["db", "reset", "--yes"][..],
        &["migration", "up"],
        &["db", "push"],
        &["db", "query", "drop table notes"],
        &["tenants", "create", "acme"],
        &["test", "db"],
    ] {
        let output = run(arguments);
        let printed = text_of(&output);
        // A command that never takes the variable works on the project's own database.
        let is_own = printed.contains("its own");
        assert!(
            is_own
                || printed.contains("another project, neighbour,")
                || printed.contains("no pattern for tenants"),
            "{arguments:?}: {printed}"
        );
    }
    // By a flag the other one is meant, and its name stands in the first line; emptying it is asked for by its name.
    let read = ours.run(&["db", "query", "--db-url", &url, "select 1"]);
    let reset = ours.run_and_expect_failure(&["db", "reset", "--db-url", &url, "--yes"]);

    assert!(
        text_of(&read).contains("of the project neighbour"),
        "{}",
        text_of(&read)
    );
    assert!(reset.contains("--yes=neighbour"), "{reset}");
    assert_eq!(neighbours.state().await, before);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_asks_before_it_changes_anything_of_a_database_that_is_not_its_own() {
    let neighbours = Neighbours::start().await;
    let before = neighbours.state().await;
    let (ours, source) = (&neighbours.ours, neighbours.url("postgres", "postgres"));
    let password =
        std::fs::read_to_string(neighbours.theirs.path(".selvedge/superuser-password")).expect("it");
    let target = neighbours.url("supabase_admin", password.trim());
    let import = |arguments: &[&str]| {
        let mut command = ours.command(&[&["import", "--no-objects"], arguments].concat());
        command.env("SUPABASE_DB_URL", &source).stdin(Stdio::null());
        command.output().expect("the binary runs")
    };

    let unasked = import(&["--to-db-url", &target]);
    let unnamed = import(&["--to-db-url", &target, "--yes"]);
    let elsewhere = import(&[
        "--to-db-url",
        "postgresql://supabase_admin:x@db.example.invalid/app",
        "--yes",
    ]);

    let other_host = import(&["--to-db-url", &target, "--yes=staging.example.com"]);
    let own_by_host = import(&["--yes=staging.example.com"]);
    ours.write(
        ".env",
        "DATABASE_URL=postgresql://supabase_admin:x@db.example.invalid/app\n",
    );
    let which = import(&[]);
    let named = import(&["--external", "--yes"]);

    for (output, expected) in [
        (unasked, "--yes=neighbour"),
        (unnamed, "--yes=neighbour"),
        (elsewhere, "--yes=db.example.invalid"),
        (other_host, "--yes=staging.example.com does not name the target"),
        (own_by_host, "which is the project's own database"),
        (which, "which database?"),
        (named, "--yes=db.example.invalid"),
    ] {
        let printed = text_of(&output);
        assert!(
            !output.status.success() && printed.contains(expected),
            "{printed}"
        );
    }
    assert_eq!(neighbours.state().await, before);
    assert!(!ours.path(".selvedge/pgdata").exists());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_lists_the_objects_that_it_could_not_copy_and_goes_on() {
    let source = Project::of_source();
    source.write(
        "config.toml",
        "project_id = \"cli\"\n[storage.buckets.files]\nobjects_path = \"./files\"\n",
    );
    source.write("files/good.txt", "good");
    let _running = source.start().await;
    let rows = "insert into storage.objects (bucket_id, name, version, metadata)
        select 'files', name, gen_random_uuid()::text, '{\"size\": 4, \"mimetype\": \"text/plain\"}'
        from unnest(array['without/size', 'up/../../../../auth/v1/admin/users']) as name;
        update storage.objects set metadata = '{}' where name = 'without/size'";
    source
        .database()
        .await
        .batch_execute(rows)
        .await
        .expect("inserted");
    let status: serde_json::Value =
        serde_json::from_str(&source.run_and_expect_success(&["status", "-o", "json"])).expect("JSON");
    let target = Project::new();
    // Its first start is over.
    target.run_and_expect_success(&["reset", "--yes"]);
    let import = |arguments: &[&str]| {
        let mut command = target.command(&[&["import"], arguments].concat());
        for (variable, name) in [
            ("SUPABASE_DB_URL", "DB_URL"),
            ("SUPABASE_URL", "API_URL"),
            ("SUPABASE_SERVICE_ROLE_KEY", "SERVICE_ROLE_KEY"),
        ] {
            command.env(variable, status[name].as_str().expect("a value"));
        }
        command.stdin(Stdio::null()).output().expect("the binary runs")
    };

    let first = import(&[]);
    let printed = text_of(&first);
    assert!(!first.status.success(), "{printed}");
    assert!(printed.contains("objects were not copied"), "{printed}");
    assert!(
        printed.contains("up/../../../../auth/v1/admin/users"),
        "{printed}"
    );
    assert!(printed.contains("--skip-objects"), "{printed}");
    // The project is reported as half imported until somebody decides.
    let start = target.start_arguments();
    let start: Vec<&str> = start.iter().map(String::as_str).collect();
    let refused = target.run_and_expect_failure(&start);
    assert!(refused.contains("an import into cli was cut off"), "{refused}");

    // Somebody stores an object meanwhile, as in a project that is served.
    let upload = "insert into storage.objects (bucket_id, name, version, metadata)
        values ('files', 'mine.txt', gen_random_uuid()::text, '{\"size\": 4}')";
    target.run_and_expect_success(&["db", "query", upload]);
    let second = import(&["--skip-objects"]);
    assert!(second.status.success(), "{}", text_of(&second));
    let names = "select name from storage.objects order by name";
    let names = target.run_and_expect_success(&["db", "query", "-o", "csv", names]);
    assert_eq!(names, "name\ngood.txt\nmine.txt\n");
}

/// An HTTP server that answers each request as `respond` says for its path, and counts the requests in `seen`.
pub(crate) fn serve_hostile_api(
    seen: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
    respond: impl Fn(&str, &mut std::net::TcpStream) + Send + 'static,
) -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a handle"));
            while reader.read_line(&mut head).is_ok_and(|size| size > 2) {}
            seen.lock().expect("not poisoned").push(head.clone());
            respond(head.split(' ').nth(1).unwrap_or_default(), &mut stream);
        }
    });
    port
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_follows_no_redirection_ends_endless_objects_and_shows_its_key_to_the_source_alone() {
    use std::io::Write as _;

    let source = Project::of_source();
    source.write(
        "config.toml",
        "project_id = \"cli\"\n[storage.buckets.files]\npublic = true\n",
    );
    let _running = source.start().await;
    let names = "array['redirected.txt', 'endless.txt', 'bomb.txt', '%2e%2e/x', E'line\\nbreak', 'a?b#c', '\"; drop table x']";
    let rows = format!(
        "insert into storage.objects (bucket_id, name, version, metadata)
         select 'files', name, gen_random_uuid()::text, '{{\"size\": 4, \"mimetype\": \"text/plain\"}}' from unnest({names}) as name;
         create table \"odd\"\"name; drop\" (\"a b\" int);
         comment on table \"odd\"\"name; drop\" is E'\\\\! touch x\\n\\\\connect y\\n''; drop role anon; --';
         create role \"odd role\"; grant select on \"odd\"\"name; drop\" to \"odd role\""
    );
    source.database().await.batch_execute(&rows).await.expect("made");
    let elsewhere = std::sync::Arc::default();
    let other = serve_hostile_api(std::sync::Arc::clone(&elsewhere), |_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nevil");
    });
    let bomb = pack_zeros();
    let seen = std::sync::Arc::default();
    let api = serve_hostile_api(std::sync::Arc::clone(&seen), move |path, stream| {
        let _ = match path {
            "/storage/v1/bucket" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]")
            }
            path if path.ends_with("redirected.txt") => stream.write_all(
                format!(
                    "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{other}/stolen\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
                .as_bytes(),
            ),
            path if path.ends_with("bomb.txt") => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    bomb.len()
                );
                stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&bomb))
            }
            path if path.ends_with("endless.txt") => {
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
                let mut sent = stream.write_all(head.as_bytes());
                while sent.is_ok() {
                    sent = stream.write_all(&[b'x'; 65_536]);
                }
                Ok(())
            }
            _ => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ngood"),
        };
    });
    let target = Project::new();

    let output = target
        .command(&["import", "--skip-objects"])
        .env("SUPABASE_DB_URL", source.superuser_url())
        .env("SUPABASE_URL", format!("http://127.0.0.1:{api}"))
        .env("SUPABASE_SERVICE_ROLE_KEY", "the-secret-key")
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");

    let printed = text_of(&output);
    assert!(output.status.success(), "{printed}");
    assert!(
        ["redirected.txt", "endless.txt", "bomb.txt"]
            .iter()
            .all(|name| printed.contains(name)),
        "{printed}"
    );
    assert!(!printed.contains("the-secret-key"), "{printed}");
    let elsewhere: &Vec<String> = &elsewhere.lock().expect("not poisoned");
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    for head in seen.lock().expect("not poisoned").iter() {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let is_inside =
            path == "/storage/v1/bucket" || path.starts_with("/storage/v1/object/authenticated/files/");
        assert!(
            is_inside && !path.contains("..") && !path.contains(['?', '#']),
            "{path}"
        );
    }
    let comment =
        "select obj_description('public.\"odd\"\"name; drop\"'::regclass) like '%drop role anon%' as kept";
    let kept = target.run_and_expect_success(&["db", "query", "-o", "csv", comment]);
    assert_eq!(kept, "kept\nt\n");
    assert!(!target.path("x").exists());
    let stored = walkdir::WalkDir::new(target.path(".selvedge/storage")).into_iter();
    let sizes = stored
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .filter(std::fs::Metadata::is_file);
    let total: u64 = sizes.map(|file| file.len()).sum();
    assert!(total < 100_000, "{total} bytes are stored");
}

/// 100 MB of zeros, compressed.
fn pack_zeros() -> Vec<u8> {
    let output = Command::new("sh")
        .args(["-c", "head -c 100000000 /dev/zero | gzip -1"])
        .output();
    output.expect("gzip runs").stdout
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_takes_names_and_versions_of_extensions_for_data() {
    let source = Project::of_source();
    let _running = source.start().await;
    let superuser = source.superuser().await;
    superuser
        .batch_execute(
            "insert into _selvedge.selvedge_installed_extensions (name, version, schema)
             values ('../../../../x''\"; drop role anon; --' || chr(27) || '[2J', '../../1\"; drop', '../public\"; drop schema public');
             update pg_extension set extversion = '../../../../x''\"; drop role anon; --' where extname <> 'plpgsql'",
        )
        .await
        .expect("a superuser may");
    let target = Project::new();
    let import = || {
        let mut command = target.command(&["import", "--no-objects"]);
        command
            .env("SUPABASE_DB_URL", source.superuser_url())
            .stdin(Stdio::null());
        command.output().expect("the binary runs")
    };

    let refused = import();
    let printed = text_of(&refused);
    assert!(
        !refused.status.success() && printed.contains("Nothing was changed"),
        "{printed}"
    );
    assert!(
        printed.contains("../../../../x'") && !printed.contains('\u{1b}'),
        "{printed}"
    );

    superuser
        .batch_execute("delete from _selvedge.selvedge_installed_extensions where name like '../%'")
        .await
        .expect("a superuser may");
    let imported = import();
    assert!(imported.status.success(), "{}", text_of(&imported));
    let versions = "select count(*) from pg_extension where extversion like '%/%'";
    let versions = target.run_and_expect_success(&["db", "query", "-o", "csv", versions]);
    assert_eq!(versions, "count\n0\n", "the versions are those of the target");
}

#[test]
fn a_database_of_a_newer_version_is_refused_and_stays_as_it_is() {
    let project = Project::new();
    project.run_and_expect_success(&["reset", "--yes"]);
    project.run_and_expect_success(&["db", "query", "select 1"]);
    let running = actix_web::rt::System::new().block_on(async {
        let running = project.start().await;
        let newer = "insert into _selvedge.platform_migrations (version, name, sha256) values (9999, '9999_later.sql', '')";
        // The table is guarded against everybody but the platform's own files.
        let guard = "alter table _selvedge.platform_migrations disable trigger all";
        let superuser = project.superuser().await;
        superuser.batch_execute(&format!("{guard}; {newer}")).await.expect("inserted");
        running
    });
    running.stop();
    let start = project.start_arguments();
    let start: Vec<&str> = start.iter().map(String::as_str).collect();

    for arguments in [&["db", "query", "select 1"][..], &["migration", "up"], &start[..]] {
        let refused = project.run_and_expect_failure(arguments);
        assert!(
            refused.contains("newer version") && refused.contains("9999_later.sql"),
            "{refused}"
        );
    }
}

#[test]
fn a_dry_run_of_a_push_refuses_what_the_push_would_refuse() {
    let project = Project::new();
    project.write(
        "migrations/20260103000000_last.sql",
        "create table last (id int);",
    );
    project.run_and_expect_success(&["migration", "up"]);

    project.write(
        "migrations/20260102000000_late.sql",
        "create table late (id int);",
    );
    let late = project.run_and_expect_failure(&["db", "push", "--dry-run"]);
    assert_eq!(
        late,
        project
            .run_and_expect_failure(&["db", "push"])
            .replace("database: cli, its own, not running\n", "")
    );
    assert!(late.contains("20260102000000"), "{late}");
    std::fs::remove_file(project.path("migrations/20260102000000_late.sql")).expect("removed");

    project.write("migrations/20260104000000_one.sql", "create table one (id int);");
    project.write("migrations/20260104000000_two.sql", "create table two (id int);");
    let twice = project.run_and_expect_failure(&["db", "push", "--dry-run"]);
    assert!(twice.contains("20260104000000"), "{twice}");
    assert!(!twice.contains("pending"), "{twice}");
}

#[test]
fn a_reader_that_goes_away_ends_a_command_without_a_panic() {
    let project = Project::new();
    // More than a pipe holds.
    let tables: String = (0..400)
        .map(|number| {
            format!("create table a_table_with_a_long_name_{number} (a_column_with_a_long_name text);\n")
        })
        .collect();
    project.write("migrations/20260101000000_many.sql", &tables);
    project.run_and_expect_success(&["migration", "up"]);

    for arguments in [
        &["gen", "types", "typescript"][..],
        &["db", "dump"],
        &[
            "db",
            "query",
            "-o",
            "csv",
            "select repeat('x', 100) from generate_series(1, 9999)",
        ],
    ] {
        let mut child = project
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut first = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        output.read_line(&mut first).expect("a line");
        drop(output);
        let mut errors = String::new();
        let mut pipe = child.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut errors).expect("text");
        child.wait().expect("it ends");
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    }
    assert!(Command::new("true").status().is_ok());
}
