//! Frames of the Phoenix protocol in both versions: what clients send, parsed, and what they get, encoded.
//!
//! Encoding and parsing only: nothing here does I/O or keeps state (realtime contract §2).

mod binary;
mod client_frame;
mod encoded_frame;
mod encoding;
mod reference;
mod server_frame;
mod version;

pub(crate) use binary::{encode_user_broadcast, parse_binary};
pub(crate) use client_frame::{ClientFrame, Payload};
pub(crate) use encoded_frame::EncodedFrame;
pub(crate) use encoding::Encoding;
pub(crate) use reference::Reference;
pub(crate) use server_frame::{ServerFrame, json_string};
pub(crate) use version::Version;
