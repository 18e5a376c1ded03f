//! Starts, watches and ends the postmaster process.
//!
//! It runs in its own process group, so that Ctrl-C in the terminal signals only this process, which shuts PostgreSQL down
//! after the last request. Readiness is read from `postmaster.pid`, as `pg_ctl` does, which needs no connection.

use std::{
    fs::{File, OpenOptions},
    io::{PipeWriter, Read, Seek, SeekFrom, Write as _},
    net::TcpListener,
    os::unix::{fs::OpenOptionsExt as _, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    ClusterConfig,
    binaries::Binaries,
    collected_logs::{CollectedLogs, read_newest_messages},
    error::ClusterError,
    log_writer::LogWriter,
    owner::Owner,
    production::LOGS,
    program_tree::hold_tree_of,
    start_wait::StartWatch,
};

/// Pause between two looks at `postmaster.pid` or at a process that is ending.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The same for a start that takes longer, and how often it is reported then.
const SLOW_POLL_INTERVAL: Duration = Duration::from_millis(50);
const REPORT_INTERVAL: Duration = Duration::from_secs(10);
/// How long backends of a killed postmaster may take to notice its death.
const SHARED_MEMORY_PATIENCE: Duration = Duration::from_secs(120);

/// How long a fast shutdown (SIGINT: roll back, checkpoint, end) may take before an immediate one (SIGQUIT) follows,
/// which loses no committed data either, but makes the next start replay the WAL.
const FAST_SHUTDOWN: Duration = Duration::from_secs(30);
/// How long an immediate shutdown may take before it is reported as failed.
const IMMEDIATE_SHUTDOWN: Duration = Duration::from_secs(10);

/// How long a busy port is tried again: the last owner may be ending, or a connection may have it for a moment.
const PORT_PATIENCE: Duration = Duration::from_secs(1);

/// A running postmaster that is our child.
#[derive(Debug)]
pub(crate) struct Postmaster {
    child: Child,
    /// The process that ends PostgreSQL when this process is killed; see [`spawn_watch`].
    watch: Option<Child>,
    log: LogWriter,
    /// Keeps the files of its collector, which it has in production, from filling the disk.
    _collected_logs: Option<CollectedLogs>,
}

impl Postmaster {
    /// Starts it and waits until it accepts connections: as long as it runs and somebody waits, since after a crash it replays what was written
    /// since the last checkpoint, which may take hours.
    pub(crate) fn start(
        binaries: &Binaries,
        owner: &Owner,
        data_dir: &Path,
        socket_dir: &Path,
        config: &ClusterConfig,
        watch: &StartWatch,
    ) -> Result<Self, ClusterError> {
        let deadline = Instant::now() + SHARED_MEMORY_PATIENCE;
        // PostgreSQL reports a taken port only in its log; this check gives the caller a typed error.
        if config.listen_tcp {
            wait_for_free_port(config.port)?;
        }
        let log_path = config.log_file();
        let logs = data_dir.with_file_name(LOGS);
        loop {
            let (log, output) = LogWriter::start(&log_path)?;
            let log_start = log_path.metadata().map_or(0, |meta| meta.len());
            // Before PostgreSQL, which must not outlive a process that is killed while it waits for it: it would hold the port
            // until the next start.
            let mut ending = spawn_watch()?;
            let child = spawn_postmaster(binaries, owner, data_dir, socket_dir, config, output)?;
            let named = send_postmaster_pid(&mut ending, child.id());
            let mut postmaster = Self {
                child,
                watch: Some(ending),
                log,
                _collected_logs: watch_logs(config, &logs)?,
            };
            named?;
            match postmaster.wait_until_ready(data_dir, watch) {
                Ok(()) => return Ok(postmaster),
                // Dropping it ends the process.
                Err(_) if watch.is_given_up() => return Err(ClusterError::Interrupted),
                Err(reason) => {
                    postmaster.log.finish();
                    let tail = read_tail(&log_path, log_start);
                    if tail.contains("Address already in use") {
                        return Err(ClusterError::PortTaken { port: config.port });
                    }
                    if may_start_again(&tail) && Instant::now() < deadline {
                        sleep(Duration::from_millis(100));
                        continue;
                    }
                    return Err(explain_failure(config, &logs, reason, tail));
                }
            }
        }
    }

    fn wait_until_ready(&mut self, data_dir: &Path, watch: &StartWatch) -> Result<(), String> {
        let pid = self.pid();
        let begun = Instant::now();
        let mut reported = begun;
        loop {
            if let Some(status) = self.has_ended() {
                return Err(status);
            }
            if PidFile::read(data_dir).is_some_and(|file| file.pid == pid && file.is_ready) {
                return Ok(());
            }
            if watch.is_given_up() {
                return Err("nobody waits for it any more".to_owned());
            }
            if reported.elapsed() >= REPORT_INTERVAL {
                reported = Instant::now();
                tracing::warn!(
                    elapsed_s = begun.elapsed().as_secs(),
                    "PostgreSQL does not accept connections yet: after a crash it first replays its write-ahead log"
                );
            }
            let is_slow = begun.elapsed() >= REPORT_INTERVAL;
            sleep(if is_slow {
                SLOW_POLL_INTERVAL
            } else {
                POLL_INTERVAL
            });
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Its exit status as text, or `None` while it runs.
    pub(crate) fn has_ended(&mut self) -> Option<String> {
        self.child
            .try_wait()
            .ok()
            .flatten()
            .map(|status| format!("it ended with {status}"))
    }

    /// Ends it with SIGINT, and with SIGQUIT when that takes longer than [`FAST_SHUTDOWN`].
    pub(crate) fn stop(&mut self) -> Result<(), ClusterError> {
        self.end_process()?;
        self.log.finish();
        if let Some(mut watch) = self.watch.take() {
            // An error means that the watch has ended already.
            let _ = watch.kill().and_then(|()| watch.wait());
        }
        Ok(())
    }

    /// Lets it read its configuration files again.
    pub(crate) fn reload(&self) {
        // An error means that it has ended, and the next start reads them.
        let _ = kill(Pid::from_raw(self.pid()), Signal::SIGHUP);
    }

    fn end_process(&mut self) -> Result<(), ClusterError> {
        let pid = self.pid();
        for (signal, grace_period) in [
            (Signal::SIGINT, FAST_SHUTDOWN),
            (Signal::SIGQUIT, IMMEDIATE_SHUTDOWN),
        ] {
            if self.has_ended().is_some() {
                return Ok(());
            }
            kill(Pid::from_raw(pid), signal).ok();
            let deadline = Instant::now() + grace_period;
            while Instant::now() < deadline {
                if self.has_ended().is_some() {
                    return Ok(());
                }
                sleep(POLL_INTERVAL);
            }
        }
        Err(ClusterError::StillRunning { pid })
    }
}

/// The error of a start, with what PostgreSQL has said: in production most of that is in files of its own.
fn explain_failure(config: &ClusterConfig, logs: &Path, reason: String, tail: String) -> ClusterError {
    let tail = match config.production {
        Some(_) => format!("{tail}\n{}", read_newest_messages(logs)),
        None => tail,
    };
    ClusterError::Start {
        reason,
        log: config.log_file(),
        tail,
    }
}

impl Drop for Postmaster {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::error!(%error, "PostgreSQL was left running");
        }
    }
}

fn spawn_postmaster(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    socket_dir: &Path,
    config: &ClusterConfig,
    output: PipeWriter,
) -> Result<Child, ClusterError> {
    if config.production.is_some() {
        owner.create_private_dir(&data_dir.with_file_name(LOGS))?;
    }
    let program = binaries.program_path("postgres");
    let mut command = limit_memory(owner, &program, config.process_memory);
    command
        .arg("-D")
        .arg(data_dir)
        .arg("-p")
        .arg(config.port.to_string())
        .arg("-k")
        .arg(socket_dir)
        .arg("-c")
        .arg(format!("cluster_name={}", config.cluster_name()))
        .arg("-c")
        .arg(format!(
            "listen_addresses={}",
            if config.listen_tcp { "127.0.0.1" } else { "" }
        ))
        .args(["-c", "unix_socket_permissions=0700"])
        // Only in production PostgreSQL writes its log into files of its own.
        .args(config.production.is_none().then_some("--logging_collector=off"))
        // Variables such as LC_ALL or PGDATA of the caller's shell would change how PostgreSQL runs.
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| KEPT_VARIABLES.iter().any(|kept| name == *kept)))
        .envs(ALLOCATOR)
        // Also where nothing is locked: PostgreSQL reads no input.
        .stdin(hold_tree_of(&program).map_or_else(Stdio::null, Stdio::from))
        .stdout(
            output
                .try_clone()
                .map_err(ClusterError::file(&config.log_file()))?,
        )
        .stderr(output)
        .process_group(0);
    command.spawn().map_err(ClusterError::run(&program))
}

