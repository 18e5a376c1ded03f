-- An administrator may create a user with the id of one who was deleted, for rows that still name it. Tokens of the former user name the
-- same id, and Realtime, which asks for no session, would take them for the new user's.

alter table _selvedge.ended_users
  -- When the id was given to a new user; tokens that are older name the former one. A later ban of the new user is in `until`.
  add column renewed_at timestamptz;

-- Accounts that the sign-in of a provider has made without a proof of the address. While nobody has got into one that has no address,
-- because another account has it, its user may link the identity to their other account. Accounts without an address that an import has
-- written look the same, and are not to be emptied. Without foreign keys, as the tables of 0093.
create table _selvedge.unproven_sign_ins (
  user_id uuid not null,
  created_at timestamptz not null,
  constraint unproven_sign_ins_pkey primary key (user_id)
);
comment on table _selvedge.unproven_sign_ins is
  'Accounts that sign-ins of providers have made without a proof of the address, until somebody has got into them.';
create index unproven_sign_ins_created_at_idx on _selvedge.unproven_sign_ins (created_at);

grant select, insert, update, delete on _selvedge.unproven_sign_ins to supabase_auth_admin;
