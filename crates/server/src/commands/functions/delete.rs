//! `selvedge functions delete`: removes a function's folder and its section in `config.toml`.

use std::fs;
use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_functions::is_valid_slug;
use selvedge_postgres::migrate::replace_file;
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use selvedge_project_trust::check_place;
use selvedge_terminal::{GOOD, WARN};
use toml_edit::DocumentMut;

use super::listing::list_slugs;
use crate::cli::DeleteFunctionArgs;

/// Deletes a function after a confirmation, or immediately with `--yes`.
pub(super) fn delete_function(config: &Config, args: &DeleteFunctionArgs) -> Result<()> {
    let slug = &args.slug;
    // A valid name is one folder below `functions` and no path to somewhere else.
    if !is_valid_slug(slug) || !list_slugs(config).contains(slug) {
        bail!("there is no function {slug}");
    }
    if !args.yes && !confirm(slug)? {
        bail!("nothing was changed");
    }
    let folder = config.project.folder.join("functions").join(slug);
    // A function that is a link itself is removed and not followed.
    check_place(&config.project, &config.project.folder.join("functions"))?;
    check_place(&config.project, &config.project.folder.join("config.toml"))?;
    // The file comes first, because it is replaced as a whole or not at all.
    remove_section(config, slug)?;
    if folder.is_dir() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot delete {}", folder.display()))?;
    }
    anstream::println!("{GOOD}deleted{GOOD:#} {slug}");
    Ok(())
}

/// Removes `[functions.<slug>]`; everything else in the file stays as it is.
fn remove_section(config: &Config, slug: &str) -> Result<()> {
    let Some(path) = &config.project.file else {
        return Ok(());
    };
    let text =
        read_text(path, MAX_SETTINGS_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
    let mut document: DocumentMut = text
        .parse()
        .with_context(|| format!("cannot read {}", path.display()))?;
    let functions = document
        .get_mut("functions")
        .and_then(|item| item.as_table_like_mut());
    if functions.is_some_and(|functions| functions.remove(slug).is_some()) {
        // A link is followed within the project, so that the file that others read changes, and keeps its mode.
        let file = path
            .canonicalize()
            .with_context(|| format!("cannot read {}", path.display()))?;
        replace_file(&file, &document.to_string())?;
    }
    Ok(())
}

/// Asks the user to confirm the deletion. Without a terminal it fails.
fn confirm(slug: &str) -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("this deletes the code of {slug}: say so with --yes");
    }
    anstream::print!("{WARN}This deletes the code of {slug}.{WARN:#} Type its name to go on: ");
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == slug)
}
