-- The figures of the admin area's dashboard in one request.

create function private.require_admin() returns void
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if not public.is_admin_role() then
    raise exception 'Only an administrator may do this.' using errcode = 'insufficient_privilege';
  end if;
end
$$;
comment on function private.require_admin() is
  'Refuses callers who are no administrators; the first statement of functions of the admin area.';

create function public.admin_overview() returns jsonb
  language plpgsql
  stable
  -- The caller's policies apply: administrators see every row of these tables.
  set search_path = ''
as $$
begin
  perform private.require_admin();
  return jsonb_build_object(
    'brands', (select count(*) from public.brands),
    'categories', (select count(*) from public.categories),
    'subcategories', (select count(*) from public.subcategories),
    'items', (select count(*) from public.items),
    'combines', (select count(*) from public.combines),
    'pending', (select count(*) from public.combines where status = 'pending' and not created_by_admin),
    'colors', (select count(*) from public.colors),
    'styles', (select count(*) from public.styles),
    'outfit_styles', (select count(*) from public.outfit_styles),
    'users', (select count(*) from public.profiles));
end
$$;
comment on function public.admin_overview() is
  'Administrators only: how many rows each section of the admin area has, and how many outfits wait for review.';

revoke execute on function public.admin_overview() from public, anon;
grant execute on function public.admin_overview() to authenticated;
