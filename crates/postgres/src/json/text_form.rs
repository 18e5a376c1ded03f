//! Built-in types whose JSON can be made from the text that PostgreSQL sends, without asking it for `to_json`.

use postgres_types::{Kind as TypeKind, Type};

/// How a type's text form becomes JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextForm {
    /// `t` and `f`.
    Boolean,
    /// Text that is always a JSON number.
    Integer,
    /// A number, except `NaN` and the infinities, which become strings.
    Number,
    /// `json` and `jsonb`: copied.
    Json,
    /// A string that never contains characters to escape, such as a UUID.
    Plain,
    /// A string that may contain characters to escape.
    Text,
    /// `2026-01-31 12:00:00`
    Timestamp,
    /// `2026-01-31 12:00:00+02`
    TimestampWithZone,
    Array(Box<TextForm>),
}

impl TextForm {
    /// `None` for types whose JSON only PostgreSQL can write.
    pub(super) fn from_type_oid(type_oid: u32) -> Option<Self> {
        let r#type = Type::from_oid(type_oid)?;
        match r#type.kind() {
            TypeKind::Simple | TypeKind::Range(_) => Self::simple(&r#type),
            // The text form of these two types is `1 2 3`, not `{1,2,3}` as of other arrays.
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
