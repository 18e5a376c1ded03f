//! What the command `selvedge-server` runs: a command of selvedge as the server's user, with the server's settings, and with nothing of the
//! environment that it is called in.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitStatus;

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::places::{BACKUPS, COMMAND, PROGRAM, USER};
use super::variables::read_settings;

/// That of systemd, where the server has it from.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What a terminal needs, and nothing that configures the server.
const KEPT: [&str; 3] = ["TERM", "NO_COLOR", "COLUMNS"];
const FORWARDED: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// Runs the command, and ends with its exit code.
///
/// # Errors
/// When this is neither root nor the server's user, or a file of settings cannot be read.
pub(in crate::commands) async fn run(project: Option<&Path>, words: &[OsString]) -> Result<()> {
    let Some(user) = User::from_name(USER)? else {
        bail!("this machine has no user {USER}: `selvedge setup` makes it");
    };
    let is_root = geteuid().is_root();
    if !is_root && geteuid() != user.uid {
        bail!("the server's settings are for root to read\n  sudo {COMMAND} …");
    }
    let mut command = match is_root {
        // Programs of another user must not write into root's terminal, which they could as long as it controls them.
        true => {
            let mut command = Command::new("/usr/bin/setsid");
            command.arg(PROGRAM);
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
            command
        }
        false => Command::new(PROGRAM),
    };
    command
        .env_clear()
        .envs([("PATH", PATH), ("USER", USER), ("LOGNAME", USER)]);
    command.env("HOME", &user.dir);
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(read_settings()?);
    if let Some(project) = project {
        command.arg("--project").arg(project);
    }
    let folder = [BACKUPS, "/"]
        .into_iter()
        .find(|folder| Path::new(folder).is_dir());
    command.args(words).current_dir(folder.unwrap_or("/"));
    let status = run_and_forward_signals(command).await?;
    std::process::exit(exit_code(status));
}

/// Waits for a command that has no terminal, so that the keys which end commands reach it.
async fn run_and_forward_signals(mut command: Command) -> Result<ExitStatus> {
    let explain = || format!("cannot run {PROGRAM}");
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    for forwarded in FORWARDED {
        let mut stream = signal(SignalKind::from_raw(forwarded as i32))?;
        let sender = sender.clone();
        tokio::spawn(async move { while stream.recv().await.is_some() && sender.send(forwarded).is_ok() {} });
    }
    let mut child = command.spawn().with_context(explain)?;
    loop {
        tokio::select! {
            status = child.wait() => return status.with_context(explain),
            Some(forwarded) = received.recv() => {
                if let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()) {
                    // It may have ended a moment ago.
                    let _ = kill(Pid::from_raw(id), forwarded);
                }
            }
        }
    }
}

/// As a shell tells it.
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;

    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::cli::{Cli, Command};

    #[test]
    fn prod_008_words_of_a_command_are_not_read_before_it_runs() {
        let words = ["backup", "--help", "a b.tar", "--project", "/other", "--", "-x"];
        let begin = ["selvedge", "as-server", "--project", "/srv/app", "--"];

        let cli = Cli::try_parse_from(begin.iter().chain(&words)).unwrap();

        let Command::AsServer(args) = &cli.command else {
            panic!("it is another command");
        };
        assert_eq!(args.words, words);
        assert_eq!(cli.project.as_deref(), Some(std::path::Path::new("/srv/app")));
    }
}
