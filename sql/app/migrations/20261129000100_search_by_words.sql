-- Search by words. "blue jeans" finds an outfit that wears blue jeans, whatever its name is: each word of the term is looked for in
-- the name and in what belongs to it (items, categories, brands, colors, styles, the creator), in any form that an English stemmer
-- joins, from its beginning. A word that is nowhere is replaced by the nearest one that is somewhere.

create function private.searched_words(name text, others text) returns tsvector
  language sql
  immutable
  set search_path = ''
as $$
  select setweight(to_tsvector('pg_catalog.english', regexp_replace(private.plain_letters(name), '[^[:alnum:]]+', ' ', 'g')), 'A')
    || setweight(to_tsvector('pg_catalog.english', regexp_replace(private.plain_letters(others), '[^[:alnum:]]+', ' ', 'g')), 'B')
$$;
comment on function private.searched_words(text, text) is
  'The words by which a row is found: those of its name have the weight A, the others B.';

create table private.item_index (
  item_id uuid     not null,
  words   tsvector not null,

  constraint item_index_pkey primary key (item_id),
  constraint item_index_item_id_fkey foreign key (item_id) references public.items (id) on delete cascade
);
comment on table private.item_index is
  'Words by which items are found, kept by triggers. Holds nothing that is not derived from public rows.';
create index item_index_words_idx on private.item_index using gin (words);

alter table private.outfit_index add column words tsvector not null default '';
create index outfit_index_words_idx on private.outfit_index using gin (words);

create function private.words_of_item(item public.items) returns text
  language sql
  stable
  set search_path = ''
as $$
  select concat_ws(' ',
    (select b.name from public.brands as b where b.id = item.brand_id),
    (select c.name from public.categories as c where c.id = item.category),
    (select s.name from public.subcategories as s where s.id = item.subcategory_id),
    (select string_agg(c.name, ' ') from public.colors as c where c.id = any (item.colors)))
$$;
comment on function private.words_of_item(public.items) is
  'Names of the brand, category, subcategory and colors of an item.';
revoke execute on function private.words_of_item(public.items) from public;

create function private.index_items(changed uuid[]) returns void
  language sql
  -- Definer: nobody else may write the index.
  security definer
  set search_path = ''
as $$
  -- Rows are written in one order, so that two changes at once wait for each other and do not block each other.
  insert into private.item_index as x (item_id, words)
  select i.id, private.searched_words(i.name, private.words_of_item(i))
  from public.items as i
  where i.id = any (changed)
  order by i.id
  on conflict (item_id) do update set words = excluded.words
  where x.words <> excluded.words;
$$;
comment on function private.index_items(uuid[]) is 'Brings the words of these items up to date.';
revoke execute on function private.index_items(uuid[]) from public;

create or replace function private.index_outfits(changed uuid[]) returns void
  language sql
  -- Definer: nobody else may write the index.
  security definer
  set search_path = ''
as $$
  delete from private.outfit_index as o
  using public.combines as c
  where c.id = o.combine_id and c.id = any (changed) and c.status <> 'approved';

  -- Rows are written in one order, so that two changes at once wait for each other and do not block each other.
  insert into private.outfit_index as o
    (combine_id, name, gender, created_at, styles, colors, brands, categories, price, words)
  select c.id, lower(c.name), c.gender, c.created_at, c.outfit_styles,
    array(select unnest(c.colors) union select unnest(worn.colors) from public.items as worn where worn.id = any (c.item_ids)),
    array(select distinct worn.brand_id from public.items as worn where worn.id = any (c.item_ids)),
    array(select distinct worn.category from public.items as worn
          where worn.id = any (c.item_ids) and worn.category is not null),
    coalesce((select sum(worn.price) from public.items as worn where worn.id = any (c.item_ids)), 0),
    private.searched_words(c.name, concat_ws(' ',
      (select string_agg(concat_ws(' ', worn.name, private.words_of_item(worn)), ' ')
       from public.items as worn where worn.id = any (c.item_ids)),
      (select string_agg(s.name, ' ') from public.outfit_styles as s where s.id = any (c.outfit_styles)),
      (select string_agg(k.name, ' ') from public.colors as k where k.id = any (c.colors)),
      (select concat_ws(' ', p.full_name, p.username) from public.profiles as p where p.id = c.user_id)))
  from public.combines as c
  where c.id = any (changed) and c.status = 'approved'
  order by c.id
  on conflict (combine_id) do update set
    name = excluded.name, gender = excluded.gender, created_at = excluded.created_at, styles = excluded.styles,
    colors = excluded.colors, brands = excluded.brands, categories = excluded.categories, price = excluded.price,
    words = excluded.words;
