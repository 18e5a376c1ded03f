-- Whether a stored picture is still shown somewhere. The admin area deletes the file of a replaced or deleted picture, and must
-- not take it from another row that shows the same one: a submission shows the picture of one of its items.

create function public.picture_is_used(url text) returns boolean
  language plpgsql
  stable
  -- The caller's policies apply: administrators see every row of these tables.
  set search_path = ''
as $$
begin
  perform private.require_admin();
  return exists (select 1 from public.items as i where i.image = url)
      or exists (select 1 from public.combines as c where c.main_image = url)
      or exists (select 1 from public.brands as b where b.logo = url)
      or exists (select 1 from public.categories as c where c.icon = url)
      or exists (select 1 from public.styles as s where s.image = url)
      or exists (select 1 from public.outfit_styles as s where s.image = url)
      or exists (select 1 from public.profiles as p where p.avatar_url = url);
end
$$;
comment on function public.picture_is_used(text) is
  'Administrators only: whether a row of the site shows the picture at this address.';

revoke execute on function public.picture_is_used(text) from public, anon;
grant execute on function public.picture_is_used(text) to authenticated;

-- Outfits and items are the large tables.
create index items_image_idx on public.items (image);
create index combines_main_image_idx on public.combines (main_image);
