//! The command line and the variables with which Deno runs a function.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use secrecy::{ExposeSecret, SecretString};
use selvedge_project_files::{MAX_SCRIPT_BYTES, MAX_SETTINGS_BYTES, read_file};
use serde_json::{Value, json};
use tokio::process::Command;

use super::confinement::Confinement;
use super::graph::GraphCheck;
use super::launcher::{Launcher, make_private_folder, write_changed, write_whole};
use super::permissions::{list_permissions, list_readable_paths};
use super::state::Worker;
use crate::config::{Inspect, InspectMode};
use crate::deno::DenoError;
use crate::project::{
    Boundary, ChosenMap, Function, MapOrigin, choose_import_map, compose_environment, compose_import_map,
    find_named_map, scan_modules,
};

/// Variables for or of Deno itself that the bootstrap script removes before the function runs.
const REMOVED: [&str; 6] = [
    "PATH",
    "DENO_NODE_SHIM_ACTIVE",
    "DENO_DIR",
    "DENO_NO_PACKAGE_JSON",
    "DENO_NO_UPDATE_CHECK",
    "NO_COLOR",
];
/// Tokens of private hosts of modules. They are for the download before the start alone, because a process can always read its own
/// variables.
const TOKENS: &str = "DENO_AUTH_TOKENS";
/// A `deno.json` may ask for folders `node_modules` and `vendor` beside it, which Deno would fill while it lists modules, through whatever
/// links are in the project.
const WITHOUT_PACKAGES_FOLDER: &str = "--node-modules-dir=none";
const WITHOUT_VENDOR_FOLDER: &str = "--vendor=false";
/// Variables that name files with certificates.
const CERTIFICATES: [&str; 2] = ["SSL_CERT_FILE", "DENO_CERT"];
/// Variables that Deno reads later, for downloads. The bootstrap script hides them from the function.
const HIDDEN: [&str; 3] = ["DENO_TLS_CA_STORE", "NPM_CONFIG_REGISTRY", "JSR_URL"];

/// What Deno keeps in its folder for all functions. The rest, above all what `caches` and `localStorage` store, is the worker's own.
const SHARED_CACHES: [&str; 5] = ["npm", "remote", "gen", "deps", "registries"];
const SHARED_CACHE_FILES: [&str; 5] = [
    "node_analysis_cache_v2",
    "dep_analysis_cache_v2",
    "v8_code_cache_v2",
    "fast_check_cache_v2",
    "check_cache_v2",
];

/// Why a worker cannot be started.
#[derive(Debug, thiserror::Error)]
pub(super) enum LaunchError {
    #[error("{0}")]
    NoDeno(String),
    /// An entrypoint that is missing, an import map or env file that cannot be used.
    #[error("{0}")]
    Project(String),
    #[error("cannot prepare the worker: {0}")]
    Io(#[from] io::Error),
}

/// The import map and packages that Deno needs for a function.
struct Imports {
    chosen: Option<ChosenMap>,
    /// Path of the composed import map.
    map: PathBuf,
    /// A copy of the project's lock file, because Deno would write to it.
    lock: Option<PathBuf>,
    has_package_json: bool,
}

/// What the commands of a worker are made of.
struct Preparation<'a> {
    deno: PathBuf,
    launcher: &'a Launcher,
    function: &'a Function,
    worker: &'a Worker,
    imports: Imports,
}

/// What starts a worker.
pub(super) struct PreparedCommands {
    /// Downloads the function's modules with the tokens that the worker must not have; `None` without tokens.
    pub(super) download: Option<(Command, Confinement)>,
    /// Checks what the function imports.
    pub(super) graph: GraphCheck,
    /// Runs the function.
    pub(super) run: Command,
    pub(super) confinement: Confinement,
}

/// Prepares the folder of a worker and the commands that start it. Blocks on files.
pub(super) fn prepare_command(
    launcher: &Launcher,
    function: &Function,
    worker: &Worker,
) -> Result<PreparedCommands, LaunchError> {
    let deno = launcher.find_deno().map_err(|error| match error {
        DenoError::Missing(text) => LaunchError::NoDeno(text),
        // Not for whoever calls the function: it names files of this machine.
        DenoError::Refused(text) => LaunchError::Project(text),
    })?;
    if !function.entrypoint.is_file() {
        let missing = format!("entrypoint {} is not there", function.entrypoint.display());
        return Err(LaunchError::Project(missing));
    }
    make_private_folder(&worker.temporary_folder())?;
    make_deno_folder(&launcher.config.cache_folder, &worker.deno_folder())?;
    let bootstrap = launcher.write_bootstrap()?;
    let boundary = Boundary::of(&launcher.config);
    let readable =
        list_readable_paths(launcher, function, worker, &boundary).map_err(LaunchError::Project)?;
    let preparation = Preparation {
        imports: prepare_imports(launcher, function, worker, &boundary)?,
        deno,
        launcher,
        function,
        worker,
    };
    let reading = preparation.confine_reading(&boundary);
    let download = preparation.download();
    let mut commands = PreparedCommands {
        download: download.map(|command| (command, reading.clone())),
        run: preparation.run(&readable, &bootstrap)?,
        confinement: preparation.confine(bootstrap, readable, &boundary),
        graph: preparation.list_modules(boundary, reading),
    };
    if !preparation.imports.has_package_json {
        commands.hide_package_json();
    }
    Ok(commands)
}

