//! How to log in to a cluster of this program: over its own socket, with passwords that are made from the superuser's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::role_password::{REPLICATION_LOGIN, make_role_password};
use super::{DATABASE, SUPERUSER};
use crate::PrivilegedLogin;

/// Password of the other logins on a developer's machine; the Supabase CLI's. It need not be secret, because the cluster accepts
/// connections from this machine only.
pub const DEVELOPMENT_PASSWORD: &str = "postgres";

/// The address of a cluster, and what is needed to log in as any of its roles.
#[derive(Debug, Clone)]
pub struct ClusterAccess {
    pub(super) socket_dir: PathBuf,
    pub(super) port: u16,
    pub(super) superuser_password: SecretString,
    /// Whether it is used in production, where no login has a password that everybody knows.
    pub(super) is_production: bool,
}

impl ClusterAccess {
    /// The folder of the cluster's unix socket.
    #[must_use]
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// The cluster's unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.socket_dir.join(format!(".s.PGSQL.{}", self.port))
    }

    /// Whether the cluster is used in production.
    #[must_use]
    pub fn is_production(&self) -> bool {
        self.is_production
    }

    /// The password of a role that is no superuser: the well-known one in development, except for [`REPLICATION_LOGIN`], and one of
    /// its own in production. Those of the console's logins are the same.
    #[must_use]
    pub fn role_password(&self, role: &str) -> SecretString {
        match (self.is_production, role) {
            (false, role) if role != REPLICATION_LOGIN => DEVELOPMENT_PASSWORD.into(),
            (_, role) if role.starts_with("selvedge_console_") => {
                make_role_password(&self.superuser_password, "selvedge_console")
            }
            (_, role) => make_role_password(&self.superuser_password, role),
        }
    }

    /// How to connect as a role that is no superuser.
    #[must_use]
    pub fn login_of(&self, role: &str) -> tokio_postgres::Config {
        self.config_for(role, &self.role_password(role))
    }

    /// How to log in as the superuser: for the platform schema, backups, imports and copies of databases only.
    #[must_use]
    pub fn superuser_login(&self) -> PrivilegedLogin {
        PrivilegedLogin::to_own_database(self.config_for(SUPERUSER, &self.superuser_password))
    }

    /// How to connect as `role` over the cluster's socket, which is faster than loopback TCP.
    pub(super) fn config_for(&self, role: &str, password: &SecretString) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config
            .host_path(&self.socket_dir)
            .port(self.port)
            .dbname(DATABASE)
            .user(role)
            .password(password.expose_secret())
            // PostgreSQL does not offer TLS on unix sockets.
            .ssl_mode(tokio_postgres::config::SslMode::Disable)
            .connect_timeout(Duration::from_secs(10));
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_001_in_production_each_login_has_a_password_of_its_own_that_tells_no_other() {
        let access = |is_production| ClusterAccess {
            socket_dir: PathBuf::from("/run"),
            port: 5432,
            superuser_password: "of the superuser".into(),
            is_production,
        };
        let password = |is_production, role: &str| {
            let password = access(is_production).role_password(role);
            password.expose_secret().to_owned()
        };

        let roles = [
            "postgres",
            "authenticator",
            "supabase_auth_admin",
            "selvedge_console_reader",
            REPLICATION_LOGIN,
        ];
        let own: std::collections::BTreeSet<String> = roles.iter().map(|role| password(true, role)).collect();
        assert_eq!(own.len(), roles.len());
        assert!(own.iter().all(|password| password.len() == 64));
        assert_eq!(password(false, "postgres"), DEVELOPMENT_PASSWORD);
        // A home that was made for development keeps this one when it is used in production, and the other way round.
        assert_eq!(
            password(false, REPLICATION_LOGIN),
            password(true, REPLICATION_LOGIN)
        );
    }
}
