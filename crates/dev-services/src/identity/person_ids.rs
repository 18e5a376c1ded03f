//! Checks the ids that a developer gives people at providers.

use super::person::{FieldError, MAX_TEXT, PersonFields};
use super::providers::find_provider;

/// Checks all fields of a person; the messages are shown beside them.
pub(super) fn find_errors(fields: &PersonFields) -> Vec<FieldError> {
    let mut errors = fields.find_errors();
    let wrong = fields.ids.iter().filter_map(|(name, id)| find_wrong_id(name, id));
    errors.extend(wrong.map(|message| FieldError::new("ids", message)));
    errors
}

fn find_wrong_id(name: &str, id: &str) -> Option<String> {
    let Some(provider) = find_provider(name) else {
        return Some(format!("There is no provider {name:?}."));
    };
    if id.len() > MAX_TEXT || id.chars().any(char::is_control) {
        return Some("The id is too long.".to_owned());
    }
    let is_wrong = provider.subject.is_number() && id.parse::<u64>().is_err();
    is_wrong.then(|| format!("Ids of {} are numbers.", provider.title))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn ids_have_the_type_that_the_provider_returns() {
        let errors = |provider: &str, id: &str| {
            find_errors(&PersonFields {
                name: "Ana".to_owned(),
                ids: BTreeMap::from([(provider.to_owned(), id.to_owned())]),
                ..PersonFields::default()
            })
            .len()
        };

        assert_eq!((errors("github", "583231"), errors("google", "any")), (0, 0));
        assert_eq!((errors("github", "octocat"), errors("nobody", "1")), (1, 1));
    }
}
