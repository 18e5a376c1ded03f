-- The console: users of the project sign in to it, too, where its settings say so. Whoever may is told by `console` in the
-- user's app_metadata, which users cannot change, and by a second factor. Nothing in user_metadata counts.

-- The level of a user who may sign in, asked for at each request, so that a change ends the user's sessions.
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

-- Everybody who could sign in, for the list of accounts; without a second factor nobody can.
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

-- Saved queries belong to accounts and to users of the project; those of an account are removed with it by the command.
alter table selvedge_console.snippets drop constraint snippets_account_fkey;
grant select (account), delete on selvedge_console.snippets to postgres;
