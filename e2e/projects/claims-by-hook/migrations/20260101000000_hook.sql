create table public.user_roles (user_id uuid primary key references auth.users (id) on delete cascade, role text not null);
create function public.add_role_to_token(event jsonb) returns jsonb language plpgsql stable set search_path = '' as $$
declare
  found text;
begin
  select role into found from public.user_roles where user_id = (event ->> 'user_id')::uuid;
  return jsonb_set(event, '{claims,user_role}', to_jsonb(coalesce(found, 'visitor')));
end
$$;
grant usage on schema public to supabase_auth_admin;
grant execute on function public.add_role_to_token to supabase_auth_admin;
revoke execute on function public.add_role_to_token from authenticated, anon, public;
grant all on table public.user_roles to supabase_auth_admin;
