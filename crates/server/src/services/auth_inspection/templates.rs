//! Faults of mail templates: the file is missing, has changed since the start, or has neither link nor code.

use std::time::SystemTime;

use selvedge_config::{Config, EmailTemplate};
use selvedge_console::{ConfigurationFault, FaultSeverity};
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};

use super::faults::create_fault;

/// Template fields with the link or the code; a mail that asks the user to confirm something must contain one of them.
const LINK_FIELDS: [&str; 3] = ["ConfirmationURL", "TokenHash", "Token"];

/// Lists the faults of the project's templates. `started_at` is the time when the server read them.
pub(super) fn list_faults(config: &Config, started_at: SystemTime) -> Vec<ConfigurationFault> {
    let email = &config.auth.email;
    let templates = email.templates.iter().map(|template| ("template", template));
    let notifications = email
        .notifications
        .iter()
        .map(|found| ("notification", &found.template));
    templates
        .chain(notifications)
        .filter_map(|(section, template)| find_fault(section, template, started_at))
        .collect()
}

fn find_fault(section: &str, template: &EmailTemplate, started_at: SystemTime) -> Option<ConfigurationFault> {
    let path = template.content_path.as_ref()?;
    let key = format!("auth.email.{section}.{}.content_path", template.name);
    let Ok(text) = read_text(path, MAX_SETTINGS_BYTES) else {
        return Some(create_fault(
            FaultSeverity::Error,
            key,
            format!(
                "{} cannot be read; the server does not start without it.",
                path.display()
            ),
            "Put the file back, or remove the key.",
        ));
    };
    let changed_at = std::fs::metadata(path).and_then(|found| found.modified());
    if changed_at.is_ok_and(|changed_at| changed_at > started_at) {
        return Some(create_fault(
            FaultSeverity::Warning,
            key,
            "The file has changed since the server has read it.",
            "Start the server again to use it.",
        ));
    }
    // Notifications inform about something that has happened, so they need no link.
    let lacks_link = section == "template" && !LINK_FIELDS.iter().any(|field| text.contains(field));
    lacks_link.then(|| {
        create_fault(
            FaultSeverity::Error,
            key,
            "The mail has neither a link nor a code, so who gets it cannot go on.",
            "Use {{ .ConfirmationURL }}, {{ .Token }} or {{ .TokenHash }}.",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn console_113_missing_changed_and_linkless_templates_are_faults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("confirm.html");
        let template = EmailTemplate {
            name: "confirmation".to_owned(),
            subject: None,
            content_path: Some(path.clone()),
        };
        let later = SystemTime::now() + Duration::from_secs(60);
        let find = |started_at| {
            let found = find_fault("template", &template, started_at);
            found.map(|fault| fault.message)
        };
        assert!(find(later).unwrap().contains("cannot be read"));
        std::fs::write(&path, "<p>Welcome</p>").unwrap();
        assert!(find(later).unwrap().contains("neither a link nor a code"));
        std::fs::write(&path, "<a href=\"{{ .ConfirmationURL }}\">Confirm</a>").unwrap();
        assert_eq!(find(later), None);
        assert!(find(SystemTime::UNIX_EPOCH).unwrap().contains("has changed"));
    }
}
