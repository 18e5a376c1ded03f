//! A PostgreSQL that outlives its servers: killed, restarted, with other settings, and its log.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::home::{Home, TABLE, TIMEOUT, try_insert};
use crate::support::Running;

fn kill(pid: i32) {
    let status = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(status.expect("kill runs").success());
}

pub(super) async fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Asks four at a time until it is told to stop; returns how many answers there were, and what failed.
pub(super) fn keep_asking(
    running: &Running,
    key: &str,
) -> (
    Arc<AtomicBool>,
    actix_web::rt::task::JoinHandle<(usize, Vec<String>)>,
) {
    let stop = Arc::new(AtomicBool::new(false));
    let urls = [running.url("/auth/v1/admin/users"), running.url("/rest/v1/notes")];
    let (stopped, key) = (stop.clone(), key.to_owned());
    let asking = actix_web::rt::spawn(async move {
        let client = reqwest::Client::new();
        let (mut answered, mut failed) = (0, Vec::new());
        while !stopped.load(Ordering::Relaxed) {
            let ask = |url: usize| {
                let request = client.get(&urls[url]);
                let request = request.header("apikey", &key);
                async {
                    let sent = request.send().await;
                    match sent {
                        Ok(response) if response.status() == 200 => Ok(()),
                        Ok(response) => Err(format!("{} {:?}", response.status(), response.text().await)),
                        Err(error) => Err(error.to_string()),
                    }
                }
            };
            let four = tokio::join!(ask(0), ask(1), ask(0), ask(1));
            for outcome in [four.0, four.1, four.2, four.3] {
                match outcome {
                    Ok(()) => answered += 1,
                    Err(reason) => failed.push(reason),
                }
            }
        }
        (answered, failed)
    });
    (stop, asking)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_003_nothing_acknowledged_is_lost_when_keeper_server_or_postmaster_are_killed() {
    let home = Home::new();
    home.project.write("migrations/20260101000000_notes.sql", TABLE);
    let mut running = home.serve(&["--migrate"]).await;
    let key = home.secret_key();
    let mut acknowledged = Vec::new();
    let mut number = 0;
    for victim in ["postmaster", "keeper", "server"] {
        for _ in 0..20 {
            number += 1;
            acknowledged.extend(try_insert(&running, &key, number).await.map(|()| number));
        }
        match victim {
            "postmaster" => {
                let killed = home.postmaster();
                kill(killed.expect("it runs"));
                let comes_back = || home.postmaster().is_some_and(|pid| Some(pid) != killed);
                wait_for("no other postmaster", comes_back).await;
            }
            "keeper" => {
                let killed = home.keeper();
                kill(killed.expect("it runs"));
                let comes_back = || home.keeper().is_some_and(|pid| Some(pid) != killed);
                wait_for("no other keeper", comes_back).await;
            }
            _ => {
                running.signal("-KILL");
                running.wait_for_exit();
                running = home.serve(&[]).await;
            }
        }
        // What is killed comes back by itself, the server by its service manager.
        let deadline = Instant::now() + TIMEOUT;
        loop {
            number += 1;
            if try_insert(&running, &key, number).await.is_some() {
                acknowledged.push(number);
                break;
            }
            assert!(Instant::now() < deadline, "{victim}: {}", running.output());
            actix_web::rt::time::sleep(Duration::from_millis(50)).await;
        }
    }

    let list: Vec<String> = acknowledged.iter().map(ToString::to_string).collect();
    let there = home.value(&format!(
        "select count(*) from notes where id in ({})",
        list.join(",")
    ));
    assert_eq!(there, acknowledged.len().to_string());
    // Those that are sent while PostgreSQL comes back may be refused.
    assert!(acknowledged.len() >= 40, "{acknowledged:?}");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_003_changed_settings_are_read_at_a_start_or_wait_for_a_restart_that_is_named() {
    let home = Home::with_settings("[db.settings]\nwork_mem = \"5MB\"\n");
    home.project.write("migrations/20260101000000_notes.sql", TABLE);
    let first = home.serve(&["--migrate"]).await;
    assert_eq!(home.value("select current_setting('work_mem')"), "5MB");
    let keeper = home.keeper();
    first.stop();

    let settings = "project_id = \"shop\"\n[db.settings]\nwork_mem = \"6MB\"\nmax_connections = \"90\"\n";
    home.project.write("config.toml", settings);
    let next = home.serve(&[]).await;
    assert_eq!(home.value("select current_setting('work_mem')"), "6MB");
    assert_eq!(home.value("select current_setting('max_connections')"), "100");
    let log = next.output();
    assert!(
        log.contains("max_connections") && log.contains("selvedge cluster restart"),
        "{log}"
    );
    let doctor = String::from_utf8(home.run(&["doctor"]).stdout).expect("text");
    assert!(
        doctor.contains("work_mem") && doctor.contains("computed, 6MB set"),
        "{doctor}"
    );
    assert!(doctor.contains("selvedge cluster restart"), "{doctor}");

    // A value that PostgreSQL does not know would keep it from starting.
    home.project.write("config.toml", &settings.replace("90", "many"));
    let refused = home.run_and_expect_failure(&["cluster", "restart"]);
    assert!(refused.contains("max_connections"), "{refused}");
    home.project.write("config.toml", settings);
    let key = home.secret_key();
    let (stop, requests) = keep_asking(&next, &key);
    let mut restart = home.command(&["cluster", "restart"]);
    let restarted = tokio::task::spawn_blocking(move || restart.output().expect("the binary runs"));
    let restarted = restarted.await.expect("no panic");
    assert!(
        restarted.status.success(),
        "{}",
        String::from_utf8_lossy(&restarted.stderr)
    );
    stop.store(true, Ordering::Relaxed);
    let (answered, failed) = requests.await.expect("no panic");
    assert!(
        answered > 0 && failed.is_empty(),
        "{answered} answered, failed: {failed:?}"
    );
    assert_eq!(home.value("select current_setting('max_connections')"), "90");
    assert_eq!(home.keeper(), keeper);
    // The server goes on with the restarted one.
    next.wait_until_ready().await;
    let again = home.run_and_expect_success(&["cluster", "restart"]);
    assert!(again.contains("restarted"), "{again}");

    // PostgreSQL knows this value, and does not start with it as long as `max_wal_senders` is not 0.
    let broken = format!("{settings}wal_level = \"minimal\"\n");
    home.project.write("config.toml", &broken);
    let refused = home.run_and_expect_failure(&["cluster", "restart"]);
    assert!(refused.contains("runs with the earlier ones"), "{refused}");
    assert_eq!(home.value("select current_setting('max_connections')"), "90");
    next.wait_until_ready().await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_018_postgresql_logs_as_json_into_the_home_by_size() {
    let home = Home::with_settings("[db.settings]\nlog_rotation_size = \"64kB\"\n");
    let _running = home.serve(&[]).await;

    home.run_and_expect_failure(&["db", "query", "select 'prod_018' from no_such_table"]);
    let files = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(home.path("logs"))
            .into_iter()
            .flatten()
            .flatten();
        let json = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"));
        json.collect()
    };
    let has_error = || {
        files().iter().any(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let mut lines = text
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.any(|line| {
                line["error_severity"] == "ERROR"
                    && line["message"]
                        .as_str()
                        .is_some_and(|text| text.contains("no_such_table"))
            })
        })
    };
    wait_for("the error is not logged", has_error).await;
    let raise = "do $$ begin for i in 1..40 loop raise warning '%', repeat('x', 8000); end loop; end $$";
    let begun = files().len();
    // Names have seconds, so files within one second are one.
    let deadline = Instant::now() + TIMEOUT;
    while files().len() <= begun {
        assert!(Instant::now() < deadline, "one file");
        home.run_and_expect_success(&["db", "query", raise]);
    }
}
