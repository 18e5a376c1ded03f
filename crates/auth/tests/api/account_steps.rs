//! The steps of `account_sequences`, and what each changes for its person.

use std::cell::Cell;

use rand::RngExt;
use rand::rngs::StdRng;

use crate::app::{Response, Session};

pub(crate) const PEOPLE: usize = 3;
pub(crate) const PROVIDERS: [&str; 2] = ["google", "keycloak"];

/// One request, or two that belong together, of a person. Addresses and accounts are named by their owners.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    SignUp {
        by: usize,
        address: usize,
        is_pkce: bool,
    },
    AskForCode {
        by: usize,
        address: usize,
        is_pkce: bool,
    },
    Recover {
        by: usize,
        address: usize,
        is_pkce: bool,
    },
    OpenMail {
        by: usize,
    },
    /// Types the code of the mail instead of opening its link.
    TypeCode {
        by: usize,
    },
    /// Exchanges a code that has come back from a link or a consent.
    ExchangeCode {
        by: usize,
    },
    SignInByWallet {
        by: usize,
    },
    /// The person lets an OAuth client act for them.
    GrantClient {
        by: usize,
    },
    /// The OAuth client goes on.
    RefreshClient {
        by: usize,
    },
    SignInByPassword {
        by: usize,
        address: usize,
    },
    SignInByProvider {
        by: usize,
        provider: usize,
        address: usize,
        is_verified: bool,
    },
    SignInAnonymously {
        by: usize,
    },
    Link {
        by: usize,
        provider: usize,
        address: usize,
        is_verified: bool,
    },
    Unlink {
        by: usize,
        index: usize,
    },
    ChangeEmail {
        by: usize,
        address: usize,
        is_pkce: bool,
    },
    ChangePassword {
        by: usize,
    },
    Refresh {
        by: usize,
    },
    AddFactor {
        by: usize,
    },
    AnswerFactor {
        by: usize,
    },
    RemoveFactor {
        by: usize,
    },
    SignOut {
        by: usize,
        is_others: bool,
    },
    /// Another mail for a sign-up.
    Resend {
        address: usize,
    },
    Ban {
        address: usize,
        is_lifted: bool,
    },
    Delete {
        address: usize,
        is_soft: bool,
    },
    Invite {
        address: usize,
    },
    GenerateLink {
        address: usize,
        kind: usize,
    },
    /// An administrator creates the account of an address, with a password for its owner.
    AdminCreate {
        address: usize,
        is_confirmed: bool,
    },
    /// An administrator gives the account of an address a password for its owner, and perhaps confirms the address for them.
    AdminPassword {
        address: usize,
        is_confirmed: bool,
    },
    /// An administrator corrects the address of an account that nobody has confirmed.
    AdminAddress {
        from: usize,
        to: usize,
    },
    /// A project's own server makes the link of a sign-up, for whoever has filled in its form, and mails it to the address.
    SignUpByServer {
        by: usize,
        address: usize,
    },
    /// An administrator confirms the account of somebody who has signed up and waits for the mail.
    AdminConfirm {
        address: usize,
    },
    /// An administrator confirms the owner's number for an account with their address that nobody has proven, whoever has registered it:
    /// in the request that adds the number, or in one after it.
    AdminNumber {
        address: usize,
        is_at_once: bool,
    },
    /// An administrator corrects the address of an account that nobody has confirmed, and confirms it.
    AdminMove {
        from: usize,
        to: usize,
    },
    /// An administrator gives a person's account, which has no confirmed address, one: it waits for its owner, or the administrator
    /// knows that it is the person's.
    AdminGuest {
        by: usize,
        address: usize,
        is_confirmed: bool,
    },
    /// A provider of single sign-on, by one of the names that it has for its user, names an address. While it has the domain it
    /// names the user's own.
    SignInBySso {
        by: usize,
        address: usize,
        name: usize,
    },
    /// The domain of the addresses is given to the provider of single sign-on, or taken from it.
    SsoDomain {
        is_given: bool,
    },
    AddPasskey {
        by: usize,
    },
    SignInByPasskey {
        by: usize,
    },
    SignUpByPhone {
        by: usize,
        number: usize,
    },
    /// By a code that is sent to the person's own number.
    SignInByPhone {
        by: usize,
    },
    SignInByPhonePassword {
        by: usize,
        number: usize,
    },
    /// The code that is sent to a number is known to its owner only.
    ChangePhone {
        by: usize,
        number: usize,
    },
    /// The person's account gets a row as an older version made it.
    OldRow {
        by: usize,
        address: usize,
        kind: usize,
    },
}

