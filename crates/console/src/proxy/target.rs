//! The service and path to which a proxied request is sent. No other hosts or services can be reached (CONSOLE-172).

use actix_web::http::Method;
use percent_encoding::percent_decode_str;

use crate::error::ConsoleError;

/// Services by their names below `/api/proxy`, with their public prefixes.
const SERVICES: [(&str, &str); 5] = [
    ("rest", "/rest/v1"),
    ("auth", "/auth/v1"),
    ("storage", "/storage/v1"),
    ("functions", "/functions/v1"),
    ("realtime", "/realtime/v1"),
];

/// The paths that viewers may read, by service and prefix. Tables are not among them, because viewers read rows by their own
/// database login.
const VIEWERS_READ: [(&str, &[&str]); 2] = [
    ("auth", &["health", "settings", "admin/users", "admin/audit"]),
    (
        "storage",
        &[
            "bucket",
            "object/authenticated",
            "object/info",
            "render/image/authenticated",
        ],
    ),
];

/// The service that a proxied request is for, and the path below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    service: &'static str,
    prefix: &'static str,
    /// The path below the prefix, as it was sent, with its first slash; empty for the service's root.
    rest: String,
}

impl Target {
    /// Reads the target of a request such as `/api/proxy/auth/admin/users`: the service as the router has found it, and the path
    /// as it was sent, because a decoded one could mean another object.
    ///
    /// # Errors
    /// 404 for an unknown service, 422 for a path that could leave its service.
    pub(super) fn parse(name: &str, sent_path: &str) -> Result<Self, ConsoleError> {
        // The router decodes no slash, so it has counted the same segments: an empty one, `api`, `proxy` and the service.
        let below = sent_path.splitn(5, '/').nth(4);
        let rest = below.map(|rest| format!("/{rest}")).unwrap_or_default();
        let (service, prefix) = SERVICES
            .into_iter()
            .find(|(service, _)| *service == name)
            .ok_or_else(|| ConsoleError::not_found("There is no such service"))?;
        if !rest.split('/').all(is_plain_segment) {
            return Err(ConsoleError::invalid(
                "The path may not have segments such as .. in it",
            ));
        }
        Ok(Self {
            service,
            prefix,
            rest,
        })
    }

    /// Returns the path under which the API serves the request.
    pub(super) fn public_path(&self) -> String {
        format!("{}{}", self.prefix, self.rest)
    }

    /// Whether a request gets an entry in the audit: one that changes something or runs code of the project, by whatever method. The
    /// pieces of a resumable upload belong to the entry of its beginning.
    pub(super) fn is_audited(&self, method: &Method) -> bool {
        let is_read = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        match self.service {
            // A function does what it likes on any request, here with the service key.
            "functions" => true,
            // Database functions may reach out of a read-only transaction.
            "rest" => !is_read || self.first_segments().starts_with("rpc/"),
            // Links that sign in or confirm are GET requests.
            "auth" => !is_read || !self.is_open_to_viewers(),
            "storage" => {
                !(is_read || *method == Method::PATCH && self.rest.starts_with("/upload/resumable/"))
            }
            _ => !is_read,
        }
    }

    /// The path below the service without its first slashes, decoded as a service reads it.
    fn first_segments(&self) -> String {
        let decoded = percent_decode_str(&self.rest).decode_utf8_lossy();
        decoded.trim_start_matches('/').to_owned()
    }

