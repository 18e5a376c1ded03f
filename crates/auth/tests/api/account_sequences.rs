//! Random sequences of requests by three people with three addresses and numbers: nobody ever holds a session of an account whose
//! confirmed address or number is somebody else's, nor anything to sign in there with. Source: Auth contract §13, AUTH-109.
//!
//! The model is who owns which address. A provider verifies an address for its owner only; mail to an address is read by
//! its owner only, who opens its link or types its code. People try everything with everybody's addresses. What they do not do: open a link that they have not
//! asked for, because a link that somebody else has asked for does what that other person wants, here as everywhere.
//! Administrators act for the owner of an address: they confirm no address for somebody else. They correct and confirm the address
//! of an account only while nobody has used it, which is why such a step is never one of two at once: where the correction comes
//! after the confirmation, the session of the owner stays in an account that the administrator has given away. The provider of
//! single sign-on says whatever its user wants, but of the addresses of a domain that the project has given it.
//!
//! A quarter of the sequences is played with hooks of the project, which refuse some new users, and one where addresses need no proof: there
//! everybody has an account with their own address first, which nobody else gets into; or somebody else has registered the address
//! before the project needed no proof, and does nothing by which anybody may take a free address there. Not played: providers that name
//! several addresses or none (`email_optional`), sign-ins by redirects to a provider, and the console's sign-out, which is Auth's.
//!
//! `SELVEDGE_ACCOUNT_SEQUENCES` sets the number of sequences, `SELVEDGE_ACCOUNT_SEED` the first one's seed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt;
use futures_util::future::{join, join_all};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reqwest::Method;
use serde_json::{Value, json};

use crate::account_devices::list_test_codes;
use crate::account_flows::Verifier;
use crate::account_projects::{Project, count_opened, start_projects};
use crate::account_steps::{Factor, Outcome, PEOPLE, PROVIDERS, Step, WaitingCode};
use crate::app::{Session, TestApp};
use crate::identity_provider::IdentityProvider;
use crate::passkeys::Authenticator;

const STEPS: usize = 14;
/// So many sequences play every step.
const MANY: u64 = 500;
/// Steps that open sessions, all of them in [`MANY`] sequences.
const OPENING: [&str; 22] = [
    "AddFactor",
    "AdminGuest",
    "AnswerFactor",
    "ChangePhone",
    "ExchangeCode",
    "GenerateLink",
    "Link",
    "OpenMail",
    "Refresh",
    "RefreshClient",
    "SignInAnonymously",
    "SignInByPasskey",
    "SignInByPassword",
    "SignInByPhone",
    "SignInByPhonePassword",
    "SignInByProvider",
    "SignInBySso",
    "SignInByWallet",
    "SignUp",
    "SignUpByPhone",
    "SignUpByServer",
    "TypeCode",
];
/// How often a sequence is played whose connections are reset.
pub(crate) const ATTEMPTS: usize = 3;
/// Sequences that run at the same time.
const PARALLEL: usize = 4;
/// What the people of one sequence have.
pub(crate) struct World<'a> {
    pub(crate) project: &'a Project,
    pub(crate) app: &'a TestApp,
    pub(crate) providers: &'a [IdentityProvider; 2],
    /// Part of every address, so that sequences do not meet.
    pub(crate) tag: String,
    pub(crate) sessions: [Vec<Session>; PEOPLE],
    pub(crate) awaited: [HashSet<&'static str>; PEOPLE],
    /// Whether the provider of single sign-on has the domain of the addresses.
    pub(crate) has_domain: bool,
    /// Taken out while they are used.
    pub(crate) passkeys: [RefCell<Vec<Authenticator>>; PEOPLE],
    /// Codes that wait in somebody's browser for their exchange.
    pub(crate) codes: [RefCell<Vec<WaitingCode>>; PEOPLE],
    /// What the OAuth client got for each.
    pub(crate) clients: [Vec<Session>; PEOPLE],
    /// Tokens of the changes of address that the people have asked for, which stand in the links of the mails.
    pub(crate) changes: [HashSet<String>; PEOPLE],
    pub(crate) factors: [Vec<Factor>; PEOPLE],
    /// People whose numbers were given to an account, or asked for.
    pub(crate) numbers: HashSet<usize>,
    /// People whose addresses somebody else has registered before the project needed no proof of addresses.
    pub(crate) claimed: HashSet<usize>,
    pub(crate) holders: HashMap<String, usize>,
}

