//! Takes the secrets of `selvedge import` out of its command line, which every user of the machine can read while the import runs.
//!
//! The command runs itself again with the variables of the same meaning, which only its own user and root can read.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Arguments with secrets, and the variables that they stand for.
const SECRETS: [(&str, &str); 3] = [
    ("--db-url", "SUPABASE_DB_URL"),
    ("--service-role-key", "SUPABASE_SERVICE_ROLE_KEY"),
    ("--to-db-url", TARGET_VARIABLE),
];

/// The variable of `--to-db-url`. It is not `DATABASE_URL`, which does not count when a file of the project names the same database, and is
/// refused when it leads to the database of another project: who names a target means it.
pub(super) const TARGET_VARIABLE: &str = "SELVEDGE_IMPORT_TO_DB_URL";

/// Arguments without secrets, and the variables that hold the secrets instead.
type Separated = (Vec<OsString>, Vec<(&'static str, OsString)>);

/// Replaces this process by one without secrets among its arguments, if it has any.
pub(crate) fn hide_secrets() {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let Some((kept, variables)) = split_secrets(&arguments) else {
        return;
    };
    let (Some((name, kept)), Ok(program)) = (kept.split_first(), std::env::current_exe()) else {
        return;
    };
    // Returns only when it fails; the arguments are then used as they are.
    let _error = Command::new(program).arg0(name).args(kept).envs(variables).exec();
}

/// The arguments without secrets, and the variables for them; `None` when there are no secrets, or it is another command.
fn split_secrets(arguments: &[OsString]) -> Option<Separated> {
    if !arguments.iter().any(|argument| argument == "import") {
        return None;
    }
    let mut kept = Vec::with_capacity(arguments.len());
    let mut variables = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let secret = SECRETS.iter().find_map(|(name, variable)| {
            let rest = argument.as_bytes().strip_prefix(name.as_bytes())?;
            Some((*variable, rest))
        });
        match secret {
            Some((variable, [])) => variables.push((variable, arguments.next()?.clone())),
            Some((variable, [b'=', value @ ..])) => {
                variables.push((variable, OsStr::from_bytes(value).to_owned()));
            }
            _ => kept.push(OsString::from_vec(argument.as_bytes().to_vec())),
        }
    }
    (!variables.is_empty()).then_some((kept, variables))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(arguments: &[&str]) -> Option<Separated> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        split_secrets(&arguments)
    }

    #[test]
    fn secrets_of_an_import_become_variables() {
        let (kept, variables) = split(&[
            "selvedge",
            "--project",
            "p",
            "import",
            "--db-url",
            "postgresql://a:b@c/d",
            "--service-role-key=k",
            "--to-db-url=postgresql://e:f@g/h",
            "--no-objects",
        ])
        .expect("has secrets");

        assert_eq!(kept, ["selvedge", "--project", "p", "import", "--no-objects"]);
        assert_eq!(
            variables,
            [
                ("SUPABASE_DB_URL", OsString::from("postgresql://a:b@c/d")),
                ("SUPABASE_SERVICE_ROLE_KEY", OsString::from("k")),
                (TARGET_VARIABLE, OsString::from("postgresql://e:f@g/h"))
            ]
        );
        assert_eq!(split(&["selvedge", "import"]), None);
        assert_eq!(split(&["selvedge", "db", "dump", "--db-url", "x"]), None);
        assert_eq!(
            split(&["selvedge", "import", "--db-url"]),
            None,
            "left to the parser"
        );
    }
}
