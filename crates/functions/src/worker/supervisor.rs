//! Watches one worker: starts its process, reads its output, enforces its limits and reports its end.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::command::{LaunchError, PreparedCommands, prepare_command};
use super::confinement::{Confinement, run, spawn};
use super::end::{End, EndReason};
use super::launcher::Launcher;
use super::limits::{LimitAction, LimitCheck, Sample};
use super::output::{LogLevel, OutputLine, Report, log_line, parse_output_line, read_lines};
use super::state::Worker;
use super::temporary_files::measure_folder;
use super::usage::{OpenFiles, read_open_files, read_usage};
use crate::config::{Policy, WorkerLimits};
use crate::project::{Boundary, Function};

/// How often a worker is compared with its limits.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How often the size of a worker's temporary files is measured, which costs a call to the kernel for each file.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);
/// How long output is still read after the process has ended.
const LAST_OUTPUT: Duration = Duration::from_secs(1);
/// While a starting worker downloads modules, its boot time limit is extended, by this much at most.
const LONGEST_DOWNLOAD: Duration = Duration::from_secs(120);

/// Begins to start a worker. It is not ready yet when this returns.
pub(crate) fn start_worker(launcher: &Arc<Launcher>, function: &Function) -> Arc<Worker> {
    let id = launcher.next_id();
    // Without a folder the worker's preparation fails below, with the reason in the log.
    let folder = launcher.worker_folder(id).unwrap_or_default();
    let is_single_use = launcher.config.policy == Policy::Oneshot;
    let worker = Arc::new(Worker::new(id, &function.slug, folder, is_single_use));
    let (launcher, function, shared) = (Arc::clone(launcher), function.clone(), Arc::clone(&worker));
    launcher.runtime.clone().spawn(async move {
        let end = run_worker(launcher, function, &shared).await;
        shared.mark_ended(end);
        let folders = [shared.folder.clone(), shared.deno_folder()];
        let remove = move || folders.map(std::fs::remove_dir_all);
        let _ = tokio::task::spawn_blocking(remove).await;
    });
    worker
}

/// Runs a worker's process until it has ended.
async fn run_worker(launcher: Arc<Launcher>, function: Function, worker: &Arc<Worker>) -> End {
    let limits = launcher.config.limits.clone();
    let is_inspected = launcher.config.inspect.is_some();
    let (shared, preparing) = (Arc::clone(worker), Arc::clone(&launcher));
    let prepared = tokio::task::spawn_blocking(move || prepare_command(&preparing, &function, &shared));
    let PreparedCommands {
        download,
        graph,
        run: command,
        mut confinement,
    } = match prepared.await {
        Ok(Ok(commands)) => commands,
        Ok(Err(error)) => return fail_launch(worker, error),
        Err(_) => return End::BootFailed,
    };
    if let Some((download, reading)) = download {
        download_modules(worker, download, reading).await;
    }
    match launcher.graphs.check(&worker.slug, graph).await {
        Ok(files) => confinement.admit_modules(files, &Boundary::of(&launcher.config)),
        Err(text) => return fail_launch(worker, LaunchError::Project(text)),
    }
    match spawn(command, confinement).await {
        // The parent ends when the worker has ended.
        Ok((child, _parent)) => {
            Supervisor::new(Arc::clone(worker), child, limits, is_inspected)
                .run()
                .await
        }
        Err(error) => fail_launch(worker, error.into()),
    }
}

/// Waits for the download of a function's modules. What it lacks, the worker itself reports.
async fn download_modules(worker: &Worker, download: Command, reading: Confinement) {
    match timeout(LONGEST_DOWNLOAD, run(download, reading)).await {
        Ok(Ok(output)) if output.status.success() => {}
        Ok(Ok(output)) => {
            let text = String::from_utf8_lossy(&output.stderr);
            log_line(LogLevel::Error, &worker.slug, None, text.trim_end());
        }
        Ok(Err(error)) => log_line(LogLevel::Error, &worker.slug, None, &error.to_string()),
        Err(_) => {
            let text = "The download of the function's modules took too long.";
            log_line(LogLevel::Error, &worker.slug, None, text);
        }
    }
}

fn fail_launch(worker: &Worker, error: LaunchError) -> End {
    log_line(LogLevel::Error, &worker.slug, None, &error.to_string());
    match error {
        LaunchError::NoDeno(text) => End::NoDeno(text),
        LaunchError::Project(_) | LaunchError::Io(_) => End::BootFailed,
    }
}

/// What was read from standard error.
#[derive(Debug, Default)]
struct ErrorOutput {
    /// V8 has given up because the heap is full.
    is_out_of_memory: AtomicBool,
    /// Lines about downloads; while there are new ones, the start is making progress.
    downloads: AtomicU64,
}