impl PreparedCommands {
    /// Otherwise Deno takes the package.json of a web project above, and looks for npm packages in its node_modules.
    fn hide_package_json(&mut self) {
        let others = [&mut self.graph.command, &mut self.run];
        let download = self.download.iter_mut().map(|(command, _)| command);
        for command in download.chain(others) {
            command.env("DENO_NO_PACKAGE_JSON", "1");
        }
    }
}

impl Preparation<'_> {
    /// `deno run`.
    fn run(&self, readable: &[PathBuf], bootstrap: &Path) -> Result<Command, LaunchError> {
        let config = &self.launcher.config;
        let variables = compose_environment(config, self.function).map_err(LaunchError::Project)?;
        let mut command = build_command(&self.deno);
        command
            .arg("run")
            .args(["--no-prompt", WITHOUT_PACKAGES_FOLDER, WITHOUT_VENDOR_FOLDER])
            .args(list_import_arguments(&self.imports))
            .args(list_permissions(readable, self.worker))
            .arg(format_heap_limit(self.launcher))
            .args(config.inspect.map(format_inspect))
            .arg(format_option("--preload=", bootstrap))
            .arg(&self.function.entrypoint)
            .arg(render_settings(self.worker, readable).to_string())
            .stdin(Stdio::piped());
        self.finish(&mut command, &variables);
        Ok(command)
    }

    /// `deno cache`, which runs nothing of the function, with the tokens of the server's environment.
    fn download(&self) -> Option<Command> {
        let has_tokens = |(name, value): &(String, String)| name == TOKENS && !value.is_empty();
        if !self.launcher.config.deno_environment.iter().any(has_tokens) {
            return None;
        }
        let mut command = self.read(&["cache"]);
        command.stdout(Stdio::null());
        Some(command)
    }

    /// `deno info`, which lists the modules of the function.
    fn list_modules(&self, boundary: Boundary, confinement: Confinement) -> GraphCheck {
        let read = |path: &Path| read_file(path, MAX_SETTINGS_BYTES).unwrap_or_default();
        let beside = self.function.entrypoint.with_file_name("package.json");
        let chosen = self.imports.chosen.as_ref().map(|chosen| read(&chosen.path));
        let settings = [read(&self.imports.map), chosen.unwrap_or_default(), read(&beside)];
        GraphCheck {
            command: self.read(&["info", "--json"]),
            confinement,
            settings: settings.join(&0),
            entrypoint: self.function.entrypoint.clone(),
            boundary,
        }
    }

    /// A command of Deno that reads the modules of the function without running them.
    fn read(&self, subcommand: &[&str]) -> Command {
        let mut command = build_command(&self.deno);
        command
            .args(subcommand)
            .args([WITHOUT_PACKAGES_FOLDER, WITHOUT_VENDOR_FOLDER, "--allow-import"])
            .args(list_import_arguments(&self.imports))
            .arg(&self.function.entrypoint)
            .stdin(Stdio::null());
        self.finish(&mut command, &[]);
        command.envs(self.launcher.config.deno_environment.iter().cloned());
        command
    }

    /// What all commands have in common.
    fn finish(&self, command: &mut Command, variables: &[(String, SecretString)]) {
        let entrypoint = &self.function.entrypoint;
        command
            .current_dir(entrypoint.parent().unwrap_or(&self.launcher.config.folder))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal reaches every process of the group; workers must finish their requests first.
            .process_group(0)
            .kill_on_drop(true);
        set_variables(command, self.launcher, self.worker, variables);
    }

    /// What the kernel lets the worker do. Its modules are added once they are known.
    fn confine(&self, bootstrap: PathBuf, mut readable: Vec<PathBuf>, boundary: &Boundary) -> Confinement {
        readable.push(bootstrap);
        readable.extend(self.list_own_settings());
        Confinement {
            program: self.deno.clone(),
            readable,
            listed: vec![boundary.root().to_path_buf()],
            writable: self.list_caches(),
            port: self.launcher.config.inspect.map(|inspect| inspect.port),
            reads_random: true,
        }
    }

    /// What the kernel lets Deno do that reads the modules of the function: which ones these are is not known yet, so all that may be any.
    fn confine_reading(&self, boundary: &Boundary) -> Confinement {
        let mut confinement = Confinement {
            program: self.deno.clone(),
            readable: boundary.folders().map(Path::to_path_buf).collect(),
            writable: self.list_caches(),
            ..Confinement::default()
        };
        confinement.readable.extend(self.list_own_settings());
        confinement.admit_modules(vec![self.function.entrypoint.clone()], boundary);
        confinement
    }

    /// Files that Deno reads for itself.
    fn list_own_settings(&self) -> Vec<PathBuf> {
        let environment = &self.launcher.config.deno_environment;
        let certificates = environment
            .iter()
            .filter(|(name, _)| CERTIFICATES.contains(&name.as_str()))
            .map(|(_, path)| PathBuf::from(path));
        // For the addresses of registries. The function may not read it.
        let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten();
        let chosen = self.imports.chosen.as_ref().map(|chosen| chosen.path.clone());
        certificates
            .chain([self.imports.map.clone()])
            .chain(chosen)
            .chain(user.map(|user| user.dir.join(".npmrc")))
            .collect()
    }

    /// Folders in which Deno writes.
    fn list_caches(&self) -> Vec<PathBuf> {
        let shared = self.launcher.config.cache_folder.clone();
        vec![self.worker.folder.clone(), self.worker.deno_folder(), shared]
    }
}

