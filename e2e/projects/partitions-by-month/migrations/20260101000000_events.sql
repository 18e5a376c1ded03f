create table public.events (at timestamptz not null, kind text not null, payload jsonb not null default '{}') partition by range (at);
create table public.events_2026_01 partition of public.events for values from ('2026-01-01') to ('2026-02-01');
create table public.events_default partition of public.events default;
create index on public.events (at desc);
alter table public.events enable row level security;
create policy "read" on public.events for select to authenticated using (kind <> 'secret');
