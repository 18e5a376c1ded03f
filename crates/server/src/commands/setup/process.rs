//! Commands as lists of words, which no shell reads.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write as _;
use std::process::{Command as Process, Output, Stdio};

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret as _, SecretString};

/// Lines of a failed command that are repeated.
const MOST_LINES: usize = 20;
/// Programs of the machine's packages alone.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
/// What a machine behind a proxy needs to fetch packages. Nothing else of the caller's environment is for these commands.
const KEPT: [&str; 6] = [
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// A program with its arguments. A secret is its input and never among them, as everybody may read those.
#[derive(Debug, Clone)]
pub(super) struct Command {
    words: Vec<String>,
    input: Option<SecretString>,
    may_fail: bool,
}

impl Command {
    /// A program and its arguments.
    pub(super) fn new(words: &[&str]) -> Self {
        Self {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            input: None,
            may_fail: false,
        }
    }

    /// The command with a line of input.
    pub(super) fn with_input(self, input: SecretString) -> Self {
        Self {
            input: Some(input),
            ..self
        }
    }

    /// The command, whose failure stops nothing.
    pub(super) fn may_fail(self) -> Self {
        Self {
            may_fail: true,
            ..self
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When it fails; the message has its last lines.
    pub(super) fn run(&self) -> Result<()> {
        let output = self.spawn()?;
        if output.status.success() || self.may_fail {
            return Ok(());
        }
        bail!("{self}: {}\n{}", output.status, last_lines(&output));
    }

    /// What it prints, whether or not it succeeds.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(super) fn print(&self) -> Result<String> {
        let output = self.spawn()?;
        let text = [output.stdout, output.stderr].concat();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Whether it succeeds.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(super) fn succeeds(&self) -> Result<bool> {
        Ok(self.spawn()?.status.success())
    }

    /// What it prints.
    ///
    /// # Errors
    /// When it fails, as [`Command::run`].
    pub(super) fn output(&self) -> Result<String> {
        let output = self.spawn()?;
        if !output.status.success() {
            bail!("{self}: {}\n{}", output.status, last_lines(&output));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn spawn(&self) -> Result<Output> {
        let explain = || format!("cannot run {self}");
        let mut words = self.words.iter();
        let mut process = Process::new(words.next().map_or("", String::as_str));
        process
            .args(words)
            .current_dir("/")
            .env_clear()
            .envs(
                KEPT.iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs([("PATH", PATH), ("LC_ALL", "C.UTF-8"), ("HOME", "/root")])
            // Packages ask no questions, and restart no services.
            .envs([
                ("DEBIAN_FRONTEND", "noninteractive"),
                ("NEEDRESTART_SUSPEND", "1"),
            ])
            .stdin(match self.input {
                Some(_) => Stdio::piped(),
                None => Stdio::null(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = process.spawn().with_context(explain)?;
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), &self.input) {
            // A command that has ended before it reads says so by its status.
            let _ = writeln!(pipe, "{}", input.expose_secret());
        }
        child.wait_with_output().with_context(explain)
    }
}

fn last_lines(output: &Output) -> String {
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(MOST_LINES)..].join("\n")
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

/// The packages that would be installed with these, as `apt-get --simulate` prints them.
pub(super) fn parse_simulation(printed: &str) -> Vec<String> {
    let new = printed.lines().filter_map(|line| line.strip_prefix("Inst "));
    // One that is there already has its version in brackets.
    let new = new.filter(|line| {
        !line
            .split_once(' ')
            .is_some_and(|(_, rest)| rest.starts_with('['))
    });
    let names = new.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// The packages that are installed.
///
/// # Errors
/// On a machine without dpkg.
pub(super) fn list_packages() -> Result<BTreeSet<String>> {
    let format = "--showformat=${db:Status-Status} ${Package}\\n";
    let printed = Command::new(&["dpkg-query", "--show", format]).output()?;
    let installed = printed.lines().filter_map(|line| line.strip_prefix("installed "));
    Ok(installed.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_words_reach_a_program_as_they_are_and_secrets_as_its_input() {
        let echo = Command::new(&["printf", "%s", "a; $(id) 'b'"]);
        let secret = Command::new(&["cat"]).with_input("hunter2".to_owned().into());
        let failed = Command::new(&["sh", "-c", "echo why >&2; exit 3"]);

        assert_eq!(echo.output().unwrap(), "a; $(id) 'b'");
        assert_eq!(secret.output().unwrap(), "hunter2\n");
        assert!(!format!("{secret} {secret:?}").contains("hunter2"));
        let error = failed.run().unwrap_err().to_string();
        assert!(error.contains("why") && error.contains('3'), "{error}");
        assert!(failed.clone().may_fail().run().is_ok());
        assert!(!failed.succeeds().unwrap());
    }

    #[test]
    fn prod_008_packages_are_known_before_they_come() {
        let printed = "Reading package lists...\n\
            Inst libpq5 (15.14-0+deb12u1 Debian:12.12/oldstable [amd64])\n\
            Inst libc6 [2.36-9] (2.36-9+deb12u13 Debian:12.12/oldstable [amd64])\n\
            Inst postgresql (15+248 Debian:12.12/oldstable [all])\n\
            Conf libpq5 (15.14-0+deb12u1 Debian:12.12/oldstable [amd64])\n";

        assert_eq!(parse_simulation(printed), ["libpq5", "postgresql"]);
    }

    #[test]
    fn prod_008_commands_have_nothing_of_the_callers_environment() {
        let printed = Command::new(&["env"]).output().unwrap();
        let names: Vec<&str> = printed
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0))
            .filter(|name| !KEPT.contains(name))
            .collect();
        let own = ["PATH", "LC_ALL", "HOME", "DEBIAN_FRONTEND", "NEEDRESTART_SUSPEND"];

        // Cargo sets many for a test.
        assert!(std::env::vars_os().count() > own.len());
        assert!(names.iter().all(|name| own.contains(name)), "{names:?}");
    }
}
