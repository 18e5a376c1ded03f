//! What `selvedge setup` is told: by arguments, by questions at a terminal, else as at its last run.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use url::Url;

use super::places::{BACKUPS, FOLDER, PROGRAMS};
use crate::cli::{Cli, SetupArgs};

/// The project, where none is named.
pub(super) const PROJECT: &str = "/srv/app";
const HOME: &str = "/var/lib/selvedge";
/// The console's first account, where none is named.
pub(super) const ACCOUNT: &str = "admin";
/// Folders of people, and those that are empty after a start of the machine: the units of the server do not see them.
const UNSEEN: [&str; 9] = [
    "/home", "/root", "/run", "/var/run", "/tmp", "/var/tmp", "/dev", "/proc", "/sys",
];
/// Ports of mail servers: with STARTTLS, and with TLS from the first byte.
const SUBMISSION: u16 = 587;
const SUBMISSIONS: u16 = 465;
/// Characters of an account of the console.
const LONGEST_ACCOUNT: usize = 120;

/// What is set up. No secret is among it, as it is kept for the next run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Answers {
    /// The names of the server; the first is its own. Empty: it is reached by its address, without HTTPS.
    pub(super) domains: Vec<String>,
    /// Where the certificate authority writes to.
    pub(super) email: Option<String>,
    /// The server that sends mail.
    pub(super) mail: Option<MailServer>,
    /// The project's folder.
    pub(super) project: PathBuf,
    /// The data folder.
    pub(super) home: PathBuf,
    /// The first account of the console.
    pub(super) account: String,
}

/// A server that sends mail, without its password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MailServer {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: Option<String>,
    /// The sender of all mails.
    pub(super) from: String,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            domains: Vec::new(),
            email: None,
            mail: None,
            project: PROJECT.into(),
            home: HOME.into(),
            account: ACCOUNT.to_owned(),
        }
    }
}

impl Answers {
    /// These answers with what the arguments say instead.
    ///
    /// # Errors
    /// A value that cannot be written into the files of the machine.
    pub(super) fn with_arguments(mut self, cli: &Cli, args: &SetupArgs) -> Result<Self> {
        // An empty text takes back what an earlier run was told.
        if !args.domains.is_empty() {
            let domains = args.domains.iter().filter(|domain| !domain.is_empty());
            self.domains = domains.map(|domain| domain.to_ascii_lowercase()).collect();
        }
        if let Some(email) = &args.email {
            self.email = Some(email.clone()).filter(|email| !email.is_empty());
        }
        if let Some(account) = &args.console_user {
            self.account.clone_from(account);
        }
        if let Some(project) = &cli.project {
            self.project = std::path::absolute(project).context("--project")?;
        }
        if let Some(home) = &cli.data_dir {
            self.home = std::path::absolute(home).context("--data-dir")?;
        }
        match args.smtp_url.as_deref() {
            None => {}
            Some("") => self.mail = None,
            Some(url) => self.mail = Some(MailServer::parse(url, args.mail_from.as_deref(), &self.domains)?),
        }
        self.check()?;
        Ok(self)
    }

