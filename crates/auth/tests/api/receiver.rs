//! An HTTP server of a test: takes what the service sends to others, and answers as it is told.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// One request as it came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// One field of a form.
    pub(crate) fn field(&self, name: &str) -> String {
        let found = url::form_urlencoded::parse(self.body.as_bytes()).find(|(known, _)| known == name);
        found.map_or_else(String::new, |(_, value)| value.into_owned())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// The answers: status line and headers, and body.
type Answers = Arc<Mutex<Vec<(String, String)>>>;

/// The server; it ends with its runtime.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Received>>>,
    answers: Answers,
}

impl Receiver {
    /// Answers everything with 200 and this JSON, until told otherwise.
    pub(crate) async fn start(body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            requests: Arc::default(),
            answers: Arc::default(),
        };
        receiver.answer("200 OK", body);
        let server = receiver.clone();
        actix_web::rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                actix_web::rt::spawn(async move { server.serve(stream).await });
            }
        });
        receiver
    }

    /// What is answered from now on.
    pub(crate) fn answer(&self, status: &str, body: &str) {
        *self.answers.lock().unwrap() = vec![(status.to_owned(), body.to_owned())];
    }

    /// What is answered from now on, one after the other; the last one stays.
    pub(crate) fn answer_in_turn(&self, answers: &[(&str, &str)]) {
        let own = |(status, body): &(&str, &str)| ((*status).to_owned(), (*body).to_owned());
        *self.answers.lock().unwrap() = answers.iter().map(own).collect();
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Received {
        self.requests().pop().expect("a request")
    }

    async fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(request) = read(&mut stream).await {
            self.requests.lock().unwrap().push(request);
            let (status, body) = {
                let mut answers = self.answers.lock().unwrap();
                if answers.len() > 1 {
                    answers.remove(0)
                } else {
                    answers[0].clone()
                }
            };
            let head = if status.to_ascii_lowercase().contains("content-type:") {
                status
            } else {
                format!("{status}\r\ncontent-type: application/json")
            };
            let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            if stream.write_all(answer.as_bytes()).await.is_err() || stream.flush().await.is_err() {
                return;
            }
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Received> {
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