impl World<'_> {
    pub(crate) fn address(&self, owner: usize) -> String {
        format!("p{owner}@{}", self.domain())
    }

    /// The domain of the addresses.
    pub(crate) fn domain(&self) -> String {
        format!("{}.example.com", self.tag)
    }

    pub(crate) fn password(&self, by: usize) -> String {
        format!("password of {by}")
    }

    pub(crate) fn newest_session(&self, by: usize) -> Option<&Session> {
        self.sessions[by].last()
    }

    fn id_token(&self, provider: usize, by: usize, address: usize, is_verified: bool) -> Value {
        let token = self.providers[provider].id_token(|claims| {
            claims["sub"] = json!(format!("{}-{by}", self.tag));
            claims["email"] = json!(self.address(address));
            claims["email_verified"] = json!(is_verified);
        });
        json!({"provider": PROVIDERS[provider], "id_token": token})
    }

    /// The id of the account that has an address.
    pub(crate) async fn find_account(&self, owner: usize) -> Option<String> {
        const SQL: &str = "select id::text from auth.users where email = $1";
        let rows = self.project.query(SQL, &[&self.address(owner)]).await;
        rows.first().map(|row| row.get(0))
    }

    /// Plays a step, and notes whether it has opened a session.
    pub(crate) async fn perform(&self, step: Step) -> Outcome {
        let outcome = self.play_step(step).await;
        self.project.note(step, &outcome);
        outcome
    }

    async fn play_step(&self, step: Step) -> Outcome {
        match step {
            Step::SignUp { .. } | Step::AskForCode { .. } | Step::Recover { .. } => {
                self.ask_for_mail(step).await
            }
            Step::TypeCode { .. }
            | Step::ExchangeCode { .. }
            | Step::SignInByWallet { .. }
            | Step::GrantClient { .. }
            | Step::RefreshClient { .. } => self.follow_flow(step).await,
            // Who waits for a mail of the own sign-up may ask for another. Whoever has not signed up waits for none.
            Step::Resend { address } => {
                let body = json!({"type": "signup", "email": self.address(address)});
                self.app.post("/resend", body).send().await;
                Outcome::default()
            }
            Step::OpenMail { by } => self.open_mail(by).await,
            Step::SignInByPassword { by, address } => {
                let (email, password) = (self.address(address), self.password(by));
                Outcome::of_session(by, &self.app.sign_in(&email, &password).await)
            }
            Step::SignInByProvider {
                by,
                provider,
                address,
                is_verified,
            } => {
                let body = self.id_token(provider, by, address, is_verified);
                let response = self.app.post("/token?grant_type=id_token", body).send().await;
                let mut outcome = Outcome::of_session(by, &response);
                // Whoever is told to verify the address at the provider waits for no mail.
                if response.message().contains("confirmation email has been sent") {
                    outcome.awaited = Outcome::awaiting(by, address, &["signup"]).awaited;
                }
                outcome
            }
            Step::SignInAnonymously { by } => {
                Outcome::of_session(by, &self.app.post("/signup", json!({})).send().await)
            }
            Step::SignInBySso { by, address, name } => self.sign_in_by_sso(by, address, name).await,
            Step::AddPasskey { .. }
            | Step::SignInByPasskey { .. }
            | Step::SignUpByPhone { .. }
            | Step::SignInByPhone { .. }
            | Step::SignInByPhonePassword { .. }
            | Step::ChangePhone { .. } => self.use_device(step).await,
            Step::OldRow { by, address, kind } => {
                self.write_old_row(by, address, kind).await;
                Outcome::default()
            }
            Step::Ban { .. }
            | Step::Delete { .. }
            | Step::Invite { .. }
            | Step::GenerateLink { .. }
            | Step::AdminCreate { .. }
            | Step::AdminPassword { .. }
            | Step::AdminAddress { .. }
            | Step::SignUpByServer { .. }
            | Step::AdminConfirm { .. }
            | Step::AdminMove { .. }
            | Step::AdminNumber { .. }
            | Step::AdminGuest { .. }
            | Step::SsoDomain { .. } => self.administer(step).await,
            _ => self.change(step).await,
        }
    }

    /// What a person does with the newest session that they hold.
    async fn change(&self, step: Step) -> Outcome {
        let (Step::Link { by, .. }
        | Step::Unlink { by, .. }
        | Step::ChangeEmail { by, .. }
        | Step::ChangePassword { by }
        | Step::Refresh { by }
        | Step::AddFactor { by }
        | Step::AnswerFactor { by }
        | Step::RemoveFactor { by }
        | Step::SignOut { by, .. }) = step
        else {
            return Outcome::default();
        };
        let Some(session) = self.newest_session(by) else {
            return Outcome::default();
        };
        let token = &session.access_token;
        match step {
            Step::Link {
                provider,
                address,
                is_verified,
                ..
            } => {
                let mut body = self.id_token(provider, by, address, is_verified);
                body["link_identity"] = json!(true);
                let call = self.app.post("/token?grant_type=id_token", body).bearer(token);
                let mut outcome = Outcome::of_session(by, &call.send().await);
                outcome.changes = self.find_changes(by, session).await;
                outcome
            }
            Step::Unlink { index, .. } => {
                let user = self.app.get("/user").bearer(token).send().await.body;
                let id = user["identities"][index]["identity_id"]
                    .as_str()
                    .unwrap_or_default();
                let path = format!("/user/identities/{id}");
                self.app.call(Method::DELETE, &path).bearer(token).send().await;
                Outcome::default()
            }
            Step::ChangeEmail { address, is_pkce, .. } => {
                let body = Verifier::of(by).challenge(json!({"email": self.address(address)}), is_pkce);
                self.app.put("/user", body).bearer(token).send().await;
                Outcome {
                    changes: self.find_changes(by, session).await,
                    ..Outcome::default()
                }
            }
            Step::ChangePassword { .. } => {
                let body = json!({"password": self.password(by)});
                self.app.put("/user", body).bearer(token).send().await;
                Outcome::default()
            }
            Step::Refresh { .. } => Outcome::of_session(by, &self.app.refresh(&session.refresh_token).await),
            Step::AddFactor { .. } => self.add_factor(by, session).await,
            Step::AnswerFactor { .. } => match self.factors[by].last() {
                Some(factor) => Outcome::of_session(by, &self.answer(session, factor).await),
                None => Outcome::default(),
            },
            Step::RemoveFactor { .. } => {
                if let Some(factor) = self.factors[by].last() {
                    let call = self.app.call(Method::DELETE, &format!("/factors/{}", factor.id));
                    call.bearer(token).send().await;
                }
                Outcome::default()
            }
            Step::SignOut { is_others, .. } => {
                let scope = if is_others { "others" } else { "global" };
                let call = self.app.post(&format!("/logout?scope={scope}"), json!({}));
                call.bearer(token).send().await;
                Outcome::default()
            }
            _ => Outcome::default(),
        }
    }

    /// The tokens of the pending change of address of a session's account.
    async fn find_changes(&self, by: usize, session: &Session) -> Vec<(usize, String)> {
        let claims = self.app.keys.verify(&session.access_token).unwrap();
        let id = claims.subject().unwrap().to_owned();
        const SQL: &str = "select unnest(array[email_change_token_new, email_change_token_current]) as token \
                           from auth.users where id::text = $1";
        let rows = self.project.query(SQL, &[&id]).await;
        let tokens = rows.iter().filter_map(|row| row.get::<_, Option<String>>(0));
        tokens
            .filter(|token| !token.is_empty())
            .map(|token| (by, token))
            .collect()
    }

    /// Notes whose a session is, whose token names nobody else.
    fn hold(&mut self, by: usize, session: &Session) {
        let claims = self.app.keys.verify(&session.access_token).unwrap();
        for (name, own) in [("email", self.address(by)), ("phone", self.number(by))] {
            let named = claims.get(name).and_then(Value::as_str).unwrap_or_default();
            assert!(
                named.is_empty() || named == own,
                "the token of person {by} names {named}"
            );
        }
        let id = claims.session_id().unwrap().to_owned();
        self.holders.insert(id, by);
    }

    pub(crate) fn apply(&mut self, outcome: Outcome) {
        for (by, session) in outcome.sessions {
            self.hold(by, &session);
            self.sessions[by].push(session);
        }
        for (by, session) in outcome.clients {
            self.hold(by, &session);
            self.clients[by].push(session);
        }
        for (by, code) in outcome.codes {
            self.codes[by].borrow_mut().push(code);
        }
        if let Some(by) = outcome.opened {
            self.awaited[by].clear();
            self.changes[by].clear();
        }
        for (by, token) in outcome.changes {
            self.changes[by].insert(token);
        }
        for (owner, kind) in outcome.awaited {
            self.awaited[owner].insert(kind);
        }
        if let Some(has_domain) = outcome.has_domain {
            self.has_domain = has_domain;
        }
        if let Some(owner) = outcome.deleted {
            self.awaited[owner].clear();
        }
        if let Some((by, factor)) = outcome.factor {
            self.factors[by].push(factor);
        }
    }
}

