//! Where the broker is and how long a silent node counts as alive.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// Connection to the NATS servers that the nodes of one project share.
#[derive(Debug, Clone)]
pub struct ClusterConfig {
    /// URLs of the servers, `nats://host:port` or `tls://host:port`. The client uses one and changes to another when it
    /// is lost.
    pub servers: Vec<String>,
    /// How the node signs in. Default: not at all.
    pub credentials: BrokerCredentials,
    /// File of PEM certificates that are trusted beside the machine's own.
    pub ca_file: Option<PathBuf>,
    /// First part of every subject. Projects that share a broker need different ones. Default `selvedge`.
    pub prefix: String,
    /// Presence entries of a node that has been silent for this long are removed. Default 30 s.
    pub node_timeout: Duration,
}

/// How a node signs in to the broker.
#[derive(Debug, Clone, Default)]
pub enum BrokerCredentials {
    /// Connects without credentials.
    #[default]
    None,
    /// Connects with a token.
    Token(SecretString),
    /// With a user name and a password.
    Password {
        /// Name of the user.
        user: String,
        /// The user's password.
        password: SecretString,
    },
    /// With a `.creds` file, which holds a JWT and the seed of an nkey.
    File(PathBuf),
}
