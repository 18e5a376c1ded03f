//! The part of the fan-out that belongs to one worker thread: the members of each topic, without locks.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use actix_web::rt;
use bytes::Bytes;
use foldhash::quality::RandomState;
use indexmap::IndexMap;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::channel_id::ChannelId;
use super::hub::{ChannelMessage, Delivery, Hub, SystemMessage};
use super::member::{Member, PresenceReception};
use super::outbox::{Outbox, Signal};
use crate::broadcast::Broadcast;
use crate::frame::{EncodedFrame, Reference, ServerFrame, Version};
use crate::limits::Rate;
use crate::metrics::METRICS;
use crate::presence::PresenceDiff;
use crate::topic::Topic;

/// The text with which receiving channels are closed when the project's rate of messages is exceeded.
const TOO_MANY_MESSAGES: &str = "Too many messages per second";

/// Interval at which outboxes are checked while a large transaction waits for their readers.
const READER_POLL: Duration = Duration::from_millis(2);

/// The members of one topic on this worker. An `IndexMap`, because broadcasts iterate it far more often than members
/// change.
type Room = IndexMap<ChannelId, Rc<Member>, RandomState>;

/// Members and sockets of one worker.
pub(crate) struct Rooms {
    worker: usize,
    hub: Arc<Hub>,
    event_rate: Arc<Rate>,
    /// How long a large transaction waits for readers after each batch.
    reader_grace: Duration,
    counter: Cell<u64>,
    rooms: RefCell<HashMap<Topic, Room, RandomState>>,
    channels: RefCell<HashMap<ChannelId, Rc<Member>, RandomState>>,
    /// Where notices of the change feed go for a channel whose join still waits for its subscription.
    listeners: RefCell<HashMap<ChannelId, mpsc::UnboundedSender<SystemMessage>, RandomState>>,
    /// Outboxes that changes have filled by half since the last [`Delivery::Settle`].
    crowded: RefCell<Vec<Weak<Outbox>>>,
    /// Weak, so that a socket ends without having to be removed here.
    sockets: RefCell<Vec<Weak<Outbox>>>,
}

impl Rooms {
    /// Rooms of the worker with this index.
    pub(crate) fn new(worker: usize, hub: Arc<Hub>, event_rate: Arc<Rate>, reader_grace: Duration) -> Self {
        Self {
            worker,
            hub,
            event_rate,
            reader_grace,
            counter: Cell::new(0),
            rooms: RefCell::default(),
            channels: RefCell::default(),
            listeners: RefCell::default(),
            crowded: RefCell::default(),
            sockets: RefCell::default(),
        }
    }

    /// An id for a channel that is about to join.
    pub(crate) fn next_channel_id(&self) -> ChannelId {
        self.counter.set(self.counter.get() + 1);
        ChannelId::new(self.worker, self.counter.get())
    }

