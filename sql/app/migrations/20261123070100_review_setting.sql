-- Submissions are published at once while the settings require no review. What already waits goes on waiting, and a rejected outfit
-- that is submitted again waits too, because an administrator has decided about it.

create function private.is_review_required() returns boolean
  language sql
  stable
  set search_path = ''
as $$
  select coalesce((select s.review_required from public.site_settings as s), true)
$$;
comment on function private.is_review_required() is
  'Whether new submissions wait for an administrator.';

create or replace function private.guard_combine() returns trigger
  language plpgsql
  set search_path = ''
as $$
declare
  is_admin boolean;
  is_published boolean;
begin
  -- Not subject to row-level security: service_role, migrations and security definer functions.
  if not row_security_active(tg_relid) then
    if new.status = 'pending' then
      new.approved_by := null;
      new.approved_at := null;
    else
      new.approved_at := coalesce(new.approved_at, now());
    end if;
    new.rejection_reason := case when new.status = 'rejected' then new.rejection_reason end;
    return new;
  end if;

  is_admin := public.is_admin_role();
  if not is_admin and cardinality(new.item_ids) = 0 then
    raise exception 'An outfit needs at least one item.'
      using errcode = 'check_violation', constraint = 'combines_item_ids_present',
            schema = 'public', table = 'combines', column = 'item_ids';
  end if;

  if tg_op = 'INSERT' then
    -- An outfit in somebody else's name is left to the policy, whose refusal does not depend on that person's photos.
    if not is_admin and new.user_id = auth.uid() then
      perform private.require_training_photos(new.user_id);
    end if;
    -- Overrides the status that was sent.
    is_published         := is_admin or not private.is_review_required();
    new.status           := case when is_published then 'approved' else 'pending' end;
    new.created_by_admin := is_admin;
    new.approved_by      := case when is_admin then auth.uid() end;
    new.approved_at      := case when is_published then now() end;
    new.rejection_reason := null;
    new.created_at       := now();
    return new;
  end if;

  if (new.id, new.user_id, new.created_by_admin, new.created_at)
     is distinct from (old.id, old.user_id, old.created_by_admin, old.created_at) then
    raise exception 'The id, creator, origin and creation time of an outfit cannot be changed.'
      using errcode = 'insufficient_privilege';
  end if;
  if not is_admin then
    if (new.status, new.approved_by, new.approved_at, new.rejection_reason)
       is distinct from (old.status, old.approved_by, old.approved_at, old.rejection_reason) then
      raise exception 'Only an administrator may review an outfit.'
        using errcode = 'insufficient_privilege';
    end if;
    -- Every edit of a rejected outfit submits it again, also one that changes no column: the reason may have been the photos.
    if old.status = 'rejected' then
      perform private.require_training_photos(new.user_id);
      new.status           := 'pending';
      new.approved_by      := null;
      new.approved_at      := null;
      new.rejection_reason := null;
    end if;
    return new;
  end if;

  -- Sets who reviewed and when, whatever was sent.
  if new.status is distinct from old.status then
    new.approved_by := case when new.status <> 'pending' then auth.uid() end;
    new.approved_at := case when new.status <> 'pending' then now() end;
  else
    new.approved_by := old.approved_by;
    new.approved_at := old.approved_at;
  end if;
  new.rejection_reason := case when new.status = 'rejected' then nullif(btrim(new.rejection_reason), '') end;
  return new;
end
$$;
