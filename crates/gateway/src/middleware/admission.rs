//! Which requests a worker accepts: limits on those in progress, and on the responses that wait to be read.

use std::rc::Rc;

use actix_web::body::{BodySize, BoxBody, EitherBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use selvedge_memory::MemoryBudget;

use super::config::GatewayConfig;
use super::quota::{Client, Exceeded, Quota, Usage};
use super::tracked_body::{Returns, TrackedBody};
use crate::{GatewayError, Service};

/// Responses below this size are not counted, because most fit into the socket's buffer and are sent immediately.
const UNCOUNTED_BYTES: u64 = 64 * 1024;

/// State that the requests of one worker thread share.
#[derive(Debug)]
pub(super) struct Admission {
    /// Requests whose bodies are small, in progress until they are answered.
    small_bodies: Rc<Quota>,
    /// Requests to services with streaming bodies, counted until their response was sent. They last as long as the client
    /// takes, so they have a separate quota.
    streaming: Rc<Quota>,
    /// Bytes of responses that are in memory until their clients have read them.
    unread: Rc<Quota>,
    memory: MemoryBudget,
}

impl Admission {
    pub(super) fn new(config: &GatewayConfig) -> Self {
        Self {
            small_bodies: Quota::new(config.max_in_flight_per_worker),
            streaming: Quota::new(config.max_streaming_per_worker),
            unread: Quota::new(config.max_unread_bytes_per_worker),
            memory: config.memory.clone(),
        }
    }

    /// Accepts a request, or refuses it because too many are in progress, or memory runs short.
    pub(super) fn admit(
        &self,
        service: Service,
        method: &Method,
        client: Client<'_>,
    ) -> Result<Usage, GatewayError> {
        // The site and the health checks keep nothing in memory for a request.
        if self.memory.is_short() && service != Service::Other && self.is_in_use() {
            return Err(GatewayError::OutOfMemory);
        }
        if service.streams() {
            return Ok(self.streaming.take(1, client)?);
        }
        // The response to a write must be sent whatever its size, because the write cannot be undone. A client with too many
        // unread bytes is therefore refused before it writes.
        if !is_read(method) {
            self.unread.check_share(1, client)?;
        }
        Ok(self.small_bodies.take(1, client)?)
    }

    /// Whether a request is in progress. A worker without any takes one in every case: refusing it would free nothing, and
    /// whatever else uses the memory may go on doing so.
    fn is_in_use(&self) -> bool {
        self.small_bodies.is_in_use() || self.streaming.is_in_use()
    }

    /// Counts a response until it has been sent. A large response to a read is replaced by an error when too many bytes
    /// wait to be read already.
    pub(super) fn track<B: MessageBody + 'static>(
        &self,
        service: Service,
        response: ServiceResponse<EitherBody<B>>,
        usage: Usage,
        client: Client<'_>,
    ) -> ServiceResponse<EitherBody<B>> {
        let size = match response.response().body().size() {
            BodySize::None => return response,
            BodySize::Sized(size) if size < UNCOUNTED_BYTES => return response,
            BodySize::Sized(size) => Some(size),
            BodySize::Stream => None,
        };
        if service.streams() {
            return track_body(response, usage, Returns::AtEnd);
        }
        // The site's files are in memory anyway, and shared by all who read them.
        let Some(size) = size.filter(|_| service != Service::Other) else {
            return response;
        };
        let amount = usize::try_from(size).unwrap_or(usize::MAX);
        let charged = if is_read(response.request().method()) {
            self.unread.take(amount, client)
        } else {
            Ok(self.unread.take_unchecked(amount, client))
        };
        match charged {
            Ok(usage) => track_body(response, usage, Returns::Bytes),
            Err(exceeded) => {
                let refusal = GatewayError::from(exceeded).response();
                response.into_response(refusal.map_into_right_body())
            }
        }
    }
}

fn track_body<B: MessageBody + 'static>(
    response: ServiceResponse<EitherBody<B>>,
    usage: Usage,
    returns: Returns,
) -> ServiceResponse<EitherBody<B>> {
    response
        .map_body(|_, body| EitherBody::right(BoxBody::new(TrackedBody::new(body.boxed(), usage, returns))))
}

/// Whether a request changes nothing, so that its response may be withheld.
fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

impl From<Exceeded> for GatewayError {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::Quota => Self::TooManyRequests,
            Exceeded::Share => Self::TooManyOfClient,
        }
    }
}
