//! A gate in front of the S3 server: open, or closed in one of the ways in which stores fail.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What meets a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// The server itself.
    Fair,
    /// Nobody listens.
    Down,
    /// `503 SlowDown` for everything.
    SlowDown,
    /// `507` for everything that writes; the server for everything else.
    Full,
}

/// The gate of one bucket.
pub(crate) struct Gate {
    address: SocketAddr,
    wanted: watch::Sender<Weather>,
    reached: watch::Receiver<Weather>,
}

impl Gate {
    /// An open gate in front of a server, by its URL.
    pub(crate) async fn open(endpoint: &str) -> Self {
        let upstream: SocketAddr = endpoint
            .strip_prefix("http://")
            .and_then(|address| address.parse().ok())
            .expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (wanted, wishes) = watch::channel(Weather::Fair);
        let (reaches, reached) = watch::channel(Weather::Fair);
        tokio::spawn(keep(listener, upstream, wishes, reaches));
        Self {
            address,
            wanted,
            reached,
        }
    }

    /// Its own URL.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the weather; connections of the old one are cut.
    pub(crate) async fn turn(&self, weather: Weather) {
        self.wanted.send(weather).expect("the gate is kept");
        let mut reached = self.reached.clone();
        reached
            .wait_for(|now| *now == weather)
            .await
            .expect("the gate is kept");
    }
}

async fn keep(
    listener: TcpListener,
    upstream: SocketAddr,
    mut wishes: watch::Receiver<Weather>,
    reaches: watch::Sender<Weather>,
) {
    let address = listener.local_addr().expect("bound");
    let mut listener = Some(listener);
    loop {
        let weather = *wishes.borrow_and_update();
        if weather == Weather::Down {
            listener = None;
        } else if listener.is_none() {
            listener = Some(TcpListener::bind(address).await.expect("the port is still free"));
        }
        let mut connections = JoinSet::new();
        let _ = reaches.send(weather);
        loop {
            let accepted = async {
                match &listener {
                    Some(listener) => listener.accept().await.expect("it accepts").0,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                socket = accepted => {
                    connections.spawn(serve(socket, upstream, weather));
                }
                changed = wishes.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                }
            }
        }
        connections.shutdown().await;
    }
}

/// One connection. A client that hangs up is no failure.
async fn serve(mut client: TcpStream, upstream: SocketAddr, weather: Weather) -> Option<()> {
    if weather == Weather::Fair {
        let mut server = TcpStream::connect(upstream).await.ok()?;
        copy_bidirectional(&mut client, &mut server).await.ok()?;
        return Some(());
    }
    let mut request = Vec::new();
    let end = loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if client.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
    let refusal = match weather {
        Weather::Full
            if head.starts_with("get ") || head.starts_with("head ") || head.starts_with("delete ") =>
        {
            // One request per connection, so that the next one is judged, too.
            let mut server = TcpStream::connect(upstream).await.ok()?;
            server.write_all(&request[..end - 2]).await.ok()?;
            server.write_all(b"connection: close\r\n\r\n").await.ok()?;
            copy_bidirectional(&mut client, &mut server).await.ok()?;
            return Some(());
        }
        Weather::Full => ("507 Insufficient Storage", "XMinioStorageFull"),
        _ => ("503 Slow Down", "SlowDown"),
    };
    if !head.contains("expect: 100-continue") {
        // Whoever is still sending would not read the answer.
        let length: usize = head
            .split("\r\ncontent-length: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next()?.parse().ok())
            .unwrap_or(0);
        let mut left = length.saturating_sub(request.len() - end);
        let mut buffer = vec![0; 64 * 1024];
        while left > 0 {
            let read = client.read(&mut buffer).await.ok()?;
            left = left.saturating_sub(read.max(1));
        }
    }
    let (status, code) = refusal;
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>not now</Message></Error>");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/xml\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    client.write_all(answer.as_bytes()).await.ok()?;
    client.shutdown().await.ok()
}
