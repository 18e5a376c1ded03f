//! The settings under which a request runs, in the order in which they must be made.
//!
//! Source: REST contract §5.1.

use std::cell::RefCell;
use std::fmt::Write;

use smallvec::SmallVec;

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
        let push_named = |params: &mut Vec<Param>, name: &str, value: &str| {
            params.push(Param::text(name));
            params.push(Param::text(value));
        };
        params.push(Param::text(self.search_path));
        for (name, value) in of_role {
            push_named(&mut params, name, value);
        }
        for value in [
            self.role,
            self.claims,
            self.method,
            self.path,
            self.headers,
            self.cookies,
        ] {
            params.push(Param::text(value));
        }
        for (name, value) in self.extra {
            push_named(&mut params, name, value);
        }
        SqlStatement {
            text: text_of(of_role.len(), self.extra.len(), access),
            params,
            force_custom_plan: false,
        }
    }
}

/// Numbers of the role's settings and of further ones, and whether the transaction may only read.
type Shape = (usize, usize, bool);

thread_local! {
    /// The text of the last requests: it depends on numbers only, and those hardly ever change.
    static LAST: RefCell<SmallVec<[(Shape, String); KEPT]>> = RefCell::default();
}

/// How many texts are kept.
const KEPT: usize = 8;

fn text_of(of_role: usize, extra: usize, access: Access) -> String {
    let shape = (of_role, extra, access == Access::ReadOnly);
    LAST.with_borrow_mut(|last| {
        if let Some((_, text)) = last.iter().find(|(known, _)| *known == shape) {
            return text.clone();
        }
        let text = write_text(shape);
        if last.len() == KEPT {
            last.remove(0);
        }
        last.push((shape, text.clone()));
        text
    })
}

fn write_text((of_role, extra, read_only): Shape) -> String {
    let mut text = String::from("select num_nonnulls(");
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
    push_named(&mut text, &mut param, of_role);
    for name in [
        "role",
        "request.jwt.claims",
        "request.method",
        "request.path",
        "request.headers",
        "request.cookies",
    ] {
        param += 1;
        // The names are ours, so they may stand in the text.
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
    fn each_value_has_its_place_in_the_text() {
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

        for (access, first) in [
            (Access::ReadWrite, "search_path"),
            (Access::ReadOnly, "transaction_read_only"),
        ] {
            let statement = context.settings(&RoleSettings::default(), access);

            assert_eq!(statement.params.len(), 9);
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
            assert_eq!(statement, context.settings(&RoleSettings::default(), access));
        }
        assert!(
            write_text((1, 0, false)).contains("$1,true),set_config($2,$3,true),set_config('role',$4,true)")
        );
    }
}
