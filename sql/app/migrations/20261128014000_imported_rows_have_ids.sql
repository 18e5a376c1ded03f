-- An import whose answer was lost is sent again: each row has an id that follows from its file, so none is made twice. Names of outfit
-- styles are not unique, and would not tell.

create or replace function private.import_row(target text, entry jsonb) returns void
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  row_id constant uuid := case
    when private.is_uuid(entry ->> 'id') then (entry ->> 'id')::uuid
    else gen_random_uuid()
  end;
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
end
$$;
comment on function private.import_row(text, jsonb) is
  'Inserts one row of a CSV import; the keys are the names of the template''s columns, and `id`. A row whose id is there stays as it is.';
