-- A decision is not final: a published outfit can be taken offline, and a rejected one published. The triggers of a review apply: the
-- creator is told, and the history has the decision.

create function public.change_review(
  combine_id uuid,
  approve boolean,
  seen timestamptz default null,
  reason text default null
) returns public.combines
  language plpgsql
  -- The caller's policies apply.
  set search_path = ''
as $$
declare
  changed public.combines;
begin
  perform private.require_admin();
  if approve is null then
    raise exception 'A review approves or rejects.' using errcode = 'null_value_not_allowed';
  end if;

  update public.combines as c
  set status = case when approve then 'approved' else 'rejected' end,
      rejection_reason = case when not approve then change_review.reason end
  where c.id = change_review.combine_id and not c.created_by_admin
    and c.status = case when approve then 'rejected' else 'approved' end
    and (seen is null or c.updated_at = seen)
  returning c.* into changed;
  if found then
    return changed;
  end if;
  if exists (select from public.combines as c where c.id = change_review.combine_id and c.updated_at <> seen) then
    raise exception 'The outfit was changed or reviewed after it was shown. Look at it again.'
      using errcode = 'PT409';
  end if;
  raise exception 'There is no such decision about an outfit with this id.' using errcode = 'PT404';
end
$$;
comment on function public.change_review(uuid, boolean, timestamptz, text) is
  'Administrators only: takes a published outfit of a creator offline, with a reason, or publishes a rejected one, and answers it. `seen` is the updated_at that the administrator was shown: 409 when the outfit has changed since.';

revoke execute on function public.change_review(uuid, boolean, timestamptz, text) from public, anon;
grant execute on function public.change_review(uuid, boolean, timestamptz, text) to authenticated;