$$;

create or replace function private.index_outfits_of_items() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  changed constant uuid[] := array(
    select after.id from after join before using (id)
    where (after.name, after.brand_id, after.category, after.subcategory_id, after.colors, after.price)
      is distinct from (before.name, before.brand_id, before.category, before.subcategory_id, before.colors, before.price));
begin
  perform private.index_items(changed);
  perform private.index_outfits(array(select c.id from public.combines as c where c.item_ids && changed));
  return null;
end
$$;
comment on function private.index_outfits_of_items() is
  'After-update trigger on items: what is searched of an item is searched with the outfits that wear it, too. A deleted item leaves the lists of combines, which indexes those.';

create function private.index_new_items() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform private.index_items(array(select written.id from written));
  return null;
end
$$;
comment on function private.index_new_items() is
  'After-insert trigger on items: indexes all rows of the statement at once.';
revoke execute on function private.index_new_items() from public;

create trigger items_index_inserted
  after insert on public.items
  referencing new table as written
  for each statement execute function private.index_new_items();

create function private.index_renamed() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  renamed constant uuid[] := array(select after.id from after join before using (id) where after.name <> before.name);
  items uuid[];
begin
  if renamed = '{}' then
    return null;
  end if;
  items := case tg_table_name
    when 'brands' then array(select i.id from public.items as i where i.brand_id = any (renamed))
    when 'categories' then array(select i.id from public.items as i where i.category = any (renamed))
    when 'subcategories' then array(select i.id from public.items as i where i.subcategory_id = any (renamed))
    when 'colors' then array(select i.id from public.items as i where i.colors && renamed)
    else '{}'
  end;
  perform private.index_items(items);
  perform private.index_outfits(array(
    select c.id from public.combines as c
    where c.item_ids && items or c.colors && renamed or c.outfit_styles && renamed));
  return null;
end
$$;
comment on function private.index_renamed() is
  'After-update trigger on the words of the catalogue: what has them is found by their new names.';
revoke execute on function private.index_renamed() from public;

create trigger brands_index_renamed after update on public.brands
  referencing old table as before new table as after
  for each statement execute function private.index_renamed();
create trigger categories_index_renamed after update on public.categories
  referencing old table as before new table as after
  for each statement execute function private.index_renamed();
create trigger subcategories_index_renamed after update on public.subcategories
  referencing old table as before new table as after
  for each statement execute function private.index_renamed();
create trigger colors_index_renamed after update on public.colors
  referencing old table as before new table as after
  for each statement execute function private.index_renamed();
create trigger outfit_styles_index_renamed after update on public.outfit_styles
  referencing old table as before new table as after
  for each statement execute function private.index_renamed();

create function private.index_renamed_creators() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform private.index_outfits(array(
    select c.id from public.combines as c
    where c.status = 'approved' and c.user_id = any (array(
      select after.id from after join before using (id)
      where (after.username, after.full_name) is distinct from (before.username, before.full_name)))));
  return null;
end
$$;
comment on function private.index_renamed_creators() is
  'After-update trigger on profiles: outfits are found by the present name of their creator.';
revoke execute on function private.index_renamed_creators() from public;

create trigger profiles_index_renamed after update on public.profiles
  referencing old table as before new table as after
  for each statement execute function private.index_renamed_creators();

create function private.nearest_words(word text) returns text[]
  language sql
  stable
  set search_path = ''
  -- Of "jeens", three of six parts are those of "jeans".
  set pg_trgm.word_similarity_threshold = '0.45'
