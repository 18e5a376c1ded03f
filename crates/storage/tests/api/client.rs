//! HTTP clients of tests: each has an identity, and responses are read completely and print themselves in assertions.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::TestApp;

/// An HTTP client with an identity.
pub(crate) struct Client<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) token: Option<String>,
    pub(crate) api_key: Option<String>,
}

impl Client<'_> {
    /// The bearer token.
    pub(crate) fn token(&self) -> &str {
        self.token.as_deref().expect("this client has a token")
    }

    /// A request with the credentials of this client. `path` follows the prefix of the service.
    pub(crate) fn request(&self, method: Method, path: &str) -> Request {
        let mut builder = reqwest::Client::new().request(method, self.app.url(path));
        if let Some(token) = &self.token {
            builder = builder.bearer_auth(token);
        }
        if let Some(api_key) = &self.api_key {
            builder = builder.header("apikey", api_key);
        }
        Request { builder }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await
    }

    pub(crate) async fn head(&self, path: &str) -> Response {
        self.request(Method::HEAD, path).send().await
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        self.request(Method::DELETE, path).send().await
    }

    /// Sends a JSON body.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path).json(body).send().await
    }

    /// Sends a JSON body.
    pub(crate) async fn put(&self, path: &str, body: Value) -> Response {
        self.request(Method::PUT, path).json(body).send().await
    }

    /// Deletes objects by a list of keys.
    pub(crate) async fn remove(&self, bucket: &str, keys: &[&str]) -> Response {
        self.request(Method::DELETE, &format!("/object/{bucket}"))
            .json(json!({"prefixes": keys}))
            .send()
            .await
    }

    /// Uploads text.
    pub(crate) async fn upload(&self, path: &str, text: &str) -> Response {
        self.upload_request(path, text).send().await
    }

    /// Uploads text and replaces an existing object.
    pub(crate) async fn upsert(&self, path: &str, text: &str) -> Response {
        self.upload_request(path, text)
            .header("x-upsert", "true")
            .send()
            .await
    }

    /// An upload of text that is not sent yet, so that headers can be added.
    pub(crate) fn upload_request(&self, path: &str, text: &str) -> Request {
        self.request(Method::POST, &format!("/object/{path}"))
            .header("content-type", "text/plain")
            .body(text.as_bytes().to_vec())
    }

    /// Uploads a form.
    pub(crate) async fn upload_form(&self, path: &str, parts: &[Part<'_>]) -> Response {
        self.request(Method::POST, &format!("/object/{path}"))
            .form(parts)
            .send()
            .await
    }

    /// Lists the files and folders directly below a prefix.
    pub(crate) async fn list(&self, bucket: &str, prefix: &str) -> Response {
        self.post(&format!("/object/list/{bucket}"), json!({"prefix": prefix}))
            .await
    }
}

/// A part of a form.
pub(crate) enum Part<'a> {
    Field(&'a str, &'a str),
    File {
        name: &'a str,
        content_type: Option<&'a str>,
        bytes: &'a [u8],
    },
}

/// A request that is not sent yet.
pub(crate) struct Request {
    builder: reqwest::RequestBuilder,
}

impl Request {
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self {
            builder: self.builder.header(name, value),
        }
    }

    /// Sets a header instead of adding it to those of the same name.
    pub(crate) fn replace_header(self, name: &str, value: &str) -> Self {
        let mut headers = reqwest::header::HeaderMap::new();
        let name = reqwest::header::HeaderName::try_from(name).expect("a name");
        headers.insert(name, value.parse().expect("a value"));
        Self {
            builder: self.builder.headers(headers),
        }
    }

    pub(crate) fn body(self, body: impl Into<reqwest::Body>) -> Self {
        Self {
            builder: self.builder.body(body),
        }
    }

    pub(crate) fn json(self, body: Value) -> Self {
        Self {
            builder: self.builder.json(&body),
        }
    }

    /// A `multipart/form-data` body of these parts, in this order.
    pub(crate) fn form(self, parts: &[Part<'_>]) -> Self {
        let boundary = "----test-boundary";
        let mut body = Vec::new();
        for part in parts {
            body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
            match part {
                Part::Field(name, text) => body.extend_from_slice(
                    format!("content-disposition: form-data; name=\"{name}\"\r\n\r\n{text}").as_bytes(),
                ),
                Part::File {
                    name,
                    content_type,
                    bytes,
                } => {
                    body.extend_from_slice(
                        format!("content-disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n")
                            .as_bytes(),
                    );
                    if let Some(content_type) = content_type {
                        body.extend_from_slice(format!("content-type: {content_type}\r\n").as_bytes());
                    }
                    body.extend_from_slice(b"\r\n");
                    body.extend_from_slice(bytes);
                }
            }
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        self.header(
            "content-type",
            &format!("multipart/form-data; boundary={boundary}"),
        )
        .body(body)
    }

    /// Sends the request and reads the whole response. Panics when the connection fails.
    pub(crate) async fn send(self) -> Response {
        let response = self.builder.send().await.expect("the service responds");
        let status = response.status();
        let headers = response.headers().clone();
        let body = response.bytes().await.expect("the body is whole").to_vec();
        Response {
            status,
            headers,
            body,
        }
    }
}

/// A response whose body is read completely.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The body as JSON; panics with the body when it is not.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    /// HTTP status, `statusCode` and `code` of an error.
    pub(crate) fn error(&self) -> (u16, String, String) {
        let body = self.json();
        let text = |name: &str| {
            body[name]
                .as_str()
                .unwrap_or_else(|| panic!("no {name}: {body}"))
                .to_owned()
        };
        (self.status.as_u16(), text("statusCode"), text("code"))
    }

    /// The field `message` of the body; empty when there is none.
    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }

    /// Panics unless the response is a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!(self.status.is_success(), "{} {}", self.status, self.text());
        self
    }

    /// Panics unless the response is this error.
    #[track_caller]
    pub(crate) fn is(&self, http: u16, status_code: &str, code: &str) {
        assert_eq!(
            self.error(),
            (http, status_code.to_owned(), code.to_owned()),
            "{}",
            self.text()
        );
    }

    /// The `name` of each row.
    pub(crate) fn names(&self) -> Vec<String> {
        let rows = self.json();
        let rows = rows.as_array().unwrap_or_else(|| panic!("not a list: {rows}"));
        rows.iter()
            .map(|row| row["name"].as_str().expect("a name").to_owned())
            .collect()
    }
}
