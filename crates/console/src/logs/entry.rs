//! One request in the log.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat};
use selvedge_gateway::RequestRecord;
use selvedge_token::Claims;
use serde_json::{Value, json};

use super::redact::redact;

/// Memory of an entry besides its text: the struct, and its share of the claims that requests of one token have in common.
const OVERHEAD: usize = 256;

/// A request that was answered.
#[derive(Clone)]
pub(super) struct Entry {
    /// Grows by one from entry to entry.
    pub(super) number: u64,
    /// When it was answered, in milliseconds since 1970.
    pub(super) time_ms: i64,
    pub(super) status: u16,
    pub(super) duration_us: u32,
    pub(super) service: &'static str,
    address: Option<IpAddr>,
    claims: Option<Arc<Claims>>,
    /// Request id, method and path in one allocation.
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
        OVERHEAD + self.text.len()
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

    /// The claims of the token. They are no secret: without the signature nobody can use them.
    pub(super) fn claims(&self) -> Option<Value> {
        Some(Value::Object(self.claims.as_ref()?.map().clone()))
    }

    /// The entry for the page.
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

/// A time as RFC 3339 with milliseconds.
pub(super) fn time_text(time_ms: i64) -> String {
    DateTime::from_timestamp_millis(time_ms)
        .unwrap_or_default()
        .to_rfc3339_opts(SecondsFormat::Millis, true)
}