/// The variables that PostgreSQL gets. The last two let its sessions be ended before itself where the machine is short of memory.
const KEPT_VARIABLES: [&str; 5] = [
    "PATH",
    "TZDIR",
    "LD_LIBRARY_PATH",
    "PG_OOM_ADJUST_FILE",
    "PG_OOM_ADJUST_VALUE",
];

/// The C library keeps large blocks that were freed, once it has seen some, so that a session would hold what one statement took. These
/// settings keep it from that.
const ALLOCATOR: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "1048576"),
    ("MALLOC_TRIM_THRESHOLD_", "4194304"),
];

/// A command that runs a program of PostgreSQL, whose processes may each take so many bytes. A shell sets the limit and becomes the program.
fn limit_memory(owner: &Owner, program: &Path, bytes: Option<u64>) -> Command {
    let Some(bytes) = bytes.filter(|_| cfg!(target_os = "linux")) else {
        return owner.command(program);
    };
    let mut command = owner.command(Path::new(SHELL));
    command
        .args(["-c", LIMITED, &(bytes / 1024).to_string()])
        .arg(program);
    command
}

/// What the shell of [`limit_memory`] does with kibibytes, program and arguments. Where a lower limit is in force already, that one stays.
const LIMITED: &str = "ulimit -d \"$0\" 2>/dev/null; exec \"$@\"";

