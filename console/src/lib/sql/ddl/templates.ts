/** Statements to begin with, for the kinds of objects that have no form. */

export interface SqlTemplate {
  title: string;
  sql: string;
}

export const sqlTemplates: Readonly<Record<string, readonly SqlTemplate[]>> = {
  triggers: [
    {
      title: "Set a time on update",
      sql: `create function public.set_updated_at() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.updated_at = now();
  return new;
end
$$;

create trigger set_updated_at
  before update on public.my_table
  for each row execute function public.set_updated_at();`,
    },
  ],
  functions: [
    {
      title: "Function of SQL",
      sql: `create function public.my_function(term text) returns bigint
language sql
stable
security invoker
set search_path = ''
as $$
  select count(*) from public.my_table where name = term;
$$;`,
    },
  ],
  types: [
    {
      title: "Composite type",
      sql: `create type public.address as (street text, city text, postal_code text);`,
    },
    {
      title: "Domain",
      sql: `create domain public.email as text check (value like '%_@_%');`,
    },
  ],
  views: [
    {
      title: "View with the caller's rights",
      sql: `create view public.my_view
with (security_invoker = true)
as
select id, created_at
from public.my_table;`,
    },
    {
      title: "Materialized view",
      sql: `create materialized view public.my_totals as
select date_trunc('day', created_at) as day, count(*) as total
from public.my_table
group by day;

create unique index my_totals_day_key on public.my_totals (day);`,
    },
  ],
  extensions: [
    {
      title: "Extension",
      sql: `create extension if not exists pg_trgm with schema extensions;`,
    },
  ],
  publications: [
    {
      title: "Send a table's changes to Realtime",
      sql: `alter publication supabase_realtime add table public.my_table;`,
    },
  ],
  roles: [
    {
      title: "Role without login",
      sql: `create role reporting nologin;
grant usage on schema public to reporting;
grant select on all tables in schema public to reporting;`,
    },
  ],
  grants: [
    {
      title: "Grant on a table",
      sql: `grant select, insert, update, delete on public.my_table to authenticated;`,
    },
    {
      title: "Revoke from a table",
      sql: `revoke insert, update, delete on public.my_table from anon;`,
    },
  ],
};