    /// The notices for a channel that is about to join, until [`Rooms::stop_listening`].
    pub(crate) fn listen(&self, id: ChannelId) -> mpsc::UnboundedReceiver<SystemMessage> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.listeners.borrow_mut().insert(id, sender);
        receiver
    }

    /// Ends [`Rooms::listen`].
    pub(crate) fn stop_listening(&self, id: ChannelId) {
        self.listeners.borrow_mut().remove(&id);
    }

    /// Adds a socket that is to be told when the server shuts down.
    pub(crate) fn add_socket(&self, outbox: &Rc<Outbox>) {
        let mut sockets = self.sockets.borrow_mut();
        // Entries of closed sockets are removed only when the list would grow: constant time per socket on average.
        if sockets.len() == sockets.capacity() {
            sockets.retain(|socket| socket.strong_count() > 0);
        }
        sockets.push(Rc::downgrade(outbox));
    }

    /// Adds a member; from now on it gets messages.
    pub(crate) fn add_member(&self, member: &Rc<Member>) {
        let mut rooms = self.rooms.borrow_mut();
        let room = rooms.entry(member.topic.clone()).or_default();
        if room.is_empty() {
            self.hub.add_interest(&member.topic, self.worker);
        }
        room.insert(member.id, Rc::clone(member));
        self.channels.borrow_mut().insert(member.id, Rc::clone(member));
        METRICS.channels.inc();
    }

    /// Removes a member. A second call for the same member does nothing.
    pub(crate) fn remove_member(&self, member: &Member) {
        if self.channels.borrow_mut().remove(&member.id).is_none() {
            return;
        }
        METRICS.channels.dec();
        let mut rooms = self.rooms.borrow_mut();
        if let Some(room) = rooms.get_mut(&member.topic) {
            // The order of members has no meaning, so removal may take constant time.
            room.swap_remove(&member.id);
            if room.is_empty() {
                rooms.remove(&member.topic);
                self.hub.remove_interest(&member.topic, self.worker);
            }
        }
    }

    /// Sends a broadcast of a channel of this worker: to members on this thread directly, to other workers through the
    /// hub. `except` is the sending channel if it does not want its own messages.
    pub(crate) fn broadcast(&self, broadcast: &Arc<Broadcast>, except: Option<ChannelId>) {
        // The sender's own worker delivers first and is skipped by the hub, which saves it a trip through its mailbox.
        self.deliver_broadcast(broadcast, except);
        let topic = &broadcast.topic;
        self.hub
            .send_to_topic(topic, Some(self.worker), &Delivery::Broadcast(broadcast.clone()));
    }

    /// Delivers a message from the worker's mailbox.
    pub(crate) fn deliver(&self, delivery: Delivery) {
        match delivery {
            Delivery::Broadcast(broadcast) => self.deliver_broadcast(&broadcast, None),
            Delivery::Presence(diff) => self.deliver_presence(&diff),
            Delivery::Channels(channels, message) => self.deliver_to_channels(&channels, &message),
            Delivery::Settle {
                waits_for_readers,
                done,
            } => self.settle(waits_for_readers, done),
            Delivery::CheckUsers => self.check_users(),
            Delivery::Drain(duration) => self.drain(duration),
        }
    }

    fn deliver_broadcast(&self, broadcast: &Broadcast, except: Option<ChannelId>) {
        let rooms = self.rooms.borrow();
        let Some(room) = rooms.get(&broadcast.topic) else {
            return;
        };
        let mut delivered = 0;
        for member in room.values() {
            let is_wanted = member.receives_broadcasts.get()
                && Some(member.id) != except
                && !broadcast
                    .row
                    .is_some_and(|row| member.replayed.borrow().contains(&row));
            if let Some(frame) = broadcast.frame(member.version).filter(|_| is_wanted) {
                member.push_frame(frame.clone());
                delivered += 1;
            }
        }
        self.event_rate.count(delivered);
        // Compat: exceeding the project's rate closes the channels that receive, not the one that sends.
        if self.event_rate.is_exceeded() {
            for member in room.values().filter(|member| Some(member.id) != except) {
                close_channel(member, TOO_MANY_MESSAGES);
            }
        }
    }

    fn deliver_presence(&self, diff: &PresenceDiff) {
        let rooms = self.rooms.borrow();
        let Some(room) = rooms.get(&diff.topic) else {
            return;
        };
        for member in room.values() {
            // The state that the channel got at its join already includes this diff.
            if diff.sequence <= member.presence_sequence.get() {
                continue;
            }
            match member.presence.get() {
                PresenceReception::Off => {}
                PresenceReception::Fanout => member.push_frame(diff.frame(member.version).clone()),
                PresenceReception::ChannelPush => member.push("presence_diff", diff.payload()),
            }
        }
    }

    fn deliver_to_channels(&self, ids: &[ChannelId], message: &ChannelMessage) {
        let channels = self.channels.borrow();
        match message {
            ChannelMessage::Change { ids: bindings, data } => {
                let members = ids.iter().filter_map(|id| channels.get(id));
                let members = members.inspect(|member| self.note_if_crowded(member));
                deliver_change(members, bindings, data);
            }
            ChannelMessage::System(system) => {
                let listeners = self.listeners.borrow();
                for id in ids {
                    if let Some(member) = channels.get(id) {
                        member.push("system", &system.payload(&member.topic));
                    } else if let Some(listener) = listeners.get(id) {
                        // The join has ended when nobody receives it.
                        listener.send(system.clone()).ok();
                    }
                }
            }
        }
    }

    /// Remembers an outbox that is half full, so that a large transaction can wait for its reader.
    fn note_if_crowded(&self, member: &Member) {
        if member.outbox.is_half_full() {
            let mut crowded = self.crowded.borrow_mut();
            // The changes of a batch mostly go to the same sockets, so equal neighbours are the common case.
            let outbox = Rc::downgrade(&member.outbox);
            if crowded.last().is_none_or(|last| !last.ptr_eq(&outbox)) {
                crowded.push(outbox);
            }
        }
    }

    /// Drops `done` immediately or, if it waits for readers, when no outbox is more than half full or the grace period is
    /// over.
    fn settle(&self, waits_for_readers: bool, done: mpsc::Sender<()>) {
        let crowded = std::mem::take(&mut *self.crowded.borrow_mut());
        if !waits_for_readers || crowded.is_empty() {
            return;
        }
        let grace = self.reader_grace;
        rt::spawn(async move {
            let deadline = Instant::now() + grace;
            let is_half_full =
                |outbox: &Weak<Outbox>| outbox.upgrade().is_some_and(|outbox| outbox.is_half_full());
            while crowded.iter().any(is_half_full) && Instant::now() < deadline {
                sleep(READER_POLL).await;
            }
            drop(done);
        });
    }

    fn check_users(&self) {
        for outbox in self.sockets.borrow().iter().filter_map(Weak::upgrade) {
            outbox.signal(Signal::CheckUsers);
        }
    }

    /// Spreads the closing of this worker's sockets evenly over the duration.
    fn drain(&self, duration: Duration) {
        let sockets: Vec<_> = self.sockets.borrow().iter().filter_map(Weak::upgrade).collect();
        let count = u32::try_from(sockets.len()).unwrap_or(u32::MAX).max(1);
        for (index, outbox) in (0..count).zip(&sockets) {
            // The n-th socket closes after n/count of the duration, so that clients do not reconnect at the same time.
            let pause = duration.mul_f64(f64::from(index) / f64::from(count));
            outbox.signal(Signal::Drain { pause });
        }
    }
}

/// Asks the socket's task to close a channel. Closing it here would change the room that the caller iterates.
fn close_channel(member: &Member, reason: &'static str) {
    let channel = member.id;
    member.outbox.signal(Signal::CloseChannel { channel, reason });
}

/// Queues a change for its channels, encoded once for each topic and protocol version.
fn deliver_change<'a>(members: impl Iterator<Item = &'a Rc<Member>>, ids: &[u64], data: &Bytes) {
    let Ok(data) = std::str::from_utf8(data) else {
        return;
    };
    let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
    let payload = format!(r#"{{"ids":[{}],"data":{data}}}"#, ids.join(","));
    let mut frames: HashMap<(&Topic, Version), EncodedFrame, RandomState> = HashMap::default();
    for member in members {
        let frame = frames.entry((&member.topic, member.version)).or_insert_with(|| {
            let frame = ServerFrame {
                join_ref: &Reference::NULL,
                reference: &Reference::NULL,
                topic: member.topic.wire_name(),
                event: "postgres_changes",
                payload: &payload,
            };
            frame.encode(member.version)
        });
        member.push_frame(frame.clone());
    }
}
