//! `selvedge db diff`: the statements that lead from the project's migrations to the database.
//!
//! The migrations are applied to a shadow database. The comparison is made by the Supabase CLI of the project (npm
//! `supabase`), whose library for it, pg-delta, is kept by Supabase and needs no Docker when both databases are given.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use chrono::Utc;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use selvedge_config::Config;
use selvedge_database::addition_changes::{AdditionChange, compare_additions};
use selvedge_database::additions::list_additions;
use selvedge_database::dump_statements::{is_right_of_console, without_comments};
use selvedge_database::target::TargetDatabase;
use selvedge_database::{EMBEDDED_PASSWORD, embedded};
use selvedge_postgres::migrate::{create_migration, join_statements, replace_file, split_statements};
use selvedge_project_files::find_packages;
use selvedge_project_trust::{CLI, Program, check_place, list_refused, write_private_file};
use selvedge_terminal::{GOOD, print_text};
use tokio_postgres::Config as Login;
use tokio_postgres::config::{Host, SslMode};
use url::Url;

use super::shadow::Shadow;
use crate::cli::DiffArgs;

/// Runs `selvedge db diff`.
///
/// # Errors
/// When the project does not run, a migration fails in the shadow database, or the Supabase CLI, whose library compares the
/// schemas, is not installed.
pub(super) async fn run(config: &Config, args: &DiffArgs) -> Result<()> {
    let database = TargetDatabase::find_required(config).await?;
    let statements = find_statements(config, &database, &args.schema).await?;
    if statements.trim().is_empty() {
        anstream::eprintln!("{GOOD}no difference{GOOD:#}");
        return Ok(());
    }
    match &args.file {
        None => print_text(&statements)?,
        Some(name) => {
            save_migration(config, name, &statements)?;
        }
    }
    Ok(())
}

/// The statements that lead from the project's migrations to the database; only for these schemas if any are named.
pub(super) async fn find_statements(
    config: &Config,
    database: &TargetDatabase,
    schemas: &[String],
) -> Result<String> {
    let cli = find_cli(config)?;
    let shadow = Shadow::start(config).await?;
    let compare = |target: &str| {
        let logins = write_password_file(shadow.folder(), &shadow.url(), target)?;
        run_comparison(&cli, schemas, &logins, shadow.folder())
    };
    let outcome = match database {
        TargetDatabase::Running(running) => running
            .url_for("postgres", EMBEDDED_PASSWORD)
            .context("the library that compares the schemas needs a TCP port of the running instance")
            .and_then(|target| compare(&target)),
        // As `postgres`, whoever the URL names.
        TargetDatabase::External(_) => database.with_login(|login| compare(&write_url(login)?)).await,
    };
    let changes = match (&outcome, schemas.is_empty()) {
        (Ok(_), true) => find_changes(&shadow, database).await,
        _ => Ok(Vec::new()),
    };
    shadow.remove().await?;
    keep_of_project(&outcome?, &changes?)
}

/// What has to be done to the project's additions to the platform's tables, see [`compare_additions`].
async fn find_changes(shadow: &Shadow, database: &TargetDatabase) -> Result<Vec<AdditionChange>> {
    let before = list_additions(&embedded::connect(&shadow.login()).await?).await?;
    let after = list_additions(&database.connect().await?).await?;
    Ok(compare_additions(&before, &after))
}

/// The statements of a comparison without the rights of the console's logins, and with those changes that it does not name.
fn keep_of_project(text: &str, changes: &[AdditionChange]) -> Result<String> {
    let statements = split_statements(text).context("the differences cannot be read")?;
    let is_of_console = |statement: &str| is_right_of_console(without_comments(statement));
    let mut kept = text.to_owned();
    if statements.iter().any(|statement| is_of_console(statement.text)) {
        let others: Vec<&str> = statements
            .iter()
            .map(|statement| statement.text.trim())
            .filter(|statement| !is_of_console(statement))
            .collect();
        kept = join_statements(&others);
    }
    let is_named = |change: &AdditionChange| {
        statements
            .iter()
            .any(|statement| change.is_named_in(statement.text))
    };
    let lacking: Vec<&str> = changes
        .iter()
        .filter(|change| !is_named(change))
        .flat_map(|change| change.statements.iter().map(String::as_str))
        .collect();
    if lacking.is_empty() {
        return Ok(kept);
    }
    if !kept.is_empty() && !kept.ends_with("\n\n") {
        kept.push('\n');
    }
    Ok(kept + &join_statements(&lacking))
}

