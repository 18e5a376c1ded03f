-- Functions that projects refer to although their extension is not part of stock PostgreSQL (gateway.md §10). Each one
-- reports that the extension is missing instead of imitating it.

-- GraphQL: the answer that Supabase itself gives while pg_graphql is off.
create function graphql_public.graphql(
  "operationName" text default null, query text default null, variables jsonb default null, extensions jsonb default null
) returns jsonb
  language sql stable
  return jsonb_build_object(
    'errors', jsonb_build_array(jsonb_build_object('message', 'pg_graphql extension is not enabled.'))
  );
grant execute on function graphql_public.graphql(text, text, jsonb, jsonb)
  to postgres, anon, authenticated, service_role;

-- Database webhooks: triggers that name this function can be created; firing one says that nothing was sent.
set local role supabase_functions_admin;

create table supabase_functions.migrations (
  version text not null,
  inserted_at timestamptz not null default now(),
  constraint migrations_pkey primary key (version)
);

create table supabase_functions.hooks (
  id bigserial not null,
  hook_table_id integer not null,
  hook_name text not null,
  created_at timestamptz not null default now(),
  request_id bigint,
  constraint hooks_pkey primary key (id)
);
comment on table supabase_functions.hooks is 'Supabase Functions Hooks: Audit trail for triggered hooks.';
create index supabase_functions_hooks_request_id_idx on supabase_functions.hooks (request_id);
create index supabase_functions_hooks_h_table_id_h_name_idx on supabase_functions.hooks (hook_table_id, hook_name);

create function supabase_functions.http_request() returns trigger
  language plpgsql
as $$
begin
  raise warning 'The database webhook "%" was not sent: pg_net is not available.', tg_name;
  return coalesce(new, old);
end
$$;
revoke all on function supabase_functions.http_request() from public;
grant execute on function supabase_functions.http_request() to postgres, anon, authenticated, service_role;
