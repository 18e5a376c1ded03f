//! The root key of the vault: 32 random bytes in a file beside the data directory, so that neither a table nor a dump
//! contains it. Functions of the extension supabase_vault read the file inside PostgreSQL.

use std::path::Path;

use super::{error::ClusterError, own_file::write_private, owner::Owner};

/// Name of the file. The path `../vault.key` in the extension's script, relative to the data directory, names the same
/// one.
const FILE_NAME: &str = "vault.key";

/// Creates the key in `home`, the folder of the data directory, unless it exists. A new key makes all secrets of the
/// vault unreadable, so an existing file is never replaced.
///
/// # Errors
/// When the file cannot be written.
pub fn ensure_vault_key(home: &Path, owner: &Owner) -> Result<(), ClusterError> {
    let path = home.join(FILE_NAME);
    if !path.exists() {
        let mut key = [0_u8; 32];
        getrandom::fill(&mut key)
            .map_err(|error| ClusterError::file(&path)(std::io::Error::other(error.to_string())))?;
        write_private(&path, &hex::encode(key))?;
    }
    // PostgreSQL reads the file, and may run as another user than this process.
    owner.give_ownership_of(&path)
}
