-- Requests for a code are no longer bounded by address: a stranger could push out the request of the owner. What is noted is deleted an hour
-- later, see `delete_stale_code_requests.sql`; the limits of the endpoints bound how much that is.
drop index _selvedge.code_requests_address_hash_idx;
alter table _selvedge.code_requests alter column address_hash drop not null;
comment on column _selvedge.code_requests.address_hash is 'Written by an older version.';

-- Anybody can write rows, which the clean-up finds by their time.
create index counted_attempts_full_at_idx on _selvedge.counted_attempts (full_at);
