-- A term that is in few names, or in none, is looked up in the indexes of names. The planner took the beginning of a word for frequent and
-- walked all outfits: 200 ms of 50 000. One or two letters are no part of a word, which no index knows, but the beginning of one.

create function private.named_outfits(pattern text, by_name tsquery) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
  set plan_cache_mode = force_custom_plan
  -- Leaves the indexes of names.
  set enable_seqscan = off
  set enable_indexscan = off
as $$
declare
  most  constant int := 500;
  found uuid[];
begin
  -- Without three characters in a row the index of names has to be read whole.
  if pattern is not null and pattern !~ '[^%_\\]{3}' then
    return null;
  end if;
  found := array(select o.combine_id from private.outfit_index as o where o.name like pattern or o.name_words @@ by_name limit most);
  return case when cardinality(found) < most then found end;
end
$$;
comment on function private.named_outfits(text, tsquery) is
  'Outfits with such a name; null where they are many, or where the indexes cannot tell.';
revoke execute on function private.named_outfits(text, tsquery) from public;

create or replace function public.search_outfits(
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
  pattern   text := private.contains_pattern(lower(coalesce(term, '')));
  wanted    constant int := least(greatest(max_results, 0), 100);
  skipped   constant int := greatest(page_offset, 0);
  of_categories constant uuid[] := private.ids_named('categories', categories);
  of_brands     constant uuid[] := private.ids_named('brands', brands);
  of_styles     constant uuid[] := private.ids_named('outfit_styles', styles);
  of_colors     constant uuid[] := private.ids_named('colors', colors);
  found_brands uuid[];
  found_styles uuid[];
  found_colors uuid[];
  by_words tsquery;
  by_name  tsquery;
  -- Null where so many names match that the newest of them are found soonest by walking the outfits.
  named    uuid[];
begin
  if is_search then
    select q.everywhere, q.in_name into by_words, by_name from private.search_query(term) as q;
    if length(btrim(term)) < 3 and by_name is not null then
      pattern := null;
    end if;
    named := private.named_outfits(pattern, by_name);
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
       where not is_search
         or case when named is null then f.name like pattern or f.name_words @@ by_name else f.combine_id = any (named) end
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      union all
      (select 1, f.combine_id, f.created_at from filtered as f
       where is_search
         and case when named is null then (f.name like pattern or f.name_words @@ by_name) is not true else f.combine_id <> all (named) end
         and (f.words @@ by_words
           or f.brands && found_brands or f.styles && found_styles or f.colors && found_colors)
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      order by rank, created_at desc, combine_id offset skipped limit wanted
    )
    select shown.*
    from hits join public.combines as c on c.id = hits.combine_id
    cross join lateral private.without_reviewer(c) as shown
    order by hits.rank, hits.created_at desc, hits.combine_id;
end
$$;

-- A search reads what an index has put off, line by line: after an import of 50 000 outfits it took five times as long, until the next vacuum.
alter index private.outfit_index_name_idx set (fastupdate = off);
alter index private.outfit_index_name_words_idx set (fastupdate = off);
alter index private.outfit_index_words_idx set (fastupdate = off);
alter index private.outfit_index_lists_idx set (fastupdate = off);
alter index private.item_index_words_idx set (fastupdate = off);
do $$
begin
  perform gin_clean_pending_list(named.index)
  from unnest(array['private.outfit_index_name_idx', 'private.outfit_index_name_words_idx', 'private.outfit_index_words_idx',
    'private.outfit_index_lists_idx', 'private.item_index_words_idx']::regclass[]) as named (index);
end
$$;
