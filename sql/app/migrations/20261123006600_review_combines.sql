-- Reviews of several outfits in one request. Each has a savepoint of its own: what somebody else has decided or changed meanwhile
-- is reported and does not undo the others.

create function public.review_combines(decisions jsonb) returns table (combine_id uuid, error text)
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
    end;
    return next;
  end loop;
end
$$;
comment on function public.review_combines(jsonb) is
  'Administrators only: decides about up to 100 outfits, each given as {id, approve, seen, reason} with the meaning of review_combine, and answers for each whether it was refused and why.';

revoke execute on function public.review_combines(jsonb) from public, anon;
grant execute on function public.review_combines(jsonb) to authenticated;
