//! The smaller sections: `[realtime]`, `[inbucket]`, `[edge_runtime]` and `[functions.<slug>]`.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::section::Section;

/// `[realtime]`.
#[derive(Debug, Clone)]
pub struct RealtimeSection {
    /// Whether `/realtime/v1` is served. Default true.
    pub enabled: bool,
}

impl RealtimeSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        section.choice("ip_version", (), &[("IPv4", ()), ("IPv6", ())]);
        section.integer("max_header_length", 4096_u32, 1..=u32::MAX);
        Self {
            enabled: section.enabled(true),
        }
    }
}

/// `[inbucket]`: the development inbox that catches the mail of `selvedge start`.
#[derive(Debug, Clone)]
pub struct InboxSection {
    /// Default true.
    pub enabled: bool,
    /// Port of the inbox's page and API. Default 54324.
    pub port: u16,
    /// Port on which the inbox takes mail of other programs by SMTP. Default: none.
    pub smtp_port: Option<u16>,
    /// Sender address of development mail. Default `admin@email.com`.
    pub admin_email: String,
    /// Sender name of development mail. Default `Admin`.
    pub sender_name: String,
}

impl InboxSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        section.accept(&["pop3_port"]);
        Self {
            enabled: section.enabled(true),
            port: section.port("port", 54324),
            smtp_port: section.optional_port("smtp_port"),
            admin_email: section.string("admin_email", "admin@email.com"),
            sender_name: section.string("sender_name", "Admin"),
        }
    }
}

/// `[edge_runtime]` and `[functions.<slug>]`.
#[derive(Debug, Clone)]
pub struct FunctionsSection {
    /// Whether `/functions/v1` is served. Default true.
    pub enabled: bool,
    /// `policy`: one child per function, or one per request. Default `per_worker`.
    pub policy: FunctionPolicy,
    /// `[edge_runtime.secrets]`: variables that functions see.
    pub secrets: Vec<(String, SecretString)>,
    /// The declared functions.
    pub functions: Vec<FunctionSection>,
}

/// How long the process of a function lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionPolicy {
    /// Serves requests until it is idle.
    PerWorker,
    /// One process per request.
    Oneshot,
}

/// `[functions.<slug>]`.
#[derive(Debug, Clone)]
pub struct FunctionSection {
    /// The name in the URL.
    pub slug: String,
    /// Default true; false answers 404.
    pub enabled: bool,
    /// Whether a call needs a valid JWT. Default true.
    pub verify_jwt: bool,
    /// Import map, relative to the project.
    pub import_map: Option<PathBuf>,
    /// Default `./functions/<slug>/index.ts`.
    pub entrypoint: PathBuf,
    /// Files the function may read, as glob patterns.
    pub static_files: Vec<String>,
}

impl FunctionsSection {
    pub(super) fn read(runtime: &Section<'_>, functions: &Section<'_>, project: &Path) -> Self {
        runtime.accept(&["inspector_port", "deno_version"]);
        let enabled = runtime.enabled(true);
        let secrets = runtime.section("secrets");
        Self {
            enabled,
            policy: runtime.choice(
                "policy",
                FunctionPolicy::PerWorker,
                &[
                    ("per_worker", FunctionPolicy::PerWorker),
                    ("oneshot", FunctionPolicy::Oneshot),
                ],
            ),
            secrets: secrets
                .names()
                .into_iter()
                .filter_map(|name| secrets.optional_secret(&name).map(|value| (name, value)))
                .collect(),
            functions: functions
                .names()
                .into_iter()
                .map(|slug| function(&functions.section(&slug), &slug, project))
                .collect(),
        }
    }
}

fn function(section: &Section<'_>, slug: &str, project: &Path) -> FunctionSection {
    FunctionSection {
        slug: slug.to_owned(),
        enabled: section.enabled(true),
        verify_jwt: section.bool("verify_jwt", true),
        import_map: section.optional_path("import_map", project),
        entrypoint: section
            .optional_path("entrypoint", project)
            .unwrap_or_else(|| project.join(format!("functions/{slug}/index.ts"))),
        static_files: section.strings("static_files", &[]),
    }
}
