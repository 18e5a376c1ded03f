//! The projects in which `account_sequences` plays. Of four sequences, two are in a project with the defaults, one in a project with hooks,
//! and one in a project where addresses need no proof.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use crate::account_steps::{Outcome, PROVIDERS, Step};
use crate::app::TestApp;
use crate::hooks::{create_function, database_hook};
use crate::identity_provider::IdentityProvider;
use crate::oauth_server;

/// A server of Auth, with the database and the mails that the checks read.
pub(crate) struct Project {
    pub(crate) app: TestApp,
    pub(crate) database: Client,
    /// Statements that were prepared, by their text.
    statements: RefCell<HashMap<&'static str, Statement>>,
    /// An OAuth client, whom people let act for them.
    pub(crate) client: Value,
    /// Whether addresses need no proof.
    pub(crate) is_autoconfirm: bool,
    cleanings: Cell<usize>,
    /// The names of the steps that have opened a session.
    opened: RefCell<BTreeMap<String, usize>>,
}

const CLEANINGS_PER_VACUUM: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Hooks,
    Autoconfirm,
}

/// Starts the projects, for sequences of these numbers with their codes. The first occurs twice, so that it gets half of them.
pub(crate) async fn start_projects(
    providers: &[IdentityProvider; 2],
    codes: &[(String, String)],
) -> [Project; 3] {
    [
        start(Kind::Plain, providers, codes).await,
        start(Kind::Hooks, providers, codes).await,
        start(Kind::Autoconfirm, providers, codes).await,
    ]
}

async fn start(kind: Kind, providers: &[IdentityProvider; 2], codes: &[(String, String)]) -> Project {
    let configs = vec![
        providers[0].config(PROVIDERS[0]),
        providers[1].config(PROVIDERS[1]),
    ];
    let app = TestApp::start_with(|config| {
        config.email.autoconfirm = kind == Kind::Autoconfirm;
        config.phone.enabled = true;
        config.phone.autoconfirm = false;
        config.phone.max_frequency = std::time::Duration::ZERO;
        config.phone.test_otp = codes.iter().cloned().collect();
        config.webauthn.passkeys_enabled = true;
        config.web3.ethereum = true;
        config.oauth_server.enabled = true;
        config.oauth_server.allow_dynamic_registration = true;
        config.saml = Some(crate::saml::config());
        config.insecure_providers = true;
        config.manual_linking_enabled = true;
        config.anonymous_users_enabled = true;
        config.external = configs;
        config.mfa.totp.enroll = true;
        config.mfa.totp.verify = true;
        if kind == Kind::Hooks {
            config.hooks.before_user_created = database_hook("guard");
            config.hooks.custom_access_token = database_hook("claims");
        }
    })
    .await;
    if kind == Kind::Hooks {
        let refuse = "if random() < 0.15 then return '{\"error\": {\"http_code\": 403, \"message\": \"no\"}}'; end if;";
        create_function(&app, "guard", &format!("begin {refuse} return '{{}}'; end")).await;
        create_function(
            &app,
            "claims",
            "begin return jsonb_build_object('claims', event -> 'claims' || '{\"plan\": \"gold\"}'); end",
        )
        .await;
    }
    crate::saml::add_provider(&app, json!([])).await;
    let client = oauth_server::register(&app, "none").await;
    let database = app.superuser().await;
    Project {
        app,
        database,
        statements: RefCell::default(),
        client,
        is_autoconfirm: kind == Kind::Autoconfirm,
        cleanings: Cell::default(),
        opened: RefCell::default(),
    }
}

/// What the steps are called that have opened sessions in these projects, and how often each has.
pub(crate) fn count_opened(projects: &[Project]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for project in projects {
        for (step, count) in &*project.opened.borrow() {
            *counts.entry(step.clone()).or_default() += count;
        }
    }
    counts
}

impl Project {
    /// Runs a statement, which is prepared once.
    pub(crate) async fn query(&self, sql: &'static str, params: &[&(dyn ToSql + Sync)]) -> Vec<Row> {
        let known = self.statements.borrow().get(sql).cloned();
        let statement = match known {
            Some(statement) => statement,
            None => {
                let statement = self.database.prepare(sql).await.unwrap();
                self.statements.borrow_mut().insert(sql, statement.clone());
                statement
            }
        };
        self.database.query(&statement, params).await.unwrap()
    }

    /// Notes what a step has led to.
    pub(crate) fn note(&self, step: Step, outcome: &Outcome) {
        if outcome.sessions.is_empty() && outcome.clients.is_empty() {
            return;
        }
        let name = format!("{step:?}");
        let name = name.split(' ').next().unwrap_or_default();
        *self.opened.borrow_mut().entry(name.to_owned()).or_default() += 1;
    }

    /// Mails and users of finished sequences are not looked at again. What they leave in the tables would make every statement slower.
    pub(crate) async fn clean(&self) {
        self.app.inbox.delete_mails(|_| true);
        const DELETE_USERS: &str = "delete from auth.users; delete from auth.sso_domains";
        self.database.batch_execute(DELETE_USERS).await.unwrap();
        self.cleanings.set(self.cleanings.get() + 1);
        if self.cleanings.get().is_multiple_of(CLEANINGS_PER_VACUUM) {
            const VACUUM: &str = "vacuum auth.users, auth.identities, auth.sessions, auth.mfa_amr_claims, auth.refresh_tokens, \
                                  auth.one_time_tokens, auth.flow_state, auth.mfa_factors, auth.mfa_challenges, \
                                  auth.webauthn_credentials, auth.webauthn_challenges, auth.oauth_authorizations, auth.oauth_consents";
            self.database.batch_execute(VACUUM).await.unwrap();
        }
    }
}
