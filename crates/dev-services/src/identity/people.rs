//! The invented people: a bounded list, kept in a file so that they are still known after a restart, as the accounts
//! that they have made in the project's database are.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::person::{FieldError, Person, PersonFields};
use super::provider::Provider;
use super::subject::make_secret;

/// Most people that are kept. When there are more, those who signed in the longest ago are forgotten.
const CAPACITY: usize = 500;

/// All people, the one who signed in last first.
#[derive(Debug)]
pub(super) struct People {
    list: Mutex<Vec<Person>>,
    file: Option<PathBuf>,
}

impl People {
    /// Reads the people from the file; returns none if it is missing or malformed.
    pub(super) fn load(file: Option<PathBuf>) -> Self {
        let list = file.as_deref().map(read_file).unwrap_or_default();
        Self {
            list: Mutex::new(list),
            file,
        }
    }

    /// All people, the one who signed in last first.
    pub(super) fn list(&self) -> Vec<Person> {
        self.lock().clone()
    }

    /// The person with this id or address.
    pub(super) fn find(&self, id_or_email: &str) -> Option<Person> {
        let list = self.lock();
        list.iter()
            .find(|person| person.id == id_or_email || has_address(person, id_or_email))
            .cloned()
    }

    /// Adds a person.
    ///
    /// # Errors
    /// An address or an id at a provider that another person has.
    pub(super) fn add(&self, fields: PersonFields) -> Result<Person, FieldError> {
        let mut list = self.lock();
        check_unique(&list, &fields, None)?;
        let person = Person {
            id: make_secret()[..16].to_owned(),
            name: fields.name,
            email: fields.email,
            email_verified: fields.email_verified.unwrap_or(true),
            picture: fields.picture,
            ids: fields.ids,
        };
        list.insert(0, person.clone());
        list.truncate(CAPACITY);
        self.store(&list);
        Ok(person)
    }

    /// Changes the person who has this address, or adds one. Tells whether the person is new.
    ///
    /// # Errors
    /// An id at a provider that another person has.
    pub(super) fn save(&self, fields: PersonFields) -> Result<(Person, bool), FieldError> {
        let known = fields.email.as_deref().and_then(|email| self.find(email));
        let Some(known) = known else {
            return Ok((self.add(fields)?, true));
        };
        let mut list = self.lock();
        check_unique(&list, &fields, Some(&known.id))?;
        let mut changed = Person {
            name: fields.name,
            email: fields.email,
            email_verified: fields.email_verified.unwrap_or(true),
            picture: fields.picture,
            ..known
        };
        changed.ids.extend(fields.ids);
        list.retain(|person| person.id != changed.id);
        list.insert(0, changed.clone());
        self.store(&list);
        Ok((changed, false))
    }

    /// Records that a person signs in with a provider. Returns the person's id there, and whether they have signed in with
    /// it before.
    pub(super) fn sign_in(&self, id: &str, provider: &Provider) -> Option<(Person, bool)> {
        let mut list = self.lock();
        let index = list.iter().position(|person| person.id == id)?;
        let mut person = list.remove(index);
        let is_known = person.ids.contains_key(provider.name);
        person
            .ids
            .entry(provider.name.to_owned())
            .or_insert_with(|| provider.subject.make_id(provider.name, id));
        list.insert(0, person.clone());
        self.store(&list);
        Some((person, is_known))
    }

    /// Removes a person; false if there was none.
    pub(super) fn remove(&self, id: &str) -> bool {
        let mut list = self.lock();
        let before = list.len();
        list.retain(|person| person.id != id);
        self.store(&list);
        list.len() < before
    }

    /// Removes all people.
    pub(super) fn clear(&self) {
        let mut list = self.lock();
        list.clear();
        self.store(&list);
    }

    /// Writes the file. A failure is logged only, because everything but the next start works without it.
    fn store(&self, list: &[Person]) {
        let Some(file) = &self.file else { return };
        if let Err(error) = write_file(file, list) {
            tracing::warn!(%error, file = %file.display(), "the people of the development sign-in are not kept");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Person>> {
        // The list is complete after every statement that changes it, also when a thread has panicked with the lock.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn has_address(person: &Person, email: &str) -> bool {
    person
        .email
        .as_deref()
        .is_some_and(|own| own.eq_ignore_ascii_case(email))
}

/// Refuses an address or id that another person has: a real provider would not give it to two people either.
fn check_unique(list: &[Person], fields: &PersonFields, own_id: Option<&str>) -> Result<(), FieldError> {
    let others = || list.iter().filter(|person| Some(person.id.as_str()) != own_id);
    if let Some(email) = &fields.email
        && let Some(other) = others().find(|person| has_address(person, email))
    {
        let message = format!("{} has this address already. Choose them above.", other.name);
        return Err(FieldError::new("email", message));
    }
    for (provider, id) in &fields.ids {
        if let Some(other) = others().find(|person| person.ids.get(provider) == Some(id)) {
            return Err(FieldError::new(
                "ids",
                format!("{} has this id already.", other.name),
            ));
        }
    }
    Ok(())
}

fn read_file(file: &Path) -> Vec<Person> {
    let Ok(text) = std::fs::read(file) else {
        return Vec::new();
    };
    serde_json::from_slice(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, file = %file.display(), "the people of the development sign-in cannot be read");
        Vec::new()
    })
}

/// Writes a temporary file and renames it, so that a crash in between loses no data.
fn write_file(file: &Path, list: &[Person]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    // In the same folder, because renaming works within one file system only.
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut new, list)?;
    new.flush()?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::providers::find_provider;

    fn ana() -> PersonFields {
        PersonFields {
            name: "Ana".to_owned(),
            email: Some("ana@example.com".to_owned()),
            ..PersonFields::default()
        }
    }

    #[test]
    fn people_and_their_ids_are_kept_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("people.json");
        let google = find_provider("google").expect("a provider");
        let people = People::load(Some(file.clone()));
        let added = people.add(ana()).expect("nobody has the address");
        let (signed_in, is_known) = people.sign_in(&added.id, google).expect("the person exists");

        let again = People::load(Some(file)).find("ANA@example.com").expect("kept");

        assert!(!is_known);
        assert_eq!(again, signed_in);
        assert!(
            people
                .sign_in(&added.id, google)
                .is_some_and(|(_, is_known)| is_known)
        );
    }

    #[test]
    fn two_people_never_share_an_address_or_an_id() {
        let people = People::load(None);
        let with_id = |mut fields: PersonFields| {
            fields.ids.insert("google".to_owned(), "42".to_owned());
            fields
        };
        people.add(with_id(ana())).expect("nobody has the address");

        let same_address = people.add(ana()).expect_err("the address is taken");
        let other = PersonFields {
            email: Some("ben@example.com".to_owned()),
            ..ana()
        };
        let same_id = people.add(with_id(other)).expect_err("the id is taken");

        assert_eq!((same_address.field, same_id.field), ("email", "ids"));
        let (changed, is_new) = people
            .save(with_id(ana()))
            .expect("a person may keep their own id");
        assert_eq!((changed.name.as_str(), is_new), ("Ana", false));
    }
}