    /// Whether viewers may read this path through the proxy.
    pub(super) fn is_open_to_viewers(&self) -> bool {
        let path = self.rest.trim_start_matches('/');
        // The description of tables and functions, which the catalog shows them, too.
        if self.service == "rest" {
            return path.is_empty();
        }
        let starts = VIEWERS_READ.iter().find(|(service, _)| *service == self.service);
        starts.is_some_and(|(_, starts)| {
            let below = |start: &&&str| {
                path.strip_prefix(**start)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            starts.iter().any(|start| below(&start))
        })
    }
}

/// Whether a segment means itself: neither the folder above, nor hidden separators, nor control characters.
fn is_plain_segment(segment: &str) -> bool {
    let decoded: Vec<u8> = percent_decode_str(segment).collect();
    let has_separator = decoded.iter().any(|byte| matches!(byte, b'\\' | 0..=31 | 127));
    decoded != b"." && decoded != b".." && !has_separator
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str) -> Option<Target> {
        let name = path.split('/').nth(3)?;
        Target::parse(name, path).ok()
    }

    fn public(path: &str) -> Option<String> {
        parse(path).map(|target| target.public_path())
    }

    #[test]
    fn console_172_only_paths_of_the_projects_services_can_be_named() {
        let users = public("/api/proxy/auth/admin/users");
        assert_eq!(users.as_deref(), Some("/auth/v1/admin/users"));
        assert_eq!(public("/api/proxy/rest/").as_deref(), Some("/rest/v1/"));
        for outside in [
            "/api/proxy/http://evil.example/",
            "/api/proxy//evil.example/",
            "/api/proxy/pg/query",
            "/api/proxy/metrics",
            "/api/proxy/auth/../rest/v1/t",
            "/api/proxy/auth/%2e%2e/rest/v1/t",
            "/api/proxy/auth/.%2E/x",
            "/api/proxy/storage/object/a/..%5c..%5cb",
            "/api/proxy/rest/t%0d%0aHost:x",
            "/api/proxy/rest/t%00",
        ] {
            assert_eq!(public(outside), None, "{outside}");
        }
    }

    #[test]
    fn console_019_requests_are_audited_by_what_they_run() {
        let audited = |method: Method, path: &str| parse(path).unwrap().is_audited(&method);
        for (method, path) in [
            (Method::GET, "/api/proxy/functions/hello"),
            (Method::OPTIONS, "/api/proxy/functions/hello"),
            (Method::PATCH, "/api/proxy/functions/hello/upload/resumable/x"),
            (Method::PATCH, "/api/proxy/rest/notes/upload/resumable/x"),
            (Method::GET, "/api/proxy/rest/rpc/wipe"),
            (Method::GET, "/api/proxy/rest/%72pc/wipe"),
            (Method::GET, "/api/proxy/auth/verify"),
            (Method::POST, "/api/proxy/storage/upload/resumable"),
            (Method::DELETE, "/api/proxy/storage/upload/resumable/x"),
            (Method::POST, "/api/proxy/realtime/api/broadcast"),
        ] {
            assert!(audited(method.clone(), path), "{method} {path}");
        }
        for (method, path) in [
            (Method::GET, "/api/proxy/rest/notes"),
            (Method::GET, "/api/proxy/auth/admin/users"),
            (Method::GET, "/api/proxy/storage/object/authenticated/b/x"),
            (Method::PATCH, "/api/proxy/storage/upload/resumable/x"),
            (Method::HEAD, "/api/proxy/storage/upload/resumable/x"),
        ] {
            assert!(!audited(method.clone(), path), "{method} {path}");
        }
    }

    #[test]
    fn console_170_viewers_read_a_fixed_list_of_paths() {
        let open = |path: &str| parse(path).unwrap().is_open_to_viewers();
        assert!(open("/api/proxy/auth/admin/users"));
        assert!(open("/api/proxy/auth/admin/users/123/factors"));
        assert!(open("/api/proxy/storage/object/authenticated/pictures/a.png"));
        assert!(open("/api/proxy/rest/"));
        for closed in [
            "/api/proxy/rest/notes",
            "/api/proxy/rest/rpc/wipe",
            "/api/proxy/auth/admin/usersx",
            "/api/proxy/auth/user",
            "/api/proxy/functions/hello",
            "/api/proxy/storage/object/sign/a",
        ] {
            assert!(!open(closed), "{closed}");
        }
    }
}
