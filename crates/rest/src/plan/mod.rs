//! Second stage: [`ApiRequest`](crate::request::ApiRequest) + catalog → [`Plan`].
//!
//! A plan says everything that the later stages need, so that they never look at the request again: the select tree
//! ([`ReadNode`]), the write or call in front of it, the media type, the transaction's settings, and what the response
//! repeats from the request. This stage knows tables, and of HTTP only media types and preferences. It is pure: no I/O.

mod aggregate;
mod call;
mod citus;
mod draft;
mod mutate;
mod negotiate;
mod outputs;
mod planner;
mod query_plan;
mod read;
mod repeated_names;
mod resolve_column;
mod resolve_tree;
mod result_size;
mod row_checks;
mod tree;

pub use call::{Argument, Arguments, CallPlan};
pub use mutate::{Conflict, JsonBody, MutatePlan, WriteColumn};
pub use negotiate::Handler;
pub use query_plan::{Plan, QueryKind, QueryPlan, ResponsePlan, RootPlan, SessionSettings, Total};
pub use row_checks::RowChecks;
pub use tree::{
    ChildOutput, ColumnRef, ComputedColumn, Condition, Join, JoinForm, ReadNode, SelectColumn, SortKey,
    SortTarget, Source, Spread, SpreadField,
};
