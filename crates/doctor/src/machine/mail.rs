//! The SMTP server: whether it can be reached and greets.

use std::time::Duration;

use selvedge_config::Config;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::finding::Finding;

/// A server that greets later than this would delay every mail.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// On this port TLS comes first, so the server waits for the client instead of greeting.
const TLS_PORT: u16 = 465;

/// Examines the mail server; nothing where neither auth nor the project sends mail.
pub(crate) async fn examine_mail(config: &Config) -> Option<Finding> {
    let queues_mails = config.selvedge.jobs.mail_table.is_some();
    if !config.auth.enabled && !queues_mails {
        return None;
    }
    let Some(smtp) = &config.auth.email.smtp else {
        let waiting = if queues_mails {
            "; mails of selvedge.jobs.mail_table wait there"
        } else {
            ""
        };
        return Some(Finding::warning(
            "mail",
            format!(
                "no SMTP server is configured; `selvedge start` catches mail in its inbox, and `serve` refuses what would send one{waiting}"
            ),
            "set [auth.email.smtp] for production",
        ));
    };
    let address = format!("{}:{}", smtp.host, smtp.port);
    let greeting = async {
        let mut stream = TcpStream::connect((smtp.host.as_str(), smtp.port)).await?;
        let mut code = [0; 3];
        if smtp.port != TLS_PORT {
            stream.read_exact(&mut code).await?;
        }
        std::io::Result::Ok(code)
    };
    let problem = match tokio::time::timeout(GREETING_TIMEOUT, greeting).await {
        Ok(Ok(code)) if smtp.port == TLS_PORT || code == *b"220" => {
            return Some(Finding::ok("mail", format!("{address} accepts connections")));
        }
        Ok(Ok(code)) => format!("greets with {}", String::from_utf8_lossy(&code)),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no greeting within {} s", GREETING_TIMEOUT.as_secs()),
    };
    Some(Finding::error(
        "mail",
        format!("{address}: {problem}"),
        "mail stays in its queue until the server accepts it; check host and port of [auth.email.smtp], and firewalls",
    ))
}
