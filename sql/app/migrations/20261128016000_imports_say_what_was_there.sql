-- An import tells rows that it has made from those that an earlier one had made already. The types of answers cannot be replaced.

drop function public.import_rows(text, jsonb);
drop function private.import_row(text, jsonb);

create function private.import_row(target text, entry jsonb) returns boolean
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
    else
      raise exception 'There is no import into "%".', target using errcode = 'invalid_parameter_value';
  end case;
  get diagnostics inserted = row_count;
  return inserted = 0;
end
$$;
comment on function private.import_row(text, jsonb) is
  'Inserts one row of a CSV import; the keys are the names of the template''s columns, and `id`. A row whose id is there stays as it is; returns whether that is so.';

create function public.import_rows(target text, entries jsonb)
  returns table (place int, error text, was_there boolean)
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
    was_there := false;
    begin
      was_there := private.import_row(target, entry);
    exception
      when unique_violation then
        error := 'There is a row with this name already.';
      when check_violation then
        get stacked diagnostics violated = constraint_name;
        error := case
          when violated like '%\_name\_length' then 'Name must have 2 to 120 characters.'
          when violated like '%\_hex\_code\_format' then 'Invalid hex color code (e.g. #FF0000)'
          when violated like '%\_image\_location' then 'The image must be a valid URL.'
          when violated like '%description\_length' then 'The description is too long.'
          else 'This row could not be imported.'
        end;
      when not_null_violation then
        get stacked diagnostics violated = column_name;
        error := format('There is no value for %s.', violated);
      when deadlock_detected or serialization_failure or insufficient_resources or insufficient_privilege then
        raise;
      when others then
        raise warning 'row % of an import into % was refused: % (%)', place, target, sqlerrm, sqlstate;
        error := 'This row could not be imported.';
    end;
    return next;
  end loop;
end
$$;
comment on function public.import_rows(text, jsonb) is
  'Administrators only: inserts rows into colors, styles or outfit_styles, at most 500, and answers for each whether it was refused and why, or was there already.';

revoke execute on function public.import_rows(text, jsonb) from public, anon;
grant execute on function public.import_rows(text, jsonb) to authenticated;
