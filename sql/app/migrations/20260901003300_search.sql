-- Search and filters of outfits and items, for the dashboard's search and for Discovery. Both find names first, then brands,
-- colors and (outfits) styles with the term in their name. A filter is a list of names as the site writes them in addresses
-- (private.address_word) or of ids; null does not filter.

drop function public.search_outfits(text, int);

create function public.search_outfits(
  term        text    default '',
  genders     text[]  default null,
  categories  text[]  default null,
  brands      text[]  default null,
  styles      text[]  default null,
  colors      text[]  default null,
  min_price   numeric default null,
  max_price   numeric default null,
  page_offset int     default 0,
  max_results int     default 50
)
  returns setof public.combines
  language plpgsql
  stable
  -- Definer, because it states the public policy itself: the index holds approved outfits only, for everybody. As a filter under
  -- row security, `ilike` and `&&` are not leakproof and would run after the policy, row by row.
  security definer
  set search_path = ''
  -- A rare term is found by its index, a common one by walking the newest: the planner can choose only when it sees the values.
  -- Conditions on arguments that are null disappear from the plan.
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_variable
declare
  is_search constant boolean := btrim(coalesce(term, '')) <> '';
  pattern   constant text := private.contains_pattern(lower(coalesce(term, '')));
  wanted    constant int := least(greatest(max_results, 0), 100);
  skipped   constant int := greatest(page_offset, 0);
  of_categories constant uuid[] := private.ids_named('categories', categories);
  of_brands     constant uuid[] := private.ids_named('brands', brands);
  of_styles     constant uuid[] := private.ids_named('outfit_styles', styles);
  of_colors     constant uuid[] := private.ids_named('colors', colors);
  found_brands uuid[];
  found_styles uuid[];
  found_colors uuid[];
begin
  if is_search then
    found_brands := array(select id from public.brands where name ilike pattern);
    found_styles := array(select id from public.outfit_styles where name ilike pattern);
    found_colors := array(select id from public.colors where name ilike pattern);
  end if;
  return query
    with filtered as not materialized (
      select * from private.outfit_index as o
      where (genders is null or o.gender = any (genders))
        and (of_categories is null or o.categories && of_categories)
        and (of_brands is null or o.brands && of_brands)
        and (of_styles is null or o.styles && of_styles)
        and (of_colors is null or o.colors && of_colors)
        and (min_price is null or o.price >= min_price)
        and (max_price is null or o.price <= max_price)
    ),
    hits as (
      (select 0 as rank, f.combine_id, f.created_at from filtered as f
       where not is_search or f.name like pattern
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      union all
      (select 1, f.combine_id, f.created_at from filtered as f
       where is_search and f.name not like pattern
         and (f.brands && found_brands or f.styles && found_styles or f.colors && found_colors)
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      order by rank, created_at desc, combine_id offset skipped limit wanted
    )
    select c.* from hits join public.combines as c on c.id = hits.combine_id
    order by hits.rank, hits.created_at desc, hits.combine_id;
end
$$;
comment on function public.search_outfits is
  'Approved outfits, newest first: those with the term in their name, then those with it in the name of a brand, style or color. The price is the sum of the items. At most 100 per call.';

create function public.search_items(
  term        text    default '',
  genders     text[]  default null,
  categories  text[]  default null,
  brands      text[]  default null,
  colors      text[]  default null,
  min_price   numeric default null,
  max_price   numeric default null,
  page_offset int     default 0,
  max_results int     default 50
)
  returns setof public.items
  language plpgsql
  stable
  -- The caller's policies apply; the catalogue is public.
  set search_path = ''
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_variable
declare
  is_search constant boolean := btrim(coalesce(term, '')) <> '';
  pattern   constant text := private.contains_pattern(coalesce(term, ''));
  wanted    constant int := least(greatest(max_results, 0), 100);
  skipped   constant int := greatest(page_offset, 0);
  of_categories constant uuid[] := private.ids_named('categories', categories);
  of_brands     constant uuid[] := private.ids_named('brands', brands);
  of_colors     constant uuid[] := private.ids_named('colors', colors);
  found_brands uuid[];
  found_colors uuid[];
begin
  if is_search then
    found_brands := array(select b.id from public.brands as b where b.name ilike pattern or b.id::text ilike pattern);
    found_colors := array(select id from public.colors where name ilike pattern);
  end if;
  return query
    with filtered as not materialized (
      select * from public.items as i
      where (genders is null or i.gender = any (genders))
        and (of_categories is null or i.category = any (of_categories))
        and (of_brands is null or i.brand_id = any (of_brands))
        and (of_colors is null or i.colors && of_colors)
        and (min_price is null or i.price >= min_price)
        and (max_price is null or i.price <= max_price)
    ),
    hits as (
      (select 0 as rank, f.id as item_id, f.created_at from filtered as f
       where not is_search or f.name ilike pattern
       order by f.created_at desc, f.id limit skipped + wanted)
      union all
      (select 1, f.id, f.created_at from filtered as f
       where is_search and f.name not ilike pattern
         and (f.brand_id = any (found_brands) or f.colors && found_colors)
       order by f.created_at desc, f.id limit skipped + wanted)
      order by rank, created_at desc, item_id offset skipped limit wanted
    )
    select i.* from hits join public.items as i on i.id = hits.item_id
    order by hits.rank, hits.created_at desc, hits.item_id;
end
$$;
comment on function public.search_items is
  'Items, newest first: those with the term in their name, then those with it in the name (or id) of their brand or in the name of a color. At most 100 per call.';
