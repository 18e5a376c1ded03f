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
    /// Port 465 starts with TLS; a loopback server may speak plain text; everywhere else STARTTLS is required once there are
    /// credentials to protect, and taken when offered otherwise.
    #[default]
    Automatic,
    /// TLS from the first byte.
    Implicit,
    /// STARTTLS, or no mail.
    StartTls,
    /// No encryption.
    None,
}

/// The SMTP server of `[auth.email.smtp]`.
#[derive(Debug, Clone)]
pub struct SmtpConfig {
    /// Host name or address of the server.
    pub host: String,
    /// Port. Default 587.
    pub port: u16,
    /// User name; `None` means no authentication.
    pub user: Option<String>,
    /// Password that belongs to `user`.
    pub password: Option<SecretString>,
    /// Who the mails come from.
    pub sender: Sender,
    /// Encryption of the connection.
    pub tls: SmtpTls,
    /// Extra headers that every mail carries; `$messageType` in a value becomes the mail's kind.
    pub headers: Vec<(String, String)>,
    /// How long one conversation with the server may take. Default 10 s.
    pub timeout: Duration,
    /// Connections kept at most. Default 4.
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
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&config.host)
            .port(config.port)
            .tls(tls_of(config)?)
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
            from: mailbox(&config.sender)?,
            headers: config.headers.iter().map(header).collect::<Result<_, _>>()?,
            timeout: config.timeout,
        })
    }

    /// Sends one mail as HTML with a plain text alternative.
    ///
    /// # Errors
    /// [`MailError`] when the recipient is malformed or the server is unreachable or refuses.
    pub async fn send(&self, mail: Mail) -> Result<(), MailError> {
        let to: Address = mail.to.parse()?;
        let mut message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject)
            .multipart(MultiPart::alternative_plain_html(mail.text, mail.html))?;
        for (name, value) in &self.headers {
            let value = value.replace("$messageType", &mail.message_type);
            message
                .headers_mut()
                .insert_raw(HeaderValue::new(name.clone(), value));
        }
        // The transport's own timeout is per command: a server that drips would hold the request for minutes.
        match tokio::time::timeout(self.timeout * 2, self.transport.send(message)).await {
            Ok(sent) => sent.map(|_| ()).map_err(MailError::Smtp),
            Err(_) => Err(MailError::Timeout),
        }
    }
}

fn mailbox(sender: &Sender) -> Result<Mailbox, MailError> {
    let name = (!sender.name.is_empty()).then(|| sender.name.clone());
    Ok(Mailbox::new(name, sender.address.parse()?))
}

fn header((name, value): &(String, String)) -> Result<(HeaderName, String), MailError> {
    let safe = !value.contains(['\r', '\n']);
    let parsed = HeaderName::new_from_ascii(name.clone()).ok().filter(|_| safe);
    parsed
        .map(|known| (known, value.clone()))
        .ok_or_else(|| MailError::Header(name.clone()))
}

fn tls_of(config: &SmtpConfig) -> Result<Tls, MailError> {
    let parameters = || trust(config);
    Ok(match config.tls {
        SmtpTls::None => Tls::None,
        SmtpTls::Implicit => Tls::Wrapper(parameters()?),
        SmtpTls::StartTls => Tls::Required(parameters()?),
        SmtpTls::Automatic if config.port == 465 => Tls::Wrapper(parameters()?),
        SmtpTls::Automatic if is_loopback(&config.host) => Tls::None,
        SmtpTls::Automatic if config.user.is_some() => Tls::Required(parameters()?),
        SmtpTls::Automatic => Tls::Opportunistic(parameters()?),
    })
}

/// Trusts the machine's certificates beside Mozilla's: mail servers of companies are often signed by an authority of theirs.
fn trust(config: &SmtpConfig) -> Result<TlsParameters, MailError> {
    let mut builder = TlsParameters::builder(config.host.clone());
    for certificate in rustls_native_certs::load_native_certs().certs {
        // One that cannot be read is of no use, and no reason to send nothing.
        if let Ok(authority) = Certificate::from_der(certificate.to_vec()) {
            builder = builder.add_root_certificate(authority);
        }
    }
    Ok(builder.build()?)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
