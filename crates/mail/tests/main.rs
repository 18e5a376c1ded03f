//! Sending and receiving mail over real sockets, and the inbox.

mod inbox_api;
mod smtp;
