//! The file that marks a folder as the home of a production database.

use std::path::Path;

/// Its name. The text is for people.
pub(super) const MARK: &str = "production";

/// Whether the folder is the home of a production database.
#[must_use]
pub fn is_production_home(state_dir: &Path) -> bool {
    state_dir.join(MARK).symlink_metadata().is_ok()
}
