//! Aggregates in spreads: those of a to-one spread belong to the nearest ancestor that is shown as itself.

use super::read::{ChildOutput, ReadNode, Spread, SpreadField};
use crate::error::RequestError;

/// The columns that a spread child gives to its parent. Aggregates of a to-one spread come along and are taken from
/// the child, which then gives the plain values.
pub(super) fn spread_fields(child: &mut ReadNode) -> Vec<SpreadField> {
    let lifts = child.spread == Spread::ToOne;
    let mut fields = Vec::new();
    for column in &mut child.select {
        let (aggregate, aggregate_cast) = if lifts {
            (column.aggregate.take(), column.aggregate_cast.take())
        } else {
            (None, None)
        };
        let alias = aggregate.and(column.alias.clone());
        fields.push(SpreadField {
            name: column.output_name().to_owned(),
            aggregate,
            aggregate_cast,
            alias,
        });
    }
    for output in &mut child.outputs {
        match output {
            ChildOutput::Hidden => {}
            ChildOutput::Object { name } | ChildOutput::Array { name } => fields.push(SpreadField {
                name: name.clone(),
                aggregate: None,
                aggregate_cast: None,
                alias: None,
            }),
            ChildOutput::Spread { fields: inner } => {
                for field in inner {
                    let (aggregate, aggregate_cast) = if lifts {
                        (field.aggregate.take(), field.aggregate_cast.take())
                    } else {
                        (None, None)
                    };
                    fields.push(SpreadField {
                        name: field.alias.clone().unwrap_or_else(|| field.name.clone()),
                        alias: aggregate.and(field.alias.clone()),
                        aggregate,
                        aggregate_cast,
                    });
                }
            }
        }
    }
    fields
}

/// Aggregates have no meaning in a to-many spread.
///
/// # Errors
/// PGRST127.
pub(super) fn check_spreads(node: &ReadNode) -> Result<(), RequestError> {
    if node.spread == Spread::ToMany && node.is_aggregated() {
        return Err(RequestError::SpreadAggregate);
    }
    node.children.iter().try_for_each(check_spreads)
}
