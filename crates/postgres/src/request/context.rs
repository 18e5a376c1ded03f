//! The settings under which a request runs (role, claims, headers …), and the statement that sets them. With Citus further
//! statements set them on the worker nodes, too.
//!
//! Source: REST contract §5.1.

use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::{AccessMode, RoleSettings, quote_identifier, quote_literal};

/// The role under which a request runs, and what SQL can read of the request with `current_setting`.
#[derive(Debug, Clone, Copy)]
pub struct RequestContext<'a> {
    /// Schemas in order of search, quoted: `"public", "extensions"`.
    pub search_path: &'a str,
    pub role: &'a str,
    /// JSON object of all claims, `role` included.
    pub claims: &'a str,
    pub method: &'a str,
    /// Path behind the service's prefix.
    pub path: &'a str,
    /// JSON object, names in lower case, without cookies.
    pub headers: &'a str,
    /// The request's cookies as a JSON object of strings.
    pub cookies: &'a str,
    /// Further settings: time zone, a function's own, `app.settings.*`.
    pub extra: &'a [(&'a str, &'a str)],
}

/// The statement that makes the settings of a request. Its values are borrowed: the headers and claims of each request are
/// copied once, into the connection's buffer.
#[derive(Debug, PartialEq)]
pub(crate) struct SettingsStatement<'a> {
    pub(crate) text: Arc<str>,
    /// Values of `$1`, `$2`, …, all in text form.
    pub(crate) values: SmallVec<[&'a str; 16]>,
}

impl<'a> RequestContext<'a> {
    /// One statement that makes all settings for the current transaction.
    ///
    /// The role's own settings are made before the role itself, because the connection's role may be allowed to make them
    /// where the caller's is not. `num_nonnulls` evaluates its arguments from left to right and returns one number, so the
    /// values are not sent back.
    ///
    /// A read-only transaction is declared so first: it is a batch without `BEGIN`, so only a setting can say it.
    ///
    /// `session` are settings that come first: what a transaction before this one may have changed in the session.
    pub(crate) fn settings(
        &self,
        roles: &'a RoleSettings,
        access: AccessMode,
        session: &'a [(String, String)],
    ) -> SettingsStatement<'a> {
        let of_role = roles.for_role(self.role);
        let mut values: SmallVec<[&'a str; 16]> = SmallVec::new();
        values.push(self.search_path);
        for (name, value) in session.iter().chain(of_role) {
            values.extend([name.as_str(), value.as_str()]);
        }
        values.extend([
            self.role,
            self.claims,
            self.method,
            self.path,
            self.headers,
            self.cookies,
        ]);
        for (name, value) in self.extra {
            values.extend([*name, *value]);
        }
        SettingsStatement {
            text: cached_text((
                session.len() + of_role.len(),
                self.extra.len(),
                access == AccessMode::ReadOnly,
                roles.has_citus(),
            )),
            values,
        }
    }

    /// Returns the statements that set the settings on the worker nodes of Citus, where policies are checked; none without Citus.
    ///
    /// Citus passes `SET LOCAL` on to the workers, but not `set_config`. `SET` takes no parameters, so the values are quoted
    /// literals. The role and its own settings are not set, because Citus logs in to the workers as that role;
    /// `application_name` is not, because Citus recognizes its own connections by it.
    pub(crate) fn settings_for_workers(&self, roles: &RoleSettings) -> Vec<String> {
        if !roles.has_citus() {
            return Vec::new();
        }
        let named = [
            ("request.jwt.claims", self.claims),
            ("request.method", self.method),
            ("request.path", self.path),
            ("request.headers", self.headers),
            ("request.cookies", self.cookies),
        ];
        let extra = self.extra.iter().copied();
        let mut statements: Vec<String> = named
            .into_iter()
            .chain(extra.filter(|(name, _)| *name != "application_name"))
            .map(|(name, value)| set_local(name, value))
            .collect();
        if !self.search_path.is_empty() {
            // A list of quoted identifiers, not a string literal.
            statements.push(format!("set local search_path = {}", self.search_path));
        }
        statements
    }
}

