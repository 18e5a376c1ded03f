//! The words of the Supabase CLI: the program called as `supabase`, and commands that work on a running project.

use std::os::unix::fs::symlink;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::Project;

/// A project whose `config.toml` has its ports, as scripts for the CLI name none, and the program under the CLI's name.
struct StockProject {
    project: Project,
    /// Variables of each command.
    variables: Vec<(&'static str, &'static str)>,
}

impl StockProject {
    fn new() -> Self {
        let project = Project::new();
        let ports = project.ports;
        project.write(
            "config.toml",
            &format!(
                "project_id = \"cli\"\n[api]\nport = {}\n[db]\nport = {}\n[local_smtp]\nport = {}\n\
                 [storage.buckets.images]\nobjects_path = \"./images\"\n",
                ports.api, ports.database, ports.inbox
            ),
        );
        project.write("images/hem.txt", "a hem");
        project.write("roles.sql", "create role editor;");
        project.write(
            "migrations/20240101000000_notes.sql",
            "create table public.notes (id int primary key, body text);\ngrant select on public.notes to editor;",
        );
        project.write("seed.sql", "insert into public.notes values (1, 'seeded');");
        symlink(env!("CARGO_BIN_EXE_selvedge"), project.path("supabase")).expect("a link");
        Self {
            project,
            variables: Vec::new(),
        }
    }

    fn output(&self, words: &str) -> Output {
        std::process::Command::new(self.project.path("supabase"))
            .args(words.split(' '))
            .arg("--workdir")
            .arg(self.project.path(""))
            .env("SELVEDGE_STATE_HOME", self.project.state_home())
            .env_remove("DATABASE_URL")
            .envs(self.variables.iter().copied())
            .output()
            .expect("the binary runs")
    }

