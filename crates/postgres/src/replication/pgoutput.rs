//! Decodes the messages of the `pgoutput` plugin, protocol version 1.
//!
//! Source: PostgreSQL documentation, "Logical Replication Message Formats".

use bytes::{Buf, Bytes};

/// One message of the plugin.
#[derive(Debug, Clone, PartialEq)]
pub enum LogicalMessage {
    /// Start of a transaction. PostgreSQL sends transactions only after their commit.
    Begin {
        /// Position in the WAL of the transaction's commit.
        commit_lsn: u64,
        /// Its id, without the epoch.
        xid: u32,
        /// Commit time in microseconds since 2000-01-01 00:00 UTC.
        committed_at_us: i64,
    },
    /// End of a committed transaction.
    Commit {
        /// Position in the WAL behind the transaction, to be confirmed when all its changes have been handed on.
        end_lsn: u64,
    },
    /// Describes a table before its first change, and again after its definition changed.
    Relation(Relation),
    Insert {
        relation: u32,
        new: Tuple,
    },
    Update {
        relation: u32,
        /// The row before, as far as the table's replica identity records it.
        old: Option<Tuple>,
        new: Tuple,
    },
    Delete {
        relation: u32,
        old: Tuple,
    },
    /// Anything else: types, origins, truncation, messages.
    Other,
}

/// A table as the stream describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub oid: u32,
    pub schema: String,
    pub name: String,
    pub replica_identity: ReplicaIdentity,
    /// In the order of the values of its tuples; without generated and dropped columns.
    pub columns: Vec<RelationColumn>,
}

/// A column of a [`Relation`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationColumn {
    pub name: String,
    pub type_oid: u32,
    /// Whether the column belongs to the replica identity (which need not be the primary key).
    pub is_identity: bool,
}

/// Which columns of the old row PostgreSQL records for updates and deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaIdentity {
    /// The columns of the primary key.
    Default,
    Nothing,
    Full,
    /// The columns of a unique index.
    Index,
}

/// The values of one row, in the order of [`Relation::columns`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuple {
    /// Whether values outside of the replica identity are nulls only because they were not recorded.
    pub is_key_only: bool,
    pub values: Vec<TupleValue>,
}

/// One value of a replicated row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TupleValue {
    Null,
    /// A large value stored out of line (TOAST) that the update did not touch, so the WAL does not hold it.
    Unchanged,
    /// The value in the type's text format.
    Text(Bytes),
}

impl LogicalMessage {
    /// Decodes one message. `None` when it is malformed.
    pub(super) fn decode(mut body: Bytes) -> Option<Self> {
        let tag = take_u8(&mut body)?;
        Some(match tag {
            b'B' => {
                let commit_lsn = take_u64(&mut body)?;
                Self::Begin {
                    commit_lsn,
                    committed_at_us: take_u64(&mut body)?.cast_signed(),
                    xid: take_u32(&mut body)?,
                }
            }
            b'C' => {
                let (_flags, _commit_lsn) = (take_u8(&mut body)?, take_u64(&mut body)?);
                Self::Commit {
                    end_lsn: take_u64(&mut body)?,
                }
            }
            b'R' => Self::Relation(Relation::decode(&mut body)?),
            b'I' => {
                let relation = take_u32(&mut body)?;
                match take_u8(&mut body)? {
                    b'N' => Self::Insert {
                        relation,
                        new: Tuple::decode(&mut body, false)?,
                    },
                    _ => return None,
                }
            }
            b'U' => Self::decode_update(&mut body)?,
            b'D' => Self::decode_delete(&mut body)?,
            _ => Self::Other,
        })
    }

    /// The old row comes first, if it was recorded: its key (`K`) or all of it (`O`).
    fn decode_update(body: &mut Bytes) -> Option<Self> {
        let relation = take_u32(body)?;
        let mut kind = take_u8(body)?;
        let mut old = None;
        if matches!(kind, b'K' | b'O') {
            old = Some(Tuple::decode(body, kind == b'K')?);
            kind = take_u8(body)?;
        }
        let new = (kind == b'N').then(|| Tuple::decode(body, false)).flatten()?;
        Some(Self::Update { relation, old, new })
    }

    fn decode_delete(body: &mut Bytes) -> Option<Self> {
        let relation = take_u32(body)?;
        let kind = take_u8(body)?;
        let old = matches!(kind, b'K' | b'O')
            .then(|| Tuple::decode(body, kind == b'K'))
            .flatten()?;
        Some(Self::Delete { relation, old })
    }
}