/// The URL of a login to one host, with its password.
fn write_url(login: &Login) -> Result<String> {
    let [Host::Tcp(host)] = login.get_hosts() else {
        bail!("the library that compares the schemas needs an address of one host");
    };
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    // An address of IPv6 has brackets in URLs.
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.clone()
    };
    let password = login
        .get_password()
        .map(String::from_utf8_lossy)
        .unwrap_or_default();
    let mut url = format!(
        "postgresql://{}:{}@{host}:{}/{}",
        encode(login.get_user().unwrap_or("postgres")),
        encode(&password),
        login.get_ports().first().unwrap_or(&5432),
        encode(login.get_dbname().unwrap_or("postgres")),
    );
    let mode = match login.get_ssl_mode() {
        SslMode::Disable => "disable",
        SslMode::Require => "require",
        _ => "prefer",
    };
    url += &format!("?sslmode={mode}");
    // Such as the role as which the session begins.
    if let Some(options) = login.get_options().filter(|options| !options.is_empty()) {
        url += &format!("&options={}", encode(options));
    }
    Ok(url)
}

/// Writes a new migration with these statements.
pub(super) fn save_migration(config: &Config, name: &str, statements: &str) -> Result<PathBuf> {
    let folder = embedded::migrations_folder(config);
    check_place(&config.project, &folder)?;
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let time = Utc::now().format("%Y%m%d%H%M%S").to_string();
    let path = create_migration(&folder, &time, name)?;
    replace_file(&path, statements)?;
    anstream::println!("{GOOD}created{GOOD:#} {}", path.display());
    Ok(path)
}

/// Two URLs without passwords, and the file from which libpq's rules take these (`PGPASSFILE`).
struct Endpoints {
    source: String,
    target: String,
    passwords: PathBuf,
}

/// Puts the passwords of two URLs into a file that only this user can read: every user of the machine can read a program's arguments.
fn write_password_file(folder: &Path, source: &str, target: &str) -> Result<Endpoints> {
    let passwords = folder.join("passwords");
    let (source, of_source) = take_password(source)?;
    let (target, of_target) = take_password(target)?;
    write_private_file(&passwords, &format!("{of_source}\n{of_target}"))
        .with_context(|| format!("cannot write {}", passwords.display()))?;
    Ok(Endpoints {
        source,
        target,
        passwords,
    })
}

/// Splits a URL into one without a password, and the line of a password file with it. The line is for every database and host of this
/// port and user, because names of hosts may be written in several ways.
fn take_password(url: &str) -> Result<(String, String)> {
    let mut url = Url::parse(url).context("the address of the database is not a URL with one host")?;
    let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut password = decode(url.password().unwrap_or_default());
    let parameters: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    if parameters.iter().any(|(name, _)| name == "password") {
        url.set_query(None);
        for (name, value) in parameters {
            match name.as_str() {
                "password" => password = value,
                _ => drop(url.query_pairs_mut().append_pair(&name, &value)),
            }
        }
    }
    let user = decode(url.username());
    // A URL without a host has no password either, and needs no line.
    url.set_password(None).ok();
    let escape = |text: &str| text.replace('\\', "\\\\").replace(':', "\\:");
    let line = format!(
        "*:{}:*:{}:{}",
        url.port().unwrap_or(5432),
        escape(&user),
        escape(&password)
    );
    Ok((url.to_string(), line))
}

fn run_comparison(cli: &Path, schemas: &[String], logins: &Endpoints, folder: &Path) -> Result<String> {
    let file = folder.join("diff.sql");
    // Not what npm has put into .bin for it: that may be another file.
    let mut command = Command::new("node");
    command
        .arg(cli)
        .args([
            "db",
            "diff",
            "--from",
            &logins.source,
            "--to",
            &logins.target,
            "--output",
        ])
        .arg(&file)
        .arg("--workdir")
        .arg(folder);
    if !schemas.is_empty() {
        command.args(["--schema", &schemas.join(",")]);
    }
    command.env("PGPASSFILE", &logins.passwords);
    // Without these it looks for a newer version of itself and sends usage statistics.
    command
        .env("SUPABASE_TELEMETRY_DISABLED", "1")
        .env("DO_NOT_TRACK", "1");
    let output = command
        .output()
        .with_context(|| format!("node cannot be run, which runs {}", cli.display()))?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    match std::fs::read_to_string(&file) {
        Ok(statements) => Ok(statements),
        // When the databases are equal, the CLI writes no file.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).context("the differences cannot be read"),
    }
}

