-- The file of items has their subcategory, so that an export and its import lose nothing.

create function private.subcategory_named(of_category uuid, wanted text) returns uuid
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  found uuid;
begin
  if coalesce(btrim(wanted), '') = '' then
    return null;
  end if;
  if of_category is null then
    raise exception 'A subcategory needs its category.' using errcode = 'no_data_found';
  end if;
  select s.id into found
  from public.subcategories as s
  where s.category_id = of_category and lower(s.name) = lower(btrim(wanted));
  if found is null then
    raise exception 'The category has no subcategory called "%".', btrim(wanted) using errcode = 'no_data_found';
  end if;
  return found;
end
$$;
comment on function private.subcategory_named(uuid, text) is
  'The subcategory of this category with this name in any case; null for a blank one, and an error that says which name there is not.';

create or replace function private.import_item(row_id uuid, entry jsonb) returns int
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  product constant text := coalesce(btrim(entry ->> 'productId'), '');
  price constant text := coalesce(btrim(entry ->> 'price'), '');
  brand uuid;
  category uuid;
  inserted int;
begin
  if exists (select from public.items as i where i.id = row_id) then
    return 0;
  end if;
  if product !~ '^[0-9]{0,15}$' then
    raise exception 'The product ID must be a number with at most 15 digits.' using errcode = 'no_data_found';
  end if;
  if price = '' then
    raise exception 'There is no value for price.' using errcode = 'no_data_found';
  end if;
  if price !~ '^-?[0-9]+(\.[0-9]{1,2})?$' then
    raise exception 'The price must be a number with at most two digits after the point.' using errcode = 'no_data_found';
  end if;
  brand := private.id_named('brands', entry ->> 'brand');
  category := private.id_named('categories', entry ->> 'category');
  insert into public.items
    (id, name, product_id, price, brand_id, category, subcategory_id, gender, colors, source_url, image, description,
      meta_description)
  values (
    row_id, btrim(entry ->> 'name'), nullif(product, '')::bigint, price::numeric, brand, category,
    private.subcategory_named(category, entry ->> 'subcategory'),
    coalesce(nullif(lower(btrim(entry ->> 'gender')), ''), 'unisex'),
    array(
      select private.id_named('colors', named.color)
      from regexp_split_to_table(coalesce(entry ->> 'colors', ''), ';') with ordinality as named (color, place)
      where btrim(named.color) <> ''
      group by 1 order by min(named.place)),
    entry ->> 'sourceUrl', entry ->> 'image', entry ->> 'description', entry ->> 'metaDescription')
  on conflict (id) do nothing;
  get diagnostics inserted = row_count;
  return inserted;
end
$$;
comment on function private.import_item(uuid, jsonb) is
  'Inserts an item whose brand, category, subcategory and colors, separated by semicolons, are named, unless its id is there. Answers how many rows were made.';
