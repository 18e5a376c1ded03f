//! State that the workers and the callback routes share.

use std::sync::Arc;

use selvedge_http_client::HttpClient;
use selvedge_postgres::Database;

use crate::config::GeneratorConfig;
use crate::queue::Queue;
use crate::store::PictureStore;

/// The generator service of one server process.
pub struct Generator {
    pub(crate) config: GeneratorConfig,
    pub(crate) queue: Queue,
    pub(crate) store: Arc<dyn PictureStore>,
    pub(crate) http: HttpClient,
    /// Pictures that generators send are decoded one after the other, which bounds the memory for their pixels.
    pub(crate) decoding: tokio::sync::Mutex<()>,
}

impl Generator {
    /// A generator for the jobs of a database.
    pub fn new(config: GeneratorConfig, database: Arc<Database>, store: Arc<dyn PictureStore>) -> Arc<Self> {
        let calls_private = config
            .endpoint
            .as_ref()
            .is_some_and(|endpoint| endpoint.calls_private);
        Arc::new(Self {
            queue: Queue::new(&config.table, database),
            http: HttpClient::new(calls_private),
            decoding: tokio::sync::Mutex::new(()),
            config,
            store,
        })
    }
}
