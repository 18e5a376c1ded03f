-- What the console is measured with: a table of ten million rows, 500 tables of 50 columns, a million users.
create table public.events (
  id bigint primary key,
  happened_at timestamptz not null,
  kind text not null,
  amount numeric(10, 2) not null,
  note text
);
insert into public.events
select n, timestamptz '2026-01-01' + n * interval '1 second', 'kind ' || n % 50, (n::bigint * 7919 % 1000000) / 100.0, 'note ' || n
from generate_series(1, 10000000) n;
grant select on public.events to anon;
vacuum analyze public.events;

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

insert into auth.users (id, instance_id, aud, role, email, phone, email_confirmed_at, created_at, updated_at, raw_app_meta_data)
select
  md5('user ' || n)::uuid, '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated', 'user' || n || '@example.com',
  (4915100000000 + n)::text, now(), timestamptz '2025-01-01' + n * interval '10 seconds', now(), '{"provider": "email"}'
from generate_series(1, 1000000) n;
vacuum analyze auth.users;
