//! pg_net: sends the requests of `net.http_request_queue` and stores their responses.
//!
//! `worker` decides what is sent when, `queue` holds its SQL, `send` turns requests and responses into those of the sender.
//! A request stays in the queue until its response is stored, in the same transaction. A crash of this server therefore
//! loses none; it may send one twice, as the original does.

mod queue;
mod send;
mod worker;

pub(crate) use worker::send_queued_requests;