/// The stock CLI in the `node_modules` of the project or of a folder above it.
///
/// # Errors
/// When there is none, or a stranger may have brought it with the project.
fn find_cli(config: &Config) -> Result<PathBuf> {
    let packages = find_packages(&config.project.folder, &[CLI]).into_iter();
    let cli = packages
        .map(|package| package.join("dist/supabase.js"))
        .find(|program| program.is_file())
        .context(
            "db diff compares with the library of the Supabase CLI: install it in the project with  npm i -D supabase",
        )?;
    let refused = list_refused(config, Program::Cli);
    if let Some(reason) = refused.iter().find_map(|refused| refused.explain(&cli)) {
        bail!("{reason}");
    }
    Ok(cli)
}

#[cfg(test)]
mod tests {
    use selvedge_database::additions::Addition;

    use super::*;

    #[test]
    fn a_comparison_has_no_rights_of_the_console_and_what_was_added_to_the_platforms_tables() {
        let text = "CREATE TABLE public.t (id int);\n\n-- Risk: none\nGRANT SELECT ON public.t TO selvedge_console_reader;\n\
                    CREATE POLICY \"mine\" ON \"storage\".\"objects\" FOR SELECT USING (true);";
        let addition = |make: &str, remove: &str| Addition {
            make: make.to_owned(),
            remove: remove.to_owned(),
        };
        let added = [
            addition(
                "create policy mine on storage.objects as permissive for select to public using (true)",
                "drop policy mine on storage.objects",
            ),
            addition(
                "CREATE TRIGGER t AFTER INSERT ON auth.users FOR EACH ROW EXECUTE FUNCTION public.f()",
                "drop trigger t on auth.users",
            ),
        ];

        let kept = keep_of_project(text, &compare_additions(&[], &added)).unwrap();

        assert!(!kept.contains("selvedge_console"), "{kept}");
        assert_eq!(kept.to_lowercase().matches("create policy").count(), 1, "{kept}");
        assert!(
            kept.contains("CREATE TABLE") && kept.contains("EXECUTE FUNCTION public.f();"),
            "{kept}"
        );
        assert_eq!(keep_of_project("", &[]).unwrap(), "");
    }

    #[test]
    fn passwords_are_taken_out_of_urls_into_lines_of_a_password_file() {
        let taken = |url: &str| take_password(url).unwrap();

        assert_eq!(
            taken("postgresql://u%40x:p%3A%5Cw@db:6543/app?sslmode=require"),
            (
                "postgresql://u%40x@db:6543/app?sslmode=require".to_owned(),
                r"*:6543:*:u@x:p\:\\w".to_owned()
            )
        );
        assert_eq!(
            taken("postgresql://u@db/app?password=secret&sslmode=require"),
            (
                "postgresql://u@db/app?sslmode=require".to_owned(),
                "*:5432:*:u:secret".to_owned()
            )
        );
    }

    #[test]
    fn a_login_becomes_a_url_with_its_role_and_encoded_parts() {
        let login: Login = "postgresql://u:p%40@db:6543/app?sslmode=require&options=-c%20role%3Dpostgres"
            .parse()
            .unwrap();

        let url = write_url(&login).unwrap();

        assert_eq!(
            url,
            "postgresql://u:p%40@db:6543/app?sslmode=require&options=%2Dc%20role%3Dpostgres"
        );
        assert_eq!(url.parse::<Login>().unwrap(), login);
    }

    #[test]
    fn arguments_of_the_comparison_hold_no_password() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cli.js");
        std::fs::write(
            &program,
            "const [, , ...parts] = process.argv;
             const file = parts[parts.indexOf('--output') + 1];
             require('node:fs').writeFileSync(file, parts.join('\\n'));",
        )
        .unwrap();
        let logins = write_password_file(
            folder.path(),
            "postgresql://postgres:postgres@127.0.0.1:1/postgres",
            "postgresql://u:s3cret@db/app",
        )
        .unwrap();

        let arguments = run_comparison(&program, &[], &logins, folder.path()).unwrap();

        assert!(arguments.contains("postgresql://u@db/app"), "{arguments}");
        assert!(!arguments.contains("s3cret"), "{arguments}");
        let kept = std::fs::read_to_string(&logins.passwords).unwrap();
        assert_eq!(kept, "*:1:*:postgres:postgres\n*:5432:*:u:s3cret\n");
    }
}
