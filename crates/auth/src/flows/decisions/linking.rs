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
    /// Link the identity to this user, who has proven the address before.
    Link(Uuid),
    /// Link the identity to this account, which waits for somebody to prove its address, and empty it first.
    TakeOver(Uuid),
    /// A new user, with the address.
    Create,
    /// A new user without the address: another user has it, and the provider has not verified it.
    CreateWithoutAddress,
    /// Several users have the address, so none is chosen.
    Ambiguous,
}

/// Chooses the account. `has_verified_address`: the provider has verified at least one address; `is_verified`: the one
/// that a new account would get.
pub(crate) fn choose_account(
    known: &LinkCandidates,
    has_verified_address: bool,
    is_verified: bool,
) -> AccountDecision {
    match known.owner {
        // An account that nobody has proven holds nothing but a claim of an address. With a verified address the person
        // belongs to whom that address leads to.
        Some(owner) if known.is_owner_unproven && has_verified_address => {
            match choose_by_address(known, is_verified) {
                AccountDecision::TakeOver(user_id) if user_id == owner => AccountDecision::SignIn(owner),
                decision => decision,
            }
        }
        Some(owner) => AccountDecision::SignIn(owner),
        None if has_verified_address => choose_by_address(known, is_verified),
        None => create_if_free(known, is_verified),
    }
}

/// Chooses the account by addresses that the provider has verified. Users who have confirmed an address come first, then
/// users who have proven it at another provider, then the account that waits for its confirmation.
fn choose_by_address(known: &LinkCandidates, is_verified: bool) -> AccountDecision {
    let mut candidates = [&known.users, &known.identity_owners]
        .into_iter()
        .filter(|users| !users.is_empty());
    let Some(users) = candidates.next() else {
        return match known.unproven.first() {
            Some(user_id) => AccountDecision::TakeOver(*user_id),
            None => create_if_free(known, is_verified),
        };
    };
    match users.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => AccountDecision::Link(*first),
        _ => AccountDecision::Ambiguous,
    }
}

/// A new account gets the address if it is verified, for then every other account loses it, or if nobody has it.
fn create_if_free(known: &LinkCandidates, is_verified: bool) -> AccountDecision {
    if is_verified || !known.is_address_taken {
        AccountDecision::Create
    } else {
        AccountDecision::CreateWithoutAddress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANA: Uuid = Uuid::from_u128(1);
    const BEN: Uuid = Uuid::from_u128(2);

    fn candidates(identities: &[Uuid], users: &[Uuid], unproven: &[Uuid]) -> LinkCandidates {
        LinkCandidates {
            identity_owners: identities.to_vec(),
            users: users.to_vec(),
            unproven: unproven.to_vec(),
            is_address_taken: !(identities.is_empty() && users.is_empty() && unproven.is_empty()),
            ..LinkCandidates::default()
        }
    }

    fn owned(owner: Uuid, is_owner_unproven: bool, others: LinkCandidates) -> LinkCandidates {
        LinkCandidates {
            owner: Some(owner),
            is_owner_unproven,
            ..others
        }
    }

    #[test]
    fn auth_040_only_verified_addresses_link_to_an_existing_user() {
        use AccountDecision::{Ambiguous, Create, CreateWithoutAddress, Link, SignIn};
        let cases = [
            (
                owned(ANA, false, candidates(&[BEN], &[BEN], &[])),
                true,
                SignIn(ANA),
            ),
            (owned(ANA, false, candidates(&[], &[], &[])), false, SignIn(ANA)),
            (candidates(&[], &[], &[]), true, Create),
            (candidates(&[], &[], &[]), false, Create),
            (candidates(&[ANA, ANA], &[ANA], &[]), true, Link(ANA)),
            (candidates(&[], &[ANA], &[]), true, Link(ANA)),
            (candidates(&[ANA], &[], &[]), true, Link(ANA)),
            (candidates(&[BEN], &[ANA], &[]), true, Link(ANA)),
            (candidates(&[ANA], &[ANA], &[]), false, CreateWithoutAddress),
            (candidates(&[ANA, BEN], &[], &[]), true, Ambiguous),
            (candidates(&[], &[ANA, BEN], &[]), true, Ambiguous),
        ];
        for (known, is_verified, expected) in cases {
            assert_eq!(
                choose_account(&known, is_verified, is_verified),
                expected,
                "{known:?} {is_verified}"
            );
        }
    }

    #[test]
    fn auth_103_an_account_that_nobody_has_proven_makes_no_claim() {
        use AccountDecision::{Create, CreateWithoutAddress, Link, SignIn, TakeOver};
        let cases = [
            (candidates(&[], &[], &[BEN]), true, TakeOver(BEN)),
            (candidates(&[], &[], &[BEN]), false, CreateWithoutAddress),
            (candidates(&[], &[ANA], &[BEN]), true, Link(ANA)),
            (owned(BEN, true, candidates(&[], &[], &[BEN])), true, SignIn(BEN)),
            (owned(BEN, true, candidates(&[], &[ANA], &[])), true, Link(ANA)),
            (
                owned(BEN, true, candidates(&[], &[], &[ANA])),
                true,
                TakeOver(ANA),
            ),
            (owned(BEN, true, candidates(&[], &[], &[])), true, Create),
            (owned(BEN, true, candidates(&[], &[], &[])), false, SignIn(BEN)),
        ];
        for (known, is_verified, expected) in cases {
            assert_eq!(
                choose_account(&known, is_verified, is_verified),
                expected,
                "{known:?} {is_verified}"
            );
        }
    }
}
