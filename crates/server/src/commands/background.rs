//! `selvedge start --detach` and `db start`: runs the project in the background and returns when it serves requests.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::instance::probe;
use selvedge_postgres::cluster::Cluster;
use selvedge_terminal::print_warnings;

use super::status;
use crate::cli::StartArgs;

/// A file in the data folder with what the instance in the background has printed.
const LOG: &str = "start.log";

/// How long a first start with many migrations and objects may take.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Starts this program again without `--detach`, in a new process group, and waits until it accepts requests.
pub(in crate::commands) async fn start_detached(config: Config, args: &StartArgs) -> Result<()> {
    let data_dir = &config.selvedge.data_dir;
    if let Some(holder) = Cluster::find_running(data_dir)? {
        if !holder.is_server() {
            bail!("{holder}");
        }
        anstream::println!("{} is already running", config.project.id);
        return status::print_status(config);
    }
    std::fs::create_dir_all(data_dir).with_context(|| format!("cannot create {}", data_dir.display()))?;
    let log = data_dir.join(LOG);
    let mut child = spawn_instance(&config, args, &log)?;
    let deadline = Instant::now() + TIME_LIMIT;
    // A response to the health check alone is not enough: it may come from another project's instance that has taken the port.
    // The lock shows that the new instance runs.
    while !(holds_lock(&child, data_dir)? && probe::is_ready(&config).await) {
        if child.try_wait()?.is_some() {
            let printed = std::fs::read_to_string(&log).unwrap_or_default();
            bail!("{} did not start\n{}", config.project.id, printed.trim_end());
        }
        if Instant::now() > deadline {
            bail!("{} does not serve yet; see {}", config.project.id, log.display());
        }
        actix_web::rt::time::sleep(Duration::from_millis(50)).await;
    }
    let printed = std::fs::read_to_string(&log).unwrap_or_default();
    print_warnings(&list_warnings(&printed));
    status::print_status(config)
}

/// The warnings among what an instance has printed, each with the lines that belong to it.
fn list_warnings(printed: &str) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in printed.lines() {
        if let Some(warning) = line.strip_prefix("warning ") {
            warnings.push(warning.to_owned());
            is_inside = true;
        } else if let (true, Some(warning)) = (is_inside && line.starts_with("  "), warnings.last_mut()) {
            warning.push('\n');
            warning.push_str(line);
        } else {
            is_inside = false;
        }
    }
    warnings
}

fn holds_lock(instance: &Child, data_dir: &Path) -> Result<bool> {
    Ok(Cluster::find_running(data_dir)?.is_some_and(|holder| holder.pid == instance.id()))
}

/// Starts the same command in its foreground form: `db start` becomes `start`.
fn spawn_instance(config: &Config, args: &StartArgs, log: &Path) -> Result<Child> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let output = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let folders = [
        ("--project", config.flags.project.as_ref()),
        ("--data-dir", config.flags.data_dir.as_ref()),
    ];
    Command::new(program)
        // Under the CLI's name it would detach again.
        .arg0("selvedge")
        .args(
            folders
                .into_iter()
                .filter_map(|(flag, folder)| Some([OsStr::new(flag), folder?.as_os_str()]))
                .flatten(),
        )
        .args(args.to_foreground_words())
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        // A new process group, because Ctrl-C in the terminal signals only the terminal's own group.
        .process_group(0)
        .spawn()
        .context("cannot start the instance")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_an_instance_are_told_from_what_else_it_prints() {
        let printed = "applied 20260101000000_first\nwarning superusers that nobody expects: one\n  alter role one nosuperuser\ncli is ready\n  \
                       API  http://127.0.0.1\nwarning second";

        assert_eq!(
            list_warnings(printed),
            [
                "superusers that nobody expects: one\n  alter role one nosuperuser",
                "second"
            ]
        );
    }
}
