//! The program called as `supabase`, so that scripts written for the Supabase CLI run unchanged.
//!
//! Commands and flags have the CLI's names under both names of the program. Under this one, `start` returns when everything
//! runs, `--version` prints the version of the supported CLI, and an unknown command exits with 1.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use super::{Cli, Command};

/// The name of the Supabase CLI's program.
const STOCK_NAME: &str = "supabase";

/// The CLI whose commands are answered.
const STOCK_VERSION: &str = "3.1.0";

/// Flags that every command of the Supabase CLI accepts and that have no effect here, and whether a value follows.
const GLOBAL_FLAGS: [(&str, bool); 7] = [
    ("--debug", false),
    ("--experimental", false),
    ("--agent", true),
    ("--dns-resolver", true),
    ("--log-level", true),
    ("--network-id", true),
    ("--profile", true),
];

/// Whether the program is called by the CLI's name, by a link or a copy.
fn is_stock_name(program: &OsStr) -> bool {
    Path::new(program)
        .file_stem()
        .is_some_and(|name| name == STOCK_NAME)
}

fn is_called_as_stock(arguments: &[OsString]) -> bool {
    arguments.first().is_some_and(|program| is_stock_name(program))
}

/// Parses the arguments of this process; prints and ends where there is nothing to run.
pub(crate) fn parse_arguments() -> Cli {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match parse(&arguments) {
        Ok(cli) => cli,
        Err(error) if is_unknown_to_us(&arguments, &error) => {
            anstream::eprintln!(
                "{error}  Selvedge answers to the names of the Supabase CLI, but does not have this."
            );
            std::process::exit(1);
        }
        // Compat: the CLI prints the number alone, and scripts compare it.
        Err(error) if error.kind() == ErrorKind::DisplayVersion && is_called_as_stock(&arguments) => {
            println!("{STOCK_VERSION}");
            std::process::exit(0);
        }
        Err(error) => error.exit(),
    }
}

fn is_unknown_to_us(arguments: &[OsString], error: &clap::Error) -> bool {
    is_called_as_stock(arguments)
        && matches!(
            error.kind(),
            ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument
        )
}

fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    if !is_called_as_stock(arguments) {
        return parse_with(Cli::command(), arguments);
    }
    let definition = || Cli::command().name(STOCK_NAME);
    let mut arguments = remove_global_flags(arguments);
    let mut parsed = parse_with(definition(), &arguments);
    // Every command of the Supabase CLI accepts `--yes`, but here only commands that ask a question do.
    if parsed.is_err() && arguments.iter().any(|argument| argument == "--yes") {
        arguments.retain(|argument| argument != "--yes");
        parsed = parse_with(definition(), &arguments);
    }
    let mut cli = parsed?;
    cli.is_called_as_stock = true;
    if let Command::Start(start) = &mut cli.command {
        start.detach = true;
    }
    Ok(cli)
}

fn parse_with(definition: clap::Command, arguments: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&definition.try_get_matches_from(arguments)?)
}

fn remove_global_flags(arguments: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let (name, has_value) = text
            .split_once('=')
            .map_or((&*text, false), |(name, _)| (name, true));
        match GLOBAL_FLAGS.iter().find(|(flag, _)| *flag == name) {
            Some((_, takes_value)) => {
                if *takes_value && !has_value {
                    rest.next();
                }
            }
            None => kept.push(argument.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::MigrateAction;

    fn parse_words(words: &str) -> Result<Cli, clap::Error> {
        parse(&words.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn gw_032_start_detaches_only_under_the_name_of_the_cli() {
        let detaches = |words| match parse_words(words).unwrap().command {
            Command::Start(args) => args.detach,
            _ => false,
        };

        assert!(detaches(
            "/usr/bin/supabase start -x studio,imgproxy --ignore-health-check"
        ));
        assert!(!detaches("selvedge start"));
        assert!(detaches("selvedge start --detach"));
    }

    #[test]
    fn gw_032_database_url_of_the_process_does_not_count_under_the_name_of_the_cli() {
        let ignores = |words| parse_words(words).unwrap().flags().ignores_database_of_process;

        assert!(ignores("supabase db push"));
        assert!(!ignores("supabase db push --external"));
        assert!(!ignores("selvedge db push"));
    }

    #[test]
    fn gw_032_words_of_the_cli_are_understood() {
        for words in [
            "supabase start --debug",
            "supabase --experimental --network-id=net start --yes",
            "supabase stop --no-backup",
            "supabase stop --project-id cli",
            "supabase status -o env --workdir .",
            "supabase db reset --no-seed",
            "supabase db reset --version 20240101000000",
            "supabase db push --include-seed --yes",
            "supabase db dump --data-only -f dump.sql",
            "supabase db diff -f add_likes",
            "supabase db start",
            "supabase migration new add_likes",
            "supabase migration up --local",
            "supabase migration repair 20240101000000 --status applied",
            "supabase init --force",
            "supabase test db",
            "supabase test new likes --template pgtap",
            "supabase functions new hello",
            "supabase functions serve --env-file .env --no-verify-jwt --debug",
            "supabase seed buckets",
            "supabase db pull --linked",
            "supabase migration list --linked",
            "supabase link --project-ref abcdefghijklmnopqrst -p secret",
            "supabase unlink",
            "supabase db lint --level error --fail-on error",
            "supabase migration squash --version 20240101000000",
            "supabase inspect db table-sizes --local",
            "supabase inspect report --output-dir .",
            "supabase gen types typescript --local",
            "supabase gen types --lang typescript --schema public,api --db-url postgresql://localhost/app",
        ] {
            assert!(parse_words(words).is_ok(), "{words}");
        }
        assert!(matches!(
            parse_words("supabase migration down --yes --dns-resolver https").unwrap().command,
            Command::Migrate(args) if matches!(&args.action, MigrateAction::Down(down) if down.yes.is_some())
        ));
        assert!(parse_words("selvedge start --debug").is_err());
        let unknown = parse_words("supabase branches list").unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::InvalidSubcommand);
    }
}
