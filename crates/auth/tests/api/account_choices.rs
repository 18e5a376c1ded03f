//! What `account_sequences` begins with, and which steps it chooses.

use rand::RngExt;
use rand::rngs::StdRng;

use crate::account_sequences::World;
use crate::account_steps::{PEOPLE, Step};

impl World<'_> {
    /// Where addresses need no proof, everybody registers their own before anybody else can, or somebody else has before the project
    /// needed none.
    pub(crate) async fn begin(&mut self, random: &mut StdRng) {
        if !self.project.is_autoconfirm {
            return;
        }
        for owner in 0..PEOPLE {
            let is_claimed = random.random_bool(0.4);
            let by = match is_claimed {
                true => (owner + random.random_range(1..PEOPLE)) % PEOPLE,
                false => owner,
            };
            let (address, is_pkce) = (owner, false);
            let outcome = self.perform(Step::SignUp { by, address, is_pkce }).await;
            assert_eq!(outcome.sessions.len(), 1);
            if is_claimed {
                self.claimed.insert(owner);
                self.withdraw_proof(owner, random.random_bool(0.3)).await;
            } else {
                self.apply(outcome);
            }
        }
    }

    /// Makes the account of an address one that waits for its confirmation, perhaps of somebody who has asked for a code only.
    async fn withdraw_proof(&self, owner: usize, has_no_password: bool) {
        const SESSIONS: &str =
            "delete from auth.sessions s using auth.users u where u.id = s.user_id and u.email = $1";
        const USER: &str = "update auth.users set email_confirmed_at = null, last_sign_in_at = null, \
                            encrypted_password = case when $2 then null else encrypted_password end where email = $1";
        const IDENTITY: &str = "update auth.identities set identity_data = identity_data || '{\"email_verified\": false}' \
                                where email = $1";
        let address = self.address(owner);
        self.project.query(SESSIONS, &[&address]).await;
        self.project.query(USER, &[&address, &has_no_password]).await;
        self.project.query(IDENTITY, &[&address]).await;
    }

    pub(crate) fn choose_step(&self, random: &mut StdRng) -> Step {
        loop {
            let next = match random.random_bool(0.3) {
                true => self.find_next(random),
                false => None,
            };
            let step = next.unwrap_or_else(|| Step::random(random));
            if !self.project.is_autoconfirm || step.keeps_addresses() && !self.takes_claimed(step) {
                return step;
            }
        }
    }

    /// Whether the step would take an address that is free where addresses need no proof, because only somebody else has registered it.
    fn takes_claimed(&self, step: Step) -> bool {
        match step {
            Step::SignUp { by, address, .. }
            | Step::ChangeEmail { by, address, .. }
            | Step::AdminGuest { by, address, .. } => by != address && self.claimed.contains(&address),
            _ => false,
        }
    }

    /// A step that goes on with something that a person has, and would rarely follow by chance. Those that open the fewest sessions come
    /// up most.
    fn find_next(&self, random: &mut StdRng) -> Option<Step> {
        let by = random.random_range(0..PEOPLE);
        let mut steps = Vec::new();
        if self.newest_session(by).is_some() {
            let (address, is_confirmed) = (by, false);
            steps.extend([
                Step::AddPasskey { by },
                Step::GrantClient { by },
                Step::AdminGuest {
                    by,
                    address,
                    is_confirmed,
                },
            ]);
            if !self.factors[by].is_empty() {
                steps.extend([Step::AnswerFactor { by }; 4]);
            }
        }
        if !self.passkeys[by].borrow().is_empty() {
            steps.push(Step::SignInByPasskey { by });
        }
        if !self.clients[by].is_empty() {
            steps.extend([Step::RefreshClient { by }; 4]);
        }
        if !self.codes[by].borrow().is_empty() {
            steps.push(Step::ExchangeCode { by });
        }
        if self.awaited_mail(by).is_some() {
            steps.extend([Step::OpenMail { by }, Step::TypeCode { by }]);
        }
        if self.numbers.contains(&by) {
            steps.extend([Step::SignInByPhonePassword { by, number: by }; 3]);
        }
        let numbers = (0..PEOPLE).filter(|number| self.numbers.contains(number));
        steps.extend(numbers.map(|number| Step::SignInByPhonePassword { by, number }));
        let count = steps.len();
        (count > 0).then(|| steps.swap_remove(random.random_range(0..count)))
    }

    pub(crate) fn note_number(&mut self, step: Step) {
        if let Step::SignUpByPhone { number, .. }
        | Step::ChangePhone { number, .. }
        | Step::AdminNumber { address: number, .. } = step
        {
            self.numbers.insert(number);
        }
    }
}
