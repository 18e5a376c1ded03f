//! The statements of a request transaction, by what they are for.

/// Which statement of the transaction an error belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStage {
    Begin,
    /// On a replica: the check that it has replayed what the read must see. Fails when it has not, or when the server is not
    /// a replica any more.
    ReplicaCheck,
    /// The settings of the request. Fails for an unknown role, or one that the connection's role may not become.
    Settings,
    PreRequest,
    Statement,
    /// The statement that runs after the main one.
    Explain,
    /// COMMIT or ROLLBACK. Deferred constraints are checked here.
    TransactionEnd,
}