/// The shell of the watch, and what it does: it reads a process id, waits for the end of its input, and sends SIGINT.
const SHELL: &str = "/bin/sh";
const WATCH: &str = "read -r pid || exit 0; while read -r line; do :; done; kill -INT \"$pid\"";

/// Starts a shell that ends the postmaster immediately when this process ends for any reason: the system then closes the pipe to the
/// shell's standard input. [`send_postmaster_pid`] says which one.
fn spawn_watch() -> Result<Child, ClusterError> {
    let shell = Path::new(SHELL);
    Command::new(shell)
        .args(["-c", WATCH])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // In its own process group, because Ctrl-C in the terminal must not end it before this process.
        .process_group(0)
        .spawn()
        .map_err(ClusterError::run(shell))
}

fn send_postmaster_pid(watch: &mut Child, postmaster: u32) -> Result<(), ClusterError> {
    let shell = Path::new(SHELL);
    match &mut watch.stdin {
        Some(input) => writeln!(input, "{postmaster}").map_err(ClusterError::run(shell)),
        None => Ok(()),
    }
}

/// Ends a postmaster of this data directory that a killed server left running, so that a new one can start with the
/// current settings. Returns whether there was one. A stale pid file whose pid belongs to another process is rewritten; see
/// [`replace_stale_pid`].
pub(crate) fn end_leftover_postmaster(data_dir: &Path) -> Result<bool, ClusterError> {
    let Some(file) = PidFile::read(data_dir) else {
        return Ok(false);
    };
    let is_left = is_alive(file.pid) && runs_in_data_dir(file.pid, data_dir);
    if is_left {
        tracing::info!(
            pid = file.pid,
            "ending the PostgreSQL that an earlier server left behind"
        );
        end_process(file.pid)?;
    }
    match PidFile::read(data_dir) {
        // When no process has the pid, PostgreSQL itself recognizes the file as stale and recovers.
        Some(file) if process_exists(file.pid) => replace_stale_pid(data_dir)?,
        _ => {}
    }
    Ok(is_left)
}

