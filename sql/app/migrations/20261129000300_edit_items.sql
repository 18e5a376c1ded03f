-- Work on many items at once: a sale changes the price of forty, a brand that is merged into another one has hundreds.

create function public.edit_items(
  ids        uuid[],
  price      numeric default null,
  brand      uuid    default null,
  category   uuid    default null,
  gender     text    default null,
  add_colors uuid[]  default null
)
  returns int
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  changed int;
begin
  perform private.require_admin();
  if cardinality(ids) > 1000 then
    raise exception 'At most 1000 items are changed at once.' using errcode = 'invalid_parameter_value';
  end if;
  -- In one order, so that two changes of several items wait for each other and do not block each other.
  perform from public.items as i where i.id = any (ids) order by i.id for update;
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
  where i.id = any (ids);
  get diagnostics changed = row_count;
  return changed;
end
$$;
comment on function public.edit_items(uuid[], numeric, uuid, uuid, text, uuid[]) is
  'Administrators only: gives up to 1000 items these values and colors; what is null stays as it is. Answers how many were changed.';

create function public.delete_items(ids uuid[]) returns int
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  deleted int;
begin
  perform private.require_admin();
  if cardinality(ids) > 1000 then
    raise exception 'At most 1000 items are deleted at once.' using errcode = 'invalid_parameter_value';
  end if;
  perform from public.items as i where i.id = any (ids) order by i.id for update;
  delete from public.items as i where i.id = any (ids);
  get diagnostics deleted = row_count;
  return deleted;
end
$$;
comment on function public.delete_items(uuid[]) is
  'Administrators only: deletes up to 1000 items, which leave the outfits that wear them. Answers how many were deleted.';

create function public.count_wearing(ids uuid[]) returns int
  language plpgsql
  stable
  -- The caller's policies apply: administrators see all outfits.
  set search_path = ''
as $$
begin
  perform private.require_admin();
  return (select count(*) from public.combines as c where c.item_ids && ids);
end
$$;
comment on function public.count_wearing(uuid[]) is
  'Administrators only: how many outfits wear one of these items.';

revoke execute on function public.edit_items(uuid[], numeric, uuid, uuid, text, uuid[]) from public, anon;
revoke execute on function public.delete_items(uuid[]) from public, anon;
revoke execute on function public.count_wearing(uuid[]) from public, anon;
grant execute on function public.edit_items(uuid[], numeric, uuid, uuid, text, uuid[]) to authenticated;
grant execute on function public.delete_items(uuid[]) to authenticated;
grant execute on function public.count_wearing(uuid[]) to authenticated;
