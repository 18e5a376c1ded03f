//! Starts a console on a free port with a new database, for all tests of this crate.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use selvedge_console::{
    AllowedHosts, ConsoleConfig, ConsoleDatabase, ConsoleMode, ConsoleState, SignInWays, start_console,
};
use selvedge_postgres::{CONSOLE_READERS, Database, Login, Logins};
use selvedge_testing::TestDatabase;

/// A console that serves requests until this is dropped.
pub(crate) struct RunningConsole {
    pub(crate) database: TestDatabase,
    pub(crate) port: u16,
    server: ServerHandle,
}

impl RunningConsole {
    /// Starts a console. `change` adapts the settings, which are those of `selvedge start`, and `make_state` gives the console
    /// its services. Admins log in to the database as the login that may change the schema, if the settings let them.
    pub(crate) async fn start(
        change: impl FnOnce(&mut ConsoleConfig),
        make_state: impl FnOnce(ConsoleConfig, ConsoleDatabase) -> Arc<ConsoleState> + Send + 'static,
    ) -> Self {
        let database = TestDatabase::create().await;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let mut config = settings_of_start(port);
        change(&mut config);
        let admin_login = if config.schema_changes {
            "postgres"
        } else {
            "selvedge_console_operator"
        };
        let logins = logins(&database, admin_login);
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let database = ConsoleDatabase::new(Database::new(logins));
                let state = make_state(config, database);
                let server = start_console(state, vec![listener]).expect("the console starts");
                sender.send(server.handle()).expect("the test waits");
                server.await.expect("the console runs");
            });
        });
        let server = receiver
            .recv_timeout(Duration::from_secs(30))
            .expect("the console starts within 30 s");
        Self {
            database,
            port,
            server,
        }
    }
}

impl Drop for RunningConsole {
    fn drop(&mut self) {
        // The stop signal is sent when the future is created, so it need not be awaited.
        drop(self.server.stop(false));
    }
}

/// Returns the logins of a console, with `admin_login` for admins.
pub(crate) fn logins(database: &TestDatabase, admin_login: &str) -> Logins {
    let logins = Logins::with_single_login(database.config("authenticator"))
        .with_login(Login::ConsoleReader, database.config(CONSOLE_READERS[0]))
        .with_login(Login::ConsoleAdmin, database.config(admin_login))
        .with_login(Login::ConsoleService, database.config("selvedge_console_service"))
        .with_login(Login::AuthAdmin, database.config("supabase_auth_admin"));
    (0..)
        .zip(CONSOLE_READERS)
        .skip(1)
        .fold(logins, |logins, (number, role)| {
            logins.with_login(Login::ConsoleText(number), database.config(role))
        })
}

fn settings_of_start(port: u16) -> ConsoleConfig {
    ConsoleConfig {
        mode: ConsoleMode::Start,
        project: "test".to_owned(),
        hosts: AllowedHosts::new(port, None),
        login: false,
        sign_in: SignInWays {
            accounts: true,
            project: false,
        },
        read_only: false,
        schema_changes: true,
        secure_cookies: false,
        idle: Duration::from_secs(1800),
        lifetime: Duration::from_secs(43_200),
        statement_timeout: Duration::from_secs(60),
        api_url: "http://127.0.0.1:1".to_owned(),
        publishable_key: "publishable".to_owned(),
        inbox_url: None,
        exposed_schemas: vec!["public".to_owned()],
        snippets_folder: None,
        migrations_folder: None,
        version: "0.0.0",
        trusted_proxies: 0,
    }
}
