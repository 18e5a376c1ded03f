-- What the console is measured with: a table of ten million rows, 500 tables of 50 columns, a million users.
--
-- Indexes are built after the rows, because a sort costs a tenth of what ten million insertions into a tree do.
set synchronous_commit = off;
set maintenance_work_mem = '512MB';

create table public.events (
  id bigint not null,
  happened_at timestamptz not null,
  kind text not null,
  amount numeric(10, 2) not null,
  note text
) with (autovacuum_enabled = off);
insert into public.events
select n, timestamptz '2026-01-01' + n * interval '1 second', 'kind ' || n % 50, (n::bigint * 7919 % 1000000) / 100.0, 'note ' || n
from generate_series(1, 10000000) n;
alter table public.events add primary key (id);
grant select on public.events to anon;
vacuum (analyze, freeze) public.events;
alter table public.events reset (autovacuum_enabled);

create schema wide;
do $$
begin
  for number in 1 .. 500 loop
    execute format(
      'create table wide.table_%s (id bigint generated always as identity primary key, %s)',
      number,
      (select string_agg(format('column_%s text', n), ', ') from generate_series(1, 49) n)
    );
  end loop;
end
$$;

-- As the owner of the table, who may drop its indexes and make them again.
set role supabase_auth_admin;
create temporary table dropped_indexes as
select format('%I.%I', n.nspname, c.relname) as name, pg_get_indexdef(i.indexrelid) as definition
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_namespace n on n.oid = c.relnamespace
where i.indrelid = 'auth.users'::regclass
  and not exists (select from pg_constraint k where k.conindid = i.indexrelid);
select format('drop index %s', name) from dropped_indexes \gexec
insert into auth.users (id, instance_id, aud, role, email, phone, email_confirmed_at, created_at, updated_at, raw_app_meta_data)
select
  md5('user ' || n)::uuid, '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated', 'user' || n || '@example.com',
  (4915100000000 + n)::text, now(), timestamptz '2025-01-01' + n * interval '10 seconds', now(), '{"provider": "email"}'
from generate_series(1, 1000000) n;
select definition from dropped_indexes \gexec
reset role;
vacuum (analyze) auth.users;
