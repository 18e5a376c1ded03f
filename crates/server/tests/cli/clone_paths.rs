//! Projects that came from a stranger: what their files name or link to outside of the project waits for trust.

use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::support::Project;

/// A file of the person who starts a clone.
const SECRET: &str = "precious";

/// A project of a stranger, and the files of the person who starts it.
struct Clone {
    project: Project,
    victim: tempfile::TempDir,
}

impl Clone {
    fn new() -> Self {
        let victim = tempfile::tempdir().expect("a folder");
        for name in ["id_ed25519", "index.html"] {
            std::fs::write(victim.path().join(name), SECRET).expect("written");
        }
        Self {
            project: Project::new(),
            victim,
        }
    }

    fn victim_path(&self) -> String {
        self.victim.path().display().to_string()
    }

    fn configure(&self, text: &str) {
        self.project
            .write("config.toml", &format!("project_id = \"cli\"\n{text}"));
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_109_a_bucket_and_a_site_outside_of_the_project_are_served_after_they_were_trusted() {
    let clone = Clone::new();
    let victim = clone.victim_path();
    let bucket = format!("[storage.buckets.files]\npublic = true\nobjects_path = {victim:?}\n");
    let site = format!("[selvedge]\nsite = {victim:?}\n");
    let mail = format!("[auth.email.template.invite]\ncontent_path = \"{victim}/index.html\"\n");
    let climbing = "[db.seed]\nsql_paths = [\"../*/*.sql\"]\n".to_owned();
    for (text, named) in [
        (&bucket, "storage.buckets.files.objects_path"),
        (&site, "selvedge.site"),
        (&mail, "auth.email.template.invite.content_path"),
        (&climbing, "db.seed.sql_paths"),
    ] {
        clone.configure(text);
        for command in [&["start"][..], &["seed", "buckets"], &["db", "reset"], &["stack"]] {
            let refused = clone.project.run_and_expect_failure(command);
            assert!(
                refused.contains(&format!("{named} = ")) && refused.contains("selvedge trust"),
                "{command:?}: {refused}"
            );
        }
    }

    clone.configure(&(bucket + &site));
    let trusted = clone.project.run_and_expect_success(&["trust"]);
    let running = clone.project.start().await;
    for path in ["/storage/v1/object/public/files/id_ed25519", "/"] {
        let answer = reqwest::get(running.url(path)).await.expect("an answer");
        assert_eq!(answer.text().await.expect("a text"), SECRET, "{path}");
    }
    running.stop();
    // What was trusted is one place, and not whatever the key will say.
    clone.configure(&format!("[selvedge]\nsite = \"{victim}/..\"\n"));
    let other = clone.project.run_and_expect_failure(&["start"]);

    assert!(
        trusted.contains(&format!("selvedge.site = {}", victim)),
        "{trusted}"
    );
    assert!(other.contains("selvedge trust"), "{other}");
}

#[test]
fn gw_109_nothing_that_is_served_or_mailed_is_around_or_in_the_projects_secrets() {
    let clone = Clone::new();
    clone.project.write("index.html", "<p>hello</p>");
    clone.project.write(".env", "A=b\n");
    symlink(".selvedge", clone.project.path("shortcut")).expect("linked");
    // Of another project in the repository, and of other tools.
    clone.project.write("other/data/superuser-password", "secret");
    clone.project.write(".temp/database-url", "postgresql://secret");
    clone.project.write("production.env", "A=b\n");
    for (section, key) in [
        ("selvedge", "site"),
        ("storage.buckets.files", "objects_path"),
        ("auth.email.template.invite", "content_path"),
    ] {
        for path in [
            ".selvedge",
            ".selvedge/superuser-password",
            ".",
            "..",
            "shortcut",
            ".env",
            "config.toml",
            "other/data",
            "other/data/superuser-password",
            ".temp",
            ".temp/database-url",
            "production.env",
        ] {
            let is_file = key == "content_path";
            clone.configure(&format!("[{section}]\n{key} = {path:?}\n"));
            let refused = clone.project.run_and_expect_failure(&["start"]);
            assert!(
                refused.contains("would hand out") || (is_file && refused.contains("which is not a file")),
                "{key} = {path}: {refused}"
            );
        }
    }
}

#[test]
fn gw_109_seeds_and_tests_that_lead_out_by_wildcards_and_links_wait_for_trust() {
    let clone = Clone::new();
    std::fs::write(clone.victim.path().join("dump.sql"), "select 1;").expect("written");
    clone.project.write("migrations/1_a.sql", "");
    clone.project.write("shared/x.sql", "");
    symlink(clone.victim.path(), clone.project.path("shared/victim")).expect("linked");
    clone.project.write("tests/a.sql", "");
    symlink("../shared", clone.project.path("tests/shared")).expect("linked");
    let of_tests = clone.project.run_and_expect_failure(&["start"]);
    std::fs::remove_file(clone.project.path("tests/shared")).expect("removed");
    let mut climbing = Vec::new();
    for pattern in ["shared/*/*.sql", "m*/../shared/victim/*.sql"] {
        clone.configure(&format!("[db.seed]\nsql_paths = [{pattern:?}]\n"));
        climbing.push(clone.project.run_and_expect_failure(&["start"]));
    }

    for refused in climbing.iter().chain([&of_tests]) {
        assert!(refused.contains("selvedge trust"), "{refused}");
    }
}

#[test]
fn gw_109_what_was_trusted_is_listed_and_taken_back() {
    let clone = Clone::new();
    let victim = clone.victim_path();
    clone.configure(&format!("[selvedge]\nsite = {victim:?}\n"));
    let list = || clone.project.run_and_expect_success(&["trust", "--list"]);
    let named = format!("trusted selvedge.site = {victim}");

    let before = list();
    clone.project.run_and_expect_success(&["trust"]);
    let trusted = list();
    let used = clone.project.run_and_expect_failure(&["seed", "buckets"]);
    let forgotten = clone.project.run_and_expect_success(&["trust", "--forget"]);
    let after = list();
    let refused = clone.project.run_and_expect_failure(&["seed", "buckets"]);

    assert!(before.contains(&format!("not {named}")), "{before}");
    assert!(
        trusted.contains(&named) && !trusted.contains("not trusted"),
        "{trusted}"
    );
    assert!(!used.contains("selvedge trust"), "{used}");
    assert!(
        forgotten.contains(&format!("forgotten selvedge.site = {victim}")),
        "{forgotten}"
    );
    assert!(after.contains(&format!("not {named}")), "{after}");
    assert!(refused.contains("selvedge trust"), "{refused}");
}

#[test]
fn gw_109_trust_of_one_project_counts_for_no_other_with_its_data_folder() {
    let (own, clone) = (Clone::new(), Clone::new());
    let data = own.project.path("data").display().to_string();
    let variables = [("SELVEDGE_DATA_DIR", data.as_str())];
    for project in [&own, &clone] {
        project.configure(&format!("[selvedge]\nsite = {:?}\n", own.victim_path()));
    }
    let run = |project: &Project, arguments: &[&str]| {
        let mut command = project.command(arguments);
        let output = command.envs(variables).stdin(Stdio::null()).output();
        String::from_utf8(output.expect("it runs").stderr).expect("text")
    };

    let trusted = run(&own.project, &["trust"]);
    let own_keys = run(&own.project, &["keys"]);
    let others = run(&clone.project, &["keys"]);
    // Trust that the second gets takes none from the first.
    run(&clone.project, &["trust"]);
    let still = run(&own.project, &["keys"]);

    assert!(!trusted.contains("error"), "{trusted}");
    assert!(!own_keys.contains("selvedge trust"), "{own_keys}");
    assert!(others.contains("selvedge trust"), "{others}");
    assert!(!still.contains("selvedge trust"), "{still}");
}

#[test]
fn gw_109_a_secret_in_a_file_that_a_projects_env_names_is_read_after_it_was_trusted() {
    let clone = Clone::new();
    let key = clone.victim.path().join("id_ed25519").display().to_string();
    clone.project.write(".env", &format!("PGRST_JWT_SECRET=@{key}\n"));

    let refused = clone.project.run_and_expect_failure(&["start"]);
    // Loading the project reads nothing: a pipe would stop every command.
    std::fs::remove_file(&key).expect("removed");
    let pipe = std::process::Command::new("mkfifo").arg(&key).status();
    assert!(pipe.expect("mkfifo runs").success());
    let status = clone.project.run(&["status"]);
    clone.project.run_and_expect_success(&["trust"]);
    let read = clone.project.run_and_expect_failure(&["db", "reset"]);

    let named = format!("postgrest.jwt-secret = {key}");
    assert!(
        refused.contains(&named) && refused.contains("PGRST_JWT_SECRET=@PATH"),
        "{refused}"
    );
    let status = String::from_utf8_lossy(&status.stderr).into_owned();
    assert!(!status.contains("PGRST_JWT_SECRET"), "{status}");
    assert!(read.contains("PGRST_JWT_SECRET names the file"), "{read}");
}

#[test]
fn gw_109_tests_include_no_file_outside_of_the_project() {
    let clone = Clone::new();
    std::fs::write(clone.victim.path().join("dump.sql"), "select 'precious';").expect("written");
    let dump = clone.victim.path().join("dump.sql").display().to_string();
    clone.project.write("checks/a.sql", "select 1;");
    symlink(&dump, clone.project.path("checks/b.sql")).expect("linked");
    let checks = clone.project.path("checks").display().to_string();

    let linked = clone.project.run_and_expect_failure(&["test", "db", &checks]);
    std::fs::remove_file(clone.project.path("checks/b.sql")).expect("removed");
    clone.project.write("tests/helper.sql_part", "select ok(true);");
    clone.project.write(
        "tests/a.sql",
        "begin;\nselect plan(1);\n\\ir helper.sql_part\nselect * from finish();\nrollback;\n",
    );
    clone.project.write("tests/b.sql", &format!("\\i {dump}\n"));
    clone
        .project
        .write("tests/c.sql", "\\ir ../.selvedge/superuser-password\n");
    let output = clone.project.run(&["test", "db"]);

    assert!(linked.contains("leads out of the project"), "{linked}");
    let shown =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && !shown.contains(SECRET), "{shown}");
    assert_eq!(
        shown.matches("this file is outside of the project").count(),
        2,
        "{shown}"
    );
    assert!(!shown.contains("helper.sql_part: this"), "{shown}");
}

#[test]
fn gw_109_links_and_variables_that_lead_out_of_the_project_wait_for_trust() {
    let clone = Clone::new();
    let victim = clone.victim_path();
    std::fs::write(clone.victim.path().join("env"), "STOLEN=precious\n").expect("written");
    for (target, link) in [
        ("id_ed25519", "seed.sql"),
        ("env", ".env"),
        ("", "migrations"),
        ("", "functions"),
    ] {
        let path = clone.project.path(link);
        symlink(clone.victim.path().join(target), &path).expect("linked");
        let refused = clone.project.run_and_expect_failure(&["start"]);
        assert!(
            refused.contains(&format!("{link} to {victim}")) && refused.contains("selvedge trust"),
            "{link}: {refused}"
        );
        std::fs::remove_file(path).expect("removed");
    }
    // Which variable of the process counts is said by the clone.
    for key in ["site", "pg_bin", "data_dir"] {
        clone.configure(&format!("[selvedge]\n{key} = \"env(OF_THE_PROCESS)\"\n"));
        let mut command = clone.project.command(&["start"]);
        let output = command
            .env("OF_THE_PROCESS", clone.victim.path())
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{key}: {printed}");
        assert!(
            printed.contains("selvedge trust") || printed.contains("as root"),
            "{key}: {printed}"
        );
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_109_the_data_of_another_project_of_the_same_user_wait_for_trust() {
    let clone = Clone::new();
    let own = tempfile::tempdir_in(clone.project.path("..")).expect("a folder");
    std::fs::write(own.path().join("config.toml"), "project_id = \"own\"\n").expect("written");
    let folder = own.path().display().to_string();
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["--project", &folder, "trust"])
        .env("SELVEDGE_STATE_HOME", clone.project.state_home())
        .status();
    assert!(made.expect("it runs").success());
    let data = own.path().join(".selvedge");
    assert!(data.join("binding").is_file());
    clone.configure(&format!(
        "[selvedge]\ndata_dir = {:?}\n",
        data.display().to_string()
    ));

    for command in [
        &["start"][..],
        &["stop", "--no-backup"],
        &["reset", "--yes"],
        &["backup", "copy.tar"],
    ] {
        let refused = clone.project.run_and_expect_failure(command);
        assert!(
            refused.contains("outside of the project"),
            "{command:?}: {refused}"
        );
    }
    assert!(data.join("binding").is_file());
    clone.project.run_and_expect_success(&["trust"]);
    let status = clone.project.run(&["status"]);

    let printed = String::from_utf8_lossy(&status.stderr);
    assert!(!printed.contains("selvedge trust"), "{printed}");
}

#[test]
fn gw_109_keys_and_links_of_programs_are_written_in_the_project_alone() {
    let clone = Clone::new();
    let key = clone.victim.path().join("keys.json");
    std::fs::write(&key, "[]").expect("written");
    let named = format!("[auth]\nsigning_keys_path = {:?}\n", key.display().to_string());
    let rotate = ["keys", "rotate"];

    clone.configure(&named);
    let outside = clone.project.run_and_expect_failure(&rotate);
    clone.configure("");
    symlink(&key, clone.project.path("signing_keys.json")).expect("linked");
    let link = clone.project.run_and_expect_failure(&rotate);
    clone.project.run_and_expect_success(&["trust"]);
    let trusted_link = clone.project.run_and_expect_failure(&rotate);
    let untouched = std::fs::read_to_string(&key).expect("readable");
    std::fs::remove_file(clone.project.path("signing_keys.json")).expect("removed");
    clone.configure(&named);
    clone.project.run_and_expect_success(&["trust"]);
    clone.project.run_and_expect_success(&rotate);

    assert!(outside.contains("selvedge trust"), "{outside}");
    assert!(link.contains("selvedge trust"), "{link}");
    assert!(trusted_link.contains("is a link"), "{trusted_link}");
    assert_eq!(untouched, "[]");
    assert!(
        std::fs::read_to_string(&key)
            .expect("readable")
            .contains("\"kid\"")
    );

    std::fs::create_dir(clone.project.path("node_modules")).expect("created");
    symlink(clone.victim.path(), clone.project.path("node_modules/.bin")).expect("linked");
    let program = clone.project.run_and_expect_failure(&["link-cli"]);
    assert!(program.contains("leads out of the project"), "{program}");
    assert!(!clone.victim.path().join("supabase").exists());
}

#[test]
fn gw_109_pipes_and_endless_files_stop_no_command() {
    let clone = Clone::new();
    let pipe = |name: &str| {
        let status = std::process::Command::new("mkfifo")
            .arg(clone.project.path(name))
            .status();
        assert!(status.expect("mkfifo runs").success());
    };
    std::fs::create_dir(clone.project.path("migrations")).expect("created");
    std::fs::create_dir(clone.project.path(".git")).expect("created");
    for name in ["migrations/1_a.sql", ".env", ".git/index"] {
        pipe(name);
    }
    let large = std::fs::File::create(clone.project.path("large.json")).expect("created");
    large.set_len(1 << 40).expect("sparse");
    clone.configure("[auth]\nsigning_keys_path = \"large.json\"\n");
    let start = || {
        let mut running = clone.project.spawn(&clone.project.start_arguments(), &[]);
        assert!(!running.wait_for_exit().success());
        running.output()
    };

    let keys = clone.project.run_and_expect_failure(&["keys"]);
    clone.configure("");
    let of_pipe = start();
    std::fs::remove_file(clone.project.path("migrations/1_a.sql")).expect("removed");
    let large = std::fs::File::create(clone.project.path("migrations/1_a.sql")).expect("created");
    large.set_len(1 << 28).expect("sparse");
    let of_large = start();

    assert!(keys.contains("more than 8 MiB"), "{keys}");
    assert!(of_pipe.contains("not a regular file"), "{of_pipe}");
    assert!(of_large.contains("more than 128 MiB"), "{of_large}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_109_a_variable_of_another_projects_shell_deletes_none_of_its_data() {
    let (own, other) = (Project::new(), Project::new());
    let data = own.path("data").display().to_string();
    let variables = [("SELVEDGE_DATA_DIR", data.as_str())];
    let running = own.spawn(&own.start_arguments(), &variables);
    running.wait_until_ready().await;
    running.stop();
    let run = |project: &Project, arguments: &[&str]| {
        let mut command = project.command(arguments);
        let output = command.envs(variables).stdin(Stdio::null()).output();
        String::from_utf8(output.expect("it runs").stderr).expect("text")
    };

    // A clone may choose the id of the other project.
    for id in ["other", "cli"] {
        other.write("config.toml", &format!("project_id = \"{id}\"\n"));
        for command in [
            &["reset", "--yes"][..],
            &["stop", "--no-backup"],
            &["db", "reset"],
            &["restore", "copy.tar", "--yes"],
            &["start"],
            &["migrate", "up"],
        ] {
            let refused = run(&other, command);
            assert!(
                refused.contains("has the data of cli"),
                "{id} {command:?}: {refused}"
            );
            assert!(refused.contains("--project /"), "{id} {command:?}: {refused}");
        }
    }
    assert!(own.path("data/pgdata").is_dir());
    // The project itself may, also after it has moved.
    std::fs::write(own.path("data/project"), "cli\n/elsewhere\n").expect("written");
    let stopped = run(&own, &["stop", "--no-backup"]);
    assert!(!own.path("data/pgdata").exists(), "{stopped}");
}
