//! Reads files of a project that a stranger may have made.
//!
//! In: a path in the project, and how many bytes the file may have. Out: its bytes or its text, which folder the project's repository
//! is, or which packages with programs are installed for it. A cloned project may bring a pipe, a device or a file of any size in the place of a migration or a setting, and links that lead
//! anywhere. What a file means, and who may trust it, is left to the callers.

mod packages;
mod private;
mod read;
mod repository;

pub use packages::{RefusedProgram, find_modules_folder, find_packages};
pub use private::{is_data_folder, is_environment_file, is_private_entry, is_private_path};
pub use read::{MAX_SCRIPT_BYTES, MAX_SETTINGS_BYTES, open_file, read_file, read_text};
pub use repository::{find_repository, is_in_git_repository, resolve};
