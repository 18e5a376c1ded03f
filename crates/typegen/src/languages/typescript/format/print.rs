//! The forms of types and constants that are generated, and how Prettier lays each out.

use super::doc::{Doc, print_doc};
use super::tokens::{property_key, string_literal};

/// A TypeScript type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypeNode {
    /// `string`, `unknown`, `never`, `true`: a word of the language.
    Keyword(&'static str),
    /// `Json`, `Record<string, unknown>`: a name.
    Reference(&'static str),
    /// `"text"`.
    Literal(String),
    /// `Database["public"]["Enums"]["mood"]`: the names in brackets.
    Indexed(Vec<String>),
    Array(Box<TypeNode>),
    Union(Vec<TypeNode>),
    Tuple(Vec<TypeNode>),
    /// `{ error: true } & "message"`.
    Intersection(Box<TypeNode>, Box<TypeNode>),
    Object {
        members: Vec<Member>,
        /// Puts each member on its own line, even if all would fit on one.
        is_expanded: bool,
    },
    /// `{ [_ in never]: never }`: an object without members that accepts no name.
    NoMembers,
}

/// A property of an object type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) is_optional: bool,
    pub(crate) value: TypeNode,
}

impl Member {
    /// Creates a required property.
    pub(crate) fn new(name: impl Into<String>, value: TypeNode) -> Self {
        Self {
            name: name.into(),
            is_optional: false,
            value,
        }
    }
}

/// A value in `export const`.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    Texts(Vec<String>),
    Object(Vec<(String, Expression)>),
}

impl TypeNode {
    /// Creates an object with each member on its own line.
    pub(crate) fn expanded(members: Vec<Member>) -> Self {
        Self::Object {
            members,
            is_expanded: true,
        }
    }

    /// An object that stays on one line when it fits.
    pub(crate) fn inline(members: Vec<Member>) -> Self {
        Self::Object {
            members,
            is_expanded: false,
        }
    }

    /// The type or null. `unknown` includes null already.
    pub(crate) fn or_null(self) -> Self {
        match self {
            Self::Keyword("unknown") => self,
            Self::Union(mut types) => {
                types.push(Self::Keyword("null"));
                Self::Union(types)
            }
            other => Self::Union(vec![other, Self::Keyword("null")]),
        }
    }

    /// Returns the type that `[]` after the text means: of a union or an intersection only the last part becomes an array.
    pub(crate) fn with_brackets(self) -> Self {
        match self {
            Self::Union(mut types) => {
                if let Some(last) = types.pop() {
                    types.push(last.with_brackets());
                }
                Self::Union(types)
            }
            Self::Intersection(left, right) => Self::Intersection(left, Box::new(right.with_brackets())),
            other => Self::Array(Box::new(other)),
        }
    }

    fn is_object(&self) -> bool {
        matches!(self, Self::Object { .. } | Self::NoMembers)
    }

    fn to_doc(&self) -> Doc {
        match self {
            Self::Keyword(text) | Self::Reference(text) => Doc::text(*text),
            Self::Literal(text) => Doc::text(string_literal(text)),
            Self::Indexed(names) => {
                let brackets = names.iter().map(|name| format!("[{}]", string_literal(name)));
                Doc::text(format!("Database{}", brackets.collect::<String>()))
            }
            Self::Array(element) => array_doc(element),
            Self::Union(types) => union_doc(types, false),
            Self::Tuple(elements) => list_doc(elements.iter().map(Self::to_doc).collect()),
            Self::Intersection(left, right) => {
                Doc::group(Doc::Concat(vec![left.to_doc(), Doc::text(" & "), right.to_doc()]))
            }
            Self::Object { members, is_expanded } => object_doc(members, *is_expanded),
            Self::NoMembers => {
                let member = Doc::Concat(vec![Doc::Line, Doc::text("[_ in never]: never")]);
                let braces = vec![Doc::text("{"), Doc::indent(member), Doc::Line, Doc::text("}")];
                Doc::broken_group(Doc::Concat(braces))
            }
        }
    }
}

/// `T[]`, with a union in parentheses.
fn array_doc(element: &TypeNode) -> Doc {
    let parts = match element {
        TypeNode::Union(types) => vec![Doc::text("("), union_doc(types, true), Doc::text(")[]")],
        other => vec![other.to_doc(), Doc::text("[]")],
    };
    Doc::Concat(parts)
}

