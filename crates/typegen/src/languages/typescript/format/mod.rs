//! Layout of TypeScript as Prettier 3.5 prints it without semicolons, for the few forms that generated types have.

mod doc;
mod print;
mod tokens;

pub(crate) use print::{Expression, Member, TypeNode, print_constant, print_type_alias};