    /// Refuses what would mean something else in a unit or in a file of variables.
    fn check(&self) -> Result<()> {
        let mail = self.mail.as_ref();
        let texts = [
            ("--email", self.email.as_deref()),
            ("--console-user", Some(self.account.as_str())),
            ("--smtp-url", mail.map(|mail| mail.host.as_str())),
            ("--smtp-url", mail.and_then(|mail| mail.user.as_deref())),
            ("--mail-from", mail.map(|mail| mail.from.as_str())),
        ];
        let domains = self
            .domains
            .iter()
            .map(|domain| ("--domain", Some(domain.as_str())));
        for (name, value) in texts.into_iter().chain(domains) {
            if let Some(value) = value
                && !needs_no_escapes(value)
            {
                bail!(
                    "{name} {value:?}: quotes, backslashes, dollar signs and line ends cannot be used here"
                );
            }
        }
        if self.account.starts_with('-') || self.account.chars().count() > LONGEST_ACCOUNT {
            bail!("--console-user begins with no dash and has at most {LONGEST_ACCOUNT} characters");
        }
        let is_within = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
        for (name, path) in [("--project", &self.project), ("--data-dir", &self.home)] {
            check_path(name, path)?;
            let own = [FOLDER, PROGRAMS, BACKUPS];
            if let Some(own) = own.iter().find(|own| is_within(path, Path::new(own))) {
                bail!(
                    "{name} {}: {own} is a folder of `selvedge setup` itself",
                    path.display()
                );
            }
        }
        // A release is often behind a link, and a folder above the data may be one to a larger disk.
        let (project, home) = (follow_links(&self.project), follow_links(&self.home));
        check_path("--project", &project)?;
        check_path("--data-dir", &home)?;
        if is_within(&self.home, &self.project) || is_within(&home, &project) {
            bail!("--data-dir must be outside of the project's folder, as whoever deploys that replaces it");
        }
        Ok(())
    }

    /// To which mail server a password is sent, and for whom.
    pub(super) fn mail_login(&self) -> Option<(&str, Option<&str>)> {
        let mail = self.mail.as_ref()?;
        Some((mail.host.as_str(), mail.user.as_deref()))
    }

    /// The server's address, where it has a name.
    pub(super) fn url(&self) -> Option<String> {
        self.domains.first().map(|domain| format!("https://{domain}"))
    }
}

impl MailServer {
    fn parse(url: &str, from: Option<&str>, domains: &[String]) -> Result<Self> {
        let parsed = Url::parse(url).ok().filter(|url| url.has_host());
        let Some(parsed) = parsed else {
            bail!("--smtp-url must be as smtp://USER@HOST:587");
        };
        let default_port = match parsed.scheme() {
            "smtp" => SUBMISSION,
            "smtps" => SUBMISSIONS,
            other => bail!("--smtp-url begins with {other}://, and must begin with smtp:// or smtps://"),
        };
        if parsed.password().is_some() {
            bail!(
                "the password does not belong into the arguments, which everybody on this machine can read\n  it is asked for at a \
                 terminal; for scripts:  SMTP_PASSWORD_FILE=FILE"
            );
        }
        let user = percent_decode_str(parsed.username())
            .decode_utf8()
            .context("--smtp-url: the user is no text")?;
        let from = match (from, domains.first()) {
            (Some(from), _) => from.to_owned(),
            (None, Some(domain)) => format!("no-reply@{domain}"),
            (None, None) => {
                bail!("--mail-from is missing: the sender of mails, such as no-reply@example.com")
            }
        };
        Ok(Self {
            host: parsed.host_str().unwrap_or_default().to_owned(),
            port: parsed.port().unwrap_or(default_port),
            user: Some(user.into_owned()).filter(|user| !user.is_empty()),
            from,
        })
    }
}

/// Whether systemd and shells read a text, between double quotes in a file of variables, exactly as it is written.
fn needs_no_escapes(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_control() || "\"'\\$`%!".contains(c))
}

/// The path without links, as far as it is there.
fn follow_links(path: &Path) -> PathBuf {
    let mut above = path.ancestors();
    let found = above.find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let followed = found.and_then(|(folder, target)| Some(target.join(path.strip_prefix(folder).ok()?)));
    followed.unwrap_or_else(|| path.to_owned())
}

