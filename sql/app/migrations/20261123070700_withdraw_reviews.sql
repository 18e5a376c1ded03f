-- The Undo of a review: the outfit waits again, as if nothing had been decided, so the notification of the creator goes, too. Setting
-- the status to pending by an update keeps the notification, because then the decision had stood for a while.

create function public.withdraw_reviews(combine_ids uuid[]) returns setof uuid
  language plpgsql
  -- Security definer: nobody may delete notifications.
  security definer
  set search_path = ''
as $$
declare
  outfit public.combines;
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
    delete from public.notifications as n
    where n.combine_id = outfit.id and n.kind = outfit.status and n.created_at >= outfit.approved_at;
    update public.combines as c set status = 'pending' where c.id = outfit.id;
    return next outfit.id;
  end loop;
end
$$;
comment on function public.withdraw_reviews(uuid[]) is
  'Administrators only: takes back decisions that the caller has made within the last five minutes, with their notifications, and answers the ids of the outfits that wait again. At most 100.';

revoke execute on function public.withdraw_reviews(uuid[]) from public, anon;
grant execute on function public.withdraw_reviews(uuid[]) to authenticated;
