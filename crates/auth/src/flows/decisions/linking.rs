//! Which account a sign-in by a provider leads to. Source: Auth contract §8.2.
//!
//! Only an address that the provider has verified links to an existing account. Autoconfirm confirms new addresses
//! only: otherwise an unverified address at a provider would give access to somebody else's account.

use uuid::Uuid;

use crate::store::identities::LinkCandidates;

/// The account that a provider sign-in uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccountDecision {
    /// Sign in as the owner.
    SignIn(Uuid),
    /// Link the identity to this user.
    Link(Uuid),
    /// A new user, with the address.
    Create,
    /// A new user without the address: another user has it, and the provider has not verified it.
    CreateWithoutAddress,
    /// Several users have the address, so none is chosen.
    Ambiguous,
}

/// Chooses the account. `has_verified_address`: the provider has verified at least one address.
pub(crate) fn choose_account(known: &LinkCandidates, has_verified_address: bool) -> AccountDecision {
    if let Some(owner) = known.owner {
        return AccountDecision::SignIn(owner);
    }
    if !has_verified_address {
        return if known.is_address_taken {
            AccountDecision::CreateWithoutAddress
        } else {
            AccountDecision::Create
        };
    }
    let candidates = if known.identity_owners.is_empty() {
        &known.users
    } else {
        &known.identity_owners
    };
    match candidates.split_first() {
        None => AccountDecision::Create,
        Some((first, others)) if others.iter().all(|other| other == first) => AccountDecision::Link(*first),
        Some(_) => AccountDecision::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_040_only_verified_addresses_link_to_an_existing_user() {
        let (ana, ben) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let known = |owner: Option<Uuid>, identities: &[Uuid], users: &[Uuid]| LinkCandidates {
            owner,
            identity_owners: identities.to_vec(),
            users: users.to_vec(),
            is_address_taken: !identities.is_empty() || !users.is_empty(),
        };
        let cases = [
            (
                known(Some(ana), &[ben], &[ben]),
                true,
                AccountDecision::SignIn(ana),
            ),
            (known(Some(ana), &[], &[]), false, AccountDecision::SignIn(ana)),
            (known(None, &[], &[]), true, AccountDecision::Create),
            (known(None, &[], &[]), false, AccountDecision::Create),
            (known(None, &[ana, ana], &[ana]), true, AccountDecision::Link(ana)),
            (known(None, &[], &[ana]), true, AccountDecision::Link(ana)),
            (known(None, &[ana], &[]), true, AccountDecision::Link(ana)),
            (
                known(None, &[ana], &[ana]),
                false,
                AccountDecision::CreateWithoutAddress,
            ),
            (known(None, &[ana, ben], &[]), true, AccountDecision::Ambiguous),
            (known(None, &[], &[ana, ben]), true, AccountDecision::Ambiguous),
        ];
        for (known, proven, expected) in cases {
            assert_eq!(choose_account(&known, proven), expected, "{known:?} {proven}");
        }
    }
}
