-- The console: users of the project may sign in if its settings allow that. A user needs a level, `console` in app_metadata, which
-- users cannot change themselves, and a verified second factor. user_metadata is never read.

-- Returns the level of a user who may sign in. It is called at each request, so that a change applies to existing sessions.
create function selvedge_console.find_project_member(user_id uuid) returns table (name text, level text)
language sql
stable
security definer
set search_path = ''
begin atomic
  select pg_catalog.concat(coalesce(nullif(u.email, ''), u.phone), ' (project user ', u.id, ')'),
    u.raw_app_meta_data ->> 'console'
  from auth.users u
  where u.id = find_project_member.user_id
    and u.raw_app_meta_data ->> 'console' in ('viewer', 'editor', 'admin')
    and u.deleted_at is null
    and (u.banned_until is null or u.banned_until <= pg_catalog.now())
    and exists (select from auth.mfa_factors f where f.user_id = u.id and f.status = 'verified');
end;

-- Lists the users with a level for the list of accounts, and whether each has the second factor that a sign-in requires.
create function selvedge_console.list_project_members() returns table (name text, level text, has_factor boolean)
language sql
stable
security definer
set search_path = ''
begin atomic
  select coalesce(nullif(u.email, ''), u.phone, u.id::text), u.raw_app_meta_data ->> 'console',
    exists (select from auth.mfa_factors f where f.user_id = u.id and f.status = 'verified')
  from auth.users u
  where u.raw_app_meta_data ->> 'console' in ('viewer', 'editor', 'admin')
    and u.deleted_at is null
    and (u.banned_until is null or u.banned_until <= pg_catalog.now())
  order by 1
  limit 1000;
end;

alter function selvedge_console.find_project_member owner to supabase_admin;
alter function selvedge_console.list_project_members owner to supabase_admin;
revoke execute on function selvedge_console.find_project_member, selvedge_console.list_project_members from public;
grant execute on function selvedge_console.find_project_member, selvedge_console.list_project_members
  to selvedge_console_service;

alter table selvedge_console.sessions
  alter column account drop not null,
  add column user_id uuid,
  add constraint sessions_owner_check check (pg_catalog.num_nonnulls(account, user_id) = 1);

-- Saved queries may belong to users of the project, so there is no foreign key to accounts any more. The command that removes an
-- account removes its queries.
alter table selvedge_console.snippets drop constraint snippets_account_fkey;
grant select (account), delete on selvedge_console.snippets to postgres;
