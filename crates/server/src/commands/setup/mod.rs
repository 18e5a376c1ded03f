//! `selvedge setup`: makes this machine a production server, by a plan of steps that is data. `--dry-run` prints it, a second run makes what is
//! missing, and `--uninstall` takes it back from its end.

mod access;
mod answers;
pub(super) mod as_server;
mod files;
mod folder;
mod machine;
mod packages;
mod places;
mod plan;
mod ports;
mod process;
mod public_name;
mod ready;
mod record;
mod step;
mod undo;
mod variables;

use std::io::{BufRead as _, ErrorKind, IsTerminal as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use nix::sys::stat::{Mode, umask};
use nix::unistd::geteuid;
use secrecy::SecretString;
use selvedge_postgres::cluster::LockPurpose;

use self::access::{Reader, check_access, list_open_secrets};
use self::answers::Answers;
use self::files::SMTP_PASSWORD;
use self::machine::Machine;
use self::places::{BACKUPS, CREDENTIALS, LOCAL_SETTINGS, POSTGRES_UNIT, PROGRAM, RECORD, SERVER_UNIT};
use self::plan::{Secrets, list_settings, make_plan};
use self::ports::check_ports;
use self::record::Record;
use self::step::Step;
use self::undo::Undo;
use self::variables::read_local_settings;
use super::laptop_values::list_laptop_values;
use super::prompt::ask_secret;
use crate::cli::{Cli, SetupArgs};
use crate::config::{Config, Environment, Flags, Project};
use crate::output::{BOLD, DIM, GOOD, LINK, WARN};

/// So many files of one kind are named at most.
const MOST_WARNINGS: usize = 5;
/// Names the file with the mail server's password.
const PASSWORD_FILE: &str = "SMTP_PASSWORD_FILE";

/// Runs `selvedge setup`.
///
/// # Errors
/// When the machine cannot be set up, somebody else's file is in the way, or a step fails: what was made until then stays, and another run
/// goes on.
pub(super) async fn run(cli: &Cli, args: &SetupArgs) -> Result<()> {
    let mut record = Record::read(Path::new(RECORD))?;
    if args.uninstall {
        return uninstall(record, args);
    }
    let asks = !args.yes && !args.dry_run && std::io::stdin().is_terminal();
    let asked;
    let args = if asks && record.made.is_empty() {
        asked = ask(args)?;
        &asked
    } else {
        args
    };
    let answers = record.answers.clone().with_arguments(cli, args)?;
    check_home(&answers, &record)?;
    let machine = Machine::examine(&answers, &record)?;
    let secrets = Secrets {
        mail: find_mail_password(&answers, &machine, args, asks)?,
        account: make_password(),
    };
    let (settings, config) = find_settings(&answers)?;
    let steps = make_plan(&answers, &machine, &settings, &secrets);
    if args.dry_run {
        print_plan(&steps);
        return Ok(());
    }
    check(&answers, &machine, &config, &steps, &record)?;
    if machine.program == Path::new(PROGRAM) && !record.made.contains(&Undo::File(PROGRAM.into())) {
        record.has_program_of_people = true;
    }
    if !record.made.is_empty() && record.answers.home != answers.home {
        record.owe_restarts(&[POSTGRES_UNIT, SERVER_UNIT])?;
    }
    if !machine.has_password {
        forget_mail_password()?;
    }
    record.keep_answers(&answers)?;
    let made_account = make(&steps, &mut record)?;
    public_name::examine(&answers).await;
    warn_of_open_secrets(&answers);
    warn_of_old_postgres()?;
    print_summary(&answers, made_account);
    Ok(())
}

/// Looks whether all of it can work, before anything is changed.
fn check(
    answers: &Answers,
    machine: &Machine,
    config: &Config,
    steps: &[Step],
    record: &Record,
) -> Result<()> {
    if !geteuid().is_root() {
        bail!(
            "`selvedge setup` changes this machine, so it must run as root\n  to see what it would do:  selvedge setup --dry-run"
        );
    }
    // What is made has the modes that are printed, whatever the caller's shell takes away from them.
    umask(Mode::S_IWGRP | Mode::S_IWOTH);
    machine.check()?;
    check_access(answers, config, &Reader::of_server()?)?;
    check_ports(config)?;
    steps.iter().try_for_each(|step| step.check(record))
}

/// Refuses a second data folder beside one that has data: the server would begin with an empty database.
fn check_home(answers: &Answers, record: &Record) -> Result<()> {
    let (old, new) = (&record.answers.home, &answers.home);
    let has_data = || std::fs::read_dir(old).is_ok_and(|mut entries| entries.next().is_some());
    if record.made.is_empty() || old == new || !has_data() {
        return Ok(());
    }
    bail!(
        "this machine's server has its data in {old}, and would begin an empty database in {new}. Nothing was changed\n  to move the data:  \
         systemctl stop selvedge selvedge-postgres && mv {old} {new}, and then this command again",
        old = old.display(),
        new = new.display()
    )
}

/// Makes what is missing. Returns whether the console's account was made.
fn make(steps: &[Step], record: &mut Record) -> Result<bool> {
    let mut made_account = false;
    for step in steps {
        let title = step.title();
        let explain = || {
            format!(
                "{title}: what was made before it stays; mend the cause and run `selvedge setup` again, or with --uninstall"
            )
        };
        if step.is_done(record).with_context(explain)? {
            anstream::println!("  {DIM}there already  {title}{DIM:#}");
            continue;
        }
        if let Some(undo) = step.undo().with_context(explain)? {
            record.add(undo)?;
        }
        record.owe_restarts(step.units_to_restart())?;
        step.apply(record).with_context(explain)?;
        if let Step::Service { unit, .. } = step {
            record.has_restarted(unit)?;
        }
        made_account |= matches!(step, Step::Account { .. });
        anstream::println!("  {GOOD}done{GOOD:#}           {title}");
    }
    Ok(made_account)
}

fn warn_of_open_secrets(answers: &Answers) {
    for path in list_open_secrets(&answers.project).iter().take(MOST_WARNINGS) {
        warn(&format!(
            "everybody on this machine may read {0}:  chmod o-rwx {0}",
            path.display()
        ));
    }
}

/// Says so where PostgreSQL runs with another unit or program than is there now: a restart ends its sessions, so people choose the time.
fn warn_of_old_postgres() -> Result<()> {
    let words = [
        "systemctl",
        "show",
        "--timestamp=unix",
        "--property=ActiveEnterTimestamp",
        "--value",
        POSTGRES_UNIT,
    ];
    let shown = process::Command::new(&words).print()?;
    let Some(begun) = shown
        .trim()
        .strip_prefix('@')
        .and_then(|text| text.parse::<i64>().ok())
    else {
        return Ok(());
    };
    let unit = plan::unit_file(POSTGRES_UNIT);
    let is_newer = |path: &str| Path::new(path).metadata().is_ok_and(|meta| meta.mtime() > begun);
    if [unit.as_str(), PROGRAM].into_iter().any(is_newer) {
        warn(
            "PostgreSQL goes on with the unit and the program that it was started with\n  at a quiet moment:  systemctl restart \
             selvedge-postgres",
        );
    }
    Ok(())
}

fn warn(text: &str) {
    anstream::println!("  {WARN}warning{WARN:#}        {text}");
}

fn print_plan(steps: &[Step]) {
    for step in steps {
        anstream::println!("{BOLD}{}{BOLD:#}", step.title());
        for line in step.details().lines() {
            anstream::println!("    {line}");
        }
    }
}

/// Takes back what was made, the last first.
fn uninstall(mut record: Record, args: &SetupArgs) -> Result<()> {
    if record.made.is_empty() {
        bail!("{RECORD} names nothing that `selvedge setup` has made on this machine");
    }
    if args.dry_run {
        for undo in record.made.iter().rev() {
            anstream::println!("remove {undo}");
        }
        return Ok(());
    }
    if !geteuid().is_root() {
        bail!("`selvedge setup --uninstall` must run as root");
    }
    if !args.yes
        && std::io::stdin().is_terminal()
        && !confirm("Stop the server and remove it? Its data stay [y/N] ")?
    {
        bail!("nothing was changed");
    }
    while let Some(undo) = record.made.last() {
        let homes = record.homes.iter().map(PathBuf::as_path);
        let kept = homes.chain([Path::new(BACKUPS)]).find(|folder| folder.exists());
        let stays = match (undo, kept) {
            // Whoever is made next may get its number, and with that its files.
            (Undo::User(name), Some(kept)) => {
                Some(format!("the user {name} stays, as {} is its", kept.display()))
            }
            (undo, _) => undo.apply()?,
        };
        match stays {
            Some(stays) => anstream::println!("  {WARN}stays{WARN:#}    {stays}"),
            None => anstream::println!("  {GOOD}removed{GOOD:#}  {undo}"),
        }
        record.forget_last()?;
    }
    process::Command::new(&["systemctl", "daemon-reload"])
        .may_fail()
        .run()?;
    record.remove();
    Ok(())
}

/// Asks at the terminal for what the arguments do not say.
fn ask(args: &SetupArgs) -> Result<SetupArgs> {
    let mut asked = args.clone();
    if asked.domains.is_empty() {
        asked.domains =
            ask_line("Domain of the server, such as api.example.com (empty: none, and no HTTPS): ")?
                .into_iter()
                .collect();
    }
    if asked.email.is_none() && !asked.domains.is_empty() {
        asked.email = ask_line("Address to which the certificate authority writes (may be empty): ")?;
    }
    if asked.smtp_url.is_none() {
        asked.smtp_url = ask_line("Mail server, as smtp://USER@HOST:587 (empty: none, and no mail): ")?;
    }
    if asked.smtp_url.is_some() && asked.mail_from.is_none() && asked.domains.is_empty() {
        asked.mail_from = ask_line("Sender of mails: ")?;
    }
    Ok(asked)
}

fn ask_line(question: &str) -> Result<Option<String>> {
    anstream::eprint!("{question}");
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .context("standard input cannot be read")?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

fn confirm(question: &str) -> Result<bool> {
    let answer = ask_line(question)?;
    Ok(answer.is_some_and(|answer| ["y", "yes"].contains(&answer.to_ascii_lowercase().as_str())))
}

/// The mail server's password, where one is needed and was not kept before.
fn find_mail_password(
    answers: &Answers,
    machine: &Machine,
    args: &SetupArgs,
    asks: bool,
) -> Result<Option<SecretString>> {
    let environment = Environment::of_process();
    if let Some(path) = environment.get(PASSWORD_FILE) {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{PASSWORD_FILE}: cannot read {path}"))?;
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            bail!("{PASSWORD_FILE}: {path} is empty");
        }
        return Ok(Some(text.to_owned().into()));
    }
    let Some((host, Some(user))) = answers.mail_login() else {
        return Ok(None);
    };
    match machine.has_password {
        true if !asks || args.smtp_url.is_none() => Ok(None),
        _ if asks => Ok(Some(ask_secret(&format!(
            "Password of {user} at the mail server {host}: "
        ))?)),
        // It is not printed, and the file is among what is.
        _ if args.dry_run => Ok(Some(String::new().into())),
        _ => bail!(
            "the password of {user} at the mail server {host} is missing: name a file with it by {PASSWORD_FILE}"
        ),
    }
}

/// Removes the password of another mail server or user, before the answers name this one: a run that is cut off then leaves none to be sent
/// to the wrong one.
fn forget_mail_password() -> Result<()> {
    let path = Path::new(CREDENTIALS).join(SMTP_PASSWORD);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("cannot remove {}", path.display())),
    }
}

