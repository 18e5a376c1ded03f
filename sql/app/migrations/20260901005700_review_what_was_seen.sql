-- A review decides about what the administrator saw. The creator may edit a pending outfit at any time, so the
-- administrator's page sends the `updated_at` that it has shown.

drop function public.review_combine(uuid, boolean);

create function public.review_combine(
  combine_id uuid,
  approve boolean,
  seen timestamptz default null,
  reason text default null
) returns public.combines
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
  set status = case when approve then 'approved' else 'rejected' end,
      rejection_reason = case when not approve then reason end
  where c.id = review_combine.combine_id and c.status = 'pending' and (seen is null or c.updated_at = seen)
  returning c.* into reviewed;
  if found then
    return reviewed;
  end if;
  if exists (select 1 from public.combines as c where c.id = review_combine.combine_id and c.updated_at <> seen) then
    raise exception 'The outfit was changed or reviewed after it was shown. Look at it again.'
      using errcode = 'PT409';
  end if;
  raise exception 'No outfit with this id is waiting for review.' using errcode = 'PT404';
end
$$;
comment on function public.review_combine(uuid, boolean, timestamptz, text) is
  'Administrators only: approves or rejects a pending outfit, recording who, when and why, and answers it. `seen` is the updated_at that the administrator was shown: 409 when the outfit has changed since. `reason` is told to the creator of a rejected outfit.';

revoke execute on function public.review_combine(uuid, boolean, timestamptz, text) from public, anon;
grant execute on function public.review_combine(uuid, boolean, timestamptz, text) to authenticated;
