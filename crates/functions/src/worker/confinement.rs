//! Lets the kernel refuse a worker whatever it does not need: on Linux with Landlock it opens no other file, runs no other program and
//! listens on no port, whatever Deno permits.
//!
//! Landlock restricts a thread and what that thread starts. So a worker is started by a thread of its own, which then does nothing until
//! the worker has ended: the kernel also kills the worker when that thread ends (see `build_command`).

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::process::Output;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::project::{Boundary, list_deno_settings};

/// Bytes of the stack of a thread that starts a worker.
const STACK: usize = 256 * 1024;

/// What a worker may do, beside what every program needs.
#[derive(Debug, Clone, Default)]
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux has Landlock")
)]
pub(super) struct Confinement {
    /// The Deno program.
    pub(super) program: PathBuf,
    /// Files and folders that it reads.
    pub(super) readable: Vec<PathBuf>,
    /// Folders whose names it may list, and whose files it may not read.
    pub(super) listed: Vec<PathBuf>,
    /// Folders in which it does everything.
    pub(super) writable: Vec<PathBuf>,
    /// The one port on which it may listen: the debugger's.
    pub(super) port: Option<u16>,
    /// Whether it may read random numbers from devices, which have no end.
    pub(super) reads_random: bool,
}

impl Confinement {
    /// Lets the worker read its modules, and the settings (`deno.json` and alike) in the folders above them, which Deno reads for itself.
    pub(super) fn admit_modules(&mut self, files: Vec<PathBuf>, boundary: &Boundary) {
        let mut settings = list_deno_settings(files.iter().map(PathBuf::as_path));
        settings.retain(|path| boundary.admits_settings(path));
        self.readable.extend(settings.into_iter().chain(files));
    }
}

/// The thread that has started a worker. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Parent(#[expect(dead_code, reason = "dropped to end the thread")] mpsc::Sender<Infallible>);

/// Starts a worker that may do what `confinement` says, as far as the kernel can restrict it.
///
/// # Errors
/// A program that cannot be started, a kernel that has Landlock and refuses the rules.
pub(super) async fn spawn(mut command: Command, confinement: Confinement) -> io::Result<(Child, Parent)> {
    let runtime = Handle::current();
    let (answer, started) = oneshot::channel();
    let (parent, ended) = mpsc::channel();
    let start = move || {
        let spawned = restrict_thread(&confinement).and_then(|()| {
            let _guard = runtime.enter();
            command.spawn()
        });
        if answer.send(spawned).is_ok() {
            let _ = ended.recv();
        }
    };
    std::thread::Builder::new()
        .name("function".to_owned())
        .stack_size(STACK)
        .spawn(start)?;
    let child = started
        .await
        .map_err(|_| io::Error::other("the thread of the worker has ended"))??;
    Ok((child, Parent(parent)))
}

/// Runs a command to its end under such restrictions.
///
/// # Errors
/// Those of [`spawn`].
pub(super) async fn run(command: Command, confinement: Confinement) -> io::Result<Output> {
    let (child, _parent) = spawn(command, confinement).await?;
    child.wait_with_output().await
}

#[cfg(target_os = "linux")]
fn restrict_thread(confinement: &Confinement) -> io::Result<()> {
    landlock_rules::drop_capabilities()?;
    let status = landlock_rules::restrict(confinement).map_err(io::Error::other)?;
    tracing::debug!(?status, "restricted the thread of a worker");
    Ok(())
}

