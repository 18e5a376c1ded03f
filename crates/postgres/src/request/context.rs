//! The settings under which a request runs, in the order in which they must be made.
//!
//! Source: REST contract §5.1.

use std::fmt::Write;

use crate::{Access, Param, RoleSettings, SqlStatement};

/// What SQL can read of the request, and what decides its rights.
#[derive(Debug, Clone, Copy)]
pub struct RequestContext<'a> {
    /// Schemas in order, already quoted: `"public", "extensions"`.
    pub search_path: &'a str,
    pub role: &'a str,
    /// JSON object of all claims, `role` included.
    pub claims: &'a str,
    pub method: &'a str,
    /// Path behind the service's prefix.
    pub path: &'a str,
    /// JSON object, names in lower case, without cookies.
    pub headers: &'a str,
    /// JSON object.
    pub cookies: &'a str,
    /// Further settings: time zone, a function's own, `app.settings.*`.
    pub extra: &'a [(&'a str, &'a str)],
}

impl RequestContext<'_> {
    /// One statement that makes all settings, transaction-locally.
    ///
    /// The role's own settings come before the role itself: the connection's role may be allowed to make them where the
    /// caller's is not. `num_nonnulls` evaluates its arguments from left to right, and answers with a number instead of
    /// sending every value back.
    ///
    /// A transaction that may only read says so before everything else: it has no `BEGIN` that could.
    pub(crate) fn settings(&self, roles: &RoleSettings, access: Access) -> SqlStatement {
        let of_role = roles.of(self.role);
        let mut params = Vec::with_capacity(7 + 2 * (of_role.len() + self.extra.len()));
        let mut text = String::with_capacity(320 + 40 * (of_role.len() + self.extra.len()));
        text.push_str("select num_nonnulls(");
        if access == Access::ReadOnly {
            text.push_str("set_config('transaction_read_only','on',true),");
        }
        text.push_str("set_config('search_path',$1,true)");
        params.push(Param::text(self.search_path));
        for (name, value) in of_role {
            push_named(&mut text, &mut params, name, value);
        }
        for (name, value) in [
            ("role", self.role),
            ("request.jwt.claims", self.claims),
            ("request.method", self.method),
            ("request.path", self.path),
            ("request.headers", self.headers),
            ("request.cookies", self.cookies),
        ] {
            params.push(Param::text(value));
            // The names are ours, so they may stand in the text.
            write!(text, ",set_config('{name}',${},true)", params.len()).expect("writing to a string");
        }
        for (name, value) in self.extra {
            push_named(&mut text, &mut params, name, value);
        }
        text.push(')');
        SqlStatement {
            text,
            params,
            force_custom_plan: false,
        }
    }
}

fn push_named(text: &mut String, params: &mut Vec<Param>, name: &str, value: &str) {
    params.push(Param::text(name));
    params.push(Param::text(value));
    write!(text, ",set_config(${},${},true)", params.len() - 1, params.len()).expect("writing to a string");
}