    /// Runs a command that must succeed. Returns its standard output.
    fn run(&self, words: &str) -> String {
        let output = self.output(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// The rows that a statement returns.
    fn query(&self, sql: &str) -> Value {
        let arguments = ["db", "query", sql, "-o", "json"];
        serde_json::from_str(&self.project.run_and_expect_success(&arguments)).expect("JSON")
    }
}

impl Drop for StockProject {
    fn drop(&mut self) {
        // The instance runs in the background, so a failed assertion must not leave it behind.
        let _ = self.output("stop");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_scripts_for_the_supabase_cli_run_under_its_name() {
    let stock = StockProject::new();

    // A project that does not run, a version, and a command that is not there.
    assert_eq!(stock.output("status").status.code(), Some(1));
    assert_eq!(stock.run("--version"), "3.1.0\n");
    let missing = stock.output("branches list");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("does not have this"));

    // `start` returns when the API answers, and does nothing when it is called again.
    stock.run("start -x studio,imgproxy --ignore-health-check --debug --yes");
    let status: Value = serde_json::from_str(&stock.run("status -o json")).unwrap();
    let health = format!("{}/auth/v1/health", status["API_URL"].as_str().unwrap());
    assert_eq!(reqwest::get(health).await.unwrap().status(), 200);
    assert!(stock.run("start").contains("already running"));
    let renamed = stock.run("status -o env --override-name api.url=NEXT_PUBLIC_SUPABASE_URL");
    assert!(renamed.contains("NEXT_PUBLIC_SUPABASE_URL=\"http://127.0.0.1:"));

    // Migrations of a running project.
    stock.project.write(
        "migrations/20240102000000_likes.sql",
        "create table public.likes (id int primary key);",
    );
    assert!(
        stock
            .run("db push --dry-run")
            .contains("pending 20240102000000_likes.sql")
    );
    stock.run("migration up --local");
    stock.run("migration repair 20240102000000 --status reverted");
    assert!(stock.run("migration list").contains("pending  20240102000000"));
    stock.run("migration repair 20240102000000 --status applied");
    std::fs::remove_file(stock.project.path("migrations/20240102000000_likes.sql")).unwrap();
    stock.run("migration fetch");
    let fetched = std::fs::read_to_string(stock.project.path("migrations/20240102000000_likes.sql")).unwrap();
    assert_eq!(fetched.trim(), "create table public.likes (id int primary key);");

    let types = stock.run("gen types --lang typescript --local");
    assert!(
        types.contains("      notes: {\n        Row: {\n          body: string | null\n"),
        "{types}"
    );

    let tables = stock.run("inspect db table-sizes");
    assert!(
        tables.contains("public.notes") && !tables.contains("auth.users"),
        "{tables}"
    );
    let reports = stock.project.path("reports");
    stock.run(&format!("inspect report --output-dir {}", reports.display()));
    let day = std::fs::read_dir(&reports)
        .unwrap()
        .next()
        .expect("a folder")
        .unwrap();
    assert_eq!(std::fs::read_dir(day.path()).unwrap().count(), 13);

    // A reset of the running project keeps nothing but what migrations and seeds make.
    stock.query("insert into public.notes values (2, 'lost')");
    stock.query("create role visitor");
    stock.run("db reset");
    assert_eq!(
        stock.query("select id, body from public.notes"),
        json!([{ "id": 1, "body": "seeded" }])
    );
    assert_eq!(
        stock.query("select 1 from pg_roles where rolname = 'visitor'"),
        json!([])
    );
    assert_eq!(
        stock.query("select bucket_id, name from storage.objects"),
        json!([{ "bucket_id": "images", "name": "hem.txt" }])
    );
    stock.run("db reset --no-seed --version 20240101000000");
    assert_eq!(stock.query("select id from public.notes"), json!([]));
    assert_eq!(
        stock.query("select to_regclass('public.likes')::text as name"),
        json!([{ "name": null }])
    );
    stock.run("migration up");
    stock.run("migration down --last 1");
    assert_eq!(
        stock.query("select to_regclass('public.likes')::text as name"),
        json!([{ "name": null }])
    );
    assert!(stock.run("seed buckets").contains("1 buckets"));

    // `stop --no-backup` deletes the data.
    assert_eq!(stock.output("stop --project-id another").status.code(), Some(1));
    stock.run("stop --project-id cli --no-backup");
    assert_eq!(stock.output("status").status.code(), Some(1));
    assert!(!stock.project.path(".selvedge/initialized").exists());
}

#[test]
fn gw_032_link_cli_replaces_the_npm_packages_supabase_program() {
    let project = Project::new();
    let programs = project.path("node_modules/.bin");
    let without = project.run_and_expect_failure(&["link-cli"]);
    assert!(without.contains("node_modules/.bin"), "{without}");
    std::fs::create_dir_all(&programs).expect("created");
    let link = programs.join("supabase");
    symlink("../supabase/dist/supabase.js", &link).expect("what npm installs");

    for _ in 0..2 {
        project.run_and_expect_success(&["link-cli"]);
        let version = std::process::Command::new(&link).arg("--version").output();
        assert_eq!(version.expect("it runs").stdout, b"3.1.0\n");
    }

    std::fs::remove_file(&link).expect("removed");
    std::fs::write(&link, "a script of the project").expect("written");
    project.run_and_expect_failure(&["link-cli"]);
    assert_eq!(
        std::fs::read_to_string(&link).expect("kept"),
        "a script of the project"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_a_dumped_schema_runs_as_the_migration_of_another_project() {
    let stock = StockProject::new();
    stock.project.write(
        "migrations/20240103000000_more.sql",
        "create schema app; create type app.mood as enum ('calm', 'bold');
         create function app.pick() returns app.mood language sql as $$ select 'calm'::app.mood $$;
         alter table public.notes enable row level security, add column mood app.mood default app.pick();
         create policy \"all of them\" on public.notes for select to authenticated using (auth.uid() is not null);
         alter publication supabase_realtime add table public.notes;",
    );
    stock.run("start");

    stock.run(&format!(
        "db dump -f {}",
        stock.project.path("schema.sql").display()
    ));
    let data = stock.run("db dump --data-only");
    let roles = stock.run("db dump --role-only");
    stock.run("stop");

    assert!(data.contains("seeded"), "{data}");
    assert!(roles.contains("CREATE ROLE \"editor\";"), "{roles}");
    let dump = std::fs::read_to_string(stock.project.path("schema.sql")).unwrap();
    std::fs::remove_dir_all(stock.project.path("migrations")).unwrap();
    stock.project.write("migrations/20250101000000_dump.sql", &dump);
    stock.run("stop --no-backup");
    stock.run("start");
    assert_eq!(
        stock.query("select body, mood::text as mood from public.notes"),
        json!([{ "body": "seeded", "mood": "calm" }])
    );
    assert_eq!(
        stock.query("select tablename from pg_publication_tables where pubname = 'supabase_realtime'"),
        json!([{ "tablename": "notes" }])
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_a_schema_is_pulled_and_migrations_are_squashed() {
    let mut stock = StockProject::new();
    std::fs::remove_dir_all(stock.project.path("migrations")).unwrap();
    stock.project.write("seed.sql", "");
    let config = std::fs::read_to_string(stock.project.path("config.toml")).unwrap();
    let config = format!("{config}\n[selvedge]\nsuperuser_password = \"chosen by the project\"\n");
    stock.project.write("config.toml", &config);
    stock.variables = vec![("SELVEDGE_SUPERUSER_PASSWORD", "chosen by the process")];
    stock.run("start");

    // Changes made by hand become a migration that is recorded as applied.
    stock.query("create table public.pulled (id int primary key)");
    stock.query("create view public.pulled_ids as select id from public.pulled");
    stock.run("db pull by_hand");
    let listed = stock.run("migration list");
    assert!(
        listed.contains("applied") && listed.contains("by_hand"),
        "{listed}"
    );
    assert!(!listed.contains("pending"), "{listed}");

    stock.project.write(
        "migrations/29990101000000_labels.sql",
        "alter table public.pulled add column label text not null default 'none';",
    );
    stock.run("migration up");
    stock.run("migration squash");
    let files: Vec<_> = std::fs::read_dir(stock.project.path("migrations"))
        .unwrap()
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let listed = stock.run("migration list");
    assert_eq!(listed.matches("applied").count(), 1, "{listed}");
    assert_eq!(listed.lines().count(), 1, "{listed}");

    stock.run("db reset");
    let columns = "select table_name || '.' || column_name as name from information_schema.columns \
                   where table_schema = 'public' order by 1";
    assert_eq!(
        stock.query(columns),
        json!([{ "name": "pulled.id" }, { "name": "pulled.label" }, { "name": "pulled_ids.id" }])
    );

    // Functions are checked by the extension plpgsql_check, which few machines have; otherwise the command says where to get
    // it.
    let has_checker = "select 1 as one from pg_available_extensions where name = 'plpgsql_check'";
    let lint = stock.output("db lint");
    if stock.query(has_checker) == json!([]) {
        let errors = String::from_utf8_lossy(&lint.stderr);
        assert!(errors.contains("postgresql-VERSION-plpgsql-check"), "{errors}");
    } else {
        assert!(lint.status.success(), "{lint:?}");
    }

    // The superuser has the password that the process names, and not one that the project's authors know.
    let status = stock.run("status");
    assert!(status.contains("superuser-password"), "{status}");
    let mut login = tokio_postgres::Config::new();
    login
        .host("127.0.0.1")
        .port(stock.project.ports.database)
        .user("supabase_admin")
        .password("chosen by the process")
        .dbname("postgres");
    assert!(login.connect(tokio_postgres::NoTls).await.is_ok());
    login.password("chosen by the project");
    assert!(login.connect(tokio_postgres::NoTls).await.is_err());
    stock.run("stop");
}

#[tokio::test]
async fn gw_032_a_folder_without_a_project_gets_one_while_it_runs_and_keeps_its_database() {
    let project = Project::new();
    std::fs::remove_file(project.path("config.toml")).expect("removed");
    let folder = project.path("");
    let run = |words: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_selvedge"))
            .args(words.split(' '))
            .current_dir(&folder)
            .env("SELVEDGE_STATE_HOME", project.state_home())
            .env_remove("DATABASE_URL")
            .output()
            .expect("the binary runs");
        let printed =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), printed)
    };
    let ports = project.ports;
    let start = format!(
        "start --detach --no-studio --port {} --db-port {} --inbox-port {}",
        ports.api, ports.database, ports.inbox
    );
    let started = run(&start);
    assert!(started.0, "{}", started.1);

    let made = [run("init"), run("test new likes"), run("migration new likes")];
    let again = run("init");
    let status = run("status");
    let stopped = run("stop");

    assert!(made.iter().all(|(success, _)| *success), "{made:?}");
    assert!(!again.0 && again.1.contains("--force"), "{}", again.1);
    assert!(status.0 && status.1.contains("is running"), "{}", status.1);
    assert!(
        stopped.0 && !stopped.1.contains("is not running"),
        "{}",
        stopped.1
    );
    let test = std::fs::read_to_string(folder.join("supabase/tests/likes_test.sql")).expect("a test");
    assert!(test.contains("select plan("), "{test}");

    let fresh = run(&start);
    run("stop");
    assert!(fresh.0 && !fresh.1.contains("warning"), "{}", fresh.1);
}
