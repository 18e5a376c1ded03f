//! Which certificate a client gets: the server's for its own names, an answer for a certificate authority, and none for anybody else.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::challenges::Challenges;
use crate::certificate::Certificate;
use crate::server_config::ACME_PROTOCOL;

/// The certificate of now, and the answers of now.
#[derive(Debug)]
pub(super) struct AcmeResolver {
    pub(super) current: Arc<ArcSwapOption<Certificate>>,
    pub(super) challenges: Challenges,
}

impl AcmeResolver {
    /// Without a name nobody is told which names this server has.
    fn choose(&self, name: Option<&str>, is_challenge: bool) -> Option<Arc<CertifiedKey>> {
        let name = name?;
        if is_challenge {
            return self.challenges.find_certificate(name);
        }
        let current = self.current.load();
        let current = current.as_ref()?;
        current.covers(name).then(|| current.key())
    }
}

impl ResolvesServerCert for AcmeResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let is_challenge = hello
            .alpn()
            .is_some_and(|mut protocols| protocols.any(|protocol| protocol == ACME_PROTOCOL));
        self.choose(hello.server_name(), is_challenge)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::certificate::tests::make_certificate;

    #[test]
    fn prod_023_without_a_name_and_for_a_foreign_one_there_is_no_certificate() {
        let resolver = AcmeResolver {
            current: Arc::default(),
            challenges: Challenges::default(),
        };
        assert!(resolver.choose(Some("a.example"), false).is_none());
        let certificate = make_certificate(&["a.example"], Duration::from_secs(60));
        resolver.current.store(Some(Arc::new(certificate)));

        assert!(resolver.choose(Some("A.example"), false).is_some());
        assert!(resolver.choose(Some("b.example"), false).is_none());
        assert!(resolver.choose(None, false).is_none());
        // Nothing is being proven now.
        assert!(resolver.choose(Some("a.example"), true).is_none());
    }
}
