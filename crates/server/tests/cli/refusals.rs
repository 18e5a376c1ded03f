//! Error messages that say what to do: wrong configuration, ports in use, missing PostgreSQL.

use std::net::TcpListener;

use crate::support::{Project, give_away};

#[test]
fn gw_028_a_wrong_value_is_reported_with_file_line_and_allowed_values() {
    let project = Project::new();
    project.write("config.toml", "[edge_runtime]\npolicy = \"sometimes\"\n");

    let message = project.run_and_expect_failure(&["start"]);

    assert!(
        message.contains("config.toml:2: edge_runtime.policy = \"sometimes\""),
        "{message}"
    );
    assert!(
        message.contains("expected one of \"per_worker\", \"oneshot\""),
        "{message}"
    );
}

#[test]
fn gw_019_all_missing_extensions_are_named_before_anything_is_created() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_a.sql",
        "create extension hstore;\ncreate extension if not exists no_such_one;\n",
    );
    project.write(
        "migrations/20260102000000_b.sql",
        "create extension if not exists \"http\" with schema extensions;\n\ncreate extension \"no-such-two\";\n",
    );

    let arguments = project.start_arguments();
    let message = project.run_and_expect_failure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());

    assert!(
        message.contains("20260101000000_a.sql:2: extension \"no_such_one\" is not available"),
        "{message}"
    );
    assert!(
        message.contains("20260102000000_b.sql:3: extension \"no-such-two\" is not available"),
        "{message}"
    );
    let examined = project.run(&["doctor", "-o", "json"]);
    let examined = String::from_utf8_lossy(&examined.stdout).into_owned();
    let found: Vec<serde_json::Value> = serde_json::from_str(&examined).expect("a list of findings");
    let extensions = found.iter().find(|finding| finding["check"] == "extensions");
    let extensions = extensions.unwrap_or_else(|| panic!("{examined}"));
    assert_eq!(extensions["status"], "error");
    assert!(
        extensions["message"].to_string().contains("no_such_one"),
        "{extensions}"
    );
    assert!(
        message.contains("api.auto_expose_new_tables is not set"),
        "{message}"
    );
    assert!(!project.path(".selvedge/pgdata").exists());
}

#[test]
fn gw_018_an_extension_without_a_package_is_refused_with_advice() {
    let project = Project::new();

    let unknown = project.run_and_expect_failure(&["extension", "add", "no_such_one"]);
    let listed = project.run(&["extension", "list"]);

    assert!(
        unknown.contains("no package of no_such_one is known"),
        "{unknown}"
    );
    assert!(unknown.contains("package manager"), "{unknown}");
    let listed = String::from_utf8_lossy(&listed.stdout);
    assert!(listed.contains("vector"), "{listed}");
    assert!(!project.path(".selvedge").exists());
}

#[test]
fn gw_031_an_api_port_in_use_is_reported_with_flag_and_key_before_anything_starts() {
    let project = Project::new();
    let holder = TcpListener::bind(("127.0.0.1", project.ports.api)).unwrap();

    let arguments = project.start_arguments();
    let message = project.run_and_expect_failure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());

    assert!(
        message.contains(&format!("port {} (API) is taken", project.ports.api)),
        "{message}"
    );
    assert!(message.contains("--port N or [api] port = N"), "{message}");
    assert!(!project.path(".selvedge/pgdata").exists());
    drop(holder);
}

#[test]
fn gw_031_a_database_port_in_use_is_reported_with_flag_and_key() {
    let project = Project::new();
    let _holder = TcpListener::bind(("127.0.0.1", project.ports.database)).unwrap();

    let arguments = project.start_arguments();
    let message = project.run_and_expect_failure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());

    assert!(
        message.contains(&format!("port {} (PostgreSQL) is taken", project.ports.database)),
        "{message}"
    );
    assert!(message.contains("--db-port N or [db] port = N"), "{message}");
}

