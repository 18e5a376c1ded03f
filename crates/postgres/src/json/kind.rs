//! Which types have a JSON form that can be made from their text.

use postgres_types::{Kind as TypeKind, Type};

/// How a type's text becomes JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// `t` and `f`.
    Boolean,
    /// Always a number.
    Integer,
    /// A number, but for `NaN` and the infinities.
    Number,
    /// JSON already.
    Json,
    /// Nothing in it needs escaping.
    Plain,
    /// Any text.
    Text,
    /// `2026-01-31 12:00:00`
    Timestamp,
    /// The same with an offset.
    TimestampWithZone,
    Array(Box<Kind>),
}

impl Kind {
    /// `None` for types whose JSON only PostgreSQL can write.
    pub(super) fn of(type_oid: u32) -> Option<Self> {
        let r#type = Type::from_oid(type_oid)?;
        match r#type.kind() {
            TypeKind::Simple | TypeKind::Range(_) => Self::simple(&r#type),
            // the texts of these have another form
            TypeKind::Array(_) if [Type::INT2_VECTOR, Type::OID_VECTOR].contains(&r#type) => None,
            TypeKind::Array(element) => match element.kind() {
                TypeKind::Simple => Some(Self::Array(Box::new(Self::simple(element)?))),
                _ => None,
            },
            _ => None,
        }
    }

    fn simple(r#type: &Type) -> Option<Self> {
        Some(match *r#type {
            Type::BOOL => Self::Boolean,
            Type::INT2 | Type::INT4 | Type::INT8 => Self::Integer,
            Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC => Self::Number,
            Type::JSON | Type::JSONB => Self::Json,
            Type::UUID | Type::DATE | Type::OID => Self::Plain,
            Type::TIMESTAMP => Self::Timestamp,
            Type::TIMESTAMPTZ => Self::TimestampWithZone,
            Type::TEXT
            | Type::VARCHAR
            | Type::BPCHAR
            | Type::NAME
            | Type::CHAR
            | Type::BYTEA
            | Type::XML
            | Type::TIME
            | Type::TIMETZ
            | Type::INTERVAL
            | Type::INET
            | Type::CIDR
            | Type::MACADDR
            | Type::MACADDR8
            | Type::MONEY
            | Type::BIT
            | Type::VARBIT
            | Type::POINT
            | Type::TS_VECTOR
            | Type::TSQUERY
            | Type::INT4_RANGE
            | Type::INT8_RANGE
            | Type::NUM_RANGE
            | Type::TS_RANGE
            | Type::TSTZ_RANGE
            | Type::DATE_RANGE => Self::Text,
            _ => return None,
        })
    }
}
