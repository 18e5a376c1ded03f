//! Steps of `account_sequences` with mails, by link, with a PKCE challenge or with a code to type, with OAuth clients, and with wallets.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::account_sequences::World;
use crate::account_steps::{Outcome, Step, WaitingCode};
use crate::app::{ReceivedMail, Session};
use crate::oauth_server;
use crate::pkce;
use crate::providers::read_query_param;
use crate::web3::{Wallet, sign_in_with_ethereum};

/// The PKCE verifier of a person, which nobody else has.
pub(crate) struct Verifier(String);

impl Verifier {
    pub(crate) fn of(by: usize) -> Self {
        Self(format!("{}{by}", pkce::VERIFIER))
    }

    /// Adds the challenge to the body of a request, if it is one with PKCE.
    pub(crate) fn challenge(&self, mut body: Value, is_pkce: bool) -> Value {
        if is_pkce {
            body["code_challenge"] = json!(URL_SAFE_NO_PAD.encode(Sha256::digest(&self.0)));
            body["code_challenge_method"] = json!("s256");
        }
        body
    }
}

impl World<'_> {
    /// The mail of a change that the owner of an address has asked for, or the newest there, if the owner waits for a mail of its
    /// kind.
    pub(crate) fn awaited_mail(&self, owner: usize) -> Option<ReceivedMail> {
        let mails = self.list_mails(owner);
        let is_change = |mail: &&ReceivedMail| {
            let mut tokens = self.changes[owner].iter();
            tokens.any(|token| mail.link.contains(token))
        };
        if let Some(index) = mails.iter().position(|mail| is_change(&mail)) {
            return mails.into_iter().nth(index);
        }
        let mail = mails.into_iter().next()?;
        let is_awaited = self.awaited[owner].contains(mail.param("type").as_str());
        is_awaited.then_some(mail)
    }

    /// The mails with links to an address, the newest first.
    fn list_mails(&self, owner: usize) -> Vec<ReceivedMail> {
        let address = self.address(owner);
        let mails = self.app.inbox.list_mails();
        let to_address = mails.iter().filter(|mail| mail.to[0].address == address);
        let received = to_address.map(|mail| ReceivedMail::from_stored(mail));
        received.filter(|mail| !mail.link.is_empty()).collect()
    }

    /// Opens the newest mail to an address, if it is of a type that was asked for a moment ago.
    pub(crate) async fn open_newest(&self, by: usize, kind: &str) -> Outcome {
        match self.list_mails(by).first() {
            Some(mail) if mail.link.contains(&format!("type={kind}")) => self.open(by, &mail.link).await,
            _ => Outcome::default(),
        }
    }

    pub(crate) async fn open_mail(&self, by: usize) -> Outcome {
        match self.awaited_mail(by) {
            Some(mail) => self.open(by, &mail.link).await,
            None => Outcome::default(),
        }
    }

    async fn open(&self, by: usize, link: &str) -> Outcome {
        let response = self.app.get(link).send().await;
        let read = |name: &str| response.in_fragment(name).unwrap_or_default();
        let mut outcome = Outcome {
            opened: Some(by),
            ..Outcome::default()
        };
        let code = read_query_param(response.header("location"), "code");
        if !code.is_empty() {
            outcome.codes.push((by, WaitingCode::Pkce(code)));
        }
        if !read("access_token").is_empty() {
            let session = Session {
                access_token: read("access_token"),
                refresh_token: read("refresh_token"),
                user: Value::Null,
            };
            outcome.sessions.push((by, session));
        }
        outcome
    }

    /// Asks for a mail. Whoever is refused waits for none.
    pub(crate) async fn ask_for_mail(&self, step: Step) -> Outcome {
        let (by, address, is_pkce, path, kinds): (_, _, _, _, &[&str]) = match step {
            Step::SignUp { by, address, is_pkce } => (by, address, is_pkce, "/signup", &["signup"]),
            Step::AskForCode { by, address, is_pkce } => {
                (by, address, is_pkce, "/otp", &["signup", "magiclink"])
            }
            Step::Recover { by, address, is_pkce } => (by, address, is_pkce, "/recover", &["recovery"]),
            _ => return Outcome::default(),
        };
        let mut body = json!({"email": self.address(address)});
        if path == "/signup" {
            body["password"] = json!(self.password(by));
        }
        let body = Verifier::of(by).challenge(body, is_pkce);
        let asked = self.app.post(path, body).send().await;
        let mut outcome = Outcome::of_session(by, &asked);
        if asked.status == 200 {
            outcome.awaited = Outcome::awaiting(by, address, kinds).awaited;
        }
        outcome
    }

    pub(crate) async fn follow_flow(&self, step: Step) -> Outcome {
        match step {
            Step::TypeCode { by } => self.type_code(by).await,
            Step::ExchangeCode { by } => self.exchange_code(by).await,
            Step::SignInByWallet { by } => {
                Outcome::of_session(by, &sign_in_with_ethereum(self.app, &self.wallet(by)).await)
            }
            Step::GrantClient { by } => match self.newest_session(by) {
                Some(session) => self.grant_client(by, session).await,
                None => Outcome::default(),
            },
            Step::RefreshClient { by } => self.refresh_client(by).await,
            _ => Outcome::default(),
        }
    }

    /// The wallet of a person in this sequence.
    pub(crate) fn wallet(&self, by: usize) -> Wallet {
        let number: u64 = self.number(by).parse().unwrap();
        Wallet::new(number)
    }

    /// Types the code of the mail that the person waits for.
    async fn type_code(&self, by: usize) -> Outcome {
        let Some(mail) = self.awaited_mail(by) else {
            return Outcome::default();
        };
        let body = json!({"type": mail.param("type"), "email": self.address(by), "token": mail.code});
        let response = self.app.post("/verify", body).send().await;
        Outcome {
            opened: Some(by),
            ..Outcome::of_session(by, &response)
        }
    }

    async fn exchange_code(&self, by: usize) -> Outcome {
        let code = self.codes[by].borrow_mut().pop();
        match code {
            Some(WaitingCode::Pkce(code)) => {
                let Verifier(verifier) = Verifier::of(by);
                Outcome::of_session(by, &pkce::exchange_code(self.app, &code, &verifier).await)
            }
            Some(WaitingCode::Client(code)) => {
                let response = oauth_server::exchange_code(self.app, &self.project.client, &code).await;
                Outcome::default().with_client(by, &response.body)
            }
            None => Outcome::default(),
        }
    }

    /// Lets the OAuth client act for the person, whose code waits then.
    async fn grant_client(&self, by: usize, session: &Session) -> Outcome {
        let started = oauth_server::begin_authorization(self.app, &self.project.client, "email").await;
        let id = read_query_param(started.header("location"), "authorization_id");
        let path = format!("/oauth/authorizations/{id}");
        let token = &session.access_token;
        let shown = self.app.get(&path).bearer(token).send().await.body;
        // Where the person has consented before, the answer leads back at once.
        let decided = match shown["redirect_url"].is_string() {
            true => shown,
            false => {
                let approve = self
                    .app
                    .post(&format!("{path}/consent"), json!({"action": "approve"}));
                approve.bearer(token).send().await.body
            }
        };
        let mut outcome = Outcome::default();
        if let Some(url) = decided["redirect_url"].as_str() {
            let code = read_query_param(url, "code");
            outcome.codes.push((by, WaitingCode::Client(code)));
        }
        outcome
    }

    async fn refresh_client(&self, by: usize) -> Outcome {
        let Some(session) = self.clients[by].last() else {
            return Outcome::default();
        };
        let pairs = [
            ("grant_type", "refresh_token"),
            ("refresh_token", session.refresh_token.as_str()),
            ("client_id", self.project.client["client_id"].as_str().unwrap()),
        ];
        let response = oauth_server::token(self.app, None, &pairs).await;
        Outcome::default().with_client(by, &response.body)
    }
}

impl Outcome {
    /// Adds what the OAuth client got, if anything.
    fn with_client(mut self, by: usize, body: &Value) -> Self {
        if let (Some(access), Some(refresh)) = (body["access_token"].as_str(), body["refresh_token"].as_str())
        {
            let session = Session {
                access_token: access.to_owned(),
                refresh_token: refresh.to_owned(),
                user: Value::Null,
            };
            self.clients.push((by, session));
        }
        self
    }
}
