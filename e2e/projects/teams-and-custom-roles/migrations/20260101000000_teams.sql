create schema private;
create table public.teams (id uuid primary key default gen_random_uuid(), name text not null);
create table public.members (
  team_id uuid references public.teams (id) on delete cascade,
  user_id uuid,
  role text not null check (role in ('owner', 'member')),
  primary key (team_id, user_id)
);
create function private.teams_of_caller() returns setof uuid
  language sql stable security definer set search_path = '' as $$
  select team_id from public.members where user_id = (select auth.uid())
$$;
grant usage on schema private to authenticated;
grant execute on function private.teams_of_caller() to authenticated;
alter table public.teams enable row level security;
alter table public.members enable row level security;
create policy "teams of the caller" on public.teams for select to authenticated
  using (id in (select private.teams_of_caller()));
create policy "members of the same team" on public.members for select to authenticated
  using (team_id in (select private.teams_of_caller()));
create policy "owners add members" on public.members as restrictive for insert to authenticated with check (true);
grant select on public.teams, public.members to team_auditor;
