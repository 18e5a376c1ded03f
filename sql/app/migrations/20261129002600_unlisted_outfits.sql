-- Unlisted outfits: published, but in no list, search or suggestion; who has the link with the id sees one. A status of its own, because
-- every list, index and policy asks for approved outfits.

alter table public.combines drop constraint combines_status_known;
alter table public.combines add constraint combines_status_known
  check (status in ('pending', 'approved', 'rejected', 'unlisted'));
comment on column public.combines.status is
  'pending waits for review; approved is public; unlisted was approved and is shown to those who have its link; rejected was not approved.';

create function public.set_outfit_listed(outfit_id uuid, listed boolean) returns public.combines
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
comment on function public.set_outfit_listed(uuid, boolean) is
  'Takes a published outfit of the caller out of all lists, or puts it back.';
revoke execute on function public.set_outfit_listed(uuid, boolean) from public, anon;
grant execute on function public.set_outfit_listed(uuid, boolean) to authenticated;

create function public.unlisted_outfit(outfit_id uuid) returns setof public.combines
  language sql
  stable
  -- Definer: the policies show an unlisted outfit to its creator alone, so that nobody lists them. The id is what the link gives.
  security definer
  set search_path = ''
as $$
  select shown.*
  from public.combines as c
  cross join lateral private.without_reviewer(c) as shown
  where c.id = outfit_id and c.status = 'unlisted'
$$;
comment on function public.unlisted_outfit(uuid) is 'The unlisted outfit with this id.';

-- Neither leaving the lists nor coming back is a review.
drop trigger combines_notify_review on public.combines;
create trigger combines_notify_review
  after update of status on public.combines
  for each row when (
    old.status is distinct from new.status and new.status in ('approved', 'rejected')
    and old.status <> 'unlisted'
    and new.user_id is not null and new.approved_by is distinct from new.user_id)
  execute function private.notify_of_review();
create trigger combines_notify_unlisted_review
  after update of status on public.combines
  for each row when (
    old.status = 'unlisted' and new.status = 'rejected'
    and new.user_id is not null and new.approved_by is distinct from new.user_id)
  execute function private.notify_of_review();

drop trigger combines_record_review on public.combines;
create trigger combines_record_review
  after update of status on public.combines
  for each row when (
    new.status <> old.status and new.status in ('approved', 'rejected')
    and not (old.status = 'unlisted' and new.status = 'approved')
    and not new.created_by_admin)
  execute function private.record_review();

create or replace function public.change_review(
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
    and c.status = any (case when approve then array['rejected'] else array['approved', 'unlisted'] end)
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
