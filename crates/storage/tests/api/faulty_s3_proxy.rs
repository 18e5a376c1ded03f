//! A proxy in front of the S3 server that can be told to fail as real stores do.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How the proxy makes requests fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Requests are forwarded unchanged.
    None,
    /// No process listens on the port.
    Down,
    /// `503 SlowDown` for everything.
    SlowDown,
    /// Writes get `507`; all other requests are forwarded.
    Full,
}

/// The proxy of one test.
pub(crate) struct FaultyS3Proxy {
    address: SocketAddr,
    wanted: watch::Sender<Fault>,
    active: watch::Receiver<Fault>,
}

impl FaultyS3Proxy {
    /// Starts a proxy that forwards to the server with this URL.
    pub(crate) async fn open(endpoint: &str) -> Self {
        let upstream: SocketAddr = endpoint
            .strip_prefix("http://")
            .and_then(|address| address.parse().ok())
            .expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (wanted, requested) = watch::channel(Fault::None);
        let (reports, active) = watch::channel(Fault::None);
        tokio::spawn(run_proxy(listener, upstream, requested, reports));
        Self {
            address,
            wanted,
            active,
        }
    }

    /// The URL of the proxy.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes how requests fail, and closes all connections.
    pub(crate) async fn set_fault(&self, fault: Fault) {
        self.wanted.send(fault).expect("the proxy is kept");
        let mut active = self.active.clone();
        active
            .wait_for(|now| *now == fault)
            .await
            .expect("the proxy is kept");
    }
}

/// Accepts connections until the proxy is dropped. A new fault closes all connections, so that it applies to the next
/// request.
async fn run_proxy(
    listener: TcpListener,
    upstream: SocketAddr,
    mut requested: watch::Receiver<Fault>,
    reports: watch::Sender<Fault>,
) {
    let address = listener.local_addr().expect("bound");
    let mut listener = Some(listener);
    loop {
        let fault = *requested.borrow_and_update();
        if fault == Fault::Down {
            listener = None;
        } else if listener.is_none() {
            listener = Some(TcpListener::bind(address).await.expect("the port is still free"));
        }
        let mut connections = JoinSet::new();
        let _ = reports.send(fault);
        loop {
            let accepted = async {
                match &listener {
                    Some(listener) => listener.accept().await.expect("it accepts").0,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                socket = accepted => {
                    connections.spawn(serve(socket, upstream, fault));
                }
                changed = requested.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                }
            }
        }
        connections.shutdown().await;
    }
}

/// Serves one connection. A client may close it at any time.
async fn serve(mut client: TcpStream, upstream: SocketAddr, fault: Fault) -> Option<()> {
    if fault == Fault::None {
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
    let refusal = match fault {
        Fault::Full
            if head.starts_with("get ") || head.starts_with("head ") || head.starts_with("delete ") =>
        {
            // One request per connection, so that the next request is checked as well.
            let mut server = TcpStream::connect(upstream).await.ok()?;
            server.write_all(&request[..end - 2]).await.ok()?;
            server.write_all(b"connection: close\r\n\r\n").await.ok()?;
            copy_bidirectional(&mut client, &mut server).await.ok()?;
            return Some(());
        }
        Fault::Full => ("507 Insufficient Storage", "XMinioStorageFull"),
        _ => ("503 Slow Down", "SlowDown"),
    };
    if !head.contains("expect: 100-continue") {
        // A client that is still sending does not read the response, so the body is read first.
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
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/xml\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    client.write_all(response.as_bytes()).await.ok()?;
    client.shutdown().await.ok()
}