/// The server's variables, and its configuration with them. A project and answers that cannot be served are refused before anything is
/// changed. The environment of whoever runs this is not the server's.
fn find_settings(answers: &Answers) -> Result<(Vec<(String, String)>, Config)> {
    let project = find_project(&answers.project)?;
    // Those of people win. Whoever may not read them sees a plan without them.
    let local = match geteuid().is_root() {
        true => read_local_settings()?,
        false => Vec::new(),
    };
    let load = |settings: &[(String, String)]| {
        let flags = Flags {
            data_dir: Some(answers.home.clone()),
            purpose: LockPurpose::server(LockPurpose::SERVE),
            ..Flags::default()
        };
        let variables = [settings, &local].concat();
        let environment = Environment::load_elsewhere(&variables, &project.folder, "production")
            .map_err(|reason| anyhow!(reason))?;
        let loaded = Config::load_project(find_project(&answers.project)?, environment, &flags)?;
        Ok::<_, anyhow::Error>(loaded.config)
    };
    let config = load(&[])?;
    let sends_mail = answers.mail.is_some() || config.auth.email.smtp.is_some();
    let laptop = list_laptop_values(&config, answers.url().as_deref(), sends_mail);
    let settings = list_settings(answers, &laptop);
    let config = load(&settings)?;
    Ok((settings, config))
}