pub(super) fn end_process(pid: i32) -> Result<(), ClusterError> {
    for (signal, grace_period) in [
        (Signal::SIGINT, FAST_SHUTDOWN),
        (Signal::SIGQUIT, IMMEDIATE_SHUTDOWN),
    ] {
        kill(Pid::from_raw(pid), signal).ok();
        let deadline = Instant::now() + grace_period;
        while Instant::now() < deadline {
            if !is_alive(pid) {
                return Ok(());
            }
            sleep(POLL_INTERVAL);
        }
    }
    Err(ClusterError::StillRunning { pid })
}

/// Writes this process's pid into a stale pid file whose pid now belongs to another process or to a zombie, because
/// PostgreSQL would refuse to start. Removing the file would also disable PostgreSQL's check for backends that still
/// hold the old shared memory; PostgreSQL ignores the pid of its own parent process (this one) and still makes that
/// check.
fn replace_stale_pid(data_dir: &Path) -> Result<(), ClusterError> {
    let path = data_dir.join("postmaster.pid");
    let text = std::fs::read_to_string(&path).map_err(ClusterError::file(&path))?;
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    let mut file = OpenOptions::new()
        .write(true)
        .truncate(true)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(&path)
        .map_err(ClusterError::file(&path))?;
    write!(file, "{}\n{rest}", std::process::id()).map_err(ClusterError::file(&path))
}

/// The parts of `postmaster.pid` that are used here.
struct PidFile {
    pid: i32,
    is_ready: bool,
}

impl PidFile {
    fn read(data_dir: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(data_dir.join("postmaster.pid")).ok()?;
        let mut lines = text.lines();
        let pid = lines.next()?.trim().parse().ok()?;
        // Lines: pid, data directory, start time, port, socket folder, address, shared memory, status.
        let is_ready = lines.nth(6).is_some_and(|status| status.trim() == "ready");
        Some(Self { pid, is_ready })
    }
}

fn process_exists(pid: i32) -> bool {
    pid > 0 && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
}

fn is_alive(pid: i32) -> bool {
    process_exists(pid) && !is_zombie(pid)
}

/// Whether the process has ended but was not reaped. This happens in containers whose first process does not wait for
/// orphans: the pid still exists, but nothing runs.
fn is_zombie(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
    })
}

/// Whether the process is a postmaster of this data directory: on Linux by its working directory, which is the data
/// directory, elsewhere by its command line.
fn runs_in_data_dir(pid: i32, data_dir: &Path) -> bool {
    let data_dir = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    if let Ok(folder) = std::fs::read_link(format!("/proc/{pid}/cwd")) {
        return folder == data_dir;
    }
    let output = std::process::Command::new("ps")
        .args(["-o", "command=", "-p", &pid.to_string()])
        .output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(&*data_dir.to_string_lossy()))
}

fn wait_for_free_port(port: u16) -> Result<(), ClusterError> {
    let deadline = Instant::now() + PORT_PATIENCE;
    while TcpListener::bind(("127.0.0.1", port)).is_err() {
        if Instant::now() > deadline {
            return Err(ClusterError::PortTaken { port });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The last 15 lines that were logged since byte `start`, for an error message.
fn read_tail(path: &PathBuf, start: u64) -> String {
    let mut text = String::new();
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(start))?;
        file.read_to_string(&mut text)
    });
    if read.is_err() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..]
        .iter()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether the log says that a repeated start may succeed: backends of a killed postmaster hold its shared memory until they notice its
/// death, and PostgreSQL does not wait for that.
fn may_start_again(log: &str) -> bool {
    log.contains("pre-existing shared memory block")
}

/// Watches the logs that a cluster in production collects in a folder; the others have none.
fn watch_logs(config: &ClusterConfig, logs: &Path) -> Result<Option<CollectedLogs>, ClusterError> {
    match config.production {
        Some(_) => Ok(Some(CollectedLogs::watch(logs)?)),
        None => Ok(None),
    }
}
