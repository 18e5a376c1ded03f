-- Which networks have asked for a code to an address in the last hour, each for itself: the newest request must not take the attempts of
-- the one before, and an old one must not count for ever. Requests that send nothing, because the address is not registered, are noted
-- like the others, so that attempts do not tell which addresses are registered. In schema `_selvedge` and without foreign keys, as the tables
-- of 0093.

create table _selvedge.code_requests (
  -- HMAC of address and network.
  request_hash bytea not null,
  -- HMAC of the address.
  address_hash bytea not null,
  asked_at timestamptz not null,
  -- Attempts that are left of a request, whether or not a code was sent; -1 after the first one too many.
  answers smallint not null,
  -- Attempts that are left of a code that was sent, likewise.
  attempts smallint not null,
  constraint code_requests_pkey primary key (request_hash)
);
comment on table _selvedge.code_requests is
  'Networks that have asked for a code to an address or number, hashed, for an hour; each has attempts of its own.';
create index code_requests_address_hash_idx on _selvedge.code_requests (address_hash);
create index code_requests_asked_at_idx on _selvedge.code_requests (asked_at);

grant select, insert, update, delete on _selvedge.code_requests to supabase_auth_admin;

comment on column _selvedge.one_time_codes.asked_by is 'Written by an older version; see code_requests.';
