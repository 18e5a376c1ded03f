//! How each embed appears in its parent's output.

use super::aggregate::spread_fields;
use super::tree::{ChildOutput, ReadNode, Spread};

/// Fills [`ReadNode::outputs`] of the whole tree. Children come first, because a spread lifts what its own children show.
pub(super) fn decide_outputs(node: &mut ReadNode) {
    for child in &mut node.children {
        decide_outputs(child);
    }
    node.outputs = node.children.iter_mut().map(output_of).collect();
}

/// How one child appears; aggregates of a spread are moved out of it.
fn output_of(child: &mut ReadNode) -> ChildOutput {
    if child.spread != Spread::No {
        return ChildOutput::Spread {
            fields: spread_fields(child),
        };
    }
    if child.shows_nothing() {
        return ChildOutput::Hidden;
    }
    let name = child.client_name().to_owned();
    if child.is_to_one() {
        ChildOutput::Object { name }
    } else {
        ChildOutput::Array { name }
    }
}
