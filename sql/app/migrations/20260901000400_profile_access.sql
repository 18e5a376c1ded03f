-- Who may write profiles. Policies decide about rows; the trigger guard_profile decides about columns, with an
-- error that names the rule. Column grants would not do: the site's sign-in upserts {id, username, full_name,
-- avatar_url, role: 'user'}, which must keep working.

create function private.guard_profile() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- Not subject to row-level security: service_role, migrations and security definer functions.
  if not row_security_active(tg_relid) then
    return new;
  end if;

  if tg_op = 'INSERT' then
    if new.role is distinct from 'user' then
      raise exception 'A profile starts with the role "user".'
        using errcode = 'insufficient_privilege', hint = 'Roles are changed by an administrator.';
    end if;
    new.created_at := now();
    return new;
  end if;

  if new.role is distinct from old.role then
    if new.role is distinct from 'user' then
      raise exception 'The role of a profile cannot be changed by its owner.'
        using errcode = 'insufficient_privilege', hint = 'Roles are changed by an administrator.';
    end if;
    -- The upsert at sign-in sends role 'user' for everybody; it must not demote an administrator.
    new.role := old.role;
  end if;
  if new.created_at is distinct from old.created_at then
    raise exception 'The column "created_at" of a profile cannot be changed.'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
comment on function private.guard_profile() is
  'Before-write trigger: API callers never set a role or rewrite history.';

create trigger profiles_guard
  before insert or update on public.profiles
  for each row execute function private.guard_profile();

revoke all on table public.profiles from anon, authenticated;
grant select on table public.profiles to anon;
grant select, insert, update on table public.profiles to authenticated;
grant all on table public.profiles to service_role;

create policy profiles_select_all on public.profiles
  for select to anon, authenticated
  using (true);
comment on policy profiles_select_all on public.profiles is
  'Profiles are public pages and hold nothing private.';

create policy profiles_insert_own on public.profiles
  for insert to authenticated
  with check (id = (select auth.uid()));
comment on policy profiles_insert_own on public.profiles is
  'Sign-in upserts the caller''s own profile; the role is fixed by the guard.';

create policy profiles_update_own on public.profiles
  for update to authenticated
  using (id = (select auth.uid()))
  with check (id = (select auth.uid()));
comment on policy profiles_update_own on public.profiles is
  'Only the owner edits a profile; administrators change roles through set_user_role.';
