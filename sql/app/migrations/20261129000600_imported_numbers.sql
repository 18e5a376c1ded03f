-- An import refuses numbers that the form of an item refuses: product IDs with a sign or more than 15 digits, which browsers round, and a
-- price that nobody gave, with which the item was published for nothing. An item that is there is said to be so, whatever its cells are.

create or replace function private.import_item(row_id uuid, entry jsonb) returns int
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  product constant text := coalesce(btrim(entry ->> 'productId'), '');
  price constant text := coalesce(btrim(entry ->> 'price'), '');
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
  insert into public.items
    (id, name, product_id, price, brand_id, category, gender, colors, source_url, image, description, meta_description)
  values (
    row_id, btrim(entry ->> 'name'), nullif(product, '')::bigint, price::numeric,
    private.id_named('brands', entry ->> 'brand'), private.id_named('categories', entry ->> 'category'),
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
  'Inserts an item whose brand, category and colors, separated by semicolons, are named, unless its id is there. Answers how many rows were made.';

create or replace function private.import_row(target text, entry jsonb) returns text
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  row_id constant uuid := case
    when private.is_uuid(entry ->> 'id') then (entry ->> 'id')::uuid
    else gen_random_uuid()
  end;
  inserted int;
  stored text;
begin
  case target
    when 'colors' then
      -- Three digits are stored as six.
      insert into public.colors (id, name, hex_code)
      values (
        row_id,
        btrim(entry ->> 'name'),
        regexp_replace(btrim(entry ->> 'hexCode'), '^#(.)(.)(.)$', '#\1\1\2\2\3\3'))
      on conflict (id) do nothing;
    when 'styles' then
      insert into public.styles (id, name, description, meta_description, image)
      values (
        row_id, btrim(entry ->> 'name'), entry ->> 'description', entry ->> 'metaDescription', entry ->> 'image')
      on conflict (id) do nothing;
    when 'outfit_styles' then
      insert into public.outfit_styles (id, name, description, meta_description, image)
      values (
        row_id, coalesce(nullif(btrim(entry ->> 'name'), ''), 'Unnamed Style'),
        entry ->> 'description', entry ->> 'metaDescription', entry ->> 'image')
      on conflict (id) do nothing;
    when 'brands' then
      insert into public.brands (id, name, logo, description, meta_description)
      values (
        row_id, btrim(entry ->> 'name'), entry ->> 'logo', entry ->> 'description', entry ->> 'metaDescription')
      on conflict (id) do nothing;
    when 'items' then
      inserted := private.import_item(row_id, entry);
    else
      raise exception 'There is no import into "%".', target using errcode = 'invalid_parameter_value';
  end case;
  if target <> 'items' then
    get diagnostics inserted = row_count;
  end if;
  if inserted > 0 then
    return null;
  end if;
  execute format('select name from public.%I where id = $1', target) into stored using row_id;
  -- Deleted since the insertion has found it, or hidden by a policy: there is no name to tell.
  return coalesce(stored, '');
end
$$;
