//! Creates the data directory, once.
//!
//! `initdb` writes to a folder named `pgdata.unfinished-<process>`, which is renamed to `pgdata` only after it is complete and
//! synced to disk, so an interrupted start never leaves a partial data directory under the final name.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
};

use secrecy::{ExposeSecret, SecretString};

use super::{
    SUPERUSER,
    binaries::Binaries,
    config::ClusterConfig,
    error::ClusterError,
    own_file::{read_own_text, write_private},
    owner::Owner,
    template::Template,
};

/// Result of [`ensure_data_dir`].
pub(crate) struct Initialized {
    pub(crate) superuser_password: SecretString,
    /// Whether this call created the data directory.
    pub(crate) is_new: bool,
}

/// Creates `data_dir` if it is missing and returns the superuser's password, which is kept in the state folder. When the
/// configuration names another one than is kept, that is set.
///
/// # Errors
/// [`ClusterError::VersionMismatch`] when another major version created the directory: PostgreSQL cannot read it.
pub(crate) fn ensure_data_dir(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    config: &ClusterConfig,
) -> Result<Initialized, ClusterError> {
    remove_unfinished(data_dir);
    let secret = config.state_dir.join("superuser-password");
    let wished = config.superuser_password.clone();
    let version = data_dir.join("PG_VERSION");
    if version.exists() {
        let found = std::fs::read_to_string(&version)
            .map_err(ClusterError::file(&version))?
            .trim()
            .to_owned();
        let wanted = binaries.major_version();
        if found != wanted.to_string() {
            return Err(ClusterError::VersionMismatch {
                data_dir: data_dir.to_owned(),
                found,
                wanted,
            });
        }
        let superuser_password = match (read_secret(&secret)?, wished) {
            (Some(kept), None) => kept,
            (Some(kept), Some(wished)) if kept.expose_secret() == wished.expose_secret() => kept,
            (_, wished) => {
                let password = wished.unwrap_or_else(new_password);
                replace_password(binaries, owner, data_dir, &secret, &password)?;
                password
            }
        };
        return Ok(Initialized {
            superuser_password,
            is_new: false,
        });
    }
    let superuser_password = wished.unwrap_or_else(new_password);
    create_data_dir(binaries, owner, data_dir, &secret, &superuser_password, config)?;
    Ok(Initialized {
        superuser_password,
        is_new: true,
    })
}

/// The files of the state folder that are written with the data directory.
const EVIDENCE: [&str; 2] = ["superuser-password", "initialized"];
/// The beginning of the names of data directories that are not complete yet, or not any more.
const UNFINISHED: &str = "pgdata.unfinished";

/// Refuses a project that had data and has none, because its disk is not mounted, or a folder was deleted by hand. A new data
/// directory in that place would hide the old one, and its password would be overwritten.
///
/// # Errors
/// [`ClusterError::DataMissing`], with the file that shows it.
pub(crate) fn refuse_missing_data(state_dir: &Path, data_dir: &Path) -> Result<(), ClusterError> {
    if data_dir.join("PG_VERSION").exists() || deleted_dir(data_dir).exists() {
        return Ok(());
    }
    match EVIDENCE
        .map(|name| state_dir.join(name))
        .into_iter()
        .find(|file| file.exists())
    {
        Some(evidence) => Err(ClusterError::DataMissing {
            evidence,
            data_dir: data_dir.to_owned(),
        }),
        None => Ok(()),
    }
}

impl ClusterConfig {
    /// Whether the next start makes a data directory: there is none, and nothing says that there was one.
    pub(crate) fn makes_data_dir(&self) -> bool {
        let home = Owner::for_project(&self.state_dir).and_then(|owner| self.home(&owner));
        home.is_ok_and(|home| {
            let data_dir = home.join("pgdata");
            !data_dir.join("PG_VERSION").exists() && refuse_missing_data(&self.state_dir, &data_dir).is_ok()
        })
    }
}

/// Where a data directory is while it is being deleted. As long as it is there, [`refuse_missing_data`] knows that the data were
/// deleted on purpose.
fn deleted_dir(data_dir: &Path) -> PathBuf {
    data_dir.with_file_name(format!("{UNFINISHED}-deleted"))
}

/// Deletes a data directory and the files that are written with it. It gets another name first, so that a process that is
/// killed meanwhile leaves no half of a data directory under the final name.
pub(crate) fn delete_data_dir(state_dir: &Path, data_dir: &Path) -> Result<(), ClusterError> {
    let missing_is_fine = |path: &Path, done: std::io::Result<()>| match done {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ClusterError::file(path)(error)),
        _ => Ok(()),
    };
    let deleted = deleted_dir(data_dir);
    missing_is_fine(&deleted, std::fs::remove_dir_all(&deleted))?;
    missing_is_fine(data_dir, std::fs::rename(data_dir, &deleted))?;
    for file in EVIDENCE.map(|name| state_dir.join(name)) {
        missing_is_fine(&file, std::fs::remove_file(&file))?;
    }
    missing_is_fine(&deleted, std::fs::remove_dir_all(&deleted))
}

