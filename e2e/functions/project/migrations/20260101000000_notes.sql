create table public.notes (
  id bigint generated always as identity primary key,
  owner uuid not null default auth.uid(),
  body text not null
);
alter table public.notes enable row level security;
create policy "own notes" on public.notes
  for all to authenticated using (owner = auth.uid()) with check (owner = auth.uid());

create table public.jobs (name text primary key, done_at timestamptz not null default now());
alter table public.jobs enable row level security;
