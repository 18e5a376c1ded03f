-- Who are the administrators among thousands? The list of users can be narrowed to one role.

drop function public.list_users(text, int, int);

create function public.list_users(
  term        text default '',
  page_offset int  default 0,
  max_results int  default 10,
  with_role   text default null
)
  returns table (
    id         uuid,
    username   text,
    full_name  text,
    avatar_url text,
    role       text,
    email      text,
    created_at timestamptz,
    total      bigint)
  language plpgsql
  stable
  -- Security definer: administrators have no rights on auth.users.
  security definer
  set search_path = ''
  -- Without a term the condition disappears from the plan.
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  pattern constant text := private.contains_pattern(nullif(btrim(term), ''));
  wanted_id constant uuid := case when private.is_uuid(btrim(term)) then btrim(term)::uuid end;
begin
  perform private.require_admin();
  return query
    select p.id, p.username, p.full_name, p.avatar_url, p.role, u.email::text, p.created_at, count(*) over ()
    from public.profiles as p join auth.users as u on u.id = p.id
    where (with_role is null or p.role = with_role)
      and (pattern is null
        or (wanted_id is null and (p.username ilike pattern or p.full_name ilike pattern or u.email ilike pattern))
        or p.id = wanted_id)
    order by p.created_at desc, p.id
    offset greatest(page_offset, 0) limit least(greatest(max_results, 0), 100);
end
$$;
comment on function public.list_users(text, int, int, text) is
  'Administrators only: users with their e-mail address, newest first, by a part of username, name or address, or by their id, and by their role; total counts all that match. At most 100 per call.';

revoke execute on function public.list_users(text, int, int, text) from public, anon;
grant execute on function public.list_users(text, int, int, text) to authenticated;
