//! What `account_sequences` checks: after each step who holds a session of which account, and at the end who could begin one.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::account_sequences::World;
use crate::account_steps::PEOPLE;
use crate::passkeys::Authenticator;

/// Sessions of the people ($1 those that the model knows) in accounts with something confirmed, and sessions in accounts with an
/// address of the sequence ($2) that the model does not know.
const CHECK: &str = "select s.id::text, case when u.email_confirmed_at is not null then u.email end, \
                       case when u.phone_confirmed_at is not null then u.phone end \
                     from auth.sessions s join auth.users u on u.id = s.user_id \
                     where s.id = any($1::text[]::uuid[]) \
                       and (u.email_confirmed_at is not null or u.phone_confirmed_at is not null) \
                     union all \
                     select s.id::text, u.email, u.phone from auth.users u join auth.sessions s on s.user_id = u.id \
                     where u.email = any($2::text[]) and s.id <> all ($1::text[]::uuid[])";

/// The accounts with a confirmed address ($1) or number ($2), and what opens them: the hash of the password, the
/// names of identities at their providers, second factors and passkeys.
const WAYS: &str = "select case when u.email_confirmed_at is not null then u.email end, \
                      case when u.phone_confirmed_at is not null then u.phone end, coalesce(u.encrypted_password, ''), \
                      array(select i.provider_id from auth.identities i \
                        where i.user_id = u.id and i.provider not in ('email', 'phone')), \
                      array(select f.id::text from auth.mfa_factors f where f.user_id = u.id), \
                      array(select c.credential_id from auth.webauthn_credentials c where c.user_id = u.id) \
                    from auth.users u where u.deleted_at is null \
                      and (u.email_confirmed_at is not null and u.email = any($1::text[]) \
                        or u.phone_confirmed_at is not null and u.phone = any($2::text[]))";

impl World<'_> {
    /// Nobody holds a session of an account whose confirmed address or number is somebody else's, and every session has a holder.
    pub(crate) async fn check(&self) {
        let ids: Vec<&String> = self.holders.keys().collect();
        let params: [&(dyn ToSql + Sync); 2] = [&ids, &self.addresses()];
        for row in self.project.query(CHECK, &params).await {
            let (id, email, phone): (String, Option<String>, Option<String>) =
                (row.get(0), row.get(1), row.get(2));
            let holder = self.holders.get(&id).expect("every session has a holder");
            for (proven, own) in [(email, self.address(*holder)), (phone, self.number(*holder))] {
                let proven = proven.unwrap_or_else(|| own.clone());
                assert_eq!(proven, own, "person {holder} is in the account of {proven}");
            }
        }
    }

    /// What opens an account with a confirmed address or number belongs to the owner of that.
    pub(crate) async fn check_ways_to_sign_in(&self) {
        let numbers: Vec<String> = (0..PEOPLE).map(|owner| self.number(owner)).collect();
        let params: [&(dyn ToSql + Sync); 2] = [&self.addresses(), &numbers];
        for row in self.project.query(WAYS, &params).await {
            let (email, phone): (Option<String>, Option<String>) = (row.get(0), row.get(1));
            let is_own = |owner: &usize| {
                email.as_ref().is_none_or(|email| *email == self.address(*owner))
                    && phone.as_ref().is_none_or(|phone| *phone == self.number(*owner))
            };
            let owner = (0..PEOPLE).find(is_own);
            let owner = owner.unwrap_or_else(|| panic!("{email:?} and {phone:?} are in one account"));
            // A password is one person's only, and to compare one takes long.
            let has_own_password = self.has_password_of(owner, &row);
            for other in (0..PEOPLE).filter(|other| *other != owner) {
                let is_password = !has_own_password && self.has_password_of(other, &row);
                let way = self.find_way(other, &row);
                let way = way.or_else(|| is_password.then(|| "the password".to_owned()));
                assert_eq!(way, None, "person {other} can open the account of person {owner}");
            }
        }
    }

    fn addresses(&self) -> Vec<String> {
        (0..PEOPLE).map(|owner| self.address(owner)).collect()
    }

    /// Whether the account has this person's password.
    fn has_password_of(&self, by: usize, row: &Row) -> bool {
        let hash: String = row.get(2);
        !hash.is_empty() && bcrypt::verify(self.password(by), &hash).unwrap()
    }

    /// What of an account's other ways to sign in is this person's.
    fn find_way(&self, by: usize, row: &Row) -> Option<String> {
        let subjects: Vec<String> = row.get(3);
        let (factors, passkeys): (Vec<String>, Vec<Vec<u8>>) = (row.get(4), row.get(5));
        let own_subject = format!("{}-{by}", self.tag);
        let is_subject = |subject: &String| {
            if subject.starts_with("web3:") {
                return *subject == self.wallet(by).subject();
            }
            let rest = subject.strip_prefix(&own_subject);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        if let Some(subject) = subjects.into_iter().find(is_subject) {
            return Some(format!("the identity {subject}"));
        }
        if self.factors[by].iter().any(|factor| factors.contains(&factor.id)) {
            return Some("a second factor".to_owned());
        }
        let keys = self.passkeys[by].borrow();
        let is_registered = |key: &Authenticator| passkeys.iter().any(|id| id == key.credential_id());
        keys.iter().any(is_registered).then(|| "a passkey".to_owned())
    }
}
