-- Files. The buckets themselves are described in config.toml; public ones are read by their
-- public address without any policy. Here: who lists, signs, uploads, replaces and deletes.
--
--   bucket               written by   folder of a user
--   images               admins       -
--   brand-logos          admins       -
--   category-icons       admins       -
--   combine-images       admins       -
--   avatars              users        <user id>/
--   user-outfit-images   users        <user id>/
--   profile-avatars      users        <user id>/ and training-images/<user id>/   (private)

create function private.is_own_object(bucket_id text, object_name text) returns boolean
  language sql
  stable
  set search_path = ''
as $$
  select case bucket_id
    when 'avatars' then folder[1] = uid
    when 'user-outfit-images' then folder[1] = uid
    when 'profile-avatars' then folder[1] = uid or (folder[1] = 'training-images' and folder[2] = uid)
    else false
  end
  from (select storage.foldername(object_name), auth.uid()::text) as object (folder, uid)
$$;
comment on function private.is_own_object(text, text) is
  'True when the object lies in a folder that belongs to the caller.';

create policy lookbook_objects_select_own on storage.objects
  for select to authenticated
  using (private.is_own_object(bucket_id, name));
comment on policy lookbook_objects_select_own on storage.objects is
  'Users list, download and sign what lies in their own folders.';

create policy lookbook_objects_insert_own on storage.objects
  for insert to authenticated
  with check (private.is_own_object(bucket_id, name));
comment on policy lookbook_objects_insert_own on storage.objects is
  'Users upload into their own folders.';

create policy lookbook_objects_update_own on storage.objects
  for update to authenticated
  using (private.is_own_object(bucket_id, name))
  with check (private.is_own_object(bucket_id, name));
comment on policy lookbook_objects_update_own on storage.objects is
  'Users replace and move files within their own folders.';

create policy lookbook_objects_delete_own on storage.objects
  for delete to authenticated
  using (private.is_own_object(bucket_id, name));
comment on policy lookbook_objects_delete_own on storage.objects is
  'Users delete files of their own folders.';

create policy lookbook_objects_all_admin on storage.objects
  for all to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy lookbook_objects_all_admin on storage.objects is
  'Administrators maintain the pictures of every bucket, training photos included.';
