-- The console: which requests of staged changes have been applied, written in the transaction of the changes themselves. A browser
-- whose answer was lost asks by the request's id what became of it, so that nothing is inserted twice.
--
-- The console keeps the newest 10 000 requests of each account, the newest 100 with their answer, which holds values of rows.

create table selvedge_console.applied_requests (
  -- Empty where nobody signs in.
  account text not null,
  request_id uuid not null,
  at timestamptz not null default clock_timestamp(),
  -- SHA-256 of the changes. Null for a request that was given up: should it still arrive, it is refused.
  changes_digest bytea check (octet_length(changes_digest) = 32),
  -- Null where it was too long, or has been forgotten.
  answer text,
  primary key (account, request_id)
);
create index applied_requests_newest_idx on selvedge_console.applied_requests (account, at);
create index applied_requests_answers_idx on selvedge_console.applied_requests (account, at) where answer is not null;

alter table selvedge_console.applied_requests owner to supabase_admin;
grant select, insert, update, delete on selvedge_console.applied_requests to selvedge_console_operator, postgres;
