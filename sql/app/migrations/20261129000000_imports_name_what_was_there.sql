-- An import tells under which name a row is there that an earlier one had made: it may have been renamed since. Brands and items are
-- imported, too. The types of answers cannot be replaced.

drop function public.import_rows(text, jsonb);
drop function private.import_row(text, jsonb);

create function private.id_named(vocabulary text, wanted text) returns uuid
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
  execute format('select id from public.%I where lower(name) = lower(btrim($1)) order by id limit 1', vocabulary)
    into found using wanted;
  if found is null then
    raise exception 'There is no % called "%".',
        case vocabulary when 'brands' then 'brand' when 'colors' then 'color' else 'category' end, btrim(wanted)
      using errcode = 'no_data_found';
  end if;
  return found;
end
$$;
comment on function private.id_named(text, text) is
  'The row of a vocabulary with this name in any case; null for a blank one, and an error that says which name there is not.';

create function private.import_item(row_id uuid, entry jsonb) returns int
  language sql
  -- The caller's policies apply.
  set search_path = ''
as $$
  with made as (
    insert into public.items
      (id, name, product_id, price, brand_id, category, gender, colors, source_url, image, description, meta_description)
    values (
      row_id, btrim(entry ->> 'name'), nullif(btrim(entry ->> 'productId'), '')::bigint,
      coalesce(nullif(btrim(entry ->> 'price'), '')::numeric, 0),
      private.id_named('brands', entry ->> 'brand'), private.id_named('categories', entry ->> 'category'),
      coalesce(nullif(lower(btrim(entry ->> 'gender')), ''), 'unisex'),
      array(
        select private.id_named('colors', named.color)
        from regexp_split_to_table(coalesce(entry ->> 'colors', ''), ';') with ordinality as named (color, place)
        where btrim(named.color) <> ''
        group by 1 order by min(named.place)),
      entry ->> 'sourceUrl', entry ->> 'image', entry ->> 'description', entry ->> 'metaDescription')
    on conflict (id) do nothing
    returning 1)
  select count(*)::int from made
$$;
comment on function private.import_item(uuid, jsonb) is
  'Inserts an item whose brand, category and colors, separated by semicolons, are named. Answers how many rows were made.';

create function private.import_row(target text, entry jsonb) returns text
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
      if coalesce(btrim(entry ->> 'price'), '') !~ '^(-?[0-9]+(\.[0-9]{1,2})?)?$' then
        raise exception 'The price must be a number with at most two digits after the point.' using errcode = 'no_data_found';
      end if;
      -- An item that is there stays, whatever its brand is called by now.
      inserted := case
        when exists (select from public.items as i where i.id = row_id) then 0
        else private.import_item(row_id, entry)
      end;
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
comment on function private.import_row(text, jsonb) is
  'Inserts one row of a CSV import; the keys are the names of the template''s columns, and `id`. A row whose id is there stays as it is, and its present name is returned; for a new row null.';

create function public.import_rows(target text, entries jsonb)
  returns table (place int, error text, was_there boolean, stored_name text)
  language plpgsql
  set search_path = ''
as $$
declare
  entry jsonb;
  number bigint;
  violated text;
begin
  perform private.require_admin();
  if target not in ('colors', 'styles', 'outfit_styles', 'brands', 'items') then
    raise exception 'There is no import into "%".', target using errcode = 'invalid_parameter_value';
  end if;
  if jsonb_typeof(entries) is distinct from 'array' or jsonb_array_length(entries) > 500 then
    raise exception 'An import takes a list of at most 500 rows.' using errcode = 'invalid_parameter_value';
  end if;

  for entry, number in select list.value, list.ordinality from jsonb_array_elements(entries) with ordinality as list loop
    place := number - 1;
    error := null;
    stored_name := null;
    begin
      stored_name := private.import_row(target, entry);
    exception
      when unique_violation then
        get stacked diagnostics violated = constraint_name;
        error := case violated
          when 'items_product_id_key' then 'There is an item with this product ID already.'
          else 'There is a row with this name already.'
        end;
      when no_data_found then
        error := sqlerrm;
      when invalid_text_representation or numeric_value_out_of_range then
        error := 'A number cannot be read.';
      when check_violation then
        get stacked diagnostics violated = constraint_name;
        error := case
          when violated = 'items_name_length' then 'Name must have 2 to 200 characters.'
          when violated like '%\_name\_length' then 'Name must have 2 to 120 characters.'
          when violated = 'items_price_not_negative' then 'Price cannot be negative'
          when violated = 'items_gender_known' then 'Gender is men, women or unisex.'
          when violated = 'items_source_url_http' then 'The source URL must be a valid URL.'
          when violated like '%\_hex\_code\_format' then 'Invalid hex color code (e.g. #FF0000)'
          when violated like '%\_image\_location' or violated = 'brands_logo_location' then 'The image must be a valid URL.'
          when violated like '%description\_length' then 'The description is too long.'
          else 'This row could not be imported.'
        end;
      when not_null_violation then
        get stacked diagnostics violated = column_name;
        error := format('There is no value for %s.', case violated when 'brand_id' then 'brand' else violated end);
      when deadlock_detected or serialization_failure or insufficient_resources or insufficient_privilege then
        raise;
      when others then
        raise warning 'row % of an import into % was refused: % (%)', place, target, sqlerrm, sqlstate;
        error := 'This row could not be imported.';
    end;
    was_there := stored_name is not null;
    return next;
  end loop;
end
$$;
comment on function public.import_rows(text, jsonb) is
  'Administrators only: inserts rows into colors, styles, outfit_styles, brands or items, at most 500, and answers for each whether it was refused and why, or was there already and under which name.';

revoke execute on function public.import_rows(text, jsonb) from public, anon;
grant execute on function public.import_rows(text, jsonb) to authenticated;
