//! Opens connections, but none to the ports that a client refuses. The address is judged when the connection is there: neither the spelling of a
//! host, nor what its name leads to at that moment, nor a redirect makes a difference then.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::private_network::is_private;
use super::resolver::Resolver;

type BoxError = Box<dyn Error + Send + Sync>;

/// Part of an error's sources when the connection led to a port that is refused.
#[derive(Debug, thiserror::Error)]
#[error("the port is one that this client does not call")]
pub(crate) struct RefusedPort;

/// Connects as [`HttpConnector`] does, and closes a connection to a refused port before anything is sent.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    inner: HttpConnector<Resolver>,
    refused_ports: Arc<[u16]>,
}

impl Connector {
    pub(crate) fn new(inner: HttpConnector<Resolver>, refused_ports: Arc<[u16]>) -> Self {
        Self { inner, refused_ports }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.inner.call(uri);
        let refused_ports = Arc::clone(&self.refused_ports);
        Box::pin(async move {
            let connection = connecting.await?;
            let address = connection.inner().peer_addr()?;
            if refused_ports.contains(&address.port()) && is_local_or_private(address.ip()) {
                // Wrapped like the refusals of the resolver, so that `has_source` finds it.
                return Err(io::Error::other(RefusedPort).into());
            }
            Ok(connection)
        })
    }
}

/// Whether an address is of this machine or of a private network. The latter counts because a container's host may forward the port to it.
fn is_local_or_private(address: IpAddr) -> bool {
    is_private(address) || is_of_this_machine(address)
}

/// Asks by binding a socket, which the system allows for its own addresses alone. Any error but "not my address" counts as one of them, so that a
/// system without sockets left refuses rather than calls.
fn is_of_this_machine(address: IpAddr) -> bool {
    match UdpSocket::bind(SocketAddr::new(address, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::AddrNotAvailable,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use crate::{Addresses, Call, CallError, HttpClient};

    #[test]
    fn addresses_of_this_machine_and_of_private_networks_are_told_from_others() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.8.8.8", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("10.1.2.3", true),
            ("93.184.215.14", false),
        ] {
            assert_eq!(
                super::is_local_or_private(address.parse().expect("an address")),
                expected,
                "{address}"
            );
        }
    }

    #[tokio::test]
    async fn a_refused_port_is_not_called_however_its_host_is_spelled() {
        let listener = TcpListener::bind("0.0.0.0:0").expect("a free port");
        listener.set_nonblocking(true).expect("set up");
        let address = listener.local_addr().expect("bound");
        let port = address.port();
        let mut addresses = Addresses::default();
        addresses
            .fixed
            .insert("fixed.example".to_owned(), ([127, 0, 0, 1], port).into());
        let client = HttpClient::with_addresses(true, addresses).refusing_ports(&[1, port]);

        let mut hosts = vec!["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "fixed.example"];
        if TcpListener::bind("[::1]:0").is_ok() {
            hosts.push("[::ffff:127.0.0.1]");
        }
        for host in hosts {
            let error = client
                .send(Call::get(format!("http://{host}:{port}/")))
                .await
                .expect_err(host);
            assert!(matches!(error, CallError::RefusedPort { .. }), "{host}: {error}");
            // The listener has got a connection that ended, and no request.
            let (mut stream, _) = listener.accept().expect(host);
            let mut received = String::new();
            stream.set_nonblocking(false).expect("set up");
            std::io::Read::read_to_string(&mut stream, &mut received).ok();
            assert_eq!(received, "", "{host}");
        }
        let other = HttpClient::new(true).refusing_ports(&[1]);
        let answered =
            tokio::spawn(async move { other.send(Call::get(format!("http://127.0.0.1:{port}/"))).await });
        let accept = async {
            loop {
                match listener.accept() {
                    Ok((stream, _)) => return stream,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        drop(accept.await);
        let error = answered.await.expect("sent").expect_err("closed");
        assert!(matches!(error, CallError::Unreachable { .. }), "{error}");
    }
}
