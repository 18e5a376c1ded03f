//! Whose account somebody from a provider gets: what is stored → the decision. Source: Auth contract §8.2.
//!
//! Only an address that the provider has proven links to an account that exists. Autoconfirm confirms new addresses; it does
//! not make a stranger the owner of a known one.

use uuid::Uuid;

/// What the database knows about the person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// Owner of exactly this identity.
    pub(crate) owner: Option<Uuid>,
    /// Owners of identities with one of the proven addresses, without SSO.
    pub(crate) identity_owners: Vec<Uuid>,
    /// Users with one of the proven addresses, without SSO.
    pub(crate) users: Vec<Uuid>,
    /// Whether anybody has the address that the person would bring along, proven or not.
    pub(crate) is_address_taken: bool,
}

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Sign in as the owner.
    SignIn(Uuid),
    /// The identity becomes this user's.
    Link(Uuid),
    /// A new user, with the address.
    Create,
    /// A new user without the address: somebody has it, and the provider has not proven it.
    CreateWithoutAddress,
    /// The address stands for several users; nobody can say which.
    Ambiguous,
}

/// Decides. `has_proven` says whether the provider has proven any address.
pub(crate) fn decide(known: &Known, has_proven: bool) -> Decision {
    if let Some(owner) = known.owner {
        return Decision::SignIn(owner);
    }
    if !has_proven {
        return if known.is_address_taken {
            Decision::CreateWithoutAddress
        } else {
            Decision::Create
        };
    }
    let candidates = if known.identity_owners.is_empty() {
        &known.users
    } else {
        &known.identity_owners
    };
    match candidates.split_first() {
        None => Decision::Create,
        Some((first, others)) if others.iter().all(|other| other == first) => Decision::Link(*first),
        Some(_) => Decision::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_040_only_proven_addresses_link() {
        let (ana, ben) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let known = |owner: Option<Uuid>, identities: &[Uuid], users: &[Uuid]| Known {
            owner,
            identity_owners: identities.to_vec(),
            users: users.to_vec(),
            is_address_taken: !identities.is_empty() || !users.is_empty(),
        };
        let cases = [
            (known(Some(ana), &[ben], &[ben]), true, Decision::SignIn(ana)),
            (known(Some(ana), &[], &[]), false, Decision::SignIn(ana)),
            (known(None, &[], &[]), true, Decision::Create),
            (known(None, &[], &[]), false, Decision::Create),
            (known(None, &[ana, ana], &[ana]), true, Decision::Link(ana)),
            (known(None, &[], &[ana]), true, Decision::Link(ana)),
            (known(None, &[ana], &[]), true, Decision::Link(ana)),
            (known(None, &[ana], &[ana]), false, Decision::CreateWithoutAddress),
            (known(None, &[ana, ben], &[]), true, Decision::Ambiguous),
            (known(None, &[], &[ana, ben]), true, Decision::Ambiguous),
        ];
        for (known, proven, expected) in cases {
            assert_eq!(decide(&known, proven), expected, "{known:?} {proven}");
        }
    }
}