/// Refuses paths that would need quotes in a unit, and those that the units do not see.
fn check_path(name: &str, path: &Path) -> Result<()> {
    let text = path.to_str().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !path.is_absolute() || text == "/" || !text.chars().all(is_plain) || text.contains("..") {
        bail!(
            "{name} {}: only letters, digits and ._- may be in its names",
            path.display()
        );
    }
    if UNSEEN.iter().any(|folder| path.starts_with(folder)) {
        bail!(
            "{name} {} is in a folder of people or of temporary files, which the server does not see: put it elsewhere, such as into {PROJECT}",
            path.display()
        );
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Command;

    pub(in crate::commands::setup) fn answers(arguments: &[&str]) -> Result<Answers> {
        let cli = Cli::try_parse_from(["selvedge", "setup"].iter().chain(arguments))?;
        let Command::Setup(args) = &cli.command else {
            panic!("it is another command");
        };
        Answers::default().with_arguments(&cli, args)
    }

    #[test]
    fn prod_008_what_is_not_said_is_as_at_the_last_run() {
        let first = answers(&["--domain", "Shop.example.com", "--email", "ana@example.com"]).unwrap();
        let cli = Cli::try_parse_from(["selvedge", "setup", "--console-user", "ana"]).unwrap();
        let Command::Setup(args) = &cli.command else {
            panic!("it is another command");
        };
        let again = first.clone().with_arguments(&cli, args).unwrap();

        assert_eq!(first.domains, ["shop.example.com"]);
        assert_eq!(
            again,
            Answers {
                account: "ana".to_owned(),
                ..first
            }
        );
    }

    #[test]
    fn prod_008_an_empty_text_takes_an_answer_back() {
        let first = [
            "--domain",
            "a.example",
            "--email",
            "ana@a.example",
            "--smtp-url",
            "smtp://mail.example",
        ];
        let cli = Cli::try_parse_from([
            "selvedge",
            "setup",
            "--domain",
            "",
            "--email",
            "",
            "--smtp-url",
            "",
        ])
        .unwrap();
        let Command::Setup(args) = &cli.command else {
            panic!("it is another command");
        };

        let again = answers(&first).unwrap().with_arguments(&cli, args).unwrap();

        assert_eq!(again, Answers::default());
    }

    #[test]
    fn prod_008_a_mail_server_is_named_without_its_password() {
        let mail = |arguments: &[&str]| answers(arguments).map(|answers| answers.mail.unwrap());
        let named = mail(&[
            "--domain",
            "a.example",
            "--smtp-url",
            "smtp://ana%40b.example@mail.example",
        ])
        .unwrap();

        assert_eq!((named.host.as_str(), named.port), ("mail.example", 587));
        assert_eq!(named.user.as_deref(), Some("ana@b.example"));
        assert_eq!(named.from, "no-reply@a.example");
        let with_tls = mail(&["--smtp-url", "smtps://mail.example", "--mail-from", "a@b.example"]).unwrap();
        assert_eq!((with_tls.port, with_tls.user), (465, None));
        for refused in [
            "smtp://ana:hunter2@mail.example",
            "mail.example:587",
            "http://mail.example",
        ] {
            let error = mail(&["--domain", "a.example", "--smtp-url", refused])
                .unwrap_err()
                .to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn prod_008_a_path_is_followed_as_far_as_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("disk")).unwrap();
        std::os::unix::fs::symlink("disk", base.join("var")).unwrap();

        assert_eq!(
            follow_links(&base.join("var/lib/home")),
            base.join("disk/lib/home")
        );
        assert_eq!(follow_links(&base.join("none/home")), base.join("none/home"));
    }

    #[test]
    fn prod_008_nothing_is_written_that_a_unit_or_a_shell_would_read_otherwise() {
        for refused in [
            ["--email", "a\"@b.example"],
            ["--email", "$(id)@b.example"],
            ["--domain", "a.example\nUser=root"],
            ["--project", "/srv/my app"],
            ["--project", "/srv/%n"],
            ["--project", "/root/app"],
            ["--data-dir", "/home/ana/data"],
            ["--data-dir", "/srv/app/data"],
            ["--data-dir", "/"],
            ["--data-dir", "/var/tmp/data"],
            ["--project", "/run/app"],
            ["--data-dir", "/var/lib/selvedge-programs"],
            ["--data-dir", "/etc/selvedge/trust"],
            ["--data-dir", "/var/lib"],
            ["--project", "/var/lib/selvedge-programs/app"],
            ["--console-user", ""],
        ] {
            assert!(answers(&refused).is_err(), "{refused:?}");
        }
        assert!(answers(&["--project", "/srv/shop-2.x"]).is_ok());
    }
}
