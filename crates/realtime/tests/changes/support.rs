//! A change feed with a new database for each test, and a sink that records every event.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use selvedge_limits::ClientId;
use selvedge_postgres::{Database, Logins};
use selvedge_realtime::changes::{BroadcastRow, ChangeFeed, ChangeSink, ChannelKey};
use selvedge_testing::TestDatabase;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio_postgres::{Client, NoTls};

/// An event as a channel gets it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    Change {
        channel: u64,
        ids: Vec<u64>,
        data: Value,
    },
    System {
        channel: u64,
        is_ok: bool,
        message: String,
    },
    Broadcast(BroadcastRow),
}

pub(crate) struct Recorder {
    events: Mutex<VecDeque<Event>>,
    arrived: Notify,
    /// Whether the sockets take over what was delivered.
    is_open: watch::Sender<bool>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            events: Mutex::default(),
            arrived: Notify::new(),
            is_open: watch::Sender::new(true),
        }
    }
}

impl Recorder {
    fn events(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.events
            .lock()
            .expect("no test panics while it holds the lock")
    }

    fn push(&self, event: Event) {
        self.events().push_back(event);
        self.arrived.notify_one();
    }
}

impl ChangeSink for Recorder {
    fn deliver(&self, channels: &[ChannelKey], ids: &Arc<[u64]>, data: &Bytes) {
        for channel in channels {
            self.push(Event::Change {
                channel: channel.0,
                ids: ids.to_vec(),
                data: serde_json::from_slice(data).expect("data is JSON"),
            });
        }
    }

    fn notify(&self, channel: ChannelKey, is_ok: bool, message: &str) {
        self.push(Event::System {
            channel: channel.0,
            is_ok,
            message: message.to_owned(),
        });
    }

    fn broadcast(&self, row: BroadcastRow) {
        self.push(Event::Broadcast(row));
    }

    fn settled(&self, _: bool) -> BoxFuture<'static, ()> {
        let open = self.is_open.subscribe();
        Box::pin(async move {
            let mut open = open;
            // Fails only after the recorder and its feed were dropped.
            open.wait_for(|is_open| *is_open).await.ok();
        })
    }

    fn broadcasts_ready(&self, _: bool) {}
}

/// A database, its administrator's connection and a feed.
pub(crate) struct TestFeed {
    pub(crate) client: Client,
    pub(crate) feed: ChangeFeed,
    recorder: Arc<Recorder>,
    database: TestDatabase,
}

/// User ids of the tests.
pub(crate) const ALICE: &str = "11111111-1111-4111-8111-111111111111";
pub(crate) const BOB: &str = "22222222-2222-4222-8222-222222222222";

impl TestFeed {
    pub(crate) async fn start(schema: &str) -> Self {
        Self::start_as("postgres", schema).await
    }

    /// Starts with a schema that only a superuser may make.
    pub(crate) async fn start_as_superuser(schema: &str) -> Self {
        Self::start_as("supabase_admin", schema).await
    }

    async fn start_as(role: &str, schema: &str) -> Self {
        let test = TestDatabase::create().await;
        let client = test.connect(role).await;
        client.batch_execute(schema).await.expect("the schema is valid");
        let login = test.config("authenticator");
        let logins = Logins::new(login.clone(), login.clone(), login)
            .with_replication(test.config("supabase_replication_admin"));
        let recorder = Arc::<Recorder>::default();
        let feed = ChangeFeed::start(
            Database::new(logins),
            Arc::clone(&recorder) as Arc<dyn ChangeSink>,
        )
        .expect("a thread");
        Self {
            client,
            feed,
            recorder,
            database: test,
        }
    }

    pub(crate) async fn sql(&self, sql: &str) {
        self.client
            .batch_execute(sql)
            .await
            .expect("the statement is valid");
    }

    /// A superuser's connection.
    pub(crate) async fn superuser(&self) -> Client {
        self.database.superuser().await
    }

    pub(crate) fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// Drops the only handle to the feed, and keeps the database.
    pub(crate) fn drop_feed(self) -> TestDatabase {
        self.database
    }

    /// Lets the sockets take over what is delivered, or not.
    pub(crate) fn set_open(&self, is_open: bool) {
        self.recorder.is_open.send_replace(is_open);
    }

    /// The number of events that have not been taken by [`TestFeed::next`].
    pub(crate) fn waiting(&self) -> usize {
        self.recorder.events().len()
    }

