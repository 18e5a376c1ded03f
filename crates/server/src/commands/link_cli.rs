//! `selvedge link-cli`: lets a project's scripts call this program as `supabase`.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_project_trust::check_place;
use selvedge_terminal::GOOD;

/// Where npm scripts and `npx` look for programs, in the project's folder and in those above it.
const PROGRAMS: &str = "node_modules/.bin";

/// Creates the link `supabase` in the nearest `node_modules/.bin`, and replaces the link of the npm package `supabase`.
pub(super) fn run(config: &Config) -> Result<()> {
    let project = &config.project.folder;
    let Some((holder, folder)) = project
        .ancestors()
        .map(|holder| (holder, holder.join(PROGRAMS)))
        .find(|(_, folder)| folder.is_dir())
    else {
        bail!(
            "there is no {PROGRAMS} in {} or above it; make a link in a folder of PATH:  ln -s \"$(command -v selvedge)\" \
             ~/bin/supabase",
            project.display()
        );
    };
    // One above the project is not of a stranger's making; one in it may lead to a folder of the user's own programs.
    if !folder.canonicalize()?.starts_with(holder.canonicalize()?) {
        check_place(&config.project, &folder)?;
    }
    let link = folder.join("supabase");
    remove_link(&link)?;
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    symlink(&program, &link).with_context(|| format!("cannot make {}", link.display()))?;
    anstream::println!(
        "{GOOD}linked{GOOD:#} {} to {}; `npm install` may put another one in its place",
        link.display(),
        program.display()
    );
    Ok(())
}

/// Removes a symbolic link.
///
/// # Errors
/// When there is a file that is no link: npm creates links only, so it belongs to the user.
fn remove_link(link: &Path) -> Result<()> {
    match link.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(metadata) if !metadata.is_symlink() => bail!("{} is no link; remove it first", link.display()),
        _ => fs::remove_file(link).with_context(|| format!("cannot remove {}", link.display())),
    }
}
