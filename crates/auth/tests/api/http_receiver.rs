//! An HTTP server inside the test: records requests and sends the responses that the test sets.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A received request, parsed as HTTP/1.1. Names of headers are in lowercase.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    /// The request line with its line break: `GET /path HTTP/1.1\r\n`.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns one field of a form body.
    pub(crate) fn field(&self, name: &str) -> String {
        let found = url::form_urlencoded::parse(self.body.as_bytes()).find(|(known, _)| known == name);
        found.map_or_else(String::new, |(_, value)| value.into_owned())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Responses to send: status, optionally with header lines after it, and body. The content type is JSON unless a header
/// sets it.
type Responses = Arc<Mutex<Vec<(String, String)>>>;

/// A running server on a port of its own. It stops when the test's runtime ends.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Received>>>,
    responses: Responses,
}

impl Receiver {
    /// Starts a server that responds to every request with 200 and this JSON.
    pub(crate) async fn start(body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            requests: Arc::default(),
            responses: Arc::default(),
        };
        receiver.respond("200 OK", body);
        let server = receiver.clone();
        actix_web::rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                actix_web::rt::spawn(async move { server.serve(stream).await });
            }
        });
        receiver
    }

    /// Sets the response to all further requests.
    pub(crate) fn respond(&self, status: &str, body: &str) {
        *self.responses.lock().unwrap() = vec![(status.to_owned(), body.to_owned())];
    }

    /// Sets the responses to the next requests, in order; the last one repeats.
    pub(crate) fn respond_in_turn(&self, responses: &[(&str, &str)]) {
        let own = |(status, body): &(&str, &str)| ((*status).to_owned(), (*body).to_owned());
        *self.responses.lock().unwrap() = responses.iter().map(own).collect();
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Received {
        self.requests().pop().expect("a request")
    }

    /// Answers the requests of one connection until the client closes it.
    async fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(request) = read_request(&mut stream).await {
            self.requests.lock().unwrap().push(request);
            let (status, body) = {
                let mut responses = self.responses.lock().unwrap();
                if responses.len() > 1 {
                    responses.remove(0)
                } else {
                    responses[0].clone()
                }
            };
            let head = if status.to_ascii_lowercase().contains("content-type:") {
                status
            } else {
                format!("{status}\r\ncontent-type: application/json")
            };
            let response = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            if stream.write_all(response.as_bytes()).await.is_err() || stream.flush().await.is_err() {
                return;
            }
        }
    }
}

/// Reads one request with a `content-length` body; `None` when the connection has ended.
async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut request = Received::default();
    stream
        .read_line(&mut request.line)
        .await
        .ok()
        .filter(|n| *n > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        request.headers.push((name, value.to_owned()));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}
