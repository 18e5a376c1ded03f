-- The Approve and Reject buttons. A plain update by an administrator does the same; this one
-- refuses to review twice, so two administrators cannot overrule each other unawares.

create function public.review_combine(combine_id uuid, approve boolean) returns public.combines
  language plpgsql
  set search_path = ''
as $$
declare
  reviewed public.combines;
begin
  if not public.is_admin_role() then
    raise exception 'Only an administrator may review an outfit.'
      using errcode = 'insufficient_privilege';
  end if;
  if approve is null then
    raise exception 'A review approves or rejects.' using errcode = 'null_value_not_allowed';
  end if;

  update public.combines as c
  set status = case when approve then 'approved' else 'rejected' end
  where c.id = review_combine.combine_id and c.status = 'pending'
  returning c.* into reviewed;
  if not found then
    raise exception 'No outfit with this id is waiting for review.' using errcode = 'PT404';
  end if;
  return reviewed;
end
$$;
comment on function public.review_combine(uuid, boolean) is
  'Administrators only: approves or rejects a pending outfit, recording who and when, and answers it.';

revoke execute on function public.review_combine(uuid, boolean) from public, anon;
grant execute on function public.review_combine(uuid, boolean) to authenticated;
