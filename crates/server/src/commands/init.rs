//! `selvedge init`: writes the files of a new project, in the Supabase CLI's layout.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use selvedge_config::Project;
use selvedge_project_trust::check_place;
use selvedge_terminal::GOOD;

use crate::cli::InitArgs;

const CONFIG: &str = include_str!("templates/config.toml");
/// Files of the Supabase CLI, and secrets. `.selvedge/` contains its own .gitignore.
const GITIGNORE: &str = ".branches\n.temp\n.env\n.env.local\n.env.*.local\n";

/// Writes `supabase/config.toml` into `folder`, or the current directory. Other existing files are not changed.
pub(super) fn run(folder: Option<&Path>, args: &InitArgs) -> Result<()> {
    let here = std::env::current_dir().context("the current directory cannot be read")?;
    let supabase = here.join(folder.unwrap_or(Path::new(""))).join("supabase");
    let file = supabase.join("config.toml");
    if file.exists() && !args.force {
        bail!("{} exists\n  replace it with:  --force", file.display());
    }
    // The folder comes first, because the project's id is made from the name of the one around it.
    fs::create_dir_all(&supabase).with_context(|| format!("cannot create {}", supabase.display()))?;
    let project = Project::find(Some(&supabase), &here).map_err(|reason| anyhow!(reason))?;
    let gitignore = supabase.join(".gitignore");
    check_place(&project, &file)?;
    check_place(&project, &gitignore)?;
    write(&file, &CONFIG.replace("{{PROJECT_ID}}", &project.id))?;
    // An existing file may list more, so it is kept even with `--force`.
    if !gitignore.exists() {
        write(&gitignore, GITIGNORE)?;
    }
    anstream::println!("{GOOD}created{GOOD:#} {}", file.display());
    anstream::println!("  start it with:  selvedge start");
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
