//! A test project with a console, and requests with the headers of the console's page.

use reqwest::{Method, RequestBuilder};

use crate::support::{Project, Running};

/// A test project with a console.
pub(crate) struct ConsoleProject {
    pub(crate) project: Project,
    /// The console's port.
    pub(crate) port: u16,
}

impl ConsoleProject {
    pub(crate) fn new() -> Self {
        Self {
            project: Project::new(),
            port: Project::further_port(),
        }
    }

    pub(crate) async fn start(&self) -> Running {
        let mut arguments = self.project.start_arguments();
        arguments.retain(|argument| argument != "--no-studio");
        arguments.extend(["--studio-port".to_owned(), self.port.to_string()]);
        let running = self.project.spawn(&arguments, &[]);
        running.wait_until_ready().await;
        running
    }

    /// Begins a request with the headers that the console's own page sends.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        reqwest::Client::new()
            .request(method, format!("http://127.0.0.1:{}{path}", self.port))
            .header("x-selvedge-console", "1")
            .header("sec-fetch-site", "same-origin")
    }
}

/// Kills the server with SIGKILL, so that it cannot clean up.
pub(crate) fn kill(mut running: Running) {
    running.signal("-KILL");
    running.wait_for_exit();
}
