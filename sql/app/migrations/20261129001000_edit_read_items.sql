-- Work on many items takes the versions that were read: what somebody else has saved since is not replaced.

drop function public.edit_items(uuid[], numeric, uuid, uuid, text, uuid[]);

create function public.edit_items(
  ids        uuid[],
  price      numeric default null,
  brand      uuid    default null,
  category   uuid    default null,
  gender     text    default null,
  add_colors uuid[]  default null,
  versions   int[]   default null
)
  returns uuid[]
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  changed uuid[];
begin
  perform private.require_admin();
  if cardinality(ids) > 1000 then
    raise exception 'At most 1000 items are changed at once.' using errcode = 'invalid_parameter_value';
  end if;
  if cardinality(versions) <> cardinality(ids) then
    raise exception 'There must be one version for each item.' using errcode = 'invalid_parameter_value';
  end if;
  -- In one order, so that two changes of several items wait for each other and do not block each other.
  perform from public.items as i where i.id = any (ids) order by i.id for update;
  with written as (
    update public.items as i set
      price = coalesce(edit_items.price, i.price),
      brand_id = coalesce(edit_items.brand, i.brand_id),
      category = coalesce(edit_items.category, i.category),
      -- A subcategory belongs to its category.
      subcategory_id = case when edit_items.category is null or edit_items.category = i.category then i.subcategory_id end,
      gender = coalesce(edit_items.gender, i.gender),
      colors = i.colors || array(
        select added.id from unnest(add_colors) with ordinality as added (id, place)
        where added.id <> all (i.colors) order by added.place)
    where i.id = any (ids)
      and (versions is null or exists (
        select from unnest(ids, versions) as seen (id, version) where seen.id = i.id and seen.version = i.version))
    returning i.id
  )
  select coalesce(array_agg(w.id), '{}') into changed from written as w;
  return changed;
end
$$;
comment on function public.edit_items(uuid[], numeric, uuid, uuid, text, uuid[], int[]) is
  'Administrators only: gives up to 1000 items these values and colors; what is null stays as it is. Items that have another version than the one given are left alone. Answers which were changed.';
revoke execute on function public.edit_items(uuid[], numeric, uuid, uuid, text, uuid[], int[]) from public, anon;
grant execute on function public.edit_items(uuid[], numeric, uuid, uuid, text, uuid[], int[]) to authenticated;
