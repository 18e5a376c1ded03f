//! Downloads from a server that misbehaves. The test determines the addresses of host names.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use selvedge_product_import::{
    Addresses, Downloader, ImportError, PageAddress, Product, Resolution, ResolveName, Retailer,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

const PAGE: &str =
    r#"<meta property="og:title" content="Wool coat"><meta property="og:image" content="/coat.jpg">"#;

/// A shop on loopback, and how many connections it has accepted.
struct Shop {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Shop {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream));
            }
        });
        Self { address, connections }
    }

    /// Returns a client that resolves `shop.test` to this shop, and every other name by `names`.
    fn downloader(&self, names: Names) -> Downloader {
        let retailer = Retailer {
            hosts: vec!["shop.test".to_owned()],
            requires_https: false,
        };
        let addresses = Addresses {
            fixed: HashMap::from([("shop.test".to_owned(), self.address)]),
            names: Some(Arc::new(names)),
        };
        Downloader::new(retailer, addresses)
    }

    async fn fetch(&self, page: &str) -> Result<Product, ImportError> {
        self.fetch_within(page, Duration::from_secs(30)).await
    }

    async fn fetch_within(&self, page: &str, limit: Duration) -> Result<Product, ImportError> {
        let downloader = self.downloader(Names::default()).time_limit(limit);
        downloader.fetch_product(&address_of(page)).await
    }
}

fn address_of(page: &str) -> PageAddress {
    PageAddress {
        url: Url::parse(&format!("http://shop.test/{page}")).expect("an address"),
        product_id: 7,
        gender: None,
    }
}

/// Resolves a name to each list of addresses in turn, and then always to the last one.
#[derive(Debug, Default)]
struct Names {
    answers: Vec<Vec<SocketAddr>>,
    asked: Arc<AtomicUsize>,
}

impl ResolveName for Names {
    fn resolve(&self, name: &str) -> Resolution {
        let turn = self
            .asked
            .fetch_add(1, Ordering::SeqCst)
            .min(self.answers.len().saturating_sub(1));
        let answer = self.answers.get(turn).cloned();
        let name = name.to_owned();
        Box::pin(async move { answer.ok_or_else(|| io::Error::other(format!("no address of {name}"))) })
    }
}

async fn serve(mut stream: TcpStream) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => request.push(byte),
            Err(_) => return,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default();
    // The write fails when the client has closed the connection, which some tests expect.
    let _ = respond(&mut stream, path).await;
}

async fn respond(stream: &mut TcpStream, path: &str) -> io::Result<()> {
    let redirect = |to: &str| format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
    let whole = |more: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\n{more}content-length: {length}\r\n\r\n{body}")
    };
    let head = match path {
        "/coat" => whole("", PAGE),
        "/moved" => redirect("/moved-again"),
        "/moved-again" => redirect("http://shop.test/coat"),
        "/loop" => redirect("/loop"),
        "/to-loopback" => redirect("http://127.0.0.1/admin"),
        "/to-localhost" => redirect("http://localhost/admin"),
        "/to-metadata" => redirect("http://169.254.169.254/latest/meta-data"),
        "/to-other-port" => redirect("http://shop.test:8080/coat"),
        "/to-file" => redirect("file:///etc/passwd"),
        "/to-rebound" => redirect("http://cdn.shop.test/coat"),
        "/compressed" => whole("content-encoding: gzip\r\n", "\u{1f}"),
        "/forbidden" => "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "/cut-off" => "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n<html>".to_owned(),
        "/large-picture" => "HTTP/1.1 200 OK\r\ncontent-length: 52428800\r\n\r\n".to_owned(),
        "/silent" => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            return Ok(());
        }
        _ => "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
    };
    stream.write_all(head.as_bytes()).await?;
    match path {
        "/endless" | "/large-picture" => loop {
            stream.write_all(&[b'a'; 65536]).await?;
        },
        "/dripping" => loop {
            stream.write_all(b"a").await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        },
        _ => stream.shutdown().await,
    }
}

#[tokio::test]
async fn pages_are_followed_through_redirects_of_the_shop() {
    let shop = Shop::start().await;

    let product = shop.fetch("moved").await.expect("a product");

    assert_eq!(product.name, "Wool coat");
    assert_eq!(product.picture.as_str(), "http://shop.test/coat.jpg");
}

#[tokio::test]
async fn redirects_to_other_hosts_ports_and_schemes_are_not_followed() {
    let shop = Shop::start().await;
    for page in [
        "to-loopback",
        "to-localhost",
        "to-metadata",
        "to-other-port",
        "to-file",
    ] {
        let before = shop.connections.load(Ordering::SeqCst);

        let outcome = shop.fetch(page).await;

        assert!(
            matches!(outcome, Err(ImportError::ForbiddenHost(_))),
            "{page}: {outcome:?}"
        );
        assert_eq!(shop.connections.load(Ordering::SeqCst), before + 1, "{page}");
    }
    assert!(matches!(
        shop.fetch("loop").await,
        Err(ImportError::TooManyRedirects)
    ));
}

#[tokio::test]
async fn names_that_lead_to_private_addresses_are_refused() {
    let shop = Shop::start().await;
    for address in [shop.address, SocketAddr::from(([169, 254, 169, 254], 80))] {
        let names = Names {
            answers: vec![vec![address]],
            ..Names::default()
        };

        let outcome = shop
            .downloader(names)
            .fetch_product(&address_of("to-rebound"))
            .await;

        assert!(
            matches!(outcome, Err(ImportError::PrivateAddress(_))),
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn a_name_that_changes_its_answer_is_resolved_once_and_checked() {
    let shop = Shop::start().await;
    // Of an answer with several addresses only the public ones are called. No machine has this one.
    let public = SocketAddr::from(([223, 255, 255, 254], 9));
    let names = Names {
        answers: vec![vec![shop.address, public], vec![shop.address]],
        ..Names::default()
    };
    let asked = Arc::clone(&names.asked);
    let downloader = shop.downloader(names).time_limit(Duration::from_secs(30));

    let outcome = downloader.fetch_product(&address_of("to-rebound")).await;

    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(
        shop.connections.load(Ordering::SeqCst),
        1,
        "only the redirect was fetched"
    );
}

#[tokio::test]
async fn bodies_and_times_are_limited() {
    let shop = Shop::start().await;

    assert!(matches!(
        shop.fetch("endless").await,
        Err(ImportError::TooLarge(_))
    ));
    assert!(matches!(
        shop.fetch_within("dripping", Duration::from_secs(2)).await,
        Err(ImportError::Timeout(_))
    ));
    assert!(matches!(
        shop.fetch_within("silent", Duration::from_secs(2)).await,
        Err(ImportError::Timeout(_))
    ));
    assert!(matches!(
        shop.fetch("cut-off").await,
        Err(ImportError::Unreachable(_))
    ));
    assert!(matches!(
        shop.fetch("forbidden").await,
        Err(ImportError::Status { status: 403, .. })
    ));
    assert!(matches!(
        shop.fetch("compressed").await,
        Err(ImportError::MissingData)
    ));
    let picture = Url::parse("http://shop.test/large-picture").expect("an address");
    let outcome = shop.downloader(Names::default()).fetch_picture(&picture).await;
    assert!(matches!(outcome, Err(ImportError::TooLarge(_))), "{outcome:?}");
}
