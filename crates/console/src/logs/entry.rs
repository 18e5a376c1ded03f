//! An answered request as the log keeps it.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat};
use selvedge_gateway::RequestRecord;
use selvedge_token::Claims;
use serde_json::{Value, json};

use super::redact::redact;

/// The bytes that an entry is counted with besides its text: the struct, and its share of the claims, which requests of
/// one token share.
const ENTRY_OVERHEAD_BYTES: usize = 256;

/// A request that was answered, without its headers and bodies.
#[derive(Clone)]
pub(super) struct Entry {
    /// Numbers the entries without gaps, so that a page can ask for those after or before one.
    pub(super) number: u64,
    /// The time of the answer in milliseconds since 1970.
    pub(super) time_ms: i64,
    pub(super) status: u16,
    pub(super) duration_us: u32,
    pub(super) service: &'static str,
    address: Option<IpAddr>,
    claims: Option<Arc<Claims>>,
    /// The request id, the method and the path behind each other, because one allocation costs less than three.
    text: Box<str>,
    id_end: u32,
    method_end: u32,
}

impl Entry {
    pub(super) fn new(number: u64, time_ms: i64, record: &RequestRecord<'_>) -> Self {
        // A function may have been given a key as part of its path, and other clients send what they like.
        let path = redact(record.path);
        let mut text = String::with_capacity(record.id.len() + record.method.len() + path.len());
        text.push_str(record.id);
        let id_end = text.len() as u32;
        text.push_str(record.method);
        let method_end = text.len() as u32;
        text.push_str(&path);
        Self {
            number,
            time_ms,
            status: record.status,
            duration_us: u32::try_from(record.elapsed.as_micros()).unwrap_or(u32::MAX),
            service: record.service,
            address: record.address,
            claims: record.claims.cloned(),
            text: text.into(),
            id_end,
            method_end,
        }
    }

    pub(super) fn size(&self) -> usize {
        ENTRY_OVERHEAD_BYTES + self.text.len()
    }

    pub(super) fn request_id(&self) -> &str {
        &self.text[..self.id_end as usize]
    }

    fn method(&self) -> &str {
        &self.text[self.id_end as usize..self.method_end as usize]
    }

    pub(super) fn path(&self) -> &str {
        &self.text[self.method_end as usize..]
    }

    pub(super) fn user(&self) -> Option<&str> {
        self.claims.as_ref()?.subject()
    }

    /// Returns the claims of the request's token. They may be shown, because without the signature they cannot be used as a
    /// token.
    pub(super) fn claims(&self) -> Option<Value> {
        Some(Value::Object(self.claims.as_ref()?.map().clone()))
    }

    /// Returns the entry as the log screen reads it.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "id": self.number.to_string(),
            "time": time_text(self.time_ms),
            "request_id": self.request_id(),
            "service": self.service,
            "method": self.method(),
            "path": self.path(),
            "status": self.status,
            "duration_ms": f64::from(self.duration_us) / 1000.0,
            "user": self.user(),
            "role": self.claims.as_ref().and_then(|claims| claims.role()),
            "address": self.address,
        })
    }
}

/// Formats milliseconds since 1970 as RFC 3339.
pub(super) fn time_text(time_ms: i64) -> String {
    DateTime::from_timestamp_millis(time_ms)
        .unwrap_or_default()
        .to_rfc3339_opts(SecondsFormat::Millis, true)
}
