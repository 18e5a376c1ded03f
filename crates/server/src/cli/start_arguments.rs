//! The arguments of `selvedge start` as words, for the process that `start --detach` and `db start` leave in the background.

use std::ffi::OsString;

use super::{RuntimeArgs, StartArgs};

/// Words of a command line.
#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    /// Adds a flag that is set.
    fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| name.into()));
    }

    /// Adds an option that has a value, as one word, as the value may look like an option.
    fn option(&mut self, name: &str, value: Option<impl Into<OsString>>) {
        if let Some(value) = value {
            let mut word = OsString::from(name);
            word.push("=");
            word.push(value.into());
            self.0.push(word);
        }
    }
}

impl StartArgs {
    /// `start` in the foreground with the same options. Made from what was understood, and not from the words that were typed: the
    /// same word may be a command, an option and the value of one.
    pub(crate) fn to_foreground_words(&self) -> Vec<OsString> {
        // Each is named, so that a new option is not forgotten here. The last ones have no effect.
        let Self {
            port,
            db_port,
            inbox_port,
            smtp_port,
            studio_port,
            no_studio,
            detach: _,
            pg_bin,
            require_keys,
            deno_bin,
            runtime:
                RuntimeArgs {
                    workers,
                    json_logs,
                    log,
                },
            exclude: _,
            ignore_health_check: _,
            yes: _,
        } = self;
        let mut words = Words(vec!["start".into()]);
        for (name, value) in [
            ("--port", port),
            ("--db-port", db_port),
            ("--inbox-port", inbox_port),
            ("--smtp-port", smtp_port),
            ("--studio-port", studio_port),
        ] {
            words.option(name, value.map(|value| value.to_string()));
        }
        words.flag("--no-studio", *no_studio);
        words.option("--pg-bin", pg_bin.as_ref());
        words.flag("--require-keys", *require_keys);
        words.option("--deno-bin", deno_bin.as_ref());
        words.option("--workers", workers.map(|workers| workers.to_string()));
        words.flag("--json-logs", *json_logs);
        words.option("--log", log.as_ref());
        words.0
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::cli::{Cli, Command, DbAction, StartArgs};

    fn parse(words: &str) -> StartArgs {
        let arguments = std::iter::once("selvedge").chain(words.split(' '));
        match Cli::try_parse_from(arguments).unwrap().command {
            Command::Start(args) => args,
            Command::Db(args) => match args.action {
                DbAction::Start(args) => *args,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn gw_032_what_starts_in_the_background_has_the_options_of_the_command() {
        let typed = "start --detach --port 1 --db-port 2 --inbox-port 3 --smtp-port 4 --studio-port 5 --no-studio --pg-bin db \
                     --require-keys --deno-bin start --workers 6 --json-logs --log=--detach";

        let words = parse(typed).to_foreground_words();

        let again = Cli::try_parse_from(std::iter::once("selvedge".into()).chain(words)).unwrap();
        let Command::Start(again) = again.command else {
            panic!("{again:?}")
        };
        let expected = StartArgs {
            detach: false,
            ..parse(typed)
        };
        assert_eq!(format!("{again:?}"), format!("{expected:?}"));
        let of_db = parse("db start --pg-bin db --port 1").to_foreground_words();
        assert_eq!(of_db, ["start", "--port=1", "--pg-bin=db"]);
    }
}
