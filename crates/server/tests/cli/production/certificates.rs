//! `serve` with certificates that it obtains, while the certificate authority is away. What one answers is tried by `e2e/acme/run`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{Certificate, CertificateParams, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use super::home::Home;
use crate::support::Project;

const DOMAIN: &str = "shop.example";
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A certificate that is due for renewal, with its key.
fn make_certificate() -> (Certificate, KeyPair) {
    let mut parameters = CertificateParams::new(vec![DOMAIN.to_owned()]).expect("a name");
    let now = SystemTime::now();
    parameters.not_before = (now - 80 * DAY).into();
    parameters.not_after = (now + 10 * DAY).into();
    let key = KeyPair::generate().expect("a key");
    let certificate = parameters.self_signed(&key).expect("signed");
    (certificate, key)
}

/// Leaves a certificate in the home as an earlier start does.
fn keep_certificate(home: &Home, directory: &str, certificate: &Certificate, key: &KeyPair) {
    let text = format!(
        "# issued by {directory}\n{}\n{}",
        key.serialize_pem(),
        certificate.pem()
    );
    // The failure of the first start: the next attempt would be two minutes later.
    std::fs::remove_file(home.path("tls/attempts.json")).expect("it has failed");
    std::fs::write(home.path("tls/certificate.pem"), text).expect("written");
}

/// What doctor finds about the certificate.
fn examine_certificate(home: &Home) -> Value {
    let doctor = home.run(&["doctor", "-o", "json"]);
    let findings: Vec<Value> = serde_json::from_slice(&doctor.stdout).expect("JSON");
    assert!(findings.iter().any(|finding| finding["check"] == "secrets"));
    let finding = findings.iter().find(|finding| finding["check"] == "certificate");
    finding.expect("it is examined").clone()
}

/// The answer to a GET over TLS, or the error of the handshake.
fn get(port: u16, name: &str, root: &CertificateDer<'static>, path: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    // The name of an address is not sent.
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let tcp = TcpStream::connect(("127.0.0.1", port))?;
    tcp.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut stream = StreamOwned::new(connection, tcp);
    stream.write_all(
        format!("GET {path} HTTP/1.1\r\nHost: {DOMAIN}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn prod_020_021_023_a_server_goes_on_with_its_certificate_while_the_authority_is_away() {
    let [http, https] = [(); 2].map(|()| Project::further_port());
    let away = Project::further_port();
    let home = Home::with_settings(&format!(
        "[selvedge.tls]\ndomains = [\"{DOMAIN}\"]\nhttp_port = {http}\nhttps_port = {https}\n\
         directory = \"https://127.0.0.1:{away}/directory\"\nca_file = \"authority.pem\"\nhsts = \"24h\"\n"
    ));
    let (certificate, key) = make_certificate();
    home.project.write("authority.pem", &certificate.pem());
    let root = certificate.der().clone();
    // The folder is a home once it is marked, and has the certificate of an earlier start.
    let first = home.serve(&[]).await;
    first.wait_for_output("no new certificate was obtained").await;
    first.stop();
    let directory = format!("https://127.0.0.1:{away}/directory");
    keep_certificate(&home, &directory, &certificate, &key);
    let running = home.serve(&[]).await;

    let asked = actix_web::web::block(move || {
        let answer = get(https, DOMAIN, &root, "/health/live");
        let foreign = get(https, "other.example", &root, "/health/live");
        let unnamed = get(https, "127.0.0.1", &root, "/health/live");
        (answer, foreign, unnamed)
    });
    let (answer, foreign, unnamed) = asked.await.expect("no panic");
    let answer = answer.expect("it is served").to_lowercase();
    assert!(answer.starts_with("http/1.1 200 "), "{answer}");
    assert!(
        answer.contains("strict-transport-security: max-age=86400"),
        "{answer}"
    );
    for refused in [foreign, unnamed] {
        let error = refused.expect_err("no certificate").to_string();
        // Refused by the server, and not by this client for what it has got.
        assert!(error.contains("fatal alert"), "{error}");
    }

    let plain = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client");
    let ask = |path: &str| {
        plain
            .get(format!("http://127.0.0.1:{http}{path}"))
            .header("host", DOMAIN)
    };
    let led = ask("/rest/v1/notes?id=eq.1").send().await.expect("a response");
    let expected = format!("https://{DOMAIN}:{https}/rest/v1/notes?id=eq.1");
    let location = led.headers()["location"].to_str().expect("text");
    assert_eq!((led.status().as_u16(), location), (308, expected.as_str()));
    assert_eq!(
        ask("/health/ready").send().await.expect("a response").status(),
        200
    );

    running.wait_for_output("no new certificate was obtained").await;
    let metrics = reqwest::get(running.url("/metrics")).await.expect("a response");
    let metrics = metrics.text().await.expect("text");
    let value = |name: &str| -> i64 {
        let mut lines = metrics.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(metric, _)| *metric == name);
        found.expect(name).1.parse().expect("a number")
    };
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("later");
    let now = i64::try_from(now.as_secs()).expect("not yet");
    let left = value("selvedge_tls_certificate_expiry_seconds") - now;
    assert!((9 * 86_400..=10 * 86_400).contains(&left), "{left}");
    let finding = examine_certificate(&home);
    assert_eq!(finding["status"], "warning", "{finding}");
    let message = finding["message"].as_str().expect("text");
    assert!(
        message.contains("valid until") && message.contains("1 attempts have failed"),
        "{message}"
    );
    home.project.write("authority.pem", &make_certificate().0.pem());
    let distrusted = examine_certificate(&home);
    let message = distrusted["message"].as_str().expect("text");
    assert_eq!(distrusted["status"], "error", "{distrusted}");
    assert!(message.contains("clients refuse it"), "{message}");
    assert_eq!(
        home.status()["API_URL"],
        format!("https://{DOMAIN}:{https}").as_str()
    );
}

#[test]
fn prod_020_own_and_obtained_certificates_exclude_each_other() {
    let home = Home::with_settings(
        "[api.tls]\nenabled = true\ncert_path = \"a.pem\"\nkey_path = \"b.pem\"\n[selvedge.tls]\ndomains = [\"shop.example\"]\n",
    );

    let refused = home.run_and_expect_failure(&["serve"]);

    assert!(
        refused.contains("config.toml:7: selvedge.tls.domains excludes [api.tls]"),
        "{refused}"
    );
}