fn union_doc(types: &[TypeNode], in_parentheses: bool) -> Doc {
    let is_hugged = is_object_or_null(types);
    let mut parts = Vec::new();
    for (number, one) in types.iter().enumerate() {
        if number > 0 {
            parts.push(if is_hugged { Doc::text(" ") } else { Doc::Line });
            parts.push(Doc::text("| "));
        }
        parts.push(if is_hugged {
            one.to_doc()
        } else {
            Doc::indent(one.to_doc())
        });
    }
    if is_hugged {
        return Doc::Concat(parts);
    }
    // Where the union breaks, every type gets a line that begins with a bar, the first one included.
    let start = Doc::if_break(Doc::Concat(vec![Doc::Line, Doc::text("| ")]), "");
    parts.insert(0, start);
    let code = Doc::indent(Doc::Concat(parts));
    if in_parentheses {
        return Doc::group(Doc::Concat(vec![code, Doc::Softline]));
    }
    Doc::group(code)
}

/// `{ … } | null` and `Json | null` keep the bar on the line.
fn is_object_or_null(types: &[TypeNode]) -> bool {
    let first = types
        .iter()
        .position(|one| one.is_object() || matches!(one, TypeNode::Reference(_)));
    first.is_some_and(|first| {
        types
            .iter()
            .enumerate()
            .all(|(number, one)| number == first || *one == TypeNode::Keyword("null"))
    })
}

fn object_doc(members: &[Member], is_expanded: bool) -> Doc {
    if members.is_empty() {
        return Doc::text("{}");
    }
    let mut parts = vec![Doc::Line];
    for (number, member) in members.iter().enumerate() {
        if number > 0 {
            // Without semicolons, a line break separates members; on one line a semicolon has to.
            parts.extend([Doc::if_break(Doc::text(""), ";"), Doc::Line]);
        }
        let mark = if member.is_optional { "?" } else { "" };
        let name = format!("{}{mark}: ", property_key(&member.name));
        parts.push(Doc::group(Doc::Concat(vec![
            Doc::text(name),
            member.value.to_doc(),
        ])));
    }
    braces_doc(parts, is_expanded)
}

fn braces_doc(parts: Vec<Doc>, is_expanded: bool) -> Doc {
    let content = Doc::Concat(vec![
        Doc::text("{"),
        Doc::indent(Doc::Concat(parts)),
        Doc::Line,
        Doc::text("}"),
    ]);
    if is_expanded {
        Doc::broken_group(content)
    } else {
        Doc::group(content)
    }
}

/// Renders `[a, b]`, with a comma after the last element when each is on its own line.
fn list_doc(elements: Vec<Doc>) -> Doc {
    if elements.is_empty() {
        return Doc::text("[]");
    }
    let mut parts = vec![Doc::Softline];
    for (number, element) in elements.into_iter().enumerate() {
        if number > 0 {
            parts.extend([Doc::text(","), Doc::Line]);
        }
        parts.push(element);
    }
    Doc::group(Doc::Concat(vec![
        Doc::text("["),
        Doc::indent(Doc::Concat(parts)),
        Doc::if_break(Doc::text(","), ""),
        Doc::Softline,
        Doc::text("]"),
    ]))
}

fn expression_doc(expression: &Expression) -> Doc {
    match expression {
        Expression::Texts(texts) => {
            list_doc(texts.iter().map(|text| Doc::text(string_literal(text))).collect())
        }
        Expression::Object(entries) if entries.is_empty() => Doc::text("{}"),
        Expression::Object(entries) => {
            let mut parts = vec![Doc::Line];
            for (number, (name, value)) in entries.iter().enumerate() {
                if number > 0 {
                    parts.extend([Doc::text(","), Doc::Line]);
                }
                let name = Doc::text(format!("{}: ", property_key(name)));
                parts.push(Doc::group(Doc::Concat(vec![name, expression_doc(value)])));
            }
            parts.push(Doc::if_break(Doc::text(","), ""));
            braces_doc(parts, true)
        }
    }
}

/// `export type NAME = …`
pub(crate) fn print_type_alias(name: &str, value: &TypeNode) -> String {
    let head = Doc::text(format!("export type {name} = "));
    print_doc(&Doc::Concat(vec![head, value.to_doc()])) + "\n"
}

/// `export const NAME = … as const`
pub(crate) fn print_constant(name: &str, value: &Expression) -> String {
    let head = Doc::text(format!("export const {name} = "));
    print_doc(&Doc::Concat(vec![
        head,
        expression_doc(value),
        Doc::text(" as const"),
    ])) + "\n"
}
