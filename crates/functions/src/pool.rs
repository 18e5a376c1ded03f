//! The workers of one function: which one serves a request, when another is started, and when they are replaced.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::config::Policy;
use crate::error::FunctionError;
use crate::project::{Function, choose_import_map, compose_import_map, find_function, scan_modules};
use crate::worker::{End, EndReason, Launcher, Lease, Worker, start_worker};

/// When even the least busy worker of a function has this many requests in progress, another one is started.
const BUSY_REQUESTS: usize = 16;
/// How many more processes than workers that take requests a function may have, while retired ones finish theirs.
const MOST_RETIRED: usize = 2;
/// How often changed files are looked for.
const RELOAD_INTERVAL: Duration = Duration::from_millis(100);
/// How often a request tries to get a worker that is retired in the same moment.
const ATTEMPTS: usize = 5;

/// The workers of one function.
#[derive(Debug)]
pub(crate) struct Pool {
    launcher: Arc<Launcher>,
    state: Mutex<PoolState>,
}

#[derive(Debug)]
struct PoolState {
    function: Function,
    workers: Vec<Arc<Worker>>,
    /// Source files with their state when the present workers were started.
    sources: Vec<(PathBuf, FileState)>,
    checked: Instant,
}

/// When a file was changed last, and its length; `None` for a file that is not there.
type FileState = Option<(SystemTime, u64)>;

impl Pool {
    pub(crate) fn new(launcher: Arc<Launcher>, function: Function) -> Self {
        Self {
            launcher,
            state: Mutex::new(PoolState {
                function,
                workers: Vec::new(),
                sources: Vec::new(),
                checked: Instant::now(),
            }),
        }
    }

    /// Whether calls of the function need a valid JWT.
    pub(crate) fn verifies_jwt(&self) -> bool {
        self.lock().function.verify_jwt
    }

    /// A worker that is ready to serve a request.
    ///
    /// # Errors
    /// A function that does not start.
    pub(crate) async fn lease(&self) -> Result<Lease, FunctionError> {
        for _ in 0..ATTEMPTS {
            let worker = self.choose_worker();
            if let Some(lease) = worker.lease() {
                match worker.wait_until_ready().await {
                    Ok(()) => return Ok(lease),
                    // The worker was replaced before it was ready.
                    Err(End::Stopped) => {}
                    Err(end) => return Err(FunctionError::from(&end)),
                }
            }
        }
        Err(FunctionError::Internal)
    }

    /// Lets no worker serve new requests; each ends after those in flight.
    pub(crate) fn retire(&self, reason: EndReason) {
        for worker in &self.lock().workers {
            worker.retire(reason);
        }
    }

    /// The workers whose processes have not ended.
    pub(crate) fn live_workers(&self) -> Vec<Arc<Worker>> {
        let mut state = self.lock();
        state.workers.retain(|worker| !worker.has_ended());
        state.workers.clone()
    }

    /// Returns the least busy worker. Starts one if there is none, and a further one if all are busy.
    fn choose_worker(&self) -> Arc<Worker> {
        let config = &self.launcher.config;
        let mut state = self.lock();
        if config.reload {
            state.reload_if_changed(&self.launcher);
        }
        state.workers.retain(|worker| !worker.has_ended());
        let usable = |worker: &&Arc<Worker>| worker.retirement().is_none();
        let count = state.workers.iter().filter(usable).count();
        let chosen = state
            .workers
            .iter()
            .filter(usable)
            .min_by_key(|worker| (!worker.is_ready(), worker.in_flight()))
            .cloned();
        match chosen {
            Some(worker) if config.policy == Policy::PerWorker => {
                let is_busy = worker.is_ready() && worker.in_flight() >= BUSY_REQUESTS;
                let is_starting = state.workers.iter().any(|worker| !worker.is_ready());
                if is_busy && !is_starting && count < config.workers_per_function {
                    state.give_up_retired(config.workers_per_function);
                    let further = start_worker(&self.launcher, &state.function);
                    state.workers.push(further);
                }
                worker
            }
            _ => {
                if config.policy == Policy::PerWorker {
                    state.give_up_retired(config.workers_per_function);
                }
                let worker = start_worker(&self.launcher, &state.function);
                if config.reload && state.sources.is_empty() {
                    state.remember_sources(&self.launcher);
                }
                state.workers.push(Arc::clone(&worker));
                worker
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // No code panics between two related changes, so the state is valid after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PoolState {
    /// Makes room for a further worker: where retired ones, whose requests do not end, have all of it, the oldest ends. Otherwise a caller
    /// could have any number of processes by leaving its calls open.
    fn give_up_retired(&self, workers: usize) {
        let room = (workers + MOST_RETIRED).saturating_sub(1);
        let surplus = self.workers.len().saturating_sub(room);
        let retired = self.workers.iter().filter(|worker| worker.retirement().is_some());
        // They are in the order in which they were started. One that was given up before ends in a moment.
        for worker in retired.take(surplus) {
            worker.give_up();
        }
    }

    /// Retires the workers when a source file has changed since they were started. Running requests finish.
    fn reload_if_changed(&mut self, launcher: &Launcher) {
        if self.checked.elapsed() < RELOAD_INTERVAL || self.sources.is_empty() {
            return;
        }
        self.checked = Instant::now();
        let is_changed = |(path, state): &(PathBuf, FileState)| read_file_state(path) != *state;
        let Some((path, _)) = self.sources.iter().find(|source| is_changed(source)) else {
            return;
        };
        tracing::info!(target: "edge_function::files", "File change detected: {} (WRITE)", path.display());
        for worker in &self.workers {
            worker.retire(EndReason::EarlyDrop);
        }
        self.sources.clear();
        if let Some(function) = find_function(&launcher.config, &self.function.slug) {
            self.function = function;
        }
    }

    /// Remembers the files that the function is made of, before its worker reads them.
    fn remember_sources(&mut self, launcher: &Launcher) {
        let config = &launcher.config;
        let map = choose_import_map(config, &self.function).map(|chosen| chosen.path);
        let composed = compose_import_map(map.as_deref(), &[]).unwrap_or_default();
        let folder = self.function.entrypoint.parent();
        let settings = [
            "deno.json",
            "deno.jsonc",
            "import_map.json",
            "package.json",
            "deno.lock",
        ];
        let beside = folder
            .into_iter()
            .flat_map(|folder| settings.map(|name| folder.join(name)));
        let shared = [config.folder.join("import_map.json"), config.folder.join(".env")];
        let mut files = scan_modules(&self.function.entrypoint, &composed).files;
        files.extend(map);
        files.extend(config.environment.env_file.clone());
        files.extend(beside.chain(shared));
        self.sources = files
            .into_iter()
            .map(|path| {
                let state = read_file_state(&path);
                (path, state)
            })
            .collect();
        self.checked = Instant::now();
    }
}

fn read_file_state(path: &std::path::Path) -> FileState {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
