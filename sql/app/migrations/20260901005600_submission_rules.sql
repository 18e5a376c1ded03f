-- A submission needs the three training photos of its creator, and an edit submits a rejected outfit again.

create or replace function private.set_updated_at() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- now() is the start of the transaction. A transaction that waited for another edit of the row may have started before it, and
  -- review_combine compares these times, so every update needs a later one.
  new.updated_at := greatest(now(), old.updated_at + interval '1 microsecond');
  return new;
end
$$;

create function private.require_training_photos(creator uuid) returns void
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  photos int;
begin
  -- The primary key and the range of image_order leave no other three rows than the slots 1, 2 and 3.
  select count(*) into photos from public.user_training_images as t where t.user_id = creator;
  if photos <> 3 then
    raise exception 'A submission needs exactly three training photos of its creator.'
      using errcode = 'check_violation', constraint = 'combines_training_photos_complete',
            detail = format('Constraint combines_training_photos_complete: %s of 3 photos are uploaded.', photos),
            schema = 'public', table = 'combines';
  end if;
end
$$;
comment on function private.require_training_photos(uuid) is
  'Raises 23514 unless the three training photos of this person are uploaded.';

create or replace function private.guard_combine() returns trigger
  language plpgsql
  set search_path = ''
as $$
declare
  is_admin boolean;
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
    -- Overrides the status that was sent: what administrators create is published, all else waits for review.
    new.status           := case when is_admin then 'approved' else 'pending' end;
    new.created_by_admin := is_admin;
    new.approved_by      := case when is_admin then auth.uid() end;
    new.approved_at      := case when is_admin then now() end;
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

-- An edit turns a rejected outfit into a pending one, which the condition on the new row already allows.
comment on policy combines_update_own_unpublished on public.combines is
  'Creators edit their submissions until they are published, which submits a rejected one again; what was approved stays as it was approved.';
