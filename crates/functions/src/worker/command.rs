//! The command line and the variables with which Deno runs a function.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::process::Command;

use super::launcher::{Launcher, make_private_folder, write_whole};
use super::state::Worker;
use crate::config::{Inspect, InspectMode};
use crate::project::{
    ChosenMap, Function, MapOrigin, choose_import_map, compose_environment, compose_import_map, scan_modules,
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
/// Variables that Deno reads later, for downloads. The bootstrap script hides them from the function.
const HIDDEN: [&str; 3] = ["DENO_TLS_CA_STORE", "NPM_CONFIG_REGISTRY", "JSR_URL"];

/// What a function may ask of the machine (`--allow-sys`): everything that Deno knows but `inspector`, sessions of a debugger of
/// the whole process, and `setPriority`.
const SYSTEM_INFORMATION: &str = "hostname,osRelease,osUptime,loadavg,networkInterfaces,systemMemoryInfo,uid,gid,cpus,homedir,\
     username,statfs,getPriority,userInfo";

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

/// What starts a worker.
pub(super) struct PreparedCommands {
    /// Downloads the function's modules with the tokens that the worker must not have; `None` without tokens.
    pub(super) download: Option<Command>,
    /// Runs the function.
    pub(super) run: Command,
}

/// Prepares the folder of a worker and the commands that start it. Blocks on files.
pub(super) fn prepare_command(
    launcher: &Launcher,
    function: &Function,
    worker: &Worker,
) -> Result<PreparedCommands, LaunchError> {
    let deno = launcher.find_deno().map_err(LaunchError::NoDeno)?;
    if !function.entrypoint.is_file() {
        let missing = format!("entrypoint {} is not there", function.entrypoint.display());
        return Err(LaunchError::Project(missing));
    }
    make_private_folder(&worker.temporary_folder())?;
    make_deno_folder(&launcher.config.cache_folder, &worker.deno_folder())?;
    let bootstrap = launcher.write_bootstrap()?;
    let imports = prepare_imports(launcher, function)?;
    let variables = compose_environment(&launcher.config, function).map_err(LaunchError::Project)?;
    let readable = list_readable_paths(launcher, function, worker);
    let mut command = build_command(&deno);
    command
        .arg("run")
        .args(["--no-prompt", "--node-modules-dir=none"])
        .args(list_import_arguments(&imports))
        .args(list_permissions(&readable, worker))
        .arg(format_heap_limit(launcher))
        .args(launcher.config.inspect.map(format_inspect))
        .arg(format_option("--preload=", &bootstrap))
        .arg(&function.entrypoint)
        .arg(render_settings(worker, &readable).to_string())
        .current_dir(function.entrypoint.parent().unwrap_or(&launcher.config.folder))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C in a terminal reaches every process of the group; workers must finish their requests first.
        .process_group(0)
        .kill_on_drop(true);
    set_variables(&mut command, launcher, worker, &variables);
    let download = prepare_download(&deno, launcher, function, worker, &imports);
    let mut commands = PreparedCommands {
        download,
        run: command,
    };
    if !imports.has_package_json {
        commands.hide_package_json();
    }
    Ok(commands)
}

impl PreparedCommands {
    /// Otherwise Deno takes the package.json of a web project above, and looks for npm packages in its node_modules.
    fn hide_package_json(&mut self) {
        for command in self.download.iter_mut().chain([&mut self.run]) {
            command.env("DENO_NO_PACKAGE_JSON", "1");
        }
    }
}

/// `deno cache`, which runs nothing of the function, with the tokens of the server's environment.
fn prepare_download(
    deno: &Path,
    launcher: &Launcher,
    function: &Function,
    worker: &Worker,
    imports: &Imports,
) -> Option<Command> {
    let has_tokens = |(name, value): &(String, String)| name == TOKENS && !value.is_empty();
    if !launcher.config.deno_environment.iter().any(has_tokens) {
        return None;
    }
    let mut command = build_command(deno);
    command
        .args(["cache", "--node-modules-dir=none", "--allow-import"])
        .args(list_import_arguments(imports))
        .arg(&function.entrypoint)
        .current_dir(function.entrypoint.parent().unwrap_or(&launcher.config.folder))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    set_variables(&mut command, launcher, worker, &[]);
    command.envs(launcher.config.deno_environment.iter().cloned());
    Some(command)
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

fn prepare_imports(launcher: &Launcher, function: &Function) -> Result<Imports, LaunchError> {
    let config = &launcher.config;
    let chosen = choose_import_map(config, function);
    if let Some(chosen) = &chosen {
        warn_of_old_import_map(chosen, &function.slug);
    }
    let file = chosen.as_ref().map(|chosen| chosen.path.as_path());
    let without_types = compose_import_map(file, &[]).map_err(LaunchError::Project)?;
    let graph = scan_modules(&function.entrypoint, &without_types);
    let composed = compose_import_map(file, &graph.type_only).map_err(LaunchError::Project)?;
    let map = config
        .state_folder
        .join(format!("{}.import_map.json", function.slug));
    write_whole(&map, composed.to_string().as_bytes())?;
    let beside = function.entrypoint.parent().unwrap_or(&config.folder);
    Ok(Imports {
        has_package_json: chosen.is_none() && beside.join("package.json").is_file(),
        lock: copy_lock(launcher, function, chosen.as_ref())?,
        chosen,
        map,
    })
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

/// Copies `deno.lock` beside the import map or the entrypoint, if there is one.
fn copy_lock(
    launcher: &Launcher,
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
    let copy = launcher
        .config
        .state_folder
        .join(format!("{}.deno.lock", function.slug));
    write_whole(&copy, &fs::read(lock)?)?;
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

/// Lists what the function may read: its folder, its static files, downloaded packages, and the worker's folder.
fn list_readable_paths(launcher: &Launcher, function: &Function, worker: &Worker) -> Vec<PathBuf> {
    let config = &launcher.config;
    let beside = function.entrypoint.parent().unwrap_or(&config.folder);
    let mut readable = vec![
        beside.to_path_buf(),
        worker.folder.clone(),
        config.cache_folder.join("npm"),
        worker.deno_folder().join("npm"),
    ];
    readable.extend(expand_static_files(&config.project, &function.static_files));
    readable
}

/// Deno's permissions: the network as in the original, writing to the worker's folder. Programs and native libraries are
/// refused.
fn list_permissions(readable: &[PathBuf], worker: &Worker) -> Vec<OsString> {
    vec![
        "--allow-net".into(),
        "--allow-env".into(),
        format!("--allow-sys={SYSTEM_INFORMATION}").into(),
        "--allow-import".into(),
        format_paths("--allow-read=", readable),
        format_paths("--allow-write=", std::slice::from_ref(&worker.folder)),
    ]
}

/// The files that match glob patterns, which are relative to the project.
fn expand_static_files(project: &Path, patterns: &[String]) -> Vec<PathBuf> {
    patterns
        .iter()
        .filter_map(|pattern| {
            let pattern = project.join(pattern);
            glob::glob(pattern.to_str()?).ok()
        })
        .flatten()
        .filter_map(Result::ok)
        .map(|path| path.canonicalize().unwrap_or(path))
        .collect()
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

/// An option with a list of paths. Deno separates them by commas; a comma in a path is doubled.
fn format_paths(option: &str, paths: &[PathBuf]) -> OsString {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.to_string_lossy().replace(',', ",,"))
        .collect();
    format!("{option}{}", paths.join(",")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_commas_stay_one_path() {
        let paths = [PathBuf::from("/a,b"), PathBuf::from("/c")];

        assert_eq!(format_paths("--allow-read=", &paths), "--allow-read=/a,,b,/c");
    }

    #[test]
    fn gw_040_static_files_are_globs_relative_to_the_project() {
        let project = tempfile::tempdir().unwrap();
        let folder = project.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("functions/pages")).unwrap();
        for name in ["a.html", "b.html", "c.txt"] {
            fs::write(folder.join("functions/pages").join(name), "").unwrap();
        }

        let files = expand_static_files(&folder, &["./functions/pages/*.html".to_owned()]);

        assert_eq!(
            files,
            ["a.html", "b.html"].map(|name| folder.join("functions/pages").join(name))
        );
    }
}
