//! Listens on the socket of the extension http.
//!
//! Its folder is accessible to PostgreSQL's user only, so every client is a session of PostgreSQL. A client sends one
//! request as the text of a simple query and gets one row with one column. It is asked for a password that is no secret: dblink lets roles
//! that are no superusers use only connections whose server has asked for one.

use std::os::unix::net::UnixListener as StdUnixListener;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;
use pgwire::api::auth::cleartext::CleartextPasswordAuthStartupHandler;
use pgwire::api::auth::{AuthSource, DefaultServerParameterProvider, LoginInfo, Password, StartupHandler};
use pgwire::api::query::SimpleQueryHandler;
use pgwire::api::results::{DataRowEncoder, FieldFormat, FieldInfo, QueryResponse, Response};
use pgwire::api::{ClientInfo, PgWireServerHandlers, Type};
use pgwire::error::PgWireResult;
use pgwire::tokio::process_socket_unix;
use tokio::net::UnixListener;
use tokio::sync::Semaphore;

use super::exchange::answer_question;
use crate::config::NetConfig;
use crate::sender::Sender;

/// Serves the requests of one PostgreSQL until the future is dropped. Each connection is a separate task; at most
/// `max_parallel` requests of the configuration run at the same time, others wait.
///
/// # Errors
/// When the socket cannot be used.
pub async fn serve_http_requests(listener: StdUnixListener, config: NetConfig) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    let slots = Semaphore::new(config.max_parallel);
    let session = Arc::new(Session {
        sender: Sender::new(config),
        slots,
    });
    loop {
        match listener.accept().await {
            Ok((socket, _)) => {
                tokio::spawn(process_socket_unix(socket, Handlers(Arc::clone(&session))));
            }
            Err(error) => {
                // Too many open files: accepting again immediately would fail again.
                tracing::warn!(%error, "the socket of the extension http accepts no connection");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
    }
}

/// Handles the queries of every connection: each query is one HTTP request, which is sent and whose response is returned.
struct Session {
    sender: Sender,
    slots: Semaphore,
}

#[async_trait]
impl SimpleQueryHandler for Session {
    async fn do_query<C>(&self, _client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        // Never closed, so there is always a slot to wait for.
        let _slot = self.slots.acquire().await;
        let answer = answer_question(&self.sender, query).await.to_string();
        let fields = Arc::new(vec![FieldInfo::new(
            "answer".to_owned(),
            None,
            None,
            Type::TEXT,
            FieldFormat::Text,
        )]);
        let mut row = DataRowEncoder::new(Arc::clone(&fields));
        row.encode_field(&answer)?;
        let rows = stream::iter([Ok(row.take_row())]);
        Ok(vec![Response::Query(QueryResponse::new(fields, rows))])
    }
}

/// The password that the extension sends (`_http_send`).
#[derive(Debug)]
struct ExtensionPassword;

#[async_trait]
impl AuthSource for ExtensionPassword {
    async fn get_password(&self, _login: &LoginInfo) -> PgWireResult<Password> {
        Ok(Password::new(None, b"http".to_vec()))
    }
}

/// The handlers of one connection.
struct Handlers(Arc<Session>);

impl PgWireServerHandlers for Handlers {
    fn simple_query_handler(&self) -> Arc<impl SimpleQueryHandler> {
        Arc::clone(&self.0)
    }

    fn startup_handler(&self) -> Arc<impl StartupHandler> {
        let parameters = DefaultServerParameterProvider::default();
        Arc::new(CleartextPasswordAuthStartupHandler::new(
            ExtensionPassword,
            parameters,
        ))
    }
}
