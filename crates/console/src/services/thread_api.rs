//! The project's API on the current thread. Its database connections cannot be used on another thread.

use tokio::sync::OnceCell;

use crate::error::ConsoleError;
use crate::state::{ApiService, ConsoleState};

/// The project's API on the current thread, created at the first call.
#[derive(Default)]
pub(crate) struct ThreadApi(OnceCell<ApiService>);

impl ThreadApi {
    /// Returns the API's request handler.
    ///
    /// # Errors
    /// 503 when this process does not run the services.
    pub(crate) async fn get(&self, state: &ConsoleState) -> Result<ApiService, ConsoleError> {
        let make = async || {
            let made = (state.api()?.make_service)().await;
            made.ok_or_else(|| ConsoleError::unavailable("The services cannot be reached"))
        };
        Ok(self.0.get_or_try_init(make).await?.clone())
    }
}
