//! The query language's syntax tree: select lists, filters, orders. Names are not looked up yet.

use std::fmt;

/// One step into a JSON document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonStep {
    /// `->>` instead of `->`: the value as text.
    pub as_text: bool,
    /// The key or array index to step into.
    pub operand: JsonOperand,
}

/// The target of a [`JsonStep`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JsonOperand {
    /// A key of an object.
    Key(String),
    /// An index into an array: sign and digits, as text because it becomes a parameter of the statement.
    Index(String),
}

/// A column and a path into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Column, computed field, or `*`.
    pub name: String,
    /// Steps into its JSON form; usually none.
    pub path: Vec<JsonStep>,
}

/// An aggregate of the select grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    Sum,
    Avg,
    Count,
    Max,
    Min,
}

impl Aggregate {
    /// The function's SQL name, which is also the default output key.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Count => "count",
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

/// How an embed joins its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    Left,
    Inner,
}

/// One item of a `select` list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectItem {
    Field(SelectField),
    Embed(SelectEmbed),
}

/// A column, path or aggregate of a `select` list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectField {
    pub field: Field,
    /// Name of the output key, if the client chose one.
    pub alias: Option<String>,
    /// Type behind `::`, letters, digits, `_`, `$` and blanks only.
    pub cast: Option<String>,
    pub aggregate: Option<Aggregate>,
    /// Type behind an aggregate's `::`.
    pub aggregate_cast: Option<String>,
}

/// An embedded resource of a `select` list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectEmbed {
    /// A relation, constraint, column or computed relationship; the plan decides which.
    pub target: String,
    /// Name of the output key, if the client chose one.
    pub alias: Option<String>,
    /// `!hint`: distinguishes several relationships.
    pub hint: Option<String>,
    /// `!left` or `!inner`.
    pub join: Option<JoinKind>,
    /// `...target(…)`: its columns become columns of the parent.
    pub spread: bool,
    pub items: Vec<SelectItem>,
}

/// Operators that take one plain value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimpleOperator {
    NotEqual,
    Contains,
    ContainedIn,
    Overlaps,
    StrictlyLeft,
    StrictlyRight,
    NotExtendsRight,
    NotExtendsLeft,
    Adjacent,
}

impl SimpleOperator {
    /// The operator in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Self::NotEqual => "<>",
            Self::Contains => "@>",
            Self::ContainedIn => "<@",
            Self::Overlaps => "&&",
            Self::StrictlyLeft => "<<",
            Self::StrictlyRight => ">>",
            Self::NotExtendsRight => "&<",
            Self::NotExtendsLeft => "&>",
            Self::Adjacent => "-|-",
        }
    }
}

/// Operators that accept the `any` and `all` modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantOperator {
    Equal,
    GreaterThanEqual,
    GreaterThan,
    LessThanEqual,
    LessThan,
    Like,
    ILike,
    Match,
    IMatch,
}

impl QuantOperator {
    /// The operator in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::GreaterThanEqual => ">=",
            Self::GreaterThan => ">",
            Self::LessThanEqual => "<=",
            Self::LessThan => "<",
            Self::Like => "like",
            Self::ILike => "ilike",
            Self::Match => "~",
            Self::IMatch => "~*",
        }
    }

    /// Whether `*` in the value is a wildcard for `%`.
    pub fn has_wildcard(self) -> bool {
        matches!(self, Self::Like | Self::ILike)
    }
}

/// Modifier of a [`QuantOperator`]: whether any or all values of a list have to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    Any,
    All,
}

/// Keywords of the `is` operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsValue {
    Null,
    NotNull,
    True,
    False,
    Unknown,
}

impl IsValue {
    /// The keyword in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::NotNull => "NOT NULL",
            Self::True => "TRUE",
            Self::False => "FALSE",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// Full-text operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSearch {
    /// `plfts`.
    Plain,
    /// `fts`.
    Query,
    /// `phfts`.
    Phrase,
    /// `wfts`.
    Web,
}

impl TextSearch {
    /// The SQL function that makes the tsquery.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Query => "to_tsquery",
            Self::Plain => "plainto_tsquery",
            Self::Phrase => "phraseto_tsquery",
            Self::Web => "websearch_to_tsquery",
        }
    }
}

/// An operator with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Simple(SimpleOperator, String),
    /// Operator, quantifier, value. The value of `eq(any)` and `eq(all)` is PostgreSQL's text of an array, `{1,2}`;
    /// without a quantifier it is a single value.
    Quant(QuantOperator, Option<Quantifier>, String),
    Is(IsValue),
    IsDistinct(String),
    In(Vec<String>),
    /// Operator, text search configuration, query.
    TextSearch(TextSearch, Option<String>, String),
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    pub field: Field,
    pub negated: bool,
    pub operation: Operation,
}

/// `and` or `or`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogicOperator {
    And,
    Or,
}

/// Conditions joined by `and` and `or`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogicTree {
    Filter(Filter),
    Group {
        negated: bool,
        operator: LogicOperator,
        children: Vec<LogicTree>,
    },
}

/// `asc` or `desc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// Where nulls sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    First,
    Last,
}

/// One sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderTerm {
    /// The embedded to-one resource that the field belongs to; `None` for the node itself.
    pub embed: Option<String>,
    pub field: Field,
    pub direction: Option<Direction>,
    pub nulls: Option<Nulls>,
}

/// Names of embeds from the root of the select tree to a node; empty for the root.
pub type EmbedPath = Vec<String>;

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Field {
    /// A column without a path.
    pub fn column(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            path: Vec::new(),
        }
    }
}
