//! Delivery by SMTP: lettre's pooled asynchronous transport with rustls.

use std::time::Duration;

use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::PoolConfig;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use secrecy::{ExposeSecret, SecretString};

use crate::{Mail, MailError, Sender};

/// How the connection to the SMTP server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SmtpTls {
    /// TLS from the first byte on port 465. On other ports: no encryption for a loopback host; STARTTLS required when
    /// there are credentials, which must not be sent in the clear; otherwise STARTTLS if the server offers it.
    #[default]
    Automatic,
    /// TLS starts with the first byte of the connection (port 465).
    Implicit,
    /// STARTTLS; without it no mail is sent.
    StartTls,
    /// The connection is not encrypted.
    None,
}

/// The SMTP server of `[auth.email.smtp]`.
#[derive(Debug, Clone)]
pub struct SmtpConfig {
    /// Host name or address of the server.
    pub host: String,
    /// TCP port. Default 587.
    pub port: u16,
    /// User name; `None` means no authentication.
    pub user: Option<String>,
    /// Password that belongs to `user`.
    pub password: Option<SecretString>,
    /// Name and address in the header `From`.
    pub sender: Sender,
    /// Encryption of the connection.
    pub tls: SmtpTls,
    /// Extra headers of every mail; `$messageType` in a value is replaced by the kind of the mail.
    pub headers: Vec<(String, String)>,
    /// Time limit for one SMTP command; a whole delivery may take twice as long. Default 10 s.
    pub timeout: Duration,
    /// Most pooled connections. Default 4.
    pub max_connections: u32,
}

impl Default for SmtpConfig {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 587,
            user: None,
            password: None,
            sender: Sender::default(),
            tls: SmtpTls::Automatic,
            headers: Vec::new(),
            timeout: Duration::from_secs(10),
            max_connections: 4,
        }
    }
}

/// Sends through one SMTP server over a small pool of connections.
#[derive(Debug, Clone)]
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    headers: Vec<(HeaderName, String)>,
    timeout: Duration,
}

impl SmtpMailer {
    /// Prepares the transport; connects only when the first mail is sent.
    ///
    /// # Errors
    /// [`MailError`] when the sender's address, an extra header or the TLS name of the host is unusable.
    pub fn new(config: &SmtpConfig) -> Result<Self, MailError> {
        // "Dangerous" means that no TLS is set yet; the next line sets it.
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&config.host)
            .port(config.port)
            .tls(choose_tls(config)?)
            .timeout(Some(config.timeout))
            .pool_config(PoolConfig::new().max_size(config.max_connections));
        if let (Some(user), Some(password)) = (&config.user, &config.password) {
            builder = builder.credentials(Credentials::new(
                user.clone(),
                password.expose_secret().to_owned(),
            ));
        }
        Ok(Self {
            transport: builder.build(),
            from: build_mailbox(&config.sender)?,
            headers: config
                .headers
                .iter()
                .map(parse_header)
                .collect::<Result<_, _>>()?,
            timeout: config.timeout,
        })
    }

    /// Sends one mail as HTML with a plain text alternative.
    ///
    /// # Errors
    /// [`MailError`] when the recipient is malformed or the server is unreachable or refuses.
    pub async fn send(&self, mail: Mail) -> Result<(), MailError> {
        let to: Address = mail.to.parse()?;
        let unsubscribing = mail.unsubscribe_headers();
        let mut message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject)
            .multipart(MultiPart::alternative_plain_html(mail.text, mail.html))?;
        for (name, value) in &self.headers {
            let value = value.replace("$messageType", &mail.message_type);
            // Raw: lettre would otherwise encode the value, which is the project's own text for its mail service.
            message
                .headers_mut()
                .insert_raw(HeaderValue::new(name.clone(), value));
        }
        for (name, value) in unsubscribing {
            let name = HeaderName::new_from_ascii_str(name);
            message.headers_mut().insert_raw(HeaderValue::new(name, value));
        }
        // The transport's own timeout is per command, so a server that answers every command slowly could hold the request
        // for minutes. This one bounds the whole delivery.
        match tokio::time::timeout(self.timeout * 2, self.transport.send(message)).await {
            Ok(sent) => sent.map(|_| ()).map_err(MailError::Smtp),
            Err(_) => Err(MailError::Timeout),
        }
    }
}

/// The sender as lettre's type; a sender without a name has only an address.
fn build_mailbox(sender: &Sender) -> Result<Mailbox, MailError> {
    let name = (!sender.name.is_empty()).then(|| sender.name.clone());
    Ok(Mailbox::new(name, sender.address.parse()?))
}

/// Parses a configured header. A value with a line break is refused, because it could add further headers or
/// recipients.
fn parse_header((name, value): &(String, String)) -> Result<(HeaderName, String), MailError> {
    let safe = !value.contains(['\r', '\n']);
    let parsed = HeaderName::new_from_ascii(name.clone()).ok().filter(|_| safe);
    parsed
        .map(|known| (known, value.clone()))
        .ok_or_else(|| MailError::Header(name.clone()))
}

/// Chooses the encryption of the connection; see [`SmtpTls`].
fn choose_tls(config: &SmtpConfig) -> Result<Tls, MailError> {
    let parameters = || build_tls_parameters(config);
    Ok(match config.tls {
        SmtpTls::None => Tls::None,
        SmtpTls::Implicit => Tls::Wrapper(parameters()?),
        SmtpTls::StartTls => Tls::Required(parameters()?),
        SmtpTls::Automatic if config.port == 465 => Tls::Wrapper(parameters()?),
        // A local relay usually has no certificate that verifies, and its traffic does not leave the machine.
        SmtpTls::Automatic if is_loopback(&config.host) => Tls::None,
        SmtpTls::Automatic if config.user.is_some() => Tls::Required(parameters()?),
        SmtpTls::Automatic => Tls::Opportunistic(parameters()?),
    })
}

/// Trusts the certificates of this machine besides Mozilla's, because company mail servers are often signed by the
/// company's own authority.
fn build_tls_parameters(config: &SmtpConfig) -> Result<TlsParameters, MailError> {
    let mut builder = TlsParameters::builder(config.host.clone());
    for certificate in rustls_native_certs::load_native_certs().certs {
        // An unreadable certificate is skipped; the others still allow mail to be sent.
        if let Ok(authority) = Certificate::from_der(certificate.to_vec()) {
            builder = builder.add_root_certificate(authority);
        }
    }
    Ok(builder.build()?)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
