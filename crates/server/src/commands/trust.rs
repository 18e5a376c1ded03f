//! `selvedge trust`: lets a project use the data folder that is in it, run the programs and read the paths that its files name; lists what
//! it may, and takes that back.

use std::io::IsTerminal as _;

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_project_trust as project_trust;
use selvedge_terminal::{GOOD, WARN, ask_question, show_foreign_text};

use crate::cli::TrustArgs;

/// Runs `selvedge trust`.
///
/// # Errors
/// When nobody agrees, the data folder belongs to another user, or nothing can be recorded.
pub(super) fn run(config: &Config, args: &TrustArgs) -> Result<()> {
    if args.list {
        return list(config);
    }
    if args.forget {
        return forget(config);
    }
    let mut trusted = Vec::new();
    project_trust::trust(config, |lines| {
        lines.clone_into(&mut trusted);
        agree(lines, args.yes)
    })?;
    for line in trusted {
        anstream::println!("{GOOD}trusted{GOOD:#} {}", show_foreign_text(&line));
    }
    Ok(())
}

/// Shows a person what will be trusted besides the data, before it is. A script has named the command itself.
fn agree(lines: &[String], yes: bool) -> Result<()> {
    if yes || lines.len() < 2 || !std::io::stdin().is_terminal() {
        return Ok(());
    }
    for line in lines {
        anstream::println!("  {}", show_foreign_text(line));
    }
    match ask_question("Files of this project name these. Use them with your rights? [y/N] ")?.as_str() {
        "y" | "Y" | "yes" => Ok(()),
        _ => bail!("nothing was trusted"),
    }
}

fn list(config: &Config) -> Result<()> {
    let paths = project_trust::list_trusted(config)?;
    if paths.is_empty() {
        anstream::println!("files of this project name nothing that needs trust");
    }
    for path in paths {
        let text = show_foreign_text(&path.text);
        match path.is_trusted {
            true => anstream::println!("{GOOD}trusted{GOOD:#} {text}"),
            false => anstream::println!("{WARN}not trusted{WARN:#} {text}"),
        }
    }
    Ok(())
}

fn forget(config: &Config) -> Result<()> {
    let forgotten = project_trust::forget(config)?;
    if forgotten.is_empty() {
        anstream::println!(
            "nothing was trusted but the data in {}",
            config.selvedge.data_dir.display()
        );
    }
    for line in forgotten {
        anstream::println!("{GOOD}forgotten{GOOD:#} {}", show_foreign_text(&line));
    }
    Ok(())
}
