-- Wrong recovery codes are counted per network of the one who tries: whoever knows only the password of an account must not be able to
-- close its owner's last way in.

create table _selvedge.recovery_code_attempts (
  set_id uuid not null,
  network_hash text not null,
  failed_count integer not null,
  tried_at timestamptz not null,
  locked_until timestamptz,
  constraint recovery_code_attempts_pkey primary key (set_id, network_hash),
  constraint recovery_code_attempts_set_id_fkey
    foreign key (set_id) references auth.mfa_recovery_code_sets (id) on delete cascade
);
comment on table _selvedge.recovery_code_attempts is 'Wrong recovery codes of each network, by the HMAC of its address.';

grant select, insert, update, delete on _selvedge.recovery_code_attempts to supabase_auth_admin;
-- `truncate auth.users cascade` reaches it, which a reset of the project does as `postgres`.
grant truncate on _selvedge.recovery_code_attempts to postgres, supabase_auth_admin;