/// Removes the unfinished data directories of interrupted starts. They contain no data of the project.
fn remove_unfinished(data_dir: &Path) {
    let entries = data_dir
        .parent()
        .and_then(|parent| std::fs::read_dir(parent).ok());
    let leftovers = entries.into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(UNFINISHED)
    });
    for leftover in leftovers {
        // Fails if an initdb of a killed start is still writing there; the next start tries again.
        let _ = std::fs::remove_dir_all(leftover.path());
    }
}

fn create_data_dir(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    secret: &Path,
    password: &SecretString,
    config: &ClusterConfig,
) -> Result<(), ClusterError> {
    // The process id makes the name unique: the initdb of a killed start may still be writing to its folder.
    let unfinished = data_dir.with_extension(format!("unfinished-{}", std::process::id()));
    if !begin_with_template(binaries, owner, &unfinished, password, config) {
        init_data_dir(binaries, owner, data_dir, &unfinished, password, config)?;
    }

    sync_data_dir(binaries, owner, &unfinished)?;
    std::fs::rename(&unfinished, data_dir).map_err(ClusterError::file(data_dir))?;
    // The password is stored after the rename: a password without data means that the data are missing, while data without a
    // password get a new one.
    write_private(secret, password.expose_secret())?;
    if let Some(parent) = data_dir.parent() {
        // A rename survives a power failure only after its parent folder has been synced.
        std::fs::File::open(parent)
            .and_then(|folder| folder.sync_all())
            .map_err(ClusterError::file(parent))?;
    }
    Ok(())
}

/// Makes the new data directory as a copy of the template. Where that cannot be done, whatever the reason, `initdb` makes it.
fn begin_with_template(
    binaries: &Binaries,
    owner: &Owner,
    unfinished: &Path,
    password: &SecretString,
    config: &ClusterConfig,
) -> bool {
    let template = match &config.template {
        Some(template) if Template::can_be_copied_to(unfinished, owner) => template,
        _ => return false,
    };
    let copied = template.copy_to(unfinished, owner).and_then(|()| {
        // A copy that does not start is of a template that is damaged.
        set_password(binaries, owner, unfinished, password).inspect_err(|_| {
            template.discard().ok();
        })
    });
    if let Err(error) = copied {
        tracing::warn!(%error, "the template of new clusters could not be copied, initdb makes this one");
        std::fs::remove_dir_all(unfinished).ok();
        return false;
    }
    true
}

fn init_data_dir(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    unfinished: &Path,
    password: &SecretString,
    config: &ClusterConfig,
) -> Result<(), ClusterError> {
    owner.create_private_dir(unfinished)?;
    let password_file = data_dir.with_extension("password");
    write_private(&password_file, password.expose_secret())?;
    owner.give_ownership_of(&password_file)?;
    let outcome = run_initdb(
        binaries,
        owner,
        unfinished,
        &password_file,
        config.production.is_some(),
    );
    // Removed before the outcome is checked, so that a failed initdb does not leave the password on disk either.
    std::fs::remove_file(&password_file).map_err(ClusterError::file(&password_file))?;
    outcome?;
    append_include(unfinished)
}

/// Syncs the new data directory to disk. One `syncfs` takes a tenth of the time of `initdb`'s own sync, which calls
/// `fsync` on about a thousand files.
#[cfg(target_os = "linux")]
fn sync_data_dir(_: &Binaries, _: &Owner, data_dir: &Path) -> Result<(), ClusterError> {
    let folder = std::fs::File::open(data_dir).map_err(ClusterError::file(data_dir))?;
    nix::unistd::syncfs(folder).map_err(|error| ClusterError::file(data_dir)(error.into()))
}

#[cfg(not(target_os = "linux"))]
fn sync_data_dir(binaries: &Binaries, owner: &Owner, data_dir: &Path) -> Result<(), ClusterError> {
    let program = binaries.program_path("initdb");
    let mut command = owner.command(&program);
    command.arg("--sync-only").arg("-D").arg(data_dir);
    run_program(command, &program)
}

