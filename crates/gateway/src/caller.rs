//! Who is asking, as far as keys and tokens tell.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use selvedge_token::{ApiKeyKind, Claims, TokenError};

use crate::RequestId;

/// The bearer of a request after the rules of gateway contract §2 were applied.
#[derive(Debug, Clone)]
pub enum Bearer {
    /// No token: the anonymous role where a route is open to it.
    None,
    /// The signature is good. Time and audience are the service's to check: they allow different leeways.
    Valid(Arc<Claims>),
    /// A token was sent and is not ours. The service says so in its own words.
    Invalid(TokenError),
}

/// What the gateway learnt about the caller. An extractor that cannot fail; cheap to clone.
#[derive(Debug, Clone)]
pub struct Caller {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    bearer: Bearer,
    api_key: Option<ApiKeyKind>,
    remote_ip: IpAddr,
    request_id: RequestId,
}

impl Caller {
    pub(crate) fn new(
        bearer: Bearer,
        api_key: Option<ApiKeyKind>,
        remote_ip: IpAddr,
        request_id: RequestId,
    ) -> Self {
        Self {
            inner: Rc::new(Inner {
                bearer,
                api_key,
                remote_ip,
                request_id,
            }),
        }
    }

    /// The caller of a request that passed the gateway.
    ///
    /// # Panics
    /// When the service is mounted without the [`crate::Gateway`] around it, which is a wiring mistake.
    pub fn of(request: &HttpRequest) -> Self {
        request
            .extensions()
            .get::<Self>()
            .cloned()
            .expect("the gateway wraps every service")
    }

    /// The token to act on.
    pub fn bearer(&self) -> &Bearer {
        &self.inner.bearer
    }

    /// The opaque key that was sent, if one was.
    pub fn api_key(&self) -> Option<ApiKeyKind> {
        self.inner.api_key
    }

    /// Where the request comes from: the peer, or what trusted proxies say.
    pub fn remote_ip(&self) -> IpAddr {
        self.inner.remote_ip
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
        std::future::ready(Ok(Self::of(request)))
    }
}