#[test]
fn gw_031_a_pg_bin_without_postgresql_is_named() {
    let project = Project::new();
    let mut arguments = project.start_arguments();
    arguments.extend(["--pg-bin".to_owned(), project.path("").display().to_string()]);

    let message = project.run_and_expect_failure(&arguments.iter().map(String::as_str).collect::<Vec<_>>());

    assert!(
        message.contains("holds no PostgreSQL: initdb is missing"),
        "{message}"
    );
}

#[test]
fn gw_002_secrets_of_an_import_are_not_among_its_arguments_while_it_runs() {
    let project = Project::new();
    // A server that accepts and says nothing, so that the import waits.
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let url = format!("postgresql://reader:of-the-source@127.0.0.1:{port}/postgres");
    let mut import = project
        .command(&[
            "import",
            "--yes",
            "--db-url",
            &url,
            "--no-objects",
            "--service-role-key",
            "of-the-service",
        ])
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it runs");

    silent.set_nonblocking(true).expect("a listener");
    let _waits = loop {
        if let Ok(connection) = silent.accept() {
            break connection;
        }
        assert!(
            import.try_wait().expect("a child").is_none(),
            "it ended before it connected"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    let arguments = std::fs::read(format!("/proc/{}/cmdline", import.id())).expect("it runs");
    import.kill().expect("killed");
    import.wait().expect("ended");

    let arguments = String::from_utf8_lossy(&arguments);
    assert!(
        arguments.contains("import") && !arguments.contains("of-the-s"),
        "{arguments}"
    );
}

/// A disk that is full, as far as files of more than a few kilobytes go.
#[test]
fn gw_032_a_function_whose_settings_cannot_be_written_is_not_deleted() {
    let project = Project::new();
    let settings = format!(
        "project_id = \"cli\"\n{}[api]\nport = 54321\n\n[functions.hello]\nverify_jwt = false\n",
        "# a long comment\n".repeat(2000)
    );
    project.write("config.toml", &settings);
    project.write(
        "functions/hello/index.ts",
        "Deno.serve(() => new Response('hello'))",
    );
    let delete = ["functions", "delete", "hello", "--yes"];
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_selvedge"), "--project"])
        .arg(project.path(""))
        .args(delete)
        .env("SELVEDGE_STATE_HOME", project.state_home())
        .env_remove("DATABASE_URL");

    let refused = limited.output().expect("a shell");

    let printed = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && printed.contains("File too large"),
        "{printed}"
    );
    assert!(project.path("functions/hello/index.ts").exists());
    let read = || std::fs::read_to_string(project.path("config.toml")).expect("a file");
    assert_eq!(read(), settings);
    project.run_and_expect_success(&delete);
    assert!(!project.path("functions/hello").exists() && !read().contains("functions.hello"));
}

/// A folder of tests that nobody has run is no success.
#[test]
fn gw_021_tests_that_cannot_be_read_are_an_error_and_links_to_nothing_are_not() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let project = Project::new();
    for name in ["tests/a.sql", "tests/unit/b.sql"] {
        project.write(name, "begin; select 1; rollback;");
    }
    symlink("nowhere", project.path("tests/helpers")).expect("linked");
    symlink("circle", project.path("tests/circle")).expect("linked");
    symlink("..", project.path("tests/unit/around")).expect("linked");
    let mode = |mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(project.path("tests/unit"), permissions).expect("ours");
    };
    let owner = give_away(&[&project.path("."), project.state_home()]).to_string();
    let url = "postgresql://postgres:postgres@127.0.0.1:1/postgres";
    let list = || {
        let mut command = project.command(&["test", "db", "--db-url", url]);
        if nix::unistd::geteuid().is_root() {
            command.env("SUDO_UID", &owner);
        }
        let output = command.output().expect("the binary runs");
        String::from_utf8(output.stderr).expect("text")
    };

    mode(0o000);
    let closed = list();
    mode(0o755);
    let open = list();

    assert!(
        closed.contains("cannot read") && closed.contains("tests"),
        "{closed}"
    );
    assert!(!open.contains("cannot read"), "{open}");
}
