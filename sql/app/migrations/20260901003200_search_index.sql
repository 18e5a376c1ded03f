-- What the search and the filters of Discovery read: one narrow row per approved outfit, with what its items say about it.
-- The lists of combines could answer by joins over all items of all outfits, in time that grows with them; these rows are
-- found by index.

create table private.outfit_index (
  combine_id uuid          not null,
  name       text          not null,
  gender     text          not null,
  created_at timestamptz   not null,
  styles     uuid[]        not null,
  colors     uuid[]        not null,
  brands     uuid[]        not null,
  categories uuid[]        not null,
  price      numeric(12,2) not null,

  constraint outfit_index_pkey primary key (combine_id),
  constraint outfit_index_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade
);
comment on table private.outfit_index is
  'Search index of approved outfits, kept by triggers on combines and items. Holds nothing that is not derived from them.';
comment on column private.outfit_index.name is
  'In lower case: without an index (terms of one or two letters), `like` is several times faster than `ilike`.';
comment on column private.outfit_index.colors is 'Colors of the outfit and of its items.';
comment on column private.outfit_index.price is 'Sum of the prices of its items, in dollars.';

create index outfit_index_newest_idx on private.outfit_index (created_at desc, combine_id);
create index outfit_index_gender_newest_idx on private.outfit_index (gender, created_at desc, combine_id);
create index outfit_index_price_idx on private.outfit_index (price);
create index outfit_index_name_idx on private.outfit_index using gin (name extensions.gin_trgm_ops);
create index outfit_index_lists_idx on private.outfit_index using gin (styles, colors, brands, categories);

create function private.index_outfits(changed uuid[]) returns void
  language sql
  -- Definer: nobody else may write the index.
  security definer
  set search_path = ''
as $$
  delete from private.outfit_index as o
  using public.combines as c
  where c.id = o.combine_id and c.id = any (changed) and c.status <> 'approved';

  insert into private.outfit_index as o
    (combine_id, name, gender, created_at, styles, colors, brands, categories, price)
  select c.id, lower(c.name), c.gender, c.created_at, c.outfit_styles,
    array(select unnest(c.colors) union select unnest(worn.colors) from public.items as worn where worn.id = any (c.item_ids)),
    array(select distinct worn.brand_id from public.items as worn where worn.id = any (c.item_ids)),
    array(select distinct worn.category from public.items as worn
          where worn.id = any (c.item_ids) and worn.category is not null),
    coalesce((select sum(worn.price) from public.items as worn where worn.id = any (c.item_ids)), 0)
  from public.combines as c
  where c.id = any (changed) and c.status = 'approved'
  on conflict (combine_id) do update set
    name = excluded.name, gender = excluded.gender, created_at = excluded.created_at, styles = excluded.styles,
    colors = excluded.colors, brands = excluded.brands, categories = excluded.categories, price = excluded.price;
$$;
comment on function private.index_outfits(uuid[]) is
  'Brings the search index up to date for these outfits.';
revoke execute on function private.index_outfits(uuid[]) from public;

create function private.index_written_outfits() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform private.index_outfits(array(select written.id from written));
  return null;
end
$$;
comment on function private.index_written_outfits() is
  'After-write trigger on combines: indexes all rows of the statement at once.';

create trigger combines_index_inserted
  after insert on public.combines
  referencing new table as written
  for each statement execute function private.index_written_outfits();
create trigger combines_index_updated
  after update on public.combines
  referencing new table as written
  for each statement execute function private.index_written_outfits();

create function private.index_outfits_of_items() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  perform private.index_outfits(array(
    select c.id from public.combines as c
    where c.item_ids && array(
      select after.id from after join before using (id)
      where (after.brand_id, after.category, after.colors, after.price)
        is distinct from (before.brand_id, before.category, before.colors, before.price))));
  return null;
end
$$;
comment on function private.index_outfits_of_items() is
  'After-update trigger on items: brand, category, colors and price of an item are searched with the outfits that wear it. A deleted item leaves the lists of combines, which indexes those.';

create trigger items_index_outfits
  after update on public.items
  referencing old table as before new table as after
  for each statement execute function private.index_outfits_of_items();

select private.index_outfits(array(select id from public.combines where status = 'approved'));

create function private.address_word(name text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select btrim(regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g'), '-')
$$;
comment on function private.address_word(text) is
  'A name as the site writes it in addresses: "Tarn & Tiller" is "tarn-tiller". The site computes the same in lib/address-word.ts.';

create function private.contains_pattern(term text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select '%' || regexp_replace(btrim(term), '([\\%_])', '\\\1', 'g') || '%'
$$;
comment on function private.contains_pattern(text) is
  'The pattern of `like` for "contains this text"; null for null.';

create function private.ids_named(vocabulary text, words text[]) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  found uuid[];
begin
  if words is null then
    return null;
  end if;
  execute format(
    'select coalesce(array_agg(id), ''{}'') from public.%I where private.address_word(name) = any ($1) or id::text = any ($1)',
    vocabulary) into found using words;
  return found;
end
$$;
comment on function private.ids_named(text, text[]) is
  'Ids of the rows of a vocabulary table whose name, as written in addresses, or whose id is in the list; null for null.';
