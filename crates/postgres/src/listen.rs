//! `LISTEN` on a dedicated connection, which is opened again when it is lost.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::poll_fn;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_postgres::{AsyncMessage, Error, Notification};

use crate::{Database, Login, quote_identifier};

/// Events that wait for a slow reader. When the queue is full, reading from this connection stops; no other is
/// affected.
const QUEUED_EVENTS: usize = 256;

/// The pause between attempts doubles from one second up to this.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(32);

/// An event of the listening connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenEvent {
    /// `LISTEN` is in effect. Notifications may have been missed since the last loss, so read again what they announce.
    Connected,
    /// A notification received by `LISTEN`.
    Notification { channel: String, payload: String },
    /// The connection was lost, or could not be made; the next attempt follows by itself.
    Lost(String),
}

impl Database {
    /// Returns the notifications of `channels`, received on a dedicated connection that is opened again whenever it is lost.
    pub fn listen(self: &Arc<Self>, channels: &[&'static str]) -> Receiver<ListenEvent> {
        start_listener(self.clone(), channels.to_vec())
    }
}

fn start_listener(database: Arc<Database>, channels: Vec<&'static str>) -> Receiver<ListenEvent> {
    let (events, receiver) = channel(QUEUED_EVENTS);
    tokio::spawn(async move {
        let mut pause = Duration::from_secs(1);
        while !events.is_closed() {
            let mut connected = false;
            let ended = listen_until_lost(&database, &channels, &events, &mut connected).await;
            if connected {
                pause = Duration::from_secs(1);
            }
            let reason = ended.map_or_else(
                |error| error.to_string(),
                |()| "the server closed the connection".to_owned(),
            );
            if events.send(ListenEvent::Lost(reason)).await.is_err() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(MAX_RETRY_PAUSE),
                () = events.closed() => return,
            }
        }
    });
    receiver
}

/// Listens until the connection ends or the receiver is dropped. Sets `connected` once `LISTEN` is in effect.
async fn listen_until_lost(
    database: &Database,
    channels: &[&'static str],
    events: &Sender<ListenEvent>,
    connected: &mut bool,
) -> Result<(), Error> {
    // The connection is polled here and not by a background task, because notifications arrive only through polling it.
    let (client, opened) = database.open(Login::Authenticator).await?;
    let (mut connection, mut moved) = (opened.connection, opened.moved);
    let mut messages = Box::pin(futures_util::stream::poll_fn(move |context| {
        connection.poll_message(context)
    }));
    let commands = listen_commands(channels);
    let mut subscribe = Box::pin(client.batch_execute(&commands));
    loop {
        let message = poll_fn(|context| {
            use futures_util::Stream;
            use std::task::Poll;
            if !*connected && let Poll::Ready(result) = subscribe.as_mut().poll(context) {
                return Poll::Ready(Some(result.map(|()| None)));
            }
            messages
                .as_mut()
                .poll_next(context)
                .map(|next| next.map(|result| result.map(Some)))
        });
        let message = tokio::select! {
            message = message => message,
            () = events.closed() => return Ok(()),
            () = &mut moved => return Ok(()),
        };
        let event = match message.transpose()? {
            None => return Ok(()),
            Some(None) => {
                *connected = true;
                ListenEvent::Connected
            }
            Some(Some(AsyncMessage::Notification(notification))) => notification_event(&notification),
            Some(Some(_)) => continue,
        };
        if events.send(event).await.is_err() {
            return Ok(());
        }
    }
}

fn listen_commands(channels: &[&'static str]) -> String {
    let command = |channel: &&'static str| format!("listen {};", quote_identifier(channel));
    channels.iter().map(command).collect()
}

fn notification_event(notification: &Notification) -> ListenEvent {
    ListenEvent::Notification {
        channel: notification.channel().to_owned(),
        payload: notification.payload().to_owned(),
    }
}