impl Relation {
    fn decode(body: &mut Bytes) -> Option<Self> {
        let oid = take_u32(body)?;
        // An empty schema name means pg_catalog.
        let schema = take_text(body)?;
        let name = take_text(body)?;
        let replica_identity = match take_u8(body)? {
            b'd' => ReplicaIdentity::Default,
            b'n' => ReplicaIdentity::Nothing,
            b'f' => ReplicaIdentity::Full,
            b'i' => ReplicaIdentity::Index,
            _ => return None,
        };
        let count = take_u16(body)?;
        let mut columns = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let flags = take_u8(body)?;
            let column = RelationColumn {
                name: take_text(body)?,
                type_oid: take_u32(body)?,
                is_identity: flags & 1 == 1,
            };
            let _type_modifier = take_u32(body)?;
            columns.push(column);
        }
        Some(Self {
            oid,
            schema: if schema.is_empty() {
                "pg_catalog".to_owned()
            } else {
                schema
            },
            name,
            replica_identity,
            columns,
        })
    }
}

impl Tuple {
    fn decode(body: &mut Bytes, is_key_only: bool) -> Option<Self> {
        let count = take_u16(body)?;
        let mut values = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            values.push(match take_u8(body)? {
                b'n' => TupleValue::Null,
                b'u' => TupleValue::Unchanged,
                b't' => {
                    let length = take_u32(body)? as usize;
                    if body.len() < length {
                        return None;
                    }
                    TupleValue::Text(body.split_to(length))
                }
                _ => return None,
            });
        }
        Some(Self { is_key_only, values })
    }
}

fn take_u8(body: &mut Bytes) -> Option<u8> {
    body.try_get_u8().ok()
}

fn take_u16(body: &mut Bytes) -> Option<u16> {
    body.try_get_u16().ok()
}

fn take_u32(body: &mut Bytes) -> Option<u32> {
    body.try_get_u32().ok()
}

fn take_u64(body: &mut Bytes) -> Option<u64> {
    body.try_get_u64().ok()
}

/// Takes a zero-terminated string from the front of `body`.
fn take_text(body: &mut Bytes) -> Option<String> {
    let end = body.iter().position(|byte| *byte == 0)?;
    let text = body.split_to(end);
    body.advance(1);
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A `Relation` message for `public.t (id int4 key, note text)`.
    fn relation_message() -> Vec<u8> {
        let mut body = b"R\0\0\0\x07public\0t\0d\0\x02\x01id\0\0\0\0\x17\xff\xff\xff\xff".to_vec();
        body.extend(b"\0note\0\0\0\0\x19\xff\xff\xff\xff");
        body
    }

    #[test]
    fn a_relation_message_names_columns_and_identity() {
        let Some(LogicalMessage::Relation(relation)) = LogicalMessage::decode(relation_message().into())
        else {
            panic!("a relation");
        };

        assert_eq!(
            (relation.oid, relation.schema.as_str(), relation.name.as_str()),
            (7, "public", "t")
        );
        assert_eq!(relation.replica_identity, ReplicaIdentity::Default);
        assert_eq!(
            relation.columns[0],
            RelationColumn {
                name: "id".into(),
                type_oid: 23,
                is_identity: true
            }
        );
        assert!(!relation.columns[1].is_identity);
    }

    #[test]
    fn an_update_carries_old_key_null_and_unchanged_values() {
        let body = b"U\0\0\0\x07K\0\x02t\0\0\0\x011nN\0\x02t\0\0\0\x012u";

        let message = LogicalMessage::decode(Bytes::from_static(body));

        let text = |value: &'static str| TupleValue::Text(Bytes::from_static(value.as_bytes()));
        assert_eq!(
            message,
            Some(LogicalMessage::Update {
                relation: 7,
                old: Some(Tuple {
                    is_key_only: true,
                    values: vec![text("1"), TupleValue::Null]
                }),
                new: Tuple {
                    is_key_only: false,
                    values: vec![text("2"), TupleValue::Unchanged]
                },
            })
        );
    }

    #[test]
    fn truncated_messages_are_refused() {
        let whole = relation_message();
        for length in 0..whole.len() {
            assert_eq!(
                LogicalMessage::decode(Bytes::copy_from_slice(&whole[..length])),
                None,
                "{length}"
            );
        }
    }

    proptest! {
        #[test]
        fn decoding_never_panics(tag in prop::sample::select(b"BCRIUDT".to_vec()), rest: Vec<u8>) {
            let mut body = vec![tag];
            body.extend(rest);
            LogicalMessage::decode(body.into());
        }
    }
}