    /// Waits until this many events wait.
    pub(crate) async fn wait_for_waiting(&self, count: usize) {
        let reached = async {
            while self.waiting() < count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), reached)
            .await
            .expect("the events arrive within 30 s");
    }

    /// Opens the stream without subscriptions, for broadcasts from the database, and waits until it runs.
    pub(crate) async fn stream_broadcasts(&self) {
        self.feed.set_active(true);
        self.wait_for_stream(true).await;
    }

    /// Waits until the stream runs, or until it has broken.
    pub(crate) async fn wait_for_stream(&self, is_streaming: bool) {
        let reached = async {
            while self.feed.is_streaming() != is_streaming {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), reached)
            .await
            .expect("the stream starts or breaks within 30 s");
    }

    /// Ends all connections of the feed, and keeps it from opening others until [`TestFeed::end_gap`].
    pub(crate) async fn begin_gap(&self) {
        self.allow_connections(false).await;
        self.end_sessions(&["authenticator", "supabase_replication_admin"])
            .await;
        self.wait_for_stream(false).await;
    }

    /// Ends the sessions of roles in the database.
    pub(crate) async fn end_sessions(&self, roles: &[&str]) {
        let end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = any ($2)";
        self.administrator()
            .await
            .query(end, &[&self.database.name(), &roles])
            .await
            .expect("a superuser may");
    }

    /// Lets the feed connect again.
    pub(crate) async fn end_gap(&self) {
        self.allow_connections(true).await;
        self.wait_for_stream(true).await;
    }

    /// Waits until a session waits for a lock of a table.
    pub(crate) async fn wait_for_lock(&self, client: &Client, table: &str) {
        let waits =
            "select exists (select from pg_locks where not granted and relation = $1::text::regclass)";
        let reached = async {
            while !client
                .query_one(waits, &[&table])
                .await
                .expect("a superuser may")
                .get::<_, bool>(0)
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), reached)
            .await
            .expect("a session waits within 30 s");
    }

    pub(crate) async fn allow_connections(&self, are_allowed: bool) {
        let name = self.database.name();
        self.administrator()
            .await
            .batch_execute(&format!(
                "alter database {name} with allow_connections {are_allowed}"
            ))
            .await
            .expect("a superuser may");
    }

    /// A superuser in another database: PostgreSQL does not let a session close its own.
    async fn administrator(&self) -> Client {
        let mut config = self.database.config("supabase_admin");
        let (client, connection) = config
            .dbname("postgres")
            .connect(NoTls)
            .await
            .expect("another database");
        tokio::spawn(connection);
        client
    }

    /// Subscribes as `authenticated` with the user id `who`, or as the role `who` if it is not a UUID.
    pub(crate) fn request(&self, channel: u64, who: &str, bindings: &[Value]) {
        let (role, claims) = claims_of(who);
        let bindings = (1..).zip(bindings.iter().cloned()).collect();
        self.feed
            .subscribe(ChannelKey(channel), client_of(channel), role, claims, bindings);
    }

    /// Subscribes and waits until changes flow.
    pub(crate) async fn subscribe(&self, channel: u64, who: &str, bindings: &[Value]) {
        let (role, claims) = claims_of(who);
        let claims = serde_json::from_str(&claims).expect("JSON");
        self.subscribe_with_claims(channel, &role, &claims, bindings)
            .await;
    }

    /// Subscribes with these claims, and waits until changes flow.
    pub(crate) async fn subscribe_with_claims(
        &self,
        channel: u64,
        role: &str,
        claims: &Value,
        bindings: &[Value],
    ) {
        let bindings = (1..).zip(bindings.iter().cloned()).collect();
        self.feed.subscribe(
            ChannelKey(channel),
            client_of(channel),
            role.to_owned(),
            claims.to_string(),
            bindings,
        );
        let event = self.next().await;
        assert_eq!(
            event,
            Event::System {
                channel,
                is_ok: true,
                message: "Subscribed to PostgreSQL".into()
            }
        );
    }

    /// Subscribes, expects a refusal, and returns its text.
    pub(crate) async fn refusal(&self, channel: u64, who: &str, binding: Value) -> String {
        self.request(channel, who, &[binding]);
        match self.next().await {
            Event::System {
                is_ok: false,
                message,
                ..
            } => message,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    /// The next event, which must be a broadcast: its event name.
    pub(crate) async fn broadcast(&self) -> String {
        match self.next().await {
            Event::Broadcast(row) => row.event.expect("an event"),
            other => panic!("expected a broadcast, got {other:?}"),
        }
    }

    pub(crate) async fn next(&self) -> Event {
        let arrived = async {
            loop {
                if let Some(event) = self.recorder.events().pop_front() {
                    return event;
                }
                self.recorder.arrived.notified().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), arrived)
            .await
            .expect("an event within 30 s")
    }

    /// The next event, which must be a change: channel, ids and data.
    pub(crate) async fn change(&self) -> (u64, Vec<u64>, Value) {
        match self.next().await {
            Event::Change {
                channel,
                mut ids,
                data,
            } => {
                ids.sort_unstable();
                (channel, ids, data)
            }
            other => panic!("expected a change, got {other:?}"),
        }
    }

    /// Runs a statement after which every earlier change has been delivered, and returns the events up to then.
    pub(crate) async fn events_until_marker(&self) -> Vec<Event> {
        self.sql("insert into marker default values").await;
        let mut events = Vec::new();
        loop {
            match self.next().await {
                Event::Change { data, .. } if data["table"] == "marker" => return events,
                event => events.push(event),
            }
        }
    }
}

/// The client of a channel: each has an address of its own.
fn client_of(channel: u64) -> ClientId {
    let last = u8::try_from(channel).expect("tests have few channels");
    ClientId::of_connection(Some([10, 0, 0, last].into()))
}

/// A binding to all changes of a table.
pub(crate) fn all(table: &str) -> Value {
    json!({"event": "*", "schema": "public", "table": table})
}

/// Role and claims of a user id, or of the named role.
pub(crate) fn claims_of(who: &str) -> (String, String) {
    if who.len() == 36 {
        let claims = json!({"role": "authenticated", "sub": who}).to_string();
        return ("authenticated".to_owned(), claims);
    }
    (who.to_owned(), json!({"role": who}).to_string())
}

/// A published table whose rows mark the progress of delivery, read by `service_role` on channel 99.
pub(crate) const MARKER: &str = "
    create table marker (id bigint generated always as identity primary key);
    grant all on marker to service_role;
    alter publication supabase_realtime add table marker;";
