-- The CSV import of colors and styles. Every row has a savepoint of its own, so that a bad row never loses the others.

create function private.import_row(target text, entry jsonb) returns void
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
begin
  case target
    when 'colors' then
      -- Three digits are stored as six.
      insert into public.colors (name, hex_code)
      values (
        btrim(entry ->> 'name'),
        regexp_replace(btrim(entry ->> 'hexCode'), '^#(.)(.)(.)$', '#\1\1\2\2\3\3'));
    when 'styles' then
      insert into public.styles (name, description, meta_description, image)
      values (btrim(entry ->> 'name'), entry ->> 'description', entry ->> 'metaDescription', entry ->> 'image');
    when 'outfit_styles' then
      insert into public.outfit_styles (name, description, meta_description, image)
      values (
        coalesce(nullif(btrim(entry ->> 'name'), ''), 'Unnamed Style'),
        entry ->> 'description', entry ->> 'metaDescription', entry ->> 'image');
    else
      raise exception 'There is no import into "%".', target using errcode = 'invalid_parameter_value';
  end case;
end
$$;
comment on function private.import_row(text, jsonb) is
  'Inserts one row of a CSV import; the keys are the names of the template''s columns.';

create function public.import_rows(target text, entries jsonb) returns table (place int, error text)
  language plpgsql
  set search_path = ''
as $$
declare
  entry jsonb;
  number bigint;
  violated text;
begin
  perform private.require_admin();
  if target not in ('colors', 'styles', 'outfit_styles') then
    raise exception 'There is no import into "%".', target using errcode = 'invalid_parameter_value';
  end if;
  if jsonb_typeof(entries) is distinct from 'array' or jsonb_array_length(entries) > 500 then
    raise exception 'An import takes a list of at most 500 rows.' using errcode = 'invalid_parameter_value';
  end if;

  for entry, number in select list.value, list.ordinality from jsonb_array_elements(entries) with ordinality as list loop
    place := number - 1;
    error := null;
    begin
      perform private.import_row(target, entry);
    exception
      when unique_violation then
        error := 'There is a row with this name already.';
      when check_violation then
        get stacked diagnostics violated = constraint_name;
        error := case
          when violated like '%\_name\_length' then 'Name must have 2 to 120 characters.'
          when violated like '%\_hex\_code\_format' then 'Invalid hex color code (e.g. #FF0000)'
          when violated like '%\_image\_location' then 'The image must be a valid URL.'
          else sqlerrm
        end;
      when not_null_violation then
        get stacked diagnostics violated = column_name;
        error := format('There is no value for %s.', violated);
    end;
    return next;
  end loop;
end
$$;
comment on function public.import_rows(text, jsonb) is
  'Administrators only: inserts rows into colors, styles or outfit_styles, at most 500, and answers for each whether it was refused and why.';

revoke execute on function public.import_rows(text, jsonb) from public, anon;
grant execute on function public.import_rows(text, jsonb) to authenticated;
