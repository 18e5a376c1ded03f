-- The only way to change profiles.role through the API.

create function public.set_user_role(user_id uuid, new_role text) returns public.profiles
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  target  public.profiles;
begin
  if not public.is_admin_role() then
    raise exception 'Only an administrator may change roles.'
      using errcode = 'insufficient_privilege';
  end if;

  -- The lock on the administrators' rows serialises changes, so that two administrators cannot demote each
  -- other at the same time.
  perform from public.profiles as p where p.role = 'admin' order by p.id for update;
  if new_role is distinct from 'admin'
     and not exists (
       select 1 from public.profiles as p
       where p.role = 'admin' and p.id <> set_user_role.user_id) then
    raise exception 'The last administrator cannot be demoted.'
      using errcode = 'check_violation', hint = 'Make somebody else an administrator first.';
  end if;

  update public.profiles as p set role = new_role
  where p.id = set_user_role.user_id
  returning p.* into target;
  if not found then
    raise exception 'No user has this id.' using errcode = 'PT404';
  end if;
  return target;
end
$$;
comment on function public.set_user_role(uuid, text) is
  'Administrators only: gives the user the role "user" or "admin" and answers the profile.';

create function public.set_user_role_by_email(user_email text, new_role text) returns public.profiles
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  found_id uuid;
begin
  -- Checked before the address is looked up: otherwise the errors would tell anybody which addresses have an
  -- account.
  if not public.is_admin_role() then
    raise exception 'Only an administrator may change roles.'
      using errcode = 'insufficient_privilege';
  end if;

  select u.id into found_id
  from auth.users as u
  where u.email = lower(btrim(user_email))
  order by u.created_at
  limit 1;
  if not found then
    raise exception 'No user has this e-mail address.' using errcode = 'PT404';
  end if;
  return public.set_user_role(found_id, new_role);
end
$$;
comment on function public.set_user_role_by_email(text, text) is
  'Administrators only: like set_user_role, for people one knows by their address.';

revoke execute on function public.set_user_role(uuid, text) from public, anon;
revoke execute on function public.set_user_role_by_email(text, text) from public, anon;
grant execute on function public.set_user_role(uuid, text) to authenticated;
grant execute on function public.set_user_role_by_email(text, text) to authenticated;
