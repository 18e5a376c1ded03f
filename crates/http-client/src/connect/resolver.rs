//! From the name in a URL to the addresses that are connected to. Private addresses are left out here and not before the
//! call, because a name may lead to another address each time it is resolved.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use super::private_network::is_private;

/// The addresses of one name, once it is resolved.
pub type Resolution = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Resolves names in place of the machine, as tests need it.
pub trait ResolveName: Debug + Send + Sync {
    /// Finds the addresses of a name. A port other than 0 is used when the URL has none.
    fn resolve(&self, name: &str) -> Resolution;
}

/// How a client resolves names. The default uses the machine's resolver.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    /// Addresses that the operator has written down for certain names. They are connected to even if they are private.
    pub fixed: HashMap<String, SocketAddr>,
    /// Resolves all other names. Default: the machine.
    pub names: Option<Arc<dyn ResolveName>>,
}

/// Part of an error's sources when a name was not resolved.
#[derive(Debug, thiserror::Error)]
#[error("the name cannot be resolved: {0}")]
pub(crate) struct NotResolved(io::Error);

/// Part of an error's sources when a name leads to private addresses only.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to no address that may be called")]
pub(crate) struct NoAllowedAddress;

/// Resolves names, and leaves out private addresses where they may not be called.
#[derive(Debug, Clone)]
pub(crate) struct Resolver {
    machine: GaiResolver,
    calls_private: bool,
    addresses: Arc<Addresses>,
}

impl Resolver {
    pub(crate) fn new(calls_private: bool, addresses: Addresses) -> Self {
        Self {
            machine: GaiResolver::new(),
            calls_private,
            addresses: Arc::new(addresses),
        }
    }

    /// Starts to resolve a name that has no fixed address.
    fn resolve(&mut self, name: Name) -> Resolution {
        match &self.addresses.names {
            Some(names) => names.resolve(name.as_str()),
            None => {
                let resolving = self.machine.call(name);
                Box::pin(async move { Ok(resolving.await?.collect()) })
            }
        }
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.machine.poll_ready(cx)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        if let Some(address) = self.addresses.fixed.get(name.as_str()) {
            let address = vec![*address].into_iter();
            return Box::pin(async move { Ok(address) });
        }
        let calls_private = self.calls_private;
        let resolving = self.resolve(name);
        Box::pin(async move {
            let found = resolving
                .await
                .map_err(|error| io::Error::other(NotResolved(error)))?;
            let allowed: Vec<_> = found
                .into_iter()
                .filter(|address| calls_private || !is_private(address.ip()))
                .collect();
            if allowed.is_empty() {
                return Err(io::Error::other(NoAllowedAddress));
            }
            Ok(allowed.into_iter())
        })
    }
}
