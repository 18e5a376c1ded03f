//! `selvedge setup`: makes this machine a production server, by a plan of steps that is data. `--dry-run` prints it, a second run makes what is
//! missing, and `--uninstall` takes it back from its end.

mod access;
mod access_list;
mod answers;
pub(super) mod as_server;
mod files;
mod folder;
mod homes;
mod machine;
mod mail_password;
mod packages;
mod places;
mod plan;
mod ports;
mod process;
mod public_name;
mod ready;
mod record;
mod report;
mod running;
mod step;
mod target;
mod undo;
mod uninstall;
mod variables;

use std::fs::File;
use std::io::{BufRead as _, IsTerminal as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::stat::{Mode, umask};
use nix::unistd::geteuid;
use secrecy::SecretString;
use selvedge_config::{Config, Environment, Flags};
use selvedge_doctor::list_laptop_values;
use selvedge_postgres::cluster::{LockPurpose, is_production_home};
use selvedge_terminal::{BOLD, DIM, GOOD, LINK, show_foreign, show_foreign_text};

use self::access::{Reader, check_access, is_open, list_open_secrets};
use self::answers::Answers;
use self::machine::Machine;
use self::places::{BACKUPS, LOCAL_SETTINGS, POSTGRES_UNIT, PROGRAM, RECORD, SERVER_UNIT};
use self::plan::{Secrets, list_settings, make_plan};
use self::ports::check_ports;
use self::record::Record;
use self::report::warn;
use self::step::Step;
use self::undo::Undo;
use self::variables::read_local_settings;
use crate::cli::{Cli, SetupArgs};

/// So many files of one kind are named at most.
const MOST_WARNINGS: usize = 5;
/// Of one run at a time: two would overwrite each other's record.
const LOCK: &str = "/run/selvedge-setup.lock";

/// Runs `selvedge setup`.
///
/// # Errors
/// When the machine cannot be set up, somebody else's file is in the way, or a step fails: what was made until then stays, and another run
/// goes on.
pub(super) async fn run(cli: &Cli, args: &SetupArgs) -> Result<()> {
    let _lock = match geteuid().is_root() && !args.dry_run {
        true => Some(lock()?),
        false => None,
    };
    let mut record = Record::read(Path::new(RECORD))?;
    if args.uninstall {
        return uninstall::uninstall(record, args);
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
    homes::check_home(&answers, &record, args.new_database)?;
    target::check_project(&answers, cli.project.is_some(), !record.served.is_empty())?;
    let config_file = target::find_project(&answers.project)?.file;
    target::check_config_file(
        config_file.as_deref(),
        record.config_file.as_deref(),
        &answers.project,
    )?;
    let machine = Machine::examine(&answers, &record)?;
    let secrets = Secrets {
        mail: mail_password::find(&answers, &machine, args, asks)?,
        account: make_password(),
    };
    let (settings, config) = find_settings(&answers)?;
    let steps = make_plan(&answers, &machine, &settings, &secrets);
    if args.dry_run {
        print_plan(&steps);
        return Ok(());
    }
    check(&answers, &machine, &config, &steps, &record)?;
    record.config_file = config_file;
    prepare(&answers, &machine, &mut record)?;
    let made_account = make_missing(&steps, &mut record)?;
    public_name::examine(&answers).await;
    warn_of_open_secrets(&answers, &config);
    warn_of_old_postgres()?;
    print_summary(&answers, made_account);
    Ok(())
}

fn lock() -> Result<Flock<File>> {
    let file = File::create(LOCK).with_context(|| format!("cannot write {LOCK}"))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock)
        .map_err(|_| anyhow!("another `selvedge setup` runs on this machine: wait until it has ended"))
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
    running::refuse_older_program(&machine.program)?;
    target::check_holder(config)?;
    target::check_database(config)?;
    check_access(answers, config, &Reader::of_server()?)?;
    check_ports(config)?;
    steps.iter().try_for_each(|step| step.check(record))
}

/// Notes what this run changes before its steps: what they owe to which unit, and what is forgotten.
fn prepare(answers: &Answers, machine: &Machine, record: &mut Record) -> Result<()> {
    if machine.program == Path::new(PROGRAM) && !record.made.contains(&Undo::File(PROGRAM.into())) {
        record.has_program_of_people = true;
    }
    if !record.made.is_empty() && record.answers.home != answers.home {
        record.owe_restarts(&[POSTGRES_UNIT, SERVER_UNIT])?;
    }
    if running::runs_old_program(SERVER_UNIT)? {
        record.owe_restarts(&[SERVER_UNIT])?;
    }
    if !machine.has_password {
        mail_password::forget_password(record)?;
    }
    if !is_production_home(&answers.home) {
        record.forget_accounts(&answers.home);
    }
    record.keep_answers(answers)
}

/// Makes what is missing. Returns whether the console's account was made.
fn make_missing(steps: &[Step], record: &mut Record) -> Result<bool> {
    let mut made_account = false;
    for step in steps {
        let title = show_foreign(&step.title());
        let explain = || {
            format!(
                "{title}: what was made before it stays; mend the cause and run `selvedge setup` again, or with --uninstall"
            )
        };
        if step.is_done(record).with_context(explain)? {
            anstream::println!("  {DIM}there already  {title}{DIM:#}");
            if let Step::Account { name, .. } = step {
                record.note_account(name)?;
            }
            continue;
        }
        if step.is_slow() {
            anstream::println!("  {DIM}now            {title} …{DIM:#}");
        }
        if let Some(undo) = step.undo().with_context(explain)? {
            record.add(undo)?;
        }
        record.owe_restarts(step.units_to_restart())?;
        step.apply(record).with_context(explain)?;
        match step {
            Step::Service { unit, .. } => record.has_restarted(unit)?,
            Step::Ready(home) => record.note_served(home)?,
            Step::Account { name, .. } => {
                record.note_account(name)?;
                made_account = true;
            }
            _ => {}
        }
        anstream::println!("  {GOOD}done{GOOD:#}           {title}");
    }
    Ok(made_account)
}

fn warn_of_open_secrets(answers: &Answers, config: &Config) {
    let mut open = list_open_secrets(&answers.project);
    let others = config.environment_files.iter().map(PathBuf::as_path);
    let others = others.chain([Path::new(LOCAL_SETTINGS)]);
    open.extend(others.filter(|path| is_open(path)).map(Path::to_path_buf));
    open.sort();
    open.dedup();
    for path in open.iter().take(MOST_WARNINGS) {
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
    let is_newer = Path::new(&unit).metadata().is_ok_and(|meta| meta.mtime() > begun);
    if is_newer || running::runs_old_program(POSTGRES_UNIT)? {
        warn(
            "PostgreSQL goes on with the unit and the program that it was started with\n  at a quiet moment:  systemctl restart \
             selvedge-postgres",
        );
    }
    Ok(())
}

fn print_plan(steps: &[Step]) {
    for step in steps {
        anstream::println!("{BOLD}{}{BOLD:#}", show_foreign(&step.title()));
        for line in show_foreign_text(&step.details()).lines() {
            anstream::println!("    {line}");
        }
    }
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

/// The server's variables, and its configuration with them. A project and answers that cannot be served are refused before anything is
/// changed. The environment of whoever runs this is not the server's.
fn find_settings(answers: &Answers) -> Result<(Vec<(String, String)>, Config)> {
    let project = target::find_project(&answers.project)?;
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
        let loaded = Config::load_project(target::find_project(&answers.project)?, environment, &flags)?;
        Ok::<_, anyhow::Error>(loaded.config)
    };
    let config = load(&[])?;
    let sends_mail = answers.mail.is_some() || config.auth.email.smtp.is_some();
    let laptop = list_laptop_values(&config, answers.url().as_deref(), sends_mail);
    let settings = list_settings(answers, &laptop);
    let config = load(&settings)?;
    Ok((settings, config))
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
    anstream::println!("  Settings  {LOCAL_SETTINGS}, then:  systemctl reload selvedge");
    anstream::println!("  Logs      journalctl -u selvedge -u selvedge-postgres");
    anstream::println!(
        "\nKeep a copy of {home}/keys.json and {home}/vault.key elsewhere: they are in no backup."
    );
}