struct Supervisor {
    worker: Arc<Worker>,
    child: Child,
    stdin: Option<ChildStdin>,
    limits: WorkerLimits,
    check: LimitCheck,
    /// A debugger may stop the worker for any time.
    is_inspected: bool,
    errors: Arc<ErrorOutput>,
    started: Instant,
    /// When the last line about a download came.
    download_at: Instant,
    downloads: u64,
    has_background_work: bool,
    temporary_bytes: u64,
    open_files: OpenFiles,
    measured_at: Instant,
    /// The retirement that the worker was told.
    told: Option<EndReason>,
    /// When the worker was told to finish, if it was.
    asked_to_end: Option<Instant>,
    /// Why the supervisor killed the process, if it did.
    killed: Option<End>,
    was_ready: bool,
}

impl Supervisor {
    fn new(worker: Arc<Worker>, mut child: Child, limits: WorkerLimits, is_inspected: bool) -> Self {
        let now = Instant::now();
        Self {
            worker,
            stdin: child.stdin.take(),
            child,
            check: LimitCheck::new(limits.clone()),
            limits,
            is_inspected,
            errors: Arc::default(),
            started: now,
            download_at: now,
            downloads: 0,
            has_background_work: false,
            temporary_bytes: 0,
            open_files: OpenFiles::default(),
            measured_at: now,
            told: None,
            asked_to_end: None,
            killed: None,
            was_ready: false,
        }
    }

