//! The certificate of HTTPS: until when it is valid, and why there is no new one.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use selvedge_certificates::{Report, read_report};
use selvedge_config::{Config, TlsSection};

use crate::finding::Finding;

/// Time in which a certificate that expires can still be renewed by hand.
const SOON: Duration = Duration::from_secs(10 * 24 * 3600);

const ADVICE: &str = "each domain must lead to this machine, with the ports of [selvedge.tls] open from outside; the log says what the authority \
     answers";

const TRUST_ADVICE: &str =
    "use the directory of an authority that clients trust; for one of your own name its root in ca_file";

/// Examines the certificate that `serve` obtains; nothing where it obtains none.
pub(crate) fn examine_certificate(config: &Config) -> Option<Finding> {
    let section = config.acme()?;
    let report = read_report(&config.acme_folder(), section.ca_file.as_deref());
    let failure = describe_failure(&report);
    let Some(not_after) = report.not_after else {
        let message = format!(
            "there is no certificate for {} yet{failure}",
            section.domains.join(", ")
        );
        return Some(Finding::error("certificate", message, ADVICE));
    };
    let date = DateTime::<Utc>::from(not_after).format("%Y-%m-%d %H:%M UTC");
    let is_of_other = report.directory.as_ref() != Some(&section.directory);
    let missing = list_missing(section, &report.names);
    Some(match not_after.duration_since(SystemTime::now()) {
        Err(_) => Finding::error(
            "certificate",
            format!("it has expired on {date}{failure}"),
            ADVICE,
        ),
        Ok(_) if is_of_other => {
            let issuer = report.directory.as_deref().unwrap_or("another authority");
            let message = format!("it is of {issuer}, and not of {}{failure}", section.directory);
            Finding::error("certificate", message, ADVICE)
        }
        Ok(_) if !missing.is_empty() => {
            let message = format!("it is not valid for {}{failure}", missing.join(", "));
            Finding::error("certificate", message, ADVICE)
        }
        Ok(_) if report.distrust.is_some() => {
            let reason = report.distrust.unwrap_or_default();
            let message = format!("clients refuse it: {reason}{failure}");
            Finding::error("certificate", message, TRUST_ADVICE)
        }
        Ok(left) if left < SOON || !failure.is_empty() => {
            Finding::warning("certificate", format!("valid until {date}{failure}"), ADVICE)
        }
        Ok(_) => Finding::ok(
            "certificate",
            format!("valid until {date} for {}", report.names.join(", ")),
        ),
    })
}

/// Why there is no newer one, as the end of a sentence.
fn describe_failure(report: &Report) -> String {
    let failures = report.failures;
    let describe = |error: &String| format!("; {failures} attempts have failed, the last one: {error}");
    report.error.as_ref().map(describe).unwrap_or_default()
}

fn list_missing<'a>(section: &'a TlsSection, names: &[String]) -> Vec<&'a str> {
    let domains = section.domains.iter().map(String::as_str);
    domains
        .filter(|domain| !names.iter().any(|name| name.eq_ignore_ascii_case(domain)))
        .collect()
}
