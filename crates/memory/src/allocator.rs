//! What the server asks of mimalloc, its allocator.

/// Returns freed memory to the system, all of it that no thread keeps for its next small blocks. By itself mimalloc keeps freed memory for
/// a second, in which clients of a small server could fill it several times with what each of them was allowed to take.
#[expect(unsafe_code, reason = "the allocator is a library in C")]
pub(crate) fn return_freed_memory() {
    // SAFETY: it may be called at any time by any thread, and frees nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) };
}