    async fn run(mut self) -> End {
        let (sender, mut reports) = mpsc::unbounded_channel();
        let readers = self.spawn_readers(sender);
        let mut ticks = interval(CHECK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let status = loop {
            let worker = Arc::clone(&self.worker);
            tokio::select! {
                status = self.child.wait() => break status.ok(),
                Some(report) = reports.recv() => self.handle_report(report),
                _ = ticks.tick() => self.enforce_limits().await,
                () = worker.wake.notified() => self.end_if_unused().await,
            }
        };
        for reader in readers {
            // A process that the function has left behind may hold the pipe open.
            let _ = timeout(LAST_OUTPUT, reader).await;
        }
        self.classify_end(status)
    }

    /// Starts the tasks that read standard output and standard error.
    fn spawn_readers(&mut self, reports: mpsc::UnboundedSender<Report>) -> Vec<JoinHandle<()>> {
        let stdout = self.child.stdout.take().map(|stdout| {
            let slug = self.worker.slug.clone();
            tokio::spawn(async move {
                let use_line = |line: &[u8]| match parse_output_line(line) {
                    OutputLine::Report(Report::Log {
                        log,
                        request_id,
                        text,
                    }) => {
                        log_line(log, &slug, request_id.as_deref(), &text);
                    }
                    OutputLine::Report(report) => drop(reports.send(report)),
                    OutputLine::Text(text) => log_line(LogLevel::Info, &slug, None, &text),
                };
                read_lines(stdout, use_line).await;
            })
        });
        let stderr = self.child.stderr.take().map(|stderr| {
            let (slug, errors) = (self.worker.slug.clone(), Arc::clone(&self.errors));
            tokio::spawn(read_lines(stderr, move |line| {
                read_error_line(&slug, &errors, &String::from_utf8_lossy(line));
            }))
        });
        stdout.into_iter().chain(stderr).collect()
    }

    fn handle_report(&mut self, report: Report) {
        match report {
            Report::Ready { .. } => {
                self.was_ready = true;
                let boot_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
                tracing::debug!(target: "edge_function", function = self.worker.slug, boot_ms, "booted");
                self.worker.mark_ready();
            }
            Report::Background { background } => self.has_background_work = background,
            // The task that reads standard output has logged it already.
            Report::Log { .. } => {}
        }
    }

    async fn enforce_limits(&mut self) {
        if self.killed.is_some() {
            return;
        }
        if !self.was_ready {
            self.limit_boot();
            return;
        }
        if !self.is_inspected {
            let is_busy = self.worker.in_flight() > 0 || self.has_background_work;
            let usage = self.child.id().and_then(read_usage).unwrap_or_default();
            self.worker.note_memory(usage.memory_bytes);
            if is_busy {
                self.measure_files().await;
            }
            let sample = Sample {
                age: self.worker.age(),
                usage,
                temporary_bytes: self.temporary_bytes,
                open_files: self.open_files,
                responses: self.worker.responses(),
                is_busy,
            };
            match self.check.check(sample) {
                Some(LimitAction::Kill(reason)) => return self.kill(End::LimitReached(reason)),
                Some(LimitAction::Retire(reason)) => self.worker.retire(reason),
                None => {}
            }
            if !is_busy && self.worker.idle_time() >= self.limits.idle_worker {
                self.worker.retire(EndReason::EarlyDrop);
            }
        }
        self.end_if_unused().await;
    }

    /// Measures the temporary files, and counts the open ones, again when the last measurement is old.
    async fn measure_files(&mut self) {
        if self.measured_at.elapsed() < MEASURE_INTERVAL {
            return;
        }
        let folders = [self.worker.temporary_folder(), self.worker.deno_folder()];
        // A pool thread measures, because a disk that is full or slow must not hold up the supervisors of other workers.
        let pid = self.child.id();
        let measure = move || {
            (
                folders.map(|folder| measure_folder(&folder)),
                pid.and_then(read_open_files),
            )
        };
        let (bytes, open_files) = tokio::task::spawn_blocking(measure).await.unwrap_or_default();
        self.temporary_bytes = bytes.iter().sum();
        self.open_files = open_files.unwrap_or_default();
        self.measured_at = Instant::now();
    }

    /// Kills a worker that does not get ready in time.
    fn limit_boot(&mut self) {
        let downloads = self.errors.downloads.load(Ordering::Relaxed);
        if downloads != self.downloads {
            self.downloads = downloads;
            self.download_at = Instant::now();
        }
        let is_late =
            self.download_at.elapsed() > self.limits.boot || self.started.elapsed() > LONGEST_DOWNLOAD;
        if is_late && !self.is_inspected {
            let text = "The function does not serve: it calls neither Deno.serve nor exports a default with fetch, or it \
                        takes too long to load.";
            log_line(LogLevel::Error, &self.worker.slug, None, text);
            self.kill(End::BootFailed);
        }
    }

    /// Tells a retired worker the reason, asks it to end once it has no more requests, and kills it if it does not.
    async fn end_if_unused(&mut self) {
        // Killing wakes this up: it would kill and wake again for ever, and nothing else on this thread would run, such as what notices
        // that the process has ended.
        if self.killed.is_some() {
            return;
        }
        let Some(reason) = self.worker.retirement() else {
            return;
        };
        if self.worker.is_given_up() {
            return self.kill(End::LimitReached(EndReason::Memory));
        }
        let is_busy = self.worker.in_flight() > 0 || self.has_background_work;
        if is_busy && self.check.leaves_alone(reason, self.worker.age()) {
            return;
        }
        if self.worker.in_flight() > 0 && reason != EndReason::Termination {
            if self.told.is_none() && reason != EndReason::EarlyDrop {
                self.told = Some(reason);
                self.send_command(&json!({ "warn": reason.as_str() })).await;
            }
            return;
        }
        match self.asked_to_end {
            None => {
                self.asked_to_end = Some(Instant::now());
                let untold = self.told.is_none().then(|| reason.as_str());
                self.send_command(&json!({ "end": untold })).await;
                if !self.was_ready {
                    self.kill(End::Stopped);
                }
            }
            Some(since) if since.elapsed() > self.limits.grace => self.kill(End::Stopped),
            Some(_) => {}
        }
    }

    /// Writes a command to the bootstrap script. A worker that does not read has a full pipe at most after thousands of
    /// commands; it is given up after a moment.
    async fn send_command(&mut self, command: &serde_json::Value) {
        if let Some(stdin) = &mut self.stdin {
            let line = format!("{command}\n");
            let _ = timeout(CHECK_INTERVAL, stdin.write_all(line.as_bytes())).await;
        }
    }

    fn kill(&mut self, end: End) {
        if let End::LimitReached(reason) = &end {
            let text = format!(
                "The worker reached its limit of {} and was ended.",
                describe_limit(*reason)
            );
            log_line(LogLevel::Error, &self.worker.slug, None, &text);
        }
        self.worker.retire(EndReason::EarlyDrop);
        self.killed = Some(end);
        // Fails only when the process has ended already.
        let _ = self.child.start_kill();
    }

    fn classify_end(&self, status: Option<ExitStatus>) -> End {
        if let Some(end) = &self.killed {
            return end.clone();
        }
        let signal = status.and_then(|status| status.signal());
        if self.errors.is_out_of_memory.load(Ordering::Relaxed) && signal.is_some() {
            return End::LimitReached(EndReason::Memory);
        }
        if self.asked_to_end.is_some() {
            End::Stopped
        } else if self.was_ready {
            End::Exited
        } else {
            End::BootFailed
        }
    }
}

fn describe_limit(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Memory => "memory",
        EndReason::TemporaryFiles => "temporary files",
        EndReason::OpenFiles => "open files and sockets",
        EndReason::Cpu => "CPU time",
        EndReason::WallClock | EndReason::EarlyDrop | EndReason::Termination => "wall clock time",
    }
}

/// Logs a line of standard error, where Deno writes uncaught errors and what it downloads.
fn read_error_line(slug: &str, errors: &ErrorOutput, line: &str) {
    if line.starts_with("Download ") || line.starts_with("Initialize ") {
        errors.downloads.fetch_add(1, Ordering::Relaxed);
        log_line(LogLevel::Debug, slug, None, line);
        return;
    }
    // Deno does not know that the bootstrap script serves the default export.
    if line.starts_with("warning: Detected export default { fetch }") {
        return;
    }
    if line.contains("out of memory") {
        errors.is_out_of_memory.store(true, Ordering::Relaxed);
    }
    log_line(LogLevel::Error, slug, None, line);
}