/// Plays one sequence. Some steps are two at once.
async fn play(project: &Project, providers: &[IdentityProvider; 2], (seed, attempt): (u64, usize)) {
    let mut random = StdRng::seed_from_u64(seed);
    let mut world = World {
        project,
        app: &project.app,
        providers,
        tag: format!("{seed}x{attempt}"),
        has_domain: false,
        passkeys: Default::default(),
        sessions: Default::default(),
        awaited: Default::default(),
        codes: Default::default(),
        clients: Default::default(),
        changes: Default::default(),
        factors: Default::default(),
        numbers: HashSet::new(),
        claimed: HashSet::new(),
        holders: HashMap::new(),
    };
    let mut log = Vec::new();
    world.begin(&mut random).await;
    for _ in 0..STEPS {
        let steps = (world.choose_step(&mut random), world.choose_step(&mut random));
        let guard = LogOnPanic(seed, format!("{:?} {log:?} then {steps:?}", world.claimed));
        let is_alone = steps.0.is_alone() || steps.1.is_alone();
        if random.random_bool(0.3) && !is_alone {
            let (first, second) = join(world.perform(steps.0), world.perform(steps.1)).await;
            world.apply(first);
            world.apply(second);
            world.note_number(steps.0);
            world.note_number(steps.1);
            log.push((steps.0, Some(steps.1)));
        } else {
            let outcome = world.perform(steps.0).await;
            world.apply(outcome);
            world.note_number(steps.0);
            log.push((steps.0, None));
        }
        world.check().await;
        drop(guard);
    }
    let guard = LogOnPanic(seed, format!("{log:?} at the end"));
    world.check_ways_to_sign_in().await;
    // What waits in somebody's browser opens nothing else, either.
    for by in 0..PEOPLE {
        while !world.codes[by].borrow().is_empty() {
            let outcome = world.perform(Step::ExchangeCode { by }).await;
            world.apply(outcome);
        }
    }
    world.check().await;
    drop(guard);
}

