//! The connections of one thread to the workers, kept open between requests.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::Path;

use actix_web::rt;
use foldhash::fast::RandomState;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use super::request_body::RequestBody;
use crate::worker::Worker;

/// Most idle connections to one worker; further ones are closed after their request.
const MOST_IDLE: usize = 64;

/// Idle connections by the worker's id.
#[derive(Default)]
pub(super) struct Connections {
    idle: RefCell<HashMap<u64, Vec<SendRequest<RequestBody>>, RandomState>>,
}

/// Why a function did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("cannot connect: {0}")]
    Connect(#[from] io::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
}

impl Connections {
    /// Sends a request on an idle connection or a new one, and returns the connection with the response. A request that was
    /// not sent because its connection had been closed is sent on another one.
    pub(super) async fn send(
        &self,
        worker: &Worker,
        mut request: Request<RequestBody>,
    ) -> Result<(Response<Incoming>, SendRequest<RequestBody>), SendError> {
        loop {
            let (mut sender, is_new) = match self.take(worker.id) {
                Some(sender) => (sender, false),
                None => (connect(&worker.socket()).await?, true),
            };
            match sender.ready().await {
                Ok(()) => {}
                Err(error) if is_new => return Err(error.into()),
                Err(_) => continue,
            }
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                Err(mut failure) => match failure.take_message() {
                    Some(unsent) if !is_new => request = unsent,
                    _ => return Err(failure.into_error().into()),
                },
            }
        }
    }

    /// Keeps a connection whose response has been read to its end.
    pub(super) fn put(&self, worker: u64, sender: SendRequest<RequestBody>) {
        let mut idle = self.idle.borrow_mut();
        if !idle.contains_key(&worker) {
            // Drops connections to workers that have ended.
            idle.retain(|_, senders| senders.iter().any(|sender| !sender.is_closed()));
        }
        let senders = idle.entry(worker).or_default();
        if senders.len() < MOST_IDLE {
            senders.push(sender);
        }
    }

    fn take(&self, worker: u64) -> Option<SendRequest<RequestBody>> {
        self.idle.borrow_mut().get_mut(&worker)?.pop()
    }
}

async fn connect(socket: &Path) -> Result<SendRequest<RequestBody>, SendError> {
    let stream = UnixStream::connect(socket).await?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    rt::spawn(async move {
        // The request that uses the connection fails with the same error and reports it.
        let _ = connection.await;
    });
    Ok(sender)
}

/// Opens a connection for one WebSocket, sends the handshake and returns the response.
pub(super) async fn send_upgrade(
    socket: &Path,
    request: Request<RequestBody>,
) -> Result<Response<Incoming>, SendError> {
    let stream = UnixStream::connect(socket).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    rt::spawn(async move {
        let _ = connection.with_upgrades().await;
    });
    Ok(sender.send_request(request).await?)
}
