-- Who may read and write outfits. Policies decide about rows; the trigger guard_combine sets the columns of
-- the review, so that no request of a user can publish an outfit.

create function private.guard_combine() returns trigger
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
    return new;
  end if;

  is_admin := public.is_admin_role();
  if not is_admin and cardinality(new.item_ids) = 0 then
    raise exception 'An outfit needs at least one item.'
      using errcode = 'check_violation', constraint = 'combines_item_ids_present',
            schema = 'public', table = 'combines', column = 'item_ids';
  end if;

  if tg_op = 'INSERT' then
    -- Overrides the status that was sent: what administrators create is published, all else waits for review.
    new.status           := case when is_admin then 'approved' else 'pending' end;
    new.created_by_admin := is_admin;
    new.approved_by      := case when is_admin then auth.uid() end;
    new.approved_at      := case when is_admin then now() end;
    new.created_at       := now();
    return new;
  end if;

  if (new.id, new.user_id, new.created_by_admin, new.created_at)
     is distinct from (old.id, old.user_id, old.created_by_admin, old.created_at) then
    raise exception 'The id, creator, origin and creation time of an outfit cannot be changed.'
      using errcode = 'insufficient_privilege';
  end if;
  if not is_admin then
    if (new.status, new.approved_by, new.approved_at)
       is distinct from (old.status, old.approved_by, old.approved_at) then
      raise exception 'Only an administrator may review an outfit.'
        using errcode = 'insufficient_privilege';
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
  return new;
end
$$;
comment on function private.guard_combine() is
  'Before-write trigger: fixes status, origin and review of an outfit by who is writing.';

create trigger combines_guard
  before insert or update on public.combines
  for each row execute function private.guard_combine();

revoke all on table public.combines from anon, authenticated;
grant select on table public.combines to anon;
grant select, insert, update, delete on table public.combines to authenticated;
grant all on table public.combines to service_role;

create policy combines_select_approved on public.combines
  for select to anon
  using (status = 'approved');
comment on policy combines_select_approved on public.combines is
  'Visitors see what was approved.';

create policy combines_select_approved_or_own on public.combines
  for select to authenticated
  using (
    status = 'approved'
    or user_id = (select auth.uid())
    or (select public.is_admin_role()));
comment on policy combines_select_approved_or_own on public.combines is
  'Creators also see their own submissions, administrators everything.';

create policy combines_insert_own on public.combines
  for insert to authenticated
  with check (user_id = (select auth.uid()));
comment on policy combines_insert_own on public.combines is
  'Everybody creates in their own name; the guard decides the status.';

create policy combines_update_own_unpublished on public.combines
  for update to authenticated
  using (user_id = (select auth.uid()) and status in ('pending', 'rejected'))
  with check (user_id = (select auth.uid()) and status in ('pending', 'rejected'));
comment on policy combines_update_own_unpublished on public.combines is
  'Creators edit their submissions until they are published; what was approved stays as it was approved.';

create policy combines_update_admin on public.combines
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy combines_update_admin on public.combines is
  'Administrators edit and review every outfit.';

create policy combines_delete_own_unpublished on public.combines
  for delete to authenticated
  using (user_id = (select auth.uid()) and status in ('pending', 'rejected'));
comment on policy combines_delete_own_unpublished on public.combines is
  'Creators may withdraw a submission.';

create policy combines_delete_admin on public.combines
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy combines_delete_admin on public.combines is
  'Administrators delete every outfit.';

create function private.delete_unpublished_combines() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  delete from public.combines where user_id = old.id and status <> 'approved';
  return old;
end
$$;
comment on function private.delete_unpublished_combines() is
  'Before-delete trigger on profiles: nobody is left to answer for a submission; published outfits stay, without a creator.';

create trigger combines_leave_with_creator
  before delete on public.profiles
  for each row execute function private.delete_unpublished_combines();
