//! `Preference-Applied`: which of the client's preferences took effect, in PostgREST's order.

use crate::plan::{MutatePlan, QueryKind, QueryPlan};
use crate::request::Mutation;
use crate::request::preferences::{Count, Handling, Missing, Representation, Resolution, Transaction};

/// The header's value; empty if no preference took effect.
pub(super) fn applied_preferences(plan: &QueryPlan) -> String {
    let preferences = &plan.response.preferences;
    let words = [
        applied_resolution(plan),
        applied_missing(plan),
        applied_representation(plan),
        preferences.count.map(|count| match count {
            Count::Exact => "count=exact",
            Count::Planned => "count=planned",
            Count::Estimated => "count=estimated",
        }),
        preferences.transaction.map(|transaction| match transaction {
            Transaction::Commit => "tx=commit",
            Transaction::Rollback => "tx=rollback",
        }),
        preferences.handling.map(|handling| match handling {
            Handling::Strict => "handling=strict",
            Handling::Lenient => "handling=lenient",
        }),
    ];
    let mut text = String::new();
    for word in words.into_iter().flatten() {
        push_word(&mut text, word);
    }
    if let Some(zone) = &plan.session.timezone {
        push_word(&mut text, "timezone=");
        text.push_str(zone);
    }
    if let Some(max_affected) = preferences.strict_max_affected().filter(|_| limits_rows(plan)) {
        push_word(&mut text, &format!("max-affected={max_affected}"));
    }
    text
}

/// Adds a preference behind a comma.
fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push_str(", ");
    }
    text.push_str(word);
}

/// The write of a plan, if it is one.
fn mutation(plan: &QueryPlan) -> Option<Mutation> {
    match plan.kind {
        QueryKind::Mutate { mutation, .. } => Some(mutation),
        QueryKind::Read(_) | QueryKind::Call(_) => None,
    }
}

/// `resolution=` applies to a POST that has a conflict target.
fn applied_resolution(plan: &QueryPlan) -> Option<&'static str> {
    let QueryKind::Mutate {
        mutation: Mutation::Create,
        plan: MutatePlan::Insert {
            conflict: Some(conflict),
            ..
        },
        ..
    } = &plan.kind
    else {
        return None;
    };
    let resolution = plan.response.preferences.resolution;
    let resolution = resolution.filter(|_| !conflict.columns.is_empty())?;
    Some(match resolution {
        Resolution::MergeDuplicates => "resolution=merge-duplicates",
        Resolution::IgnoreDuplicates => "resolution=ignore-duplicates",
    })
}

/// `missing=` applies where a payload fills columns.
fn applied_missing(plan: &QueryPlan) -> Option<&'static str> {
    let fills_columns = matches!(mutation(plan), Some(Mutation::Create | Mutation::Update));
    let missing = plan.response.preferences.missing.filter(|_| fills_columns)?;
    Some(match missing {
        Missing::Default => "missing=default",
        Missing::Null => "missing=null",
    })
}

/// `return=` applies to writes.
fn applied_representation(plan: &QueryPlan) -> Option<&'static str> {
    let is_write = mutation(plan).is_some();
    let representation = plan.response.preferences.representation.filter(|_| is_write)?;
    Some(match representation {
        Representation::Full => "return=representation",
        Representation::Minimal => "return=minimal",
        Representation::HeadersOnly => "return=headers-only",
    })
}

/// Whether `max-affected=` limits the rows of this plan.
fn limits_rows(plan: &QueryPlan) -> bool {
    matches!(plan.kind, QueryKind::Call(_))
        || matches!(mutation(plan), Some(Mutation::Update | Mutation::Delete))
}
