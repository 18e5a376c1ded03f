//! The old process' side of a handover: starts the new process and waits until it serves.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use selvedge_config::Environment;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use super::predecessor::{Answer, Passed, VALUE, VARIABLE, send_passed};
use super::requests::Variables;
use super::settings::AppliedSettings;

/// The longest time until the new process serves.
const START_TIME: Duration = Duration::from_secs(300);
/// The most bytes of the new process' answer, which contains all settings.
const MAX_ANSWER_BYTES: u64 = 4 * 1024 * 1024;
/// What Linux appends to the name of a program that was removed or replaced.
const REPLACED: &str = " (deleted)";
/// Variables with which a service manager starts a service. They are always this process' own, because a command in a terminal has others, or none.
const OF_SERVICE_MANAGER: [&str; 9] = [
    "NOTIFY_SOCKET",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "SYSTEMD_EXEC_PID",
    "CREDENTIALS_DIRECTORY",
    "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];

/// Starts the program that is on the disk with the arguments of this process, and with `environment` or that of this process. Returns its process id
/// and its settings once it serves requests. Dropping the future ends it.
///
/// # Errors
/// When the new process fails to start, with its reason.
pub(super) async fn start_successor(
    passed: &Passed,
    environment: Option<&Variables>,
) -> Result<(u32, AppliedSettings)> {
    let (ours, theirs) = UnixStream::pair().context("cannot make a socket")?;
    send_passed(&ours, passed).context("cannot pass the ports on")?;
    let started = StartedProcess::spawn(theirs.into(), environment)?;
    let answer = tokio::time::timeout(START_TIME, read_answer(ours)).await;
    match answer.with_context(|| format!("it does not serve after {} s", START_TIME.as_secs()))?? {
        Answer::Serves(applied) => Ok((started.leave(), applied)),
        Answer::Failed(reason) => bail!("{reason}"),
    }
}

async fn read_answer(socket: UnixStream) -> Result<Answer> {
    socket.set_nonblocking(true)?;
    let socket = tokio::net::UnixStream::from_std(socket)?;
    let mut line = String::new();
    let mut reader = BufReader::new(socket.take(MAX_ANSWER_BYTES));
    reader.read_line(&mut line).await?;
    if line.is_empty() {
        bail!("it ended before it served requests; see the server's log");
    }
    serde_json::from_str(&line).context("its answer cannot be read")
}

/// The new process, which is ended when this is dropped.
struct StartedProcess {
    pid: u32,
    is_left: bool,
}

impl StartedProcess {
    fn spawn(standard_input: OwnedFd, environment: Option<&Variables>) -> Result<Self> {
        let program = find_program(std::env::args_os().next())?;
        let mut command = Command::new(&program);
        command.args(std::env::args_os().skip(1));
        if let Some(variables) = environment {
            replace_environment(&mut command, variables, &Environment::of_process());
        }
        command.env(VARIABLE, VALUE).stdin(Stdio::from(standard_input));
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let pid = child.id();
        // Its process id stays in use until it is waited for.
        std::thread::Builder::new()
            .name("successor".to_owned())
            .spawn(move || drop(child.wait()))?;
        Ok(Self { pid, is_left: false })
    }

    /// Lets the process go on, and returns its id.
    fn leave(mut self) -> u32 {
        self.is_left = true;
        self.pid
    }
}

impl Drop for StartedProcess {
    fn drop(&mut self) {
        if let (false, Ok(pid)) = (self.is_left, i32::try_from(self.pid)) {
            // It may have ended by itself.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// The environment of the command that has asked, with this process' own variables of the service manager.
fn replace_environment(command: &mut Command, variables: &Variables, own: &Environment) {
    let is_kept = |name: &str| OF_SERVICE_MANAGER.contains(&name);
    command.env_clear();
    command.envs(variables.iter().filter(|(name, _)| !is_kept(name)));
    let kept = OF_SERVICE_MANAGER.iter();
    command.envs(kept.filter_map(|name| Some((name, own.get(name)?))));
}

/// The program to start: by the name with which this one was called, because a link may lead to a newer version by now; else this program's file, or the
/// one that has replaced it.
fn find_program(called: Option<OsString>) -> Result<PathBuf> {
    if let Some(called) = called.map(PathBuf::from).filter(|path| path.is_absolute()) {
        return Ok(called);
    }
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    Ok(without_mark(&own))
}

fn without_mark(program: &Path) -> PathBuf {
    let name = program.to_str().and_then(|name| name.strip_suffix(REPLACED));
    name.filter(|_| !program.exists())
        .map_or_else(|| program.to_owned(), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_004_the_program_is_found_by_its_name_also_where_it_was_replaced() {
        assert_eq!(
            find_program(Some("/opt/selvedge/current".into())).expect("a name"),
            Path::new("/opt/selvedge/current")
        );
        let own = std::env::current_exe().expect("a file");
        assert_eq!(find_program(Some("selvedge".into())).expect("a file"), own);
        let replaced = PathBuf::from(format!("{}{REPLACED}", own.display()));
        assert_eq!(without_mark(&replaced), own);
    }

    #[test]
    fn prod_004_the_service_manager_reaches_a_process_with_other_variables() {
        let mut command = Command::new("true");
        command.env("BEFORE", "1");
        let asked = [("NOTIFY_SOCKET", "/else"), ("SMTP_HOST", "mail")];
        let asked = asked.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let own = [("NOTIFY_SOCKET", "/run/systemd/notify"), ("SMTP_HOST", "old")];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));

        replace_environment(&mut command, &asked.into(), &own.into_iter().collect());

        let mut set: Vec<(String, Option<String>)> = command
            .get_envs()
            .map(|(name, value)| {
                let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
                (text(name), value.map(text))
            })
            .collect();
        set.sort();
        let expected = [("NOTIFY_SOCKET", "/run/systemd/notify"), ("SMTP_HOST", "mail")];
        assert_eq!(
            set,
            expected.map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
        );
    }
}
