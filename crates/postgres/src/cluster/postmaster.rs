//! Starts, watches and ends the postmaster process.
//!
//! It runs in a process group of its own, so that Ctrl-C in the terminal reaches us and not PostgreSQL: we end it after
//! the last request. Readiness is read from `postmaster.pid`, as `pg_ctl` does, which costs no connection.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom},
    net::TcpListener,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{ClusterConfig, binaries::Binaries, error::ClusterError, owner::Owner};

const POLL: Duration = Duration::from_millis(5);

/// How long a fast shutdown (roll back, checkpoint, end) may take before it becomes an immediate one, which loses
/// nothing either but makes the next start replay the log.
const FAST_SHUTDOWN: Duration = Duration::from_secs(30);
const IMMEDIATE_SHUTDOWN: Duration = Duration::from_secs(10);

/// A log beyond this size is put aside at the next start.
const MAX_LOG_BYTES: u64 = 10 * 1024 * 1024;

/// A running postmaster that is our child.
#[derive(Debug)]
pub(crate) struct Postmaster {
    child: Child,
}

impl Postmaster {
    /// Starts it and waits until it accepts connections.
    pub(crate) fn start(
        binaries: &Binaries,
        owner: &Owner,
        data_dir: &Path,
        socket_dir: &Path,
        config: &ClusterConfig,
        deadline: Instant,
    ) -> Result<Self, ClusterError> {
        if config.listen_tcp {
            // PostgreSQL would say it, too, but only in its log.
            TcpListener::bind(("127.0.0.1", config.port))
                .map_err(|_| ClusterError::PortTaken { port: config.port })?;
        }
        let log_path = config.log_file();
        loop {
            let log = open_log(&log_path)?;
            let log_start = log.metadata().map_or(0, |meta| meta.len());
            let child = spawn(binaries, owner, data_dir, socket_dir, config, log)?;
            let mut postmaster = Self { child };
            match postmaster.wait_until_ready(data_dir, deadline) {
                Ok(()) => return Ok(postmaster),
                Err(reason) => {
                    let tail = tail(&log_path, log_start);
                    if tail.contains("Address already in use") {
                        return Err(ClusterError::PortTaken { port: config.port });
                    }
                    // Backends of a postmaster that was killed need a moment to notice; PostgreSQL waits for no one.
                    if tail.contains("pre-existing shared memory block") && Instant::now() < deadline {
                        sleep(Duration::from_millis(100));
                        continue;
                    }
                    return Err(ClusterError::Start {
                        reason,
                        log: log_path,
                        tail,
                    });
                }
            }
        }
    }

    fn wait_until_ready(&mut self, data_dir: &Path, deadline: Instant) -> Result<(), String> {
        let pid = self.pid();
        while Instant::now() < deadline {
            if let Some(status) = self.has_ended() {
                return Err(status);
            }
            if PidFile::read(data_dir).is_some_and(|file| file.pid == pid && file.is_ready) {
                return Ok(());
            }
            sleep(POLL);
        }
        Err("it was not ready in time".to_owned())
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// How it ended, if it did.
    pub(crate) fn has_ended(&mut self) -> Option<String> {
        self.child
            .try_wait()
            .ok()
            .flatten()
            .map(|status| format!("it ended with {status}"))
    }

    /// Ends it: fast, and if that takes too long, at once.
    pub(crate) fn stop(&mut self) -> Result<(), ClusterError> {
        let pid = self.pid();
        for (signal, patience) in [
            (Signal::SIGINT, FAST_SHUTDOWN),
            (Signal::SIGQUIT, IMMEDIATE_SHUTDOWN),
        ] {
            if self.has_ended().is_some() {
                return Ok(());
            }
            kill(Pid::from_raw(pid), signal).ok();
            let deadline = Instant::now() + patience;
            while Instant::now() < deadline {
                if self.has_ended().is_some() {
                    return Ok(());
                }
                sleep(POLL);
            }
        }
        Err(ClusterError::StillRunning { pid })
    }
}

impl Drop for Postmaster {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::error!(%error, "PostgreSQL was left running");
        }
    }
}

