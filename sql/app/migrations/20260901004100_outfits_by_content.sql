-- Lists of outfits by what they contain: for the pages of an item, a brand and an outfit. Array operators are not leakproof, so
-- as filters under row security they would run on every approved row; these functions state the public policy themselves and
-- can use the indexes on item_ids and outfit_styles.

create function public.outfits_with_item(item_id uuid) returns setof public.combines
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select c.*
  from public.combines as c
  where c.status = 'approved' and c.item_ids @> array[item_id]
  order by c.created_at desc, c.id
$$;
comment on function public.outfits_with_item(uuid) is
  'Approved outfits that contain the item, newest first.';

create function public.outfits_with_brand(brand_id uuid) returns setof public.combines
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select c.*
  from public.combines as c
  where c.status = 'approved'
    and c.item_ids && array(select i.id from public.items as i where i.brand_id = outfits_with_brand.brand_id)
  order by c.created_at desc, c.id
$$;
comment on function public.outfits_with_brand(uuid) is
  'Approved outfits that contain an item of the brand, newest first.';

create function private.count_shared(a uuid[], b uuid[]) returns int
  language sql
  immutable
  set search_path = ''
as $$
  select count(*)::int from unnest(a) as x (id) where x.id = any (b)
$$;
comment on function private.count_shared(uuid[], uuid[]) is
  'How many elements of the first list are in the second.';

create function public.related_outfits(outfit_id uuid, max_results int default 12)
  returns setof public.combines
  language sql
  stable
  security definer
  set search_path = ''
as $$
  with subject as (
    select * from public.combines as c where c.id = outfit_id and c.status = 'approved'
  ),
  -- The newest few hundred of each kind are ranked, so that the time does not grow with the catalogue.
  candidates as (
    (select c.id from public.combines as c, subject as s
     where c.status = 'approved' and c.item_ids && s.item_ids
     order by c.created_at desc limit 300)
    union
    (select c.id from public.combines as c, subject as s
     where c.status = 'approved' and c.outfit_styles && s.outfit_styles
     order by c.created_at desc limit 300)
  )
  select c.*
  from candidates
  join public.combines as c on c.id = candidates.id
  cross join subject as s
  where c.id <> s.id
    -- The creator's own outfits are a list of their own on the page.
    and c.user_id is distinct from s.user_id
    and (c.gender = s.gender or 'unisex' in (c.gender, s.gender))
  order by
    3 * private.count_shared(c.item_ids, s.item_ids)
      + 2 * private.count_shared(c.outfit_styles, s.outfit_styles)
      + private.count_shared(c.colors, s.colors) desc,
    c.created_at desc, c.id
  limit least(greatest(max_results, 0), 100)
$$;
comment on function public.related_outfits(uuid, int) is
  'Approved outfits by others that share items, styles and colors with this one, closest first, at most 100.';
