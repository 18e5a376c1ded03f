-- Functions by which policies read the caller's claims (auth.md §6, GW-015), and rights on the tables of auth.

set local role supabase_auth_admin;

-- Claims are read from one setting per claim (older gateways) or from one JSON document. The functions are stable and
-- in language SQL, so that the planner can inline them into policies.
create function auth.uid() returns uuid
  language sql stable
  return coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
  )::uuid;
comment on function auth.uid() is 'The id of the user who makes the request.';

create function auth.role() returns text
  language sql stable
  return coalesce(
    nullif(current_setting('request.jwt.claim.role', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role'
  );
comment on function auth.role() is 'Deprecated. Name the role in the policy instead: `create policy … to authenticated`.';

create function auth.email() returns text
  language sql stable
  return coalesce(
    nullif(current_setting('request.jwt.claim.email', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email'
  );
comment on function auth.email() is 'Deprecated. Use auth.jwt() -> ''email'' instead.';

create function auth.jwt() returns jsonb
  language sql stable
  return coalesce(
    nullif(current_setting('request.jwt.claim', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')
  )::jsonb;
comment on function auth.jwt() is 'The verified claims of the request.';

grant execute on all functions in schema auth to public;

-- Row-level security without a policy: nobody but the owner and BYPASSRLS roles sees a row, whatever is granted.
do $$
declare
  name regclass;
begin
  for name in
    select oid::regclass from pg_catalog.pg_class
    where relnamespace = 'auth'::regnamespace and relkind = 'r' and relname <> 'schema_migrations'
  loop
    execute pg_catalog.format('alter table %s enable row level security', name);
  end loop;
end
$$;

grant all on all tables in schema auth to dashboard_user, postgres;
grant all on all sequences in schema auth to dashboard_user, postgres;
grant select on all tables in schema auth to postgres with grant option;