/// Plays a sequence again, among new addresses, whose server has reset a connection, as one on a machine under load does.
async fn play_patiently(project: &Project, providers: &[IdentityProvider; 2], seed: u64) {
    for attempt in 0..ATTEMPTS {
        let played = AssertUnwindSafe(play(project, providers, (seed, attempt)))
            .catch_unwind()
            .await;
        let Err(panic) = played else {
            return;
        };
        let text = panic.downcast_ref::<String>().map_or("", String::as_str);
        let is_reset = text.contains("reqwest::Error");
        if !is_reset || attempt + 1 == ATTEMPTS {
            resume_unwind(panic);
        }
        println!("sequence {seed} is played again: {text}");
    }
}

/// Prints the sequence that has failed.
struct LogOnPanic(u64, String);

impl Drop for LogOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("sequence {}: {}", self.0, self.1);
        }
    }
}

fn read_number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn auth_109_nobody_holds_a_session_of_an_account_whose_address_is_somebody_elses() {
    let providers = [IdentityProvider::start(), IdentityProvider::start()];
    let count = read_number("SELVEDGE_ACCOUNT_SEQUENCES", 200);
    let first = read_number("SELVEDGE_ACCOUNT_SEED", u64::from(rand::random::<u32>()));
    let seeds: Vec<u64> = (first..first + count).collect();
    let projects = start_projects(&providers, &list_test_codes(&seeds)).await;
    println!("{count} sequences from seed {first}");
    for some in seeds.chunks(PARALLEL) {
        join_all(some.iter().map(|seed| {
            // The first project gets half of the sequences.
            let project = usize::try_from(seed % 4).unwrap().saturating_sub(1);
            play_patiently(&projects[project], &providers, *seed)
        }))
        .await;
        for project in &projects {
            project.clean().await;
        }
    }
    // Otherwise the model would say nothing of them.
    let opened = count_opened(&projects);
    println!("sessions by step: {opened:?}");
    let unopened = OPENING.iter().filter(|step| !opened.contains_key(**step));
    let unopened: Vec<&&str> = unopened.collect();
    assert!(
        count < MANY || unopened.is_empty(),
        "{unopened:?} open no session"
    );
}
