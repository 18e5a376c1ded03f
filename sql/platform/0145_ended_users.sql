-- Users who were deleted or banned while tokens of theirs are valid. Realtime looks here every few seconds and ends their channels: it
-- checks tokens without asking the database, and a channel lives as long as its token. In schema `_selvedge` and without foreign keys, as
-- the tables of 0093.

create table _selvedge.ended_users (
  user_id uuid not null,
  ended_at timestamptz not null default now(),
  -- The end of a ban; null for deleted users.
  until timestamptz,
  constraint ended_users_pkey primary key (user_id)
);
comment on table _selvedge.ended_users is
  'Users who were deleted or banned in the last days, which is longer than a token lives.';
create index ended_users_ended_at_idx on _selvedge.ended_users (ended_at);

grant select, insert, update, delete on _selvedge.ended_users to supabase_auth_admin;
grant select on _selvedge.ended_users to authenticator, supabase_replication_admin;
