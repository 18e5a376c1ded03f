-- What is decided about several rows at once is decided row by row: whatever is wrong with one, the others are done.

create or replace function public.review_combines(decisions jsonb) returns table (combine_id uuid, error text)
  language plpgsql
  set search_path = ''
as $$
#variable_conflict use_variable
declare
  decision jsonb;
begin
  perform private.require_admin();
  if jsonb_typeof(decisions) is distinct from 'array' or jsonb_array_length(decisions) > 100 then
    raise exception 'A review takes a list of at most 100 decisions.' using errcode = 'invalid_parameter_value';
  end if;

  -- In the order of the ids: two administrators with overlapping lists would otherwise wait for each other's rows.
  for decision in select list.value from jsonb_array_elements(decisions) as list order by list.value ->> 'id' loop
    combine_id := (decision ->> 'id')::uuid;
    error := null;
    begin
      perform public.review_combine(
        combine_id,
        (decision ->> 'approve')::boolean,
        (decision ->> 'seen')::timestamptz,
        decision ->> 'reason');
    exception
      -- Not waiting for review, or changed since it was shown.
      when sqlstate 'PT404' or sqlstate 'PT409' then
        error := sqlerrm;
      -- The whole request is tried again after these: the database ended it, not this row.
      when deadlock_detected or serialization_failure or insufficient_resources then
        raise;
      when others then
        raise warning 'outfit % could not be reviewed: % (%)', combine_id, sqlerrm, sqlstate;
        error := 'This outfit could not be reviewed.';
    end;
    return next;
  end loop;
end
$$;

create or replace function public.import_rows(target text, entries jsonb) returns table (place int, error text)
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
