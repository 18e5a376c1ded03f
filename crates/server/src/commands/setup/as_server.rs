//! What the command `selvedge-server` runs: a command of selvedge as the server's user, with the server's settings, and with nothing of the
//! environment that it is called in.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::ExitStatus;

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use nix::unistd::{Pid, User, geteuid, getpgrp, tcgetpgrp};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::places::{BACKUPS, COMMAND, PROGRAM, USER};
use super::variables::read_settings;
use crate::commands::shutdown::is_hang_up_ignored;

/// That of systemd, where the server has it from.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What a terminal needs, and nothing that configures the server.
const KEPT: [&str; 3] = ["TERM", "NO_COLOR", "COLUMNS"];
const FORWARDED: [Signal; 5] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGTSTP,
];

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
    let terminal = tcgetattr(std::io::stdin()).ok();
    let status = run_and_forward_signals(command).await?;
    let Some(received) = status.signal() else {
        std::process::exit(status.code().unwrap_or(1));
    };
    // Where a password was asked for, the terminal shows nothing that is written.
    let has_terminal = tcgetpgrp(std::io::stdin()).is_ok_and(|group| group == getpgrp());
    if let Some(terminal) = terminal.filter(|_| has_terminal) {
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &terminal);
    }
    end_by_signal(received)
}

/// Ends this process by a signal, as the command has ended: a shell goes on otherwise after that than after an exit code. What a process waits
/// for by handlers is not handled any more in the program that takes its place.
fn end_by_signal(signal: i32) -> Result<()> {
    let end = format!("kill -{signal} $$");
    let error = std::process::Command::new("/bin/sh").args(["-c", &end]).exec();
    Err(error).context("cannot run /bin/sh")
}

/// Waits for a command that has no terminal, so that the keys which end commands reach it.
async fn run_and_forward_signals(mut command: Command) -> Result<ExitStatus> {
    let explain = || format!("cannot run {PROGRAM}");
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    // Ignored by `nohup`: a handler would take that away.
    let is_kept = |signal: &Signal| *signal != Signal::SIGHUP || !is_hang_up_ignored();
    for forwarded in FORWARDED.into_iter().filter(is_kept) {
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
                    forward(forwarded, Pid::from_raw(id));
                }
            }
        }
    }
}

/// Sends a signal to a command, which may have ended a moment ago. A stop stops both, as the command would read on from the terminal in the place
/// of the shell.
fn forward(signal: Signal, command: Pid) {
    if signal != Signal::SIGTSTP {
        let _ = kill(command, signal);
        return;
    }
    let _ = kill(command, Signal::SIGSTOP);
    let _ = kill(Pid::this(), Signal::SIGSTOP);
    let _ = kill(command, Signal::SIGCONT);
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