/// Other systems have nothing like it that needs no rights: there Deno's permissions and the check of the modules decide.
#[cfg(not(target_os = "linux"))]
fn restrict_thread(_: &Confinement) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod landlock_rules {
    use std::path::Path;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    };
    use rustix::io::Errno;
    use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

    use super::Confinement;

    /// The newest rights that are restricted. Older kernels restrict those that they know.
    const VERSION: ABI = ABI::V6;

    /// Programs, libraries, time zones and certificates of the system.
    const PROGRAMS: [&str; 10] = [
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/bin",
        "/sbin",
        "/nix/store",
        "/gnu/store",
        "/opt",
        "/home/linuxbrew/.linuxbrew",
    ];
    /// Names of hosts and users, certificates, what the kernel tells. Of other programs `/proc` shows no memory and no variables to a
    /// restricted one without [`REVEALING`].
    const SYSTEM: [&str; 26] = [
        "/etc/alternatives",
        "/etc/ca-certificates",
        "/etc/gai.conf",
        "/etc/group",
        "/etc/host.conf",
        "/etc/hosts",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/etc/localtime",
        "/etc/nsswitch.conf",
        "/etc/os-release",
        "/etc/passwd",
        "/etc/pki",
        "/etc/protocols",
        "/etc/resolv.conf",
        "/etc/services",
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/var/lib/ca-certificates",
        "/run/systemd/resolve",
        "/run/resolvconf",
        "/run/NetworkManager",
        "/proc",
        "/sys/fs/cgroup",
        "/sys/devices/system",
    ];
    const NULL_DEVICE: &str = "/dev/null";
    const RANDOM_DEVICES: [&str; 2] = ["/dev/random", "/dev/urandom"];

    /// Rights of root that show a program the variables and the memory of every process, whatever Landlock says.
    const REVEALING: [CapabilitySet; 3] = [
        CapabilitySet::PERFMON,
        CapabilitySet::SYS_ADMIN,
        CapabilitySet::SYS_PTRACE,
    ];

    pub(super) fn restrict(confinement: &Confinement) -> Result<RulesetStatus, RulesetError> {
        let rules = Ruleset::default()
            .handle_access(AccessFs::from_all(VERSION))?
            .handle_access(AccessNet::BindTcp)?
            .scope(Scope::from_all(VERSION))?
            .create()?;
        let mut rules = allow_files(rules, confinement)?;
        if let Some(port) = confinement.port {
            rules = rules.add_rule(NetPort::new(port, AccessNet::BindTcp))?;
        }
        Ok(rules.restrict_self()?.ruleset)
    }

    /// Takes [`REVEALING`] from the programs that this thread will start. They have these rights only as root.
    pub(super) fn drop_capabilities() -> rustix::io::Result<()> {
        for capability in REVEALING {
            match remove_capability_from_bounding_set(capability) {
                // Without rights of root there is nothing to take; an older kernel does not know all of them.
                Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn allow_files(
        mut rules: RulesetCreated,
        confinement: &Confinement,
    ) -> Result<RulesetCreated, RulesetError> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let program = &confinement.program;
        // Libraries of an installation of its own, such as conda's, with the program that loads them.
        let libraries = program.ancestors().nth(2).map(|above| above.join("lib"));
        let programs = PROGRAMS.iter().map(Path::new).chain(libraries.as_deref());
        for path in programs {
            rules = allow(rules, path, read | AccessFs::Execute)?;
        }
        rules = allow(rules, program, AccessFs::ReadFile | AccessFs::Execute)?;
        let readable = confinement.readable.iter().map(|path| path.as_path());
        for path in SYSTEM.iter().map(Path::new).chain(readable) {
            rules = allow(rules, path, read)?;
        }
        let device = read | AccessFs::WriteFile | AccessFs::IoctlDev;
        let random = RANDOM_DEVICES.into_iter().filter(|_| confinement.reads_random);
        for path in random.chain([NULL_DEVICE]) {
            rules = allow(rules, Path::new(path), device)?;
        }
        for path in &confinement.listed {
            rules = allow(rules, path, AccessFs::ReadDir.into())?;
        }
        let everything_but_programs = AccessFs::from_all(VERSION) & !BitFlags::from(AccessFs::Execute);
        for path in &confinement.writable {
            rules = allow(rules, path, everything_but_programs)?;
        }
        Ok(rules)
    }

    /// Adds a rule. Nothing can be allowed for a file that is not there.
    fn allow(
        rules: RulesetCreated,
        path: &Path,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, RulesetError> {
        let Ok(file) = PathFd::new(path) else {
            return Ok(rules);
        };
        let access = if path.is_dir() {
            access
        } else {
            access & AccessFs::from_file(VERSION)
        };
        if access.is_empty() {
            return Ok(rules);
        }
        rules.add_rule(PathBeneath::new(file, access))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::TcpListener;
    use std::process::Stdio;

    use landlock::RulesetStatus;

    use super::*;

    /// Whether this kernel restricts everything. It does not on one that is older than 6.12 or was built without Landlock.
    fn is_restricting() -> bool {
        let restrict = || landlock_rules::restrict(&Confinement::default()).unwrap();
        std::thread::spawn(restrict).join().unwrap() == RulesetStatus::FullyEnforced
    }

    #[tokio::test]
    async fn gw_042_a_worker_opens_only_what_it_may_and_listens_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["own", "other", "cache"] {
            std::fs::create_dir(path(name)).unwrap();
            std::fs::write(path(name).join("file"), name).unwrap();
        }
        std::os::unix::fs::symlink(path("other/file"), path("own/link")).unwrap();
        let script = "cat own/file other/file own/link /etc/shadow /proc/$PPID/environ
                      head -c 1 /dev/zero; head -c 1 /dev/urandom;
                      echo 1 > own/new; echo 2 > cache/new; cat cache/new";
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let confinement = || Confinement {
            program: PathBuf::from("/bin/sh"),
            readable: vec![path("own")],
            writable: vec![path("cache")],
            ..Confinement::default()
        };

        let output = run(command, confinement()).await.unwrap();
        let own = confinement();
        let listen = move || {
            restrict_thread(&own).unwrap();
            TcpListener::bind("127.0.0.1:0").is_ok()
        };
        let listens = std::thread::spawn(listen).join().unwrap();

        let output = String::from_utf8_lossy(&output.stdout);
        assert!(output.starts_with("own") && output.ends_with("2\n"), "{output}");
        if is_restricting() {
            assert_eq!((output.as_ref(), listens), ("own2\n", false));
        }
        assert!(
            std::fs::read(path("other/file")).is_ok(),
            "this process is not restricted"
        );
    }
}