impl Step {
    pub(crate) fn random(random: &mut StdRng) -> Self {
        let by = random.random_range(0..PEOPLE);
        // The own address more often than those of the others: only its mails are opened.
        let is_own = random.random_bool(0.25);
        let address = if is_own {
            by
        } else {
            random.random_range(0..PEOPLE)
        };
        let provider = random.random_range(0..PROVIDERS.len());
        // Nobody but the owner gets an address verified.
        let is_verified = by == address && random.random_bool(0.5);
        let is_pkce = random.random_bool(0.3);
        match random.random_range(0..82) {
            0..=2 => Self::SignUp { by, address, is_pkce },
            3..=4 => Self::AskForCode { by, address, is_pkce },
            5 => Self::Recover { by, address, is_pkce },
            6..=9 => Self::OpenMail { by },
            10..=11 => Self::SignInByPassword { by, address },
            12..=16 => Self::SignInByProvider {
                by,
                provider,
                address,
                is_verified,
            },
            17 => Self::SignInAnonymously { by },
            18..=20 => Self::Link {
                by,
                provider,
                address,
                is_verified,
            },
            21..=22 => Self::Unlink {
                by,
                index: random.random_range(0..3),
            },
            23..=24 => Self::ChangeEmail { by, address, is_pkce },
            25 => Self::ChangePassword { by },
            26 => Self::Refresh { by },
            27 => Self::AddFactor { by },
            28 => Self::AnswerFactor { by },
            29 => Self::SignOut {
                by,
                is_others: random.random_bool(0.4),
            },
            30 => Self::Ban {
                address,
                is_lifted: random.random_bool(0.5),
            },
            31 => Self::Delete {
                address,
                is_soft: random.random_bool(0.5),
            },
            32 => Self::Invite { address },
            33 => Self::AdminCreate {
                address,
                is_confirmed: random.random_bool(0.3),
            },
            34 => Self::AdminPassword {
                address,
                is_confirmed: random.random_bool(0.4),
            },
            35 => Self::AdminAddress {
                from: by,
                to: address,
            },
            36..=37 => Self::SignInBySso {
                by,
                address,
                name: random.random_range(0..2),
            },
            38..=40 => Self::OldRow {
                by,
                address,
                kind: random.random_range(0..3),
            },
            41 => Self::GenerateLink {
                address,
                kind: random.random_range(0..2),
            },
            number => Self::random_newer(random, number, (by, address)),
        }
    }

    fn random_newer(random: &mut StdRng, number: usize, (by, address): (usize, usize)) -> Self {
        match number {
            42..=43 => Self::SignUpByServer { by, address },
            44..=45 => Self::AdminConfirm { address },
            46 => Self::AdminMove {
                from: by,
                to: address,
            },
            47..=48 => Self::AdminGuest {
                by,
                address,
                is_confirmed: by == address && random.random_bool(0.5),
            },
            49 => Self::SsoDomain {
                is_given: random.random_bool(0.6),
            },
            50 => Self::AddPasskey { by },
            51 => Self::SignInByPasskey { by },
            52 => Self::SignUpByPhone { by, number: address },
            53..=54 => Self::SignInByPhone { by },
            55 => Self::SignInByPhonePassword { by, number: address },
            56..=57 => Self::ChangePhone { by, number: address },
            58..=59 => Self::Resend { address },
            60 => Self::RemoveFactor { by },
            // To the own address, which the person may have proven to another account.
            61..=62 => Self::ChangeEmail {
                by,
                address: by,
                is_pkce: random.random_bool(0.3),
            },
            63..=65 => Self::TypeCode { by },
            66..=69 => Self::ExchangeCode { by },
            70 => Self::SignInByWallet { by },
            71 | 76..=79 => Self::OpenMail { by },
            80..=81 => Self::TypeCode { by },
            72..=73 => Self::GrantClient { by },
            74 => Self::AdminNumber {
                address,
                is_at_once: random.random_bool(0.5),
            },
            _ => Self::RefreshClient { by },
        }
    }

