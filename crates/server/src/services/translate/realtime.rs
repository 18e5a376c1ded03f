//! Configuration → settings of the realtime service.

use selvedge_config::{Config, NatsSection};
use selvedge_memory::MemoryBudget;
use selvedge_realtime::{BrokerCredentials, ClusterConfig, RealtimeConfig};

/// The limits of the realtime service.
pub(in crate::services) fn realtime_config(config: &Config, memory: &MemoryBudget) -> RealtimeConfig {
    let (section, limits) = (&config.realtime, &config.selvedge.limits);
    RealtimeConfig {
        max_sockets: section.max_sockets,
        max_channels_per_socket: section.max_channels_per_socket,
        max_bindings_per_address: section.max_bindings_per_address,
        // Without proxies the listener counts the connections of each address, and sockets keep their place there.
        max_sockets_per_address: limits.sockets_per_address.filter(|_| limits.trusted_proxies > 0),
        trusted_proxies: limits.trusted_proxies,
        memory: memory.clone(),
        max_joins_per_second: section.max_joins_per_second,
        max_events_per_second: section.max_events_per_second,
        max_presence_events_per_second: section.max_presence_events_per_second,
        max_presence_pushes: section.max_presence_pushes,
        max_payload_bytes: section.max_payload_bytes,
        max_queued_bytes: section.max_queued_bytes,
        private_only: section.private_only,
        database_connections: section.database_connections,
        cluster: config.selvedge.nats.as_ref().map(|nats| cluster(nats, config)),
        ..RealtimeConfig::default()
    }
}

/// The broker between the nodes. Nodes of different projects do not hear each other, because each uses its project's
/// id in every subject unless `prefix` is set.
fn cluster(nats: &NatsSection, config: &Config) -> ClusterConfig {
    let credentials = match (&nats.user, &nats.password, &nats.token, &nats.credentials_file) {
        (Some(user), Some(password), ..) => BrokerCredentials::Password {
            user: user.clone(),
            password: password.clone(),
        },
        (_, _, Some(token), _) => BrokerCredentials::Token(token.clone()),
        (_, _, _, Some(file)) => BrokerCredentials::File(file.clone()),
        _ => BrokerCredentials::None,
    };
    ClusterConfig {
        servers: nats.servers.clone(),
        credentials,
        ca_file: nats.ca_file.clone(),
        prefix: nats
            .prefix
            .clone()
            .unwrap_or_else(|| subject_of(&config.project.id)),
        node_timeout: nats.node_timeout,
    }
}

/// A project's id as a part of a subject, in which NATS gives dots, spaces and wildcards a meaning.
fn subject_of(project_id: &str) -> String {
    let kept = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    let subject = project_id.replace(|character| !kept(character), "_");
    format!("selvedge-{subject}")
}
