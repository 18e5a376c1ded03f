//! A running postgres-meta whose responses are recorded.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use selvedge_testing::TestDatabase;
use serde_json::Value;

use super::case::{Answer, Step, Variables};

/// A running postgres-meta, and the header that names the database, encrypted as postgres-meta expects it.
pub(crate) struct Original {
    url: String,
    header: String,
}

impl Original {
    /// Returns the server at the address in `RECORD_POSTGRES_META`; `None` without that variable, when nothing is recorded.
    pub(crate) fn find(database: &TestDatabase) -> Option<Self> {
        let url = std::env::var("RECORD_POSTGRES_META").ok()?;
        // postgres-meta's default passphrase. It decrypts with CryptoJS, which derives the key as `openssl enc -md md5` does.
        let options = "enc -aes-256-cbc -md md5 -a -A -salt -pass pass:SAMPLE_KEY";
        let mut openssl = Command::new("openssl")
            .args(options.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl runs");
        let address = database.url("postgres");
        let stdin = openssl.stdin.take().expect("its input is a pipe");
        { stdin }.write_all(address.as_bytes()).expect("openssl reads");
        let output = openssl.wait_with_output().expect("openssl ends").stdout;
        let encrypted = String::from_utf8(output).expect("Base64 is text");
        Some(Self {
            url,
            header: format!("x-connection-encrypted: {encrypted}"),
        })
    }

    pub(crate) async fn send(&self, step: &Step, variables: &Variables) -> Answer {
        let url = format!("{}{}", self.url, variables.fill_path(&step.path));
        let mut command = Command::new("curl");
        command.args([
            "-s",
            "-X",
            &step.method,
            "-w",
            "\n%{http_code}",
            "-H",
            &self.header,
            &url,
        ]);
        if let Some(body) = &step.body {
            let body = variables.fill(body).to_string();
            command.args(["-H", "content-type: application/json", "-d", &body]);
        }
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.expect("curl is waited for").expect("curl runs").stdout;
        let text = String::from_utf8(output).expect("answers are text");
        let (answer, status) = text.rsplit_once('\n').expect("curl writes the status");
        // postgres-meta closes its database connection a moment after the response.
        tokio::time::sleep(Duration::from_millis(50)).await;
        Answer {
            status: status.parse().expect("a status"),
            answer: serde_json::from_str(answer).unwrap_or(Value::Null),
        }
    }
}
