//! The addresses to which a project sends mails, where it names them.

/// Whether a mail may be sent to this address: the list is empty, or has it. A `+label` in the address is ignored, because
/// such mail reaches the same mailbox.
#[must_use]
pub fn is_authorized_address(list: &[String], address: &str) -> bool {
    let without_label = match address.split_once('@') {
        Some((local, domain)) => format!("{}@{domain}", local.split('+').next().unwrap_or_default()),
        None => address.to_owned(),
    };
    list.is_empty()
        || list
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&without_label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_allows_its_addresses_with_any_label_and_an_empty_one_all() {
        let list = ["ana@example.com".to_owned()];

        assert!(is_authorized_address(&[], "eve@example.com"));
        for known in ["ana@example.com", "Ana@Example.com", "ana+staging@example.com"] {
            assert!(is_authorized_address(&list, known), "{known}");
        }
        for other in ["eve@example.com", "ana@example.org", "ana", ""] {
            assert!(!is_authorized_address(&list, other), "{other}");
        }
    }
}