fn spawn(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    socket_dir: &Path,
    config: &ClusterConfig,
    log: File,
) -> Result<Child, ClusterError> {
    let program = binaries.program("postgres");
    let mut command = owner.command(&program);
    command
        .arg("-D")
        .arg(data_dir)
        .arg("-p")
        .arg(config.port.to_string())
        .arg("-k")
        .arg(socket_dir)
        .arg("-c")
        .arg(format!(
            "listen_addresses={}",
            if config.listen_tcp { "127.0.0.1" } else { "" }
        ))
        .args([
            "-c",
            "unix_socket_permissions=0700",
            "-c",
            "logging_collector=off",
        ])
        // What the shell says about locales and PostgreSQL must not reach it.
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| {
            ["PATH", "TZDIR", "LD_LIBRARY_PATH"]
                .iter()
                .any(|kept| name == *kept)
        }))
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(ClusterError::file(&config.log_file()))?)
        .stderr(log)
        .process_group(0);
    command.spawn().map_err(ClusterError::run(&program))
}

/// Ends a postmaster of this data directory that a killed server left behind, so that the new one starts with the
/// settings of today. A pid file whose process is something else is made harmless.
pub(crate) fn end_leftover(data_dir: &Path) -> Result<(), ClusterError> {
    let Some(file) = PidFile::read(data_dir) else {
        return Ok(());
    };
    if is_alive(file.pid) && runs_in(file.pid, data_dir) {
        tracing::info!(
            pid = file.pid,
            "ending the PostgreSQL that an earlier server left behind"
        );
        end(file.pid)?;
    }
    match PidFile::read(data_dir) {
        // A number that nobody has is seen through by PostgreSQL itself, which then recovers.
        Some(file) if exists(file.pid) => disarm(data_dir),
        _ => Ok(()),
    }
}

fn end(pid: i32) -> Result<(), ClusterError> {
    for (signal, patience) in [
        (Signal::SIGINT, FAST_SHUTDOWN),
        (Signal::SIGQUIT, IMMEDIATE_SHUTDOWN),
    ] {
        kill(Pid::from_raw(pid), signal).ok();
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if !is_alive(pid) {
                return Ok(());
            }
            sleep(POLL);
        }
    }
    Err(ClusterError::StillRunning { pid })
}

/// The number in a stale pid file belongs to another process meanwhile, or to a zombie, and PostgreSQL would refuse to
/// start for its sake. Removing the file would also remove PostgreSQL's guard against backends that still hold the shared memory; a
/// pid file that names the parent of the new postmaster (us) is passed over with that guard intact.
fn disarm(data_dir: &Path) -> Result<(), ClusterError> {
    let path = data_dir.join("postmaster.pid");
    let text = std::fs::read_to_string(&path).map_err(ClusterError::file(&path))?;
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    std::fs::write(&path, format!("{}\n{rest}", std::process::id())).map_err(ClusterError::file(&path))
}

/// What `postmaster.pid` says.
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

fn exists(pid: i32) -> bool {
    pid > 0 && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
}

fn is_alive(pid: i32) -> bool {
    exists(pid) && !is_zombie(pid)
}

/// A postmaster that ended but whose new parent (often a container's first process) never asks is no longer there,
/// although its number still is.
fn is_zombie(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
    })
}

/// Whether the process is a postmaster of this data directory: it works in it, or was started with it.
fn runs_in(pid: i32, data_dir: &Path) -> bool {
    let data_dir = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    if let Ok(folder) = std::fs::read_link(format!("/proc/{pid}/cwd")) {
        return folder == data_dir;
    }
    let output = std::process::Command::new("ps")
        .args(["-o", "command=", "-p", &pid.to_string()])
        .output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(&*data_dir.to_string_lossy()))
}

fn open_log(path: &Path) -> Result<File, ClusterError> {
    if path.metadata().is_ok_and(|meta| meta.len() > MAX_LOG_BYTES) {
        std::fs::rename(path, path.with_extension("log.1")).map_err(ClusterError::file(path))?;
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(ClusterError::file(path))
}

/// The end of what was logged since `start`, for an error message.
fn tail(path: &PathBuf, start: u64) -> String {
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
