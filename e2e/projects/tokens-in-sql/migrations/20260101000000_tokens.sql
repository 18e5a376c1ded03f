create extension if not exists pgjwt with schema extensions;
create function public.make_token(name text) returns text language sql security definer set search_path = '' as $$
  select extensions.sign(json_build_object('name', name), 'a secret of the project')
$$;
revoke execute on function public.make_token from public, anon, authenticated;
grant execute on function public.make_token to service_role;
