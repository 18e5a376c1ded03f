create table public.notes (
  id bigint generated always as identity primary key,
  owner uuid not null default auth.uid() references auth.users (id) on delete cascade,
  body text not null check (length(body) between 1 and 200),
  is_public boolean not null default false
);
alter table public.notes enable row level security;
create policy "read own and public" on public.notes for select using (is_public or owner = (select auth.uid()));
create policy "add own" on public.notes for insert to authenticated with check (owner = (select auth.uid()));
create policy "change own" on public.notes for update to authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
create policy "remove own" on public.notes for delete to authenticated using (owner = (select auth.uid()));
