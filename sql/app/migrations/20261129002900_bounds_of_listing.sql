-- A review that is withdrawn while its outfit is unlisted leaves no trace; names are short also with blanks around them; and an outfit is taken
-- out of the lists and back a limited number of times, because each of them indexes it anew.

create or replace function public.withdraw_reviews(combine_ids uuid[]) returns setof uuid
  language plpgsql
  -- Security definer: nobody may delete notifications or entries of the history.
  security definer
  set search_path = ''
as $$
declare
  outfit public.combines;
  decided text;
begin
  perform private.require_admin();
  if cardinality(combine_ids) > 100 then
    raise exception 'At most 100 reviews are withdrawn at once.' using errcode = 'invalid_parameter_value';
  end if;

  -- In the order of the ids: two calls with overlapping lists would otherwise wait for each other's rows.
  for outfit in
    select * from public.combines as c
    where c.id = any (combine_ids)
      and c.status <> 'pending' and not c.created_by_admin
      -- Only the caller's own decision, and only soon after it: later on, others have relied on it.
      and c.approved_by = auth.uid() and c.approved_at > now() - interval '5 minutes'
    order by c.id
    for update
  loop
    -- Its creator may have taken it out of the lists since.
    decided := case outfit.status when 'unlisted' then 'approved' else outfit.status end;
    delete from public.notifications as n
    where n.combine_id = outfit.id and n.kind = decided and n.created_at >= outfit.approved_at;
    delete from public.combine_reviews as r
    where r.combine_id = outfit.id and r.decision = decided and r.decided_at >= outfit.approved_at;
    update public.combines as c set status = 'pending' where c.id = outfit.id;
    return next outfit.id;
  end loop;
end
$$;

-- The checks of names trim them, and the rows keep the blanks. Rows that are longer stay as they are until they are written.
do $$
declare
  named text;
begin
  foreach named in array array[
    'brands', 'categories', 'subcategories', 'colors', 'styles', 'outfit_styles', 'items', 'combines', 'collections']
  loop
    execute format(
      'alter table public.%I add constraint %I check (char_length(name) <= 300) not valid', named, named || '_name_size');
  end loop;
end
$$;

alter table private.asked_for drop constraint asked_for_kind_known;
alter table private.asked_for add constraint asked_for_kind_known
  check (kind in ('submission', 'picture', 'follow', 'report', 'listing'));

create or replace function public.set_outfit_listed(outfit_id uuid, listed boolean) returns public.combines
  language plpgsql
  -- Definer: creators cannot change what was approved. Only the status of an own outfit is, and only between these two.
  security definer
  set search_path = ''
as $$
declare
  changed public.combines;
begin
  update public.combines as c
  set status = case when listed then 'approved' else 'unlisted' end
  where c.id = outfit_id and c.user_id = auth.uid()
    and c.status = case when listed then 'unlisted' else 'approved' end
  returning c.* into changed;
  if found then
    if private.count_daily(auth.uid(), 'listing') > 50 then
      raise exception 'You have listed and unlisted outfits 50 times within a day. Do it again tomorrow.'
        using errcode = 'check_violation', constraint = 'combines_listing_limit', schema = 'public', table = 'combines';
    end if;
    return private.without_reviewer(changed);
  end if;
  -- A repeated request finds it done.
  select c.* into changed from public.combines as c
  where c.id = outfit_id and c.user_id = auth.uid()
    and c.status = case when listed then 'approved' else 'unlisted' end;
  if not found then
    raise exception 'You have no published outfit with this id.' using errcode = 'PT404';
  end if;
  return private.without_reviewer(changed);
end
$$;
