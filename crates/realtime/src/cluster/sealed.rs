//! A broker whose messages are those of this project's nodes.
//!
//! Whoever may publish at the broker could otherwise send clients frames of a private topic, or presence of people who are not there. So every
//! message begins with a time and an HMAC by a key that is derived from the project's secret, over the subject, the time and the
//! message. A message without it, for another subject, or older than [`LONGEST_WAY`], is dropped.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::broker::{Broker, BrokerError};
use crate::metrics::METRICS;

/// Bytes of the HMAC.
const MAC_BYTES: usize = 32;
/// Bytes of the time, in milliseconds since 1970, big-endian.
const TIME_BYTES: usize = 8;
/// How long a message may take, and how far the clocks of two nodes may be apart. What was recorded at the broker cannot be sent again later.
const LONGEST_WAY: Duration = Duration::from_secs(60);

/// The key of a project's nodes.
pub(super) type NodeKey = [u8; 32];

/// A broker that adds and checks the HMAC of messages.
pub(super) struct SealedBroker {
    pub(super) broker: Arc<dyn Broker>,
    pub(super) key: NodeKey,
}

#[async_trait]
impl Broker for SealedBroker {
    fn is_connected(&self) -> bool {
        self.broker.is_connected()
    }

    fn max_message_bytes(&self) -> usize {
        self.broker
            .max_message_bytes()
            .saturating_sub(MAC_BYTES + TIME_BYTES)
    }

    async fn publish(&self, subject: String, message: Bytes) -> Result<(), BrokerError> {
        let sealed = seal(&self.key, &subject, &message, now_ms());
        self.broker.publish(subject, sealed).await
    }

    async fn subscribe(&self, subject: String) -> Result<BoxStream<'static, Bytes>, BrokerError> {
        let messages = self.broker.subscribe(subject.clone()).await?;
        let key = self.key;
        let opened = messages.filter_map(move |message| {
            let opened = open(&key, &subject, &message, now_ms());
            if opened.is_none() {
                METRICS.count_drop("not_of_this_project");
                tracing::debug!(
                    subject,
                    "a message at the broker is of none of this project's nodes, or is late"
                );
            }
            std::future::ready(opened)
        });
        Ok(opened.boxed())
    }

    async fn flush(&self) -> Result<(), BrokerError> {
        self.broker.flush().await
    }
}

fn now_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| {
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    })
}

fn start_mac(key: &NodeKey, subject: &str, time: [u8; TIME_BYTES], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    // The length, so that the end of a subject cannot become the beginning of a message.
    mac.update(&(subject.len() as u64).to_be_bytes());
    mac.update(subject.as_bytes());
    mac.update(&time);
    mac.update(message);
    mac
}

fn seal(key: &NodeKey, subject: &str, message: &[u8], now_ms: u64) -> Bytes {
    let time = now_ms.to_be_bytes();
    let mac = start_mac(key, subject, time, message).finalize().into_bytes();
    let mut sealed = BytesMut::with_capacity(MAC_BYTES + TIME_BYTES + message.len());
    sealed.put_slice(&mac);
    sealed.put_slice(&time);
    sealed.put_slice(message);
    sealed.freeze()
}

fn open(key: &NodeKey, subject: &str, sealed: &Bytes, now_ms: u64) -> Option<Bytes> {
    let (mac, rest) = sealed.split_first_chunk::<MAC_BYTES>()?;
    let (time, message) = rest.split_first_chunk::<TIME_BYTES>()?;
    start_mac(key, subject, *time, message).verify_slice(mac).ok()?;
    let distance = Duration::from_millis(now_ms.abs_diff(u64::from_be_bytes(*time)));
    (distance <= LONGEST_WAY).then(|| sealed.slice(MAC_BYTES + TIME_BYTES..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_064_only_messages_of_the_projects_nodes_are_read_each_under_its_subject_and_in_time() {
        let key = [7; 32];
        let sealed = seal(&key, "a.b", b"hello", 1_000_000);

        assert_eq!(
            open(&key, "a.b", &sealed, 1_000_500).as_deref(),
            Some(&b"hello"[..])
        );
        assert_eq!(open(&[8; 32], "a.b", &sealed, 1_000_500), None);
        assert_eq!(open(&key, "a.c", &sealed, 1_000_500), None);
        assert_eq!(open(&key, "a.b", &sealed, 1_061_000), None);
        let mut changed = sealed.to_vec();
        *changed.last_mut().expect("bytes") ^= 1;
        assert_eq!(open(&key, "a.b", &changed.into(), 1_000_500), None);
        for strange in [&b""[..], b"hello", &[0; 39]] {
            assert_eq!(
                open(&key, "a.b", &Bytes::copy_from_slice(strange), 1_000_000),
                None
            );
        }
    }
}
