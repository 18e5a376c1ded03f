-- The smallest table that fulfils the contract of docs/generator.md.
create table public.pictures (
  id uuid primary key default gen_random_uuid(),
  status text not null default 'queued',
  attempts int not null default 0,
  max_attempts int not null default 3,
  progress smallint not null default 0,
  error text,
  input jsonb not null,
  run_after timestamptz not null default now(),
  lease_until timestamptz,
  callback_token_hash bytea,
  result_bucket text not null,
  result_folder text not null,
  result_name text,
  result_is_preview boolean,
  started_at timestamptz,
  finished_at timestamptz
);
alter table public.pictures enable row level security;
grant all on public.pictures to service_role;
