//! `selvedge trust`: lets a project use the data folder that is in it, and run the programs that its files name.

use anyhow::Result;

use crate::config::Config;
use crate::output::{GOOD, show_foreign_text};
use crate::project_trust;

/// Runs `selvedge trust`.
///
/// # Errors
/// When the data folder belongs to another user, or nothing can be recorded.
pub(super) fn run(config: &Config) -> Result<()> {
    for line in project_trust::trust(config)? {
        anstream::println!("{GOOD}trusted{GOOD:#} {}", show_foreign_text(&line));
    }
    Ok(())
}
