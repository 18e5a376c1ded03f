//! WebSocket handshakes of the services that have sockets: realtime and functions.

use std::rc::Rc;

use selvedge_gateway::{GatewayError, Service, UpgradeDecision, UpgradeHandler, UpgradeRequest, routed_path};

/// Passes a handshake to the service of its path. A service that is switched off is `None`.
pub(super) struct ServiceUpgrades {
    pub(super) realtime: Option<Rc<dyn UpgradeHandler>>,
    pub(super) functions: Option<Rc<dyn UpgradeHandler>>,
}

impl UpgradeHandler for ServiceUpgrades {
    fn decide(&self, request: &UpgradeRequest) -> UpgradeDecision {
        let handler = match Service::from_path(&routed_path(request.uri())) {
            Service::Realtime => &self.realtime,
            Service::Functions => &self.functions,
            _ => &None,
        };
        match handler {
            Some(handler) => handler.decide(request),
            None => UpgradeDecision::Refuse(GatewayError::NoRoute.response()),
        }
    }
}