/// Makes the worker's own `DENO_DIR`, with links to what all workers share. It is beside the folder in which the function may write, so
/// that it cannot change what other functions run.
fn make_deno_folder(shared: &Path, own: &Path) -> io::Result<()> {
    make_private_folder(own)?;
    for name in SHARED_CACHES {
        fs::create_dir_all(shared.join(name))?;
        std::os::unix::fs::symlink(shared.join(name), own.join(name))?;
    }
    for name in SHARED_CACHE_FILES {
        std::os::unix::fs::symlink(shared.join(name), own.join(name))?;
    }
    Ok(())
}

/// The program, which the kernel kills when the server is killed: a function in an endless loop would not notice the end of
/// its standard input. Where util-linux has no `setpriv`, only functions that are not busy end with the server.
#[cfg(target_os = "linux")]
fn build_command(deno: &Path) -> Command {
    // On Alpine `setpriv` is a link to BusyBox, whose version lacks `--pdeathsig`; following the link shows which one
    // it is.
    let setpriv = fs::canonicalize("/usr/bin/setpriv").ok();
    match setpriv.filter(|path| path.ends_with("setpriv")) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL"]).arg(deno);
            command
        }
        None => Command::new(deno),
    }
}

/// Other systems have no such signal.
#[cfg(not(target_os = "linux"))]
fn build_command(deno: &Path) -> Command {
    Command::new(deno)
}

/// Sets the variables of the process: none of the server's, Deno's own, and the function's.
fn set_variables(
    command: &mut Command,
    launcher: &Launcher,
    worker: &Worker,
    variables: &[(String, SecretString)],
) {
    command
        .env_clear()
        // The machine's trusted certificates are used, too, because many networks have a proxy with its own.
        .env("DENO_TLS_CA_STORE", "mozilla,system")
        .envs(launcher.config.deno_environment.iter().cloned())
        .env("DENO_DIR", worker.deno_folder())
        .env_remove(TOKENS)
        .env("DENO_NO_UPDATE_CHECK", "1")
        .env("NO_COLOR", "1")
        .env("TMPDIR", worker.temporary_folder())
        .envs(
            variables
                .iter()
                .map(|(name, value)| (name, value.expose_secret())),
        )
        .env("SB_EXECUTION_ID", worker.execution_id.to_string());
}

/// The settings of the bootstrap script.
fn render_settings(worker: &Worker, readable: &[PathBuf]) -> Value {
    json!({
        "socket": worker.socket(),
        "temporary": worker.temporary_folder(),
        "removed": REMOVED,
        "hidden": HIDDEN,
        "readable": readable,
        "version": env!("CARGO_PKG_VERSION"),
    })
}

