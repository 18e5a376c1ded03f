-- Whether the caller is an administrator; every administrative policy calls it.

create function public.is_admin_role() returns boolean
  language sql
  stable
  -- Security definer: policies of profiles can call it without infinite recursion.
  security definer
  set search_path = ''
as $$
  select exists (
    select 1 from public.profiles where id = (select auth.uid()) and role = 'admin'
  )
$$;
comment on function public.is_admin_role() is
  'True when the caller is a signed-in administrator. Read from the database at every call, so a withdrawn role ends at once and not when the token expires.';