/// Runs initdb with the first locale of [`candidate_locales`] that the machine has. All of them sort text by code point, so that
/// a project sorts the same on every machine; they differ in which characters count as letters.
fn run_initdb(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    password_file: &Path,
    has_checksums: bool,
) -> Result<(), ClusterError> {
    let program = binaries.program_path("initdb");
    let mut last = None;
    for locale in candidate_locales(binaries.major_version()) {
        let mut command = owner.command(&program);
        command
            .args([
                "-U",
                SUPERUSER,
                "-E",
                "UTF8",
                "--auth=scram-sha-256",
                "--no-sync",
                "--no-instructions",
            ])
            .arg("--pwfile")
            .arg(password_file)
            .args(has_checksums.then_some("--data-checksums"))
            .args(&locale)
            .arg("-D")
            .arg(data_dir);
        match run_program(command, &program) {
            Ok(()) => return Ok(()),
            // The machine lacks this locale; initdb removed what it had written, so the next one can be tried.
            Err(error) if error.to_string().contains("locale") => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or(ClusterError::Init {
        output: "no locale works".to_owned(),
    }))
}

/// A text that changes when initdb would make another data directory with the same programs: its arguments, the locales of the machine, which
/// become collations, and the version of the C library, which each collation notes. A part is empty where the machine does not tell.
pub(crate) fn describe_locales(major_version: u32) -> String {
    let ask = |program: &str, argument: &str| {
        let output = std::process::Command::new(program).arg(argument).output();
        output.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    format!(
        "{:?} {} {} {}",
        candidate_locales(major_version),
        std::env::consts::ARCH,
        ask("getconf", "GNU_LIBC_VERSION"),
        ask("locale", "-a")
    )
}

/// Locale arguments for initdb, best first. The builtin provider (PostgreSQL 17 on) needs no locale of the machine.
fn candidate_locales(major_version: u32) -> Vec<Vec<&'static str>> {
    let mut locales = Vec::new();
    if major_version >= 17 {
        let builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
        locales.push([builtin.as_slice(), &["--locale=C.UTF-8"]].concat());
        locales.push([builtin.as_slice(), &["--locale=C"]].concat());
    }
    locales.push(vec!["--locale=C.UTF-8"]);
    locales.push(vec!["--locale=C", "--lc-ctype=en_US.UTF-8"]);
    locales.push(vec!["--locale=C"]);
    locales
}

/// Appends an include of `selvedge.conf` to `postgresql.conf`; [`ClusterConfig`](super::ClusterConfig) writes that file
/// at each start.
fn append_include(data_dir: &Path) -> Result<(), ClusterError> {
    let path = data_dir.join("postgresql.conf");
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .map_err(ClusterError::file(&path))?;
    writeln!(
        file,
        "\n# Written by selvedge at each start.\ninclude_if_exists = 'selvedge.conf'"
    )
    .map_err(ClusterError::file(&path))
}

/// Sets the superuser's password when the data exists but its password file does not (a copied or cleaned state folder), or
/// when the configuration contains another one.
pub(super) fn replace_password(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    secret: &Path,
    password: &SecretString,
) -> Result<(), ClusterError> {
    set_password(binaries, owner, data_dir, password)?;
    write_private(secret, password.expose_secret())
}

/// Sets the superuser's password by PostgreSQL's single-user mode, which requires none and works only for the owner of the data directory.
fn set_password(
    binaries: &Binaries,
    owner: &Owner,
    data_dir: &Path,
    password: &SecretString,
) -> Result<(), ClusterError> {
    let program = binaries.program_path("postgres");
    let mut command = owner.command(&program);
    command
        .args(["--single", "-j", "-D"])
        .arg(data_dir)
        .arg("postgres")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(ClusterError::run(&program))?;
    let verifier = crate::migrate::scram_verifier(password);
    if let Some(mut stdin) = child.stdin.take() {
        writeln!(stdin, "alter role {SUPERUSER} password '{verifier}';\n")
            .map_err(ClusterError::run(&program))?;
    }
    let output = child.wait_with_output().map_err(ClusterError::run(&program))?;
    // In single-user mode postgres exits with 0 even after a failed statement, so its messages are checked, too.
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("ERROR") {
        return Err(ClusterError::Init {
            output: format!("the superuser's password could not be set:\n{said}"),
        });
    }
    Ok(())
}

fn run_program(mut command: std::process::Command, program: &Path) -> Result<(), ClusterError> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(ClusterError::run(program))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    Err(ClusterError::Init {
        output: said.join("\n"),
    })
}

/// Two UUIDs of version 4 (244 random bits) in hexadecimal.
fn new_password() -> SecretString {
    format!(
        "{}{}",
        uuid::Uuid::new_v4().simple(),
        uuid::Uuid::new_v4().simple()
    )
    .into()
}

fn read_secret(path: &Path) -> Result<Option<SecretString>, ClusterError> {
    match read_own_text(path) {
        Ok(text) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned().into())),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ClusterError::file(path)(error)),
    }
}
