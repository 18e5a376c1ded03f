-- What a person may do with the account as a whole: take all its data along, and delete it.

create function public.export_my_data() returns jsonb
  language plpgsql
  stable
  set search_path = ''
  -- The caller's policies apply, and every list names its owner: administrators see more rows than their own.
as $$
declare
  me constant uuid := auth.uid();
begin
  if me is null then
    raise exception 'Sign in to export your data.' using errcode = 'insufficient_privilege';
  end if;
  return jsonb_build_object(
    'exported_at', now(),
    'account', jsonb_build_object('id', me, 'email', auth.jwt() ->> 'email', 'phone', auth.jwt() ->> 'phone'),
    'profile', (select to_jsonb(p) from public.profiles as p where p.id = me),
    'outfits', (
      select coalesce(jsonb_agg(to_jsonb(c) order by c.created_at, c.id), '[]')
      from public.combines as c where c.user_id = me),
    'likes', (
      select coalesce(jsonb_agg(to_jsonb(l) order by l.created_at, l.id), '[]')
      from public.likes as l where l.user_id = me),
    'bookmarks', (
      select coalesce(jsonb_agg(to_jsonb(b) order by b.created_at, b.id), '[]')
      from public.bookmarks as b where b.user_id = me),
    'training_images', (
      select coalesce(jsonb_agg(to_jsonb(t) order by t.image_order), '[]')
      from public.user_training_images as t where t.user_id = me),
    'notifications', (
      select coalesce(jsonb_agg(to_jsonb(n) order by n.created_at, n.id), '[]')
      from public.notifications as n where n.user_id = me),
    'files', (
      select coalesce(jsonb_agg(
        jsonb_build_object('bucket', o.bucket_id, 'name', o.name) order by o.bucket_id, o.name), '[]')
      from storage.objects as o where private.is_own_object(o.bucket_id, o.name)));
end
$$;
comment on function public.export_my_data() is
  'Signed-in people only: every row about the caller, and the names of their files.';

create function private.give_outfits_item_pictures(creator uuid) returns void
  language sql
  set search_path = ''
as $$
  update public.combines as c
  set (main_image, main_image_color, image_alt) = (
    select i.image, i.image_color, null
    from unnest(c.item_ids) with ordinality as listed (id, place)
    join public.items as i on i.id = listed.id and i.image is not null
    order by listed.place
    limit 1)
  where c.user_id = creator and c.status = 'approved'
    and private.is_own_picture('user-outfit-images', creator, c.main_image)
    -- A picture that administrators require cannot be taken away without another one.
    and exists (select from public.items as i where i.id = any (c.item_ids) and i.image is not null)
$$;
comment on function private.give_outfits_item_pictures(uuid) is
  'Published outfits outlive their creator''s files: they get the picture of their first item that has one.';

create function public.delete_my_account(confirmation text) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  me constant uuid := auth.uid();
  expected text;
begin
  select coalesce(p.username, u.email) into expected
  from auth.users as u left join public.profiles as p on p.id = u.id
  where u.id = me;
  if not found then
    raise exception 'Sign in to delete your account.' using errcode = 'insufficient_privilege';
  end if;
  -- A link or a script that calls this function in somebody's session does not know what to send.
  if lower(btrim(confirmation)) is distinct from lower(expected) then
    raise exception 'The confirmation is not the username of the account.'
      using errcode = 'check_violation', constraint = 'account_deletion_confirmed',
            hint = 'An account without a username is confirmed by its e-mail address.';
  end if;
  -- The lock serialises changes of administrators, as in set_user_role.
  perform from public.profiles as p where p.role = 'admin' order by p.id for update;
  if exists (select from public.profiles as p where p.id = me and p.role = 'admin')
     and not exists (select from public.profiles as p where p.role = 'admin' and p.id <> me) then
    raise exception 'The last administrator cannot be deleted.'
      using errcode = 'check_violation', hint = 'Make somebody else an administrator first.';
  end if;

  perform private.give_outfits_item_pictures(me);
  -- Without its row no object can be read. The sweep of the storage service removes the bytes.
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects as o where private.is_own_object(o.bucket_id, o.name);
  perform set_config('storage.allow_delete_query', 'false', true);
  -- Sessions, identities, the profile and what belongs to it go with the account.
  delete from auth.users as u where u.id = me;
end
$$;
comment on function public.delete_my_account(text) is
  'Signed-in people only: deletes rows, files and sessions of the caller, confirmed by their username, or by the e-mail address of an account without one.';

-- An access token outlives its account for up to an hour: its bearer must not fill the deleted account's folders again.
drop policy lookbook_objects_insert_own on storage.objects;
create policy lookbook_objects_insert_own on storage.objects
  for insert to authenticated
  with check (
    private.is_own_object(bucket_id, name)
    and exists (select from public.profiles as p where p.id = (select auth.uid())));
comment on policy lookbook_objects_insert_own on storage.objects is
  'Users with an account upload into their own folders.';
