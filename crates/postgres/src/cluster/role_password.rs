//! Passwords of logins, made from the superuser's, which is in a private file: whoever knows one of them learns no other.
//!
//! On a developer's machine most logins have a password that everybody knows. A login with REPLICATION makes PostgreSQL load a library by its
//! path, so nobody but this program logs in as one. In production every login has a password of its own.

use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

use super::error::ClusterError;

/// The only login with REPLICATION that has a password.
pub const REPLICATION_LOGIN: &str = "supabase_replication_admin";

/// The password of a login, 64 hexadecimal digits, in a cluster whose superuser has this one.
pub(super) fn make_role_password(superuser: &SecretString, role: &str) -> SecretString {
    let mut code = Hmac::<Sha256>::new_from_slice(superuser.expose_secret().as_bytes())
        .expect("HMAC takes keys of any length");
    code.update(role.as_bytes());
    hex::encode(code.finalize().into_bytes()).into()
}

/// The password of [`REPLICATION_LOGIN`] in the cluster of this folder, for a process that does not run it.
///
/// # Errors
/// [`ClusterError::File`] when the file with the superuser's password cannot be read.
pub fn read_replication_password(state_dir: &Path) -> Result<SecretString, ClusterError> {
    let path = state_dir.join("superuser-password");
    let password = std::fs::read_to_string(&path).map_err(ClusterError::file(&path))?;
    let superuser = SecretString::from(password.trim().to_owned());
    Ok(make_role_password(&superuser, REPLICATION_LOGIN))
}