fn prepare_imports(
    launcher: &Launcher,
    function: &Function,
    worker: &Worker,
    boundary: &Boundary,
) -> Result<Imports, LaunchError> {
    let config = &launcher.config;
    let chosen = choose_import_map(config, function);
    if let Some(chosen) = &chosen {
        warn_of_old_import_map(chosen, &function.slug);
        check_import_map(chosen, boundary).map_err(LaunchError::Project)?;
    }
    let file = chosen.as_ref().map(|chosen| chosen.path.as_path());
    let without_types = compose_import_map(file, &[]).map_err(LaunchError::Project)?;
    let graph = scan_modules(&function.entrypoint, &without_types);
    check_sizes(&graph.files).map_err(LaunchError::Project)?;
    let composed = compose_import_map(file, &graph.type_only).map_err(LaunchError::Project)?;
    let map = config
        .state_folder
        .join(format!("{}.import_map.json", function.slug));
    write_changed(&map, composed.to_string().as_bytes())?;
    let beside = function.entrypoint.parent().unwrap_or(&config.folder);
    Ok(Imports {
        has_package_json: chosen.is_none() && beside.join("package.json").is_file(),
        lock: copy_lock(worker, function, chosen.as_ref())?,
        chosen,
        map,
    })
}

/// Refuses modules that Deno would read for ever, or into more memory than there is, while it lists them.
fn check_sizes(modules: &[PathBuf]) -> Result<(), String> {
    let is_endless = |path: &&PathBuf| {
        path.metadata()
            .is_ok_and(|meta| !meta.is_dir() && (!meta.is_file() || meta.len() > MAX_SCRIPT_BYTES))
    };
    match modules.iter().find(is_endless) {
        None => Ok(()),
        Some(path) => Err(format!("{} is not a file with a module", path.display())),
    }
}

/// Refuses an import map outside of the project, unless a person has named it by a flag.
fn check_import_map(chosen: &ChosenMap, boundary: &Boundary) -> Result<(), String> {
    let named = find_named_map(&chosen.path);
    let own = (chosen.origin != MapOrigin::Flag).then_some(&chosen.path);
    match own
        .into_iter()
        .chain(&named)
        .find(|path| boundary.admit(path).is_none())
    {
        None => Ok(()),
        Some(path) => Err(format!(
            "import map {}: it is outside of the project. Name it by --import-map, or the folder that it is in by \
             [selvedge.functions] module_folders.",
            path.display()
        )),
    }
}

/// The CLI's warnings about import maps that are not `deno.json`.
fn warn_of_old_import_map(chosen: &ChosenMap, slug: &str) {
    match chosen.origin {
        MapOrigin::Deprecated => {
            tracing::warn!("Functions using deprecated import_map.json (please migrate to deno.json): {slug}")
        }
        MapOrigin::Fallback => tracing::warn!("Functions using fallback import map: {slug}"),
        MapOrigin::Flag | MapOrigin::Declared | MapOrigin::DenoJson => {}
    }
}

/// Copies `deno.lock` beside the import map or the entrypoint, if there is one, to where Deno may replace it.
fn copy_lock(
    worker: &Worker,
    function: &Function,
    chosen: Option<&ChosenMap>,
) -> io::Result<Option<PathBuf>> {
    let beside_map = chosen.and_then(|chosen| chosen.path.parent());
    let found = beside_map
        .into_iter()
        .chain(function.entrypoint.parent())
        .map(|folder| folder.join("deno.lock"))
        .find(|lock| lock.is_file());
    let Some(lock) = found else {
        return Ok(None);
    };
    let copy = worker.deno_folder().join("deno.lock");
    write_whole(&copy, &read_file(&lock, MAX_SETTINGS_BYTES)?)?;
    Ok(Some(copy))
}

fn list_import_arguments(imports: &Imports) -> Vec<OsString> {
    let mut arguments = vec![format_option("--import-map=", &imports.map)];
    match &imports.chosen {
        Some(chosen) if chosen.is_deno_config() => arguments.push(format_option("--config=", &chosen.path)),
        // A package.json is found only together with Deno's own configuration files.
        _ if imports.has_package_json => {}
        _ => arguments.push("--no-config".into()),
    }
    match &imports.lock {
        Some(lock) => arguments.push(format_option("--lock=", lock)),
        None => arguments.push("--no-lock".into()),
    }
    arguments
}

/// Bounds V8's heap, so that a function which fills it ends with V8's message before the machine runs out of memory.
fn format_heap_limit(launcher: &Launcher) -> String {
    let mebibytes = launcher.config.limits.memory_bytes.div_ceil(1024 * 1024);
    format!("--v8-flags=--max-old-space-size={mebibytes}")
}

fn format_inspect(inspect: Inspect) -> String {
    let mode = match inspect.mode {
        InspectMode::Run => "--inspect",
        InspectMode::Break => "--inspect-brk",
        InspectMode::Wait => "--inspect-wait",
    };
    format!("{mode}=127.0.0.1:{}", inspect.port)
}

fn format_option(option: &str, value: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}