as $$
  select coalesce(array_agg(near.word), '{}')
  from (
    select candidate.word
    from (
      select name from public.brands
      union all select name from public.categories
      union all select name from public.subcategories
      union all select name from public.colors
      union all select name from public.outfit_styles
      -- By the index of parts of words; 200 names have the word that is meant, if any has it.
      union all (select name from public.items where name operator(extensions.%>) nearest_words.word limit 200)
      union all (select name from private.outfit_index where name operator(extensions.%>) nearest_words.word limit 200)
    ) as named
    cross join lateral regexp_split_to_table(private.plain_letters(named.name), '[^[:alnum:]]+') as candidate (word)
    where abs(length(candidate.word) - length(nearest_words.word)) <= 2
      and extensions.similarity(candidate.word, nearest_words.word) >= 0.3
    group by candidate.word
    order by extensions.similarity(candidate.word, nearest_words.word) desc, candidate.word
    limit 2
  ) as near
$$;
comment on function private.nearest_words(text) is
  'The words of the catalogue that are written most like this one, which is in none of its names.';
revoke execute on function private.nearest_words(text) from public;

create function private.search_query(term text, out everywhere tsquery, out in_name tsquery)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  word text;
  part text;
  corrected text[];
begin
  everywhere := '';
  in_name := '';
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
  'What rows have to match whose words begin with all words of the term: anywhere, and in their name. Empty, and then matched by nothing, where the term has no words.';
revoke execute on function private.search_query(text) from public;

create function private.both_queries(one tsquery, other tsquery) returns tsquery
  language sql
  immutable
  set search_path = ''
as $$
  select case when numnode(one) = 0 then other when numnode(other) = 0 then one else one && other end
$$;
comment on function private.both_queries(tsquery, tsquery) is
  'A query that is matched by what matches both; an empty one asks for nothing.';

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
  -- An empty query finds nothing.
  by_words   tsquery := '';
  name_words tsquery := '';
begin
  if is_search then
    select q.everywhere, q.in_name into by_words, name_words from private.search_query(term) as q;
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
       where not is_search or f.name like pattern or f.words @@ name_words
       order by f.created_at desc, f.combine_id limit skipped + wanted)
      union all
      (select 1, f.combine_id, f.created_at from filtered as f
       where is_search and not (f.name like pattern or f.words @@ name_words)
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
comment on function public.search_outfits is
  'Approved outfits, newest first: those with the term, or all of its words, in their name, then those with the words also in the names of items, categories, brands, styles, colors and the creator. The price is the sum of the items. At most 100 per call.';

create or replace function public.search_items(
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
  -- Definer, because it reads the index of words. The catalogue is public.
  security definer
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
  words   record;
  named   uuid[];
  matched uuid[];
begin
  if is_search then
    select * into words from private.search_query(term);
    named := array(select x.item_id from private.item_index as x where x.words @@ words.in_name);
    matched := array(select x.item_id from private.item_index as x where x.words @@ words.everywhere);
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
       where not is_search or f.name ilike pattern or f.id = any (named)
       order by f.created_at desc, f.id limit skipped + wanted)
      union all
      (select 1, f.id, f.created_at from filtered as f
       where is_search and not (f.name ilike pattern or f.id = any (named))
         and (f.id = any (matched) or f.brand_id = any (found_brands) or f.colors && found_colors)
       order by f.created_at desc, f.id limit skipped + wanted)
      order by rank, created_at desc, item_id offset skipped limit wanted
    )
    select i.* from hits join public.items as i on i.id = hits.item_id
    order by hits.rank, hits.created_at desc, hits.item_id;
end
$$;
comment on function public.search_items is
  'Items, newest first: those with the term, or all of its words, in their name, then those with the words also in the names of their brand (or its id), category and colors. At most 100 per call.';

create function public.count_found(
  term        text    default '',
  genders     text[]  default null,
  categories  text[]  default null,
  brands      text[]  default null,
  styles      text[]  default null,
  colors      text[]  default null,
  min_price   numeric default null,
  max_price   numeric default null
)
  returns table (outfits int, items int)
  language sql
  stable
  set search_path = ''
as $$
  select
    (select count(*)::int from public.search_outfits(
      term, genders, categories, brands, styles, colors, min_price, max_price, 0, 100)),
    (select count(*)::int from public.search_items(
      term, genders, categories, brands, colors, min_price, max_price, 0, 100))
$$;
comment on function public.count_found is
  'How many outfits and how many items search_outfits and search_items find, counted up to 100.';

select private.index_items(array(select id from public.items));
select private.index_outfits(array(select id from public.combines where status = 'approved'));
