//! `LISTEN`, on a connection of its own that comes back when it is lost.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::poll_fn;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_postgres::{AsyncMessage, Error};

use crate::{Database, Login};

/// Events that wait for a slow reader; then the connection waits, which holds up nobody else.
const QUEUED_EVENTS: usize = 256;

const LONGEST_PAUSE: Duration = Duration::from_secs(32);

/// What happened on the listening connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenEvent {
    /// Listening. After a loss, notifications may have been missed: read again what they would have announced.
    Connected,
    /// A `NOTIFY`.
    Notification { channel: String, payload: String },
    /// The connection was lost, or could not be made; the next attempt follows by itself.
    Lost(String),
}

pub(crate) fn start(database: Arc<Database>, channels: Vec<&'static str>) -> Receiver<ListenEvent> {
    let (events, receiver) = channel(QUEUED_EVENTS);
    tokio::spawn(async move {
        let mut pause = Duration::from_secs(1);
        while !events.is_closed() {
            let mut connected = false;
            let ended = listen(&database, &channels, &events, &mut connected).await;
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
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
                () = events.closed() => return,
            }
        }
    });
    receiver
}

/// Listens until the connection ends or nobody reads any more.
async fn listen(
    database: &Database,
    channels: &[&'static str],
    events: &Sender<ListenEvent>,
    connected: &mut bool,
) -> Result<(), Error> {
    let (client, mut connection) = database.open(Login::Authenticator).await?;
    let mut messages = Box::pin(futures_util::stream::poll_fn(move |context| {
        connection.poll_message(context)
    }));
    let commands: String = channels
        .iter()
        .map(|channel| format!("listen \"{}\";", channel.replace('"', "\"\"")))
        .collect();
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
        };
        let event = match message.transpose()? {
            None => return Ok(()),
            Some(None) => {
                *connected = true;
                ListenEvent::Connected
            }
            Some(Some(AsyncMessage::Notification(notification))) => ListenEvent::Notification {
                channel: notification.channel().to_owned(),
                payload: notification.payload().to_owned(),
            },
            Some(Some(_)) => continue,
        };
        if events.send(event).await.is_err() {
            return Ok(());
        }
    }
}