    /// Whether the step is played where addresses need no proof. There everybody has an account with their own address from the
    /// beginning; what gives the address up lets anybody take it, as it is meant to.
    pub(crate) fn keeps_addresses(self) -> bool {
        !matches!(
            self,
            Self::Delete { .. }
                | Self::AdminAddress { .. }
                | Self::AdminMove { .. }
                | Self::OldRow { kind: 0, .. }
        )
    }

    /// Whether the step is never one of two at once: an administrator has looked at what there is, or somebody opens what was just
    /// sent. A test code is the same in every message to a number, so that it belongs to the change that was asked for last. Whoever has
    /// signed up at the moment of a deletion would wait for a mail of an account that is gone, and open one that somebody else has asked for.
    pub(crate) fn is_alone(self) -> bool {
        matches!(
            self,
            Self::Delete { .. }
                | Self::AdminAddress { .. }
                | Self::AdminMove { .. }
                | Self::AdminConfirm { .. }
                | Self::AdminPassword {
                    is_confirmed: true,
                    ..
                }
                | Self::AdminNumber { .. }
                | Self::AdminGuest { .. }
                | Self::SsoDomain { .. }
                | Self::ChangePhone { .. }
        )
    }
}

/// A code that is exchanged for a session.
#[derive(Debug, Clone)]
pub(crate) enum WaitingCode {
    /// Of a link; whoever has asked for it has the verifier.
    Pkce(String),
    /// Of the person's consent, for the OAuth client.
    Client(String),
}

/// A second factor of a person.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    pub(crate) id: String,
    pub(crate) secret: String,
    /// The step of the next code, from that of the present: no code is accepted twice.
    pub(crate) next_step: Cell<i64>,
}

/// What a step has changed for its person.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Sessions that the person holds now, and who that is.
    pub(crate) sessions: Vec<(usize, Session)>,
    /// Kinds of mails that the owner of an address waits for.
    pub(crate) awaited: Vec<(usize, &'static str)>,
    /// Tokens of changes of address that the person has asked for.
    pub(crate) changes: Vec<(usize, String)>,
    /// The owner has opened the mails that they waited for.
    pub(crate) opened: Option<usize>,
    /// The account of this address is gone or has another one now, and with it what its owner waited for.
    pub(crate) deleted: Option<usize>,
    /// Whether the provider of single sign-on has the domain of the addresses now.
    pub(crate) has_domain: Option<bool>,
    /// Codes that wait for their exchange, in the person's browser.
    pub(crate) codes: Vec<(usize, WaitingCode)>,
    /// What an OAuth client got that acts for the person.
    pub(crate) clients: Vec<(usize, Session)>,
    /// A factor of the person.
    pub(crate) factor: Option<(usize, Factor)>,
}

impl Outcome {
    pub(crate) fn of_session(by: usize, response: &Response) -> Self {
        let mut outcome = Self::default();
        if response.status == 200 && response.body["access_token"].is_string() {
            outcome.sessions.push((by, response.session()));
        }
        outcome
    }

    pub(crate) fn awaiting(by: usize, address: usize, kinds: &[&'static str]) -> Self {
        let kinds = kinds.iter().filter(|_| by == address);
        Self {
            awaited: kinds.map(|kind| (address, *kind)).collect(),
            ..Self::default()
        }
    }
}
