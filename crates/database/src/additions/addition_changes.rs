//! What leads from one database's additions to the platform to another's. Pure.

use super::Addition;

/// What has to be done to one policy, trigger or event trigger.
#[derive(Debug, PartialEq, Eq)]
pub struct AdditionChange {
    /// Such as `policy x on storage.objects`.
    object: String,
    pub statements: Vec<String>,
}

impl AdditionChange {
    /// Whether a statement of somebody else is about the same object.
    pub fn is_named_in(&self, statement: &str) -> bool {
        // Some quote names where others do not, or write a statement in several lines.
        let plain = |text: &str| {
            let unquoted = text.to_lowercase().replace('"', "");
            unquoted.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let statement = plain(statement) + " ";
        let (name, table) = self
            .object
            .rsplit_once(" on ")
            .unwrap_or((self.object.as_str(), ""));
        statement.contains(&(plain(name) + " ")) && statement.contains(&plain(table))
    }
}

/// The changes that make the additions of `before` those of `after`. An object of another definition is dropped and made again, with its
/// comment.
pub fn compare_additions(before: &[Addition], after: &[Addition]) -> Vec<AdditionChange> {
    let mut changes: Vec<AdditionChange> = Vec::new();
    for addition in before.iter().chain(after) {
        let object = object_of(addition);
        if changes.iter().any(|change| change.object == object) {
            continue;
        }
        let of_object = |list: &[Addition]| -> Vec<Addition> {
            let found = list.iter().filter(|one| object_of(one) == object);
            found.cloned().collect()
        };
        let statements = lead_from(&of_object(before), &of_object(after));
        changes.push(AdditionChange {
            object: object.to_owned(),
            statements,
        });
    }
    changes.retain(|change| !change.statements.is_empty());
    changes
}

/// The statements for one object; each list has its definition and its comment, or nothing.
fn lead_from(before: &[Addition], after: &[Addition]) -> Vec<String> {
    let definition = |list: &[Addition]| list.iter().find(|one| !is_comment(one)).cloned();
    let (old, new) = (definition(before), definition(after));
    if old == new {
        let lost = before
            .iter()
            .filter(|one| !after.iter().any(|other| other.remove == one.remove));
        let made = after.iter().filter(|one| !before.contains(one));
        return lost
            .map(|one| one.remove.clone())
            .chain(made.map(|one| one.make.clone()))
            .collect();
    }
    old.map(|one| one.remove)
        .into_iter()
        .chain(after.iter().map(|one| one.make.clone()))
        .collect()
}

/// The object that an addition is, or that a comment belongs to.
fn object_of(addition: &Addition) -> &str {
    let text = addition.remove.as_str();
    text.strip_prefix("drop ")
        .or_else(|| text.strip_prefix("comment on ")?.strip_suffix(" is null"))
        .unwrap_or(text)
}

fn is_comment(addition: &Addition) -> bool {
    addition.remove.starts_with("comment on ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(name: &str, using: &str) -> Addition {
        Addition {
            make: format!(
                "create policy {name} on storage.objects as permissive for all to public using ({using})"
            ),
            remove: format!("drop policy {name} on storage.objects"),
        }
    }

    fn comment(name: &str, text: &str) -> Addition {
        Addition {
            make: format!("comment on policy {name} on storage.objects is '{text}'"),
            remove: format!("comment on policy {name} on storage.objects is null"),
        }
    }

    fn statements(before: &[Addition], after: &[Addition]) -> Vec<String> {
        let changes = compare_additions(before, after);
        changes.into_iter().flat_map(|change| change.statements).collect()
    }

    #[test]
    fn a_changed_object_is_dropped_first_and_keeps_its_comment() {
        let before = [
            policy("a", "true"),
            policy("gone", "true"),
            comment("a", "x"),
            comment("gone", "y"),
        ];
        let after = [policy("a", "false"), policy("new", "true"), comment("a", "x")];

        assert_eq!(
            statements(&before, &after),
            [
                "drop policy a on storage.objects",
                &after[0].make,
                &after[2].make,
                "drop policy gone on storage.objects",
                &after[1].make,
            ]
        );
        assert!(statements(&before, &before).is_empty());
    }

    #[test]
    fn a_comment_alone_is_changed_alone() {
        let one = policy("a", "true");

        assert_eq!(
            statements(&[one.clone(), comment("a", "x")], std::slice::from_ref(&one)),
            ["comment on policy a on storage.objects is null"]
        );
        assert_eq!(
            statements(std::slice::from_ref(&one), &[one.clone(), comment("a", "x")]),
            ["comment on policy a on storage.objects is 'x'"]
        );
    }

    #[test]
    fn statements_about_the_same_object_are_found_with_any_quotes() {
        let change = &compare_additions(&[], &[policy("a", "true")])[0];

        assert!(change.is_named_in("ALTER POLICY \"a\" ON \"storage\".\"objects\" USING (false)"));
        assert!(change.is_named_in("drop policy a on storage.objects"));
        assert!(change.is_named_in("CREATE POLICY a\n  ON storage.objects\n  USING (true)"));
        assert!(!change.is_named_in("create policy a on public.notes using (true)"));
        assert!(!change.is_named_in("create policy ab on storage.objects using (true)"));
    }
}
