-- The words of names have a column and an index of their own. As a weight within all words, PostgreSQL took them for as frequent as
-- these, and walked all outfits for a word that is in no name. And a search without words asks for nothing, which needs no query.

alter table private.outfit_index
  add column name_words tsvector generated always as (private.searched_words(name, '')) stored;
create index outfit_index_name_words_idx on private.outfit_index using gin (name_words);

create or replace function private.both_queries(one tsquery, other tsquery) returns tsquery
  language sql
  immutable
  set search_path = ''
as $$
  select case when one is null then other else one && other end
$$;
comment on function private.both_queries(tsquery, tsquery) is
  'A query that is matched by what matches both; null asks for nothing.';

create or replace function private.search_query(term text, out everywhere tsquery, out in_name tsquery)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  word text;
  part text;
  corrected text[];
begin
  -- Signs of patterns are looked for as they are, which is done beside this. Of a long text the first words are enough.
  if term ~ '[%_*\\]' then
    return;
  end if;
  for word in
    select split.word
    from regexp_split_to_table(private.plain_letters(left(term, 200)), '[^[:alnum:]]+') with ordinality as split (word, place)
    where split.word <> ''
    order by split.place
    limit 8
  loop
    -- "the" and the like are in no index.
    continue when ts_lexize('pg_catalog.english_stem', word) = '{}';
    part := word || ':*';
    if length(word) >= 4 and word !~ '[0-9]'
      and not exists (select from private.outfit_index as o where o.words @@ to_tsquery('pg_catalog.english', part))
      and not exists (select from private.item_index as x where x.words @@ to_tsquery('pg_catalog.english', part))
    then
      corrected := private.nearest_words(word);
      if corrected <> '{}' then
        part := '(' || array_to_string(array(select near || ':*' from unnest(corrected) as near), '|') || ')';
      end if;
    end if;
    everywhere := private.both_queries(everywhere, to_tsquery('pg_catalog.english', part));
    in_name := private.both_queries(in_name, to_tsquery('pg_catalog.english', replace(part, ':*', ':*A')));
  end loop;
end
$$;
comment on function private.search_query(text) is
  'What rows have to match whose words begin with all words of the term: anywhere, and in their name. Null, and then matched by nothing, where the term has no words.';

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
  by_words tsquery;
  by_name  tsquery;
begin
  if is_search then
    select q.everywhere, q.in_name into by_words, by_name from private.search_query(term) as q;
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
       where not is_search or f.name like pattern or f.name_words @@ by_name
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      union all
      (select 1, f.combine_id, f.created_at from filtered as f
       where is_search and (f.name like pattern or f.name_words @@ by_name) is not true
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
