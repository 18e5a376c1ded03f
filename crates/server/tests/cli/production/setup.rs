//! `selvedge setup` as far as a machine is not changed by it. On a fresh one it is tried by `e2e/setup/run`.

use std::process::{Command, Output};

/// The project's folder where none is named. It need not be there.
const PROJECT: &str = "/srv/app";

fn setup(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["setup", "--yes"])
        .args(arguments)
        .output()
        .expect("the binary runs")
}

#[test]
fn prod_008_a_dry_run_prints_files_and_commands_and_makes_none() {
    let was_there = std::path::Path::new(PROJECT).exists();
    let planned = setup(&[
        "--dry-run",
        "--domain",
        "shop.example",
        "--email",
        "ana@shop.example",
    ]);
    let printed = String::from_utf8(planned.stdout).expect("text");

    assert!(
        planned.status.success(),
        "{}",
        String::from_utf8_lossy(&planned.stderr)
    );
    for expected in [
        "user selvedge",
        "file /etc/systemd/system/selvedge.service (0644 root:root)",
        &format!("serve --project {PROJECT} --data-dir /var/lib/selvedge"),
        "SELVEDGE_TLS_DOMAINS=\"shop.example\"",
        "SUPABASE_AUTH_SITE_URL=\"https://shop.example\"",
        "SUPABASE_AUTH_MINIMUM_PASSWORD_LENGTH=\"8\"",
        "systemctl enable --quiet selvedge.service",
    ] {
        assert!(printed.contains(expected), "{expected} is not in {printed}");
    }
    assert_eq!(std::path::Path::new(PROJECT).exists(), was_there);
}

#[test]
fn prod_008_a_dry_run_prints_what_a_password_needs_and_nothing_of_the_callers_environment() {
    let planned = Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["setup", "--yes", "--dry-run"])
        .args([
            "--domain",
            "shop.example",
            "--smtp-url",
            "smtp://ana@mail.example",
        ])
        .env("SUPABASE_AUTH_SITE_URL", "https://elsewhere.example")
        .env("DATABASE_URL", "no address of a database")
        .output()
        .expect("the binary runs");
    let printed = String::from_utf8(planned.stdout).expect("text");

    for expected in [
        "folder /etc/selvedge/credentials (0700 root:root)",
        "file /etc/selvedge/credentials/SUPABASE_AUTH_EMAIL_SMTP_PASS (0600 root:root)",
        "(a secret)",
        "LoadCredential=SUPABASE_AUTH_EMAIL_SMTP_PASS:",
        // What is set in the caller's shell does not keep a laptop's value from being replaced.
        "SUPABASE_AUTH_SITE_URL=\"https://shop.example\"",
    ] {
        assert!(printed.contains(expected), "{expected} is not in {printed}");
    }
}

#[test]
fn prod_008_what_could_not_be_served_is_refused_before_anything_is_changed() {
    for (arguments, reason) in [
        (["--domain", "localhost"], "selvedge.tls.domains"),
        (
            ["--smtp-url", "smtp://ana:hunter2@mail.example"],
            "SMTP_PASSWORD_FILE",
        ),
        (["--data-dir", "/home/ana"], "folder of people"),
        (["--project", "/srv/a-project-of-nobody"], "there is no folder"),
    ] {
        let refused = setup(&[&arguments[..], &["--dry-run"]].concat());
        let errors = String::from_utf8(refused.stderr).expect("text");

        assert!(!refused.status.success(), "{arguments:?}");
        assert!(errors.contains(reason) && !errors.contains("hunter2"), "{errors}");
    }
}
