//! Last stage: [`QueryPlan`](crate::plan::QueryPlan) + [`Outcome`](crate::execute::Outcome) → status, headers, body.
//!
//! It never queries, and never looks at the request: what a response repeats from it is in the plan.

mod body;
mod draft;
mod overrides;
mod preference_applied;
mod render;
mod timing;

pub(crate) use render::{render_allow, render_outcome};
pub(crate) use timing::Timing;
