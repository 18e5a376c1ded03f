//! The caller of a request: its verified token, API key and address, as an extractor for the services.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use selvedge_limits::ClientId;
use selvedge_memory::MemoryBudget;
use selvedge_token::{ApiKeyKind, Claims, TokenError, unix_now};

use super::config::GatewayConfig;
use super::forwarded::{read_forwarded, read_public_origin};
use crate::RequestId;

/// The token of a request, after the rules of gateway contract §2.
#[derive(Debug, Clone)]
pub enum Bearer {
    /// No token; the request runs as `anon` where the route allows that.
    None,
    /// The signature is valid. Services check time and audience themselves, since they allow different leeways.
    Valid(Arc<Claims>),
    /// A token was sent that no key of the project verifies. The service renders the error in its own shape.
    Invalid(TokenError),
}

/// The verified credentials of a request.
#[derive(Debug)]
pub struct Credentials {
    /// The token that decides the request's role.
    pub bearer: Bearer,
    /// The kind of the opaque API key (`sb_…`) that was sent; `None` for legacy keys, which are JWTs.
    pub api_key: Option<ApiKeyKind>,
}

impl Credentials {
    pub(crate) fn is_service_role(&self) -> bool {
        matches!(&self.bearer, Bearer::Valid(claims)
            if claims.role() == Some("service_role") && claims.check_time(unix_now(), 0).is_ok())
    }
}

/// What the gateway has verified about the caller. An extractor that cannot fail; cheap to clone.
#[derive(Debug, Clone)]
pub struct Caller {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    credentials: Credentials,
    remote_ip: IpAddr,
    /// How many proxies in front of the server are trusted.
    trusted_proxies: usize,
    memory: MemoryBudget,
    request_id: RequestId,
}

impl Caller {
    pub(crate) fn new(
        credentials: Credentials,
        remote_ip: IpAddr,
        config: &GatewayConfig,
        request_id: RequestId,
    ) -> Self {
        Self {
            inner: Rc::new(Inner {
                credentials,
                remote_ip,
                trusted_proxies: config.trusted_proxies,
                memory: config.memory.clone(),
                request_id,
            }),
        }
    }

    /// The caller of a request that passed the gateway.
    ///
    /// # Panics
    /// When the service is mounted without the [`crate::Gateway`] around it, which is a wiring mistake.
    pub fn extract(request: &HttpRequest) -> Self {
        request
            .extensions()
            .get::<Self>()
            .cloned()
            // A panic, because a request without checked keys must not be served.
            .expect("the gateway wraps every service")
    }

    /// Whose share of the memory a request's body is part of. A service that runs without the gateway, as `selvedge rest` does,
    /// knows its clients by the addresses of their connections.
    pub fn client_of(request: &HttpRequest) -> ClientId {
        let verified = request.extensions().get::<Self>().map(Self::remote_ip);
        let peer = || request.peer_addr().map(|peer| peer.ip());
        ClientId::of_connection(verified.or_else(peer))
    }

    /// Token and API key.
    pub fn credentials(&self) -> &Credentials {
        &self.inner.credentials
    }

    /// The token that decides the request's role.
    pub fn bearer(&self) -> &Bearer {
        &self.inner.credentials.bearer
    }

    /// The kind of the opaque API key (`sb_…`) that was sent; `None` for legacy keys, which are JWTs.
    pub fn api_key(&self) -> Option<ApiKeyKind> {
        self.inner.credentials.api_key
    }

    /// The client's address: the peer's, or the one that a trusted proxy reports in `X-Forwarded-For`.
    pub fn remote_ip(&self) -> IpAddr {
        self.inner.remote_ip
    }

    /// What the request's body is reserved from.
    pub fn memory(&self) -> &MemoryBudget {
        &self.inner.memory
    }

    /// Scheme and host by which the client reached us, such as `https://api.example.com`: as a trusted proxy reports them
    /// in `Forwarded` or `X-Forwarded-*`; without one, those of the connection and `Host`.
    pub fn public_origin(&self, request: &HttpRequest) -> String {
        read_public_origin(request, self.inner.trusted_proxies)
    }

    /// What a header of proxies says: the entry that the outermost trusted one wrote. `None` without a trusted proxy.
    pub fn proxy_header<'r>(&self, request: &'r HttpRequest, name: &str) -> Option<&'r str> {
        read_forwarded(request.headers(), name, self.inner.trusted_proxies)
    }

    /// The path prefix that the outermost trusted proxy has removed (`X-Forwarded-Prefix`), without a slash at its end. Empty
    /// without a trusted proxy.
    pub fn removed_prefix<'r>(&self, request: &'r HttpRequest) -> &'r str {
        self.proxy_header(request, "x-forwarded-prefix")
            .filter(|prefix| prefix.starts_with('/') && !prefix.starts_with("//"))
            .unwrap_or_default()
            .trim_end_matches('/')
    }

    /// Names the request in logs.
    pub fn request_id(&self) -> &RequestId {
        &self.inner.request_id
    }
}

impl FromRequest for Caller {
    type Error = actix_web::Error;
    type Future = std::future::Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(Ok(Self::extract(request)))
    }
}