/// Writes `SET LOCAL` with a quoted value.
fn set_local(name: &str, value: &str) -> String {
    let parts: Vec<String> = name.split('.').map(quote_identifier).collect();
    format!("set local {} = {}", parts.join("."), quote_literal(value))
}

/// Returns the statements that set `settings` on the worker nodes of Citus, for callers that do not use [`RequestContext`]; none
/// without Citus. They must run in a transaction, after the role is set.
pub fn statements_for_workers(roles: &RoleSettings, settings: &[(&str, &str)]) -> Vec<String> {
    if !roles.has_citus() {
        return Vec::new();
    }
    let propagate = ("citus.propagate_set_commands", "local");
    std::iter::once(&propagate)
        .chain(settings)
        .map(|(name, value)| set_local(name, value))
        .collect()
}

/// What the statement's text depends on: the number of settings of session and role, the number of extra settings, whether the
/// transaction is read-only, whether the database has Citus.
type Shape = (usize, usize, bool, bool);
/// The shape of a statement and its SQL text.
type ShapedText = (Shape, Arc<str>);

thread_local! {
    /// Texts of recent shapes. Few shapes occur, so a request hardly ever builds a text.
    static RECENT_TEXTS: RefCell<SmallVec<[ShapedText; KEPT_TEXTS]>> = RefCell::default();
}

/// Largest number of SQL texts that each thread caches.
const KEPT_TEXTS: usize = 8;

fn cached_text(shape: Shape) -> Arc<str> {
    RECENT_TEXTS.with_borrow_mut(|recent| {
        if let Some((_, text)) = recent.iter().find(|(known, _)| *known == shape) {
            return Arc::clone(text);
        }
        let text: Arc<str> = write_text(shape).into();
        if recent.len() == KEPT_TEXTS {
            recent.remove(0);
        }
        recent.push((shape, Arc::clone(&text)));
        text
    })
}

fn write_text((named, extra, read_only, has_citus): Shape) -> String {
    let mut text = String::from("select num_nonnulls(");
    if has_citus {
        // Set in every transaction, because a setting of the session is lost by RESET ALL, and a pooler may change the session.
        text.push_str("set_config('citus.propagate_set_commands','local',true),");
    }
    if read_only {
        text.push_str("set_config('transaction_read_only','on',true),");
    }
    text.push_str("set_config('search_path',$1,true)");
    let mut param = 1;
    let push_named = |text: &mut String, param: &mut usize, count: usize| {
        for _ in 0..count {
            write!(text, ",set_config(${},${},true)", *param + 1, *param + 2).expect("writing to a string");
            *param += 2;
        }
    };
    push_named(&mut text, &mut param, named);
    for name in [
        "role",
        "request.jwt.claims",
        "request.method",
        "request.path",
        "request.headers",
        "request.cookies",
    ] {
        param += 1;
        // These names are constants of ours, so they need not be parameters.
        write!(text, ",set_config('{name}',${param},true)").expect("writing to a string");
    }
    push_named(&mut text, &mut param, extra);
    text.push(')');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_statement_numbers_its_parameters_in_order() {
        let context = RequestContext {
            search_path: "p",
            role: "anon",
            claims: "{}",
            method: "GET",
            path: "/",
            headers: "{}",
            cookies: "{}",
            extra: &[("timezone", "UTC")],
        };

        let roles = RoleSettings::default();
        for (access, first) in [
            (AccessMode::ReadWrite, "search_path"),
            (AccessMode::ReadOnly, "transaction_read_only"),
        ] {
            let statement = context.settings(&roles, access, &[]);

            assert_eq!(statement.values.len(), 9);
            assert!(
                statement
                    .text
                    .starts_with(&format!("select num_nonnulls(set_config('{first}',"))
            );
            assert!(statement.text.contains("set_config('role',$2,true)"));
            assert!(
                statement
                    .text
                    .ends_with(",set_config('request.cookies',$7,true),set_config($8,$9,true))")
            );
            assert_eq!(statement, context.settings(&roles, access, &[]));
        }
        assert!(
            write_text((1, 0, false, false))
                .contains("$1,true),set_config($2,$3,true),set_config('role',$4,true)")
        );
    }
}