/// The project, or an empty one where the folder is still to be made.
fn find_project(folder: &Path) -> Result<Project> {
    if folder.is_dir() {
        return Project::find(Some(folder), Path::new("/")).map_err(|reason| anyhow!(reason));
    }
    Ok(Project {
        folder: folder.to_owned(),
        repository: folder.to_owned(),
        id: folder
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        file: None,
    })
}

fn make_password() -> SecretString {
    let mut random = [0; 15];
    getrandom::fill(&mut random).expect("the operating system has random bytes");
    hex::encode(random).into()
}

fn print_summary(answers: &Answers, made_account: bool) {
    let home = answers.home.display();
    let url = answers
        .url()
        .unwrap_or_else(|| format!("http://{}:54321", public_name::own_address()));
    anstream::println!("\n{BOLD}The server runs, and starts with the machine.{BOLD:#}");
    anstream::println!("  API       {LINK}{url}{LINK:#}");
    anstream::println!(
        "  Console   {LINK}http://127.0.0.1:54323{LINK:#} on this machine; from yours:  ssh -L 54323:127.0.0.1:54323 HOST"
    );
    let account = &answers.account;
    match made_account {
        true => anstream::println!("            as {account}, with the password above"),
        false => anstream::println!(
            "            as {account}; for another password:  sudo selvedge-server console user remove {account}, and then  console user add \
             {account} --level admin"
        ),
    }
    anstream::println!(
        "  Commands  sudo selvedge-server keys | status | doctor | migrate up | backup NAME.tar (in {BACKUPS}) | …"
    );
    anstream::println!("  Settings  {LOCAL_SETTINGS}, then:  systemctl restart selvedge");
    anstream::println!("  Logs      journalctl -u selvedge -u selvedge-postgres");
    anstream::println!(
        "\nKeep a copy of {home}/keys.json and {home}/vault.key elsewhere: they are in no backup."
    );
}
