-- Files of people are counted, and their account is asked for, when a file takes effect and not when its upload begins: policies are
-- asked before the bytes arrive, and the service stores the file afterwards. A slow upload could pass the limits together with
-- others, and could put a file into the folder of an account that was deleted meanwhile.

create function private.folder_owner(bucket text, object_name text) returns uuid
  language sql
  immutable
  set search_path = ''
as $$
  select case when private.is_uuid(folder.owner) then folder.owner::uuid end
  from (
    select case
      when bucket = 'profile-avatars' and starts_with(object_name, 'training-images/') then split_part(object_name, '/', 2)
      when bucket in ('avatars', 'user-outfit-images', 'profile-avatars') then split_part(object_name, '/', 1)
    end as owner) as folder
  where private.is_object_of(case when private.is_uuid(folder.owner) then folder.owner::uuid end, bucket, object_name)
$$;
comment on function private.folder_owner(text, text) is
  'The person in whose folder an object lies; null for all other objects.';

create function private.lock_files(person uuid) returns void
  language sql
  set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('files/' || person, 0))
$$;
comment on function private.lock_files(uuid) is
  'Files of one person are stored and counted one after the other, and not while the account is deleted.';

create function private.guard_own_file() returns trigger
  language plpgsql
  -- Security definer: it counts in all folders of the person, whoever stores the file.
  security definer
  set search_path = ''
as $$
declare
  person constant uuid := private.folder_owner(new.bucket_id, new.name);
  files bigint;
  bytes numeric;
begin
  -- Somebody else's folder is the policies' business: the answer must not depend on that person's files.
  if person is null or (auth.uid() is not null and auth.uid() <> person) then
    return new;
  end if;
  perform private.lock_files(person);
  if not exists (select from public.profiles as p where p.id = person) then
    raise exception 'The account of this folder is gone.' using errcode = 'insufficient_privilege';
  end if;
  if exists (select from public.profiles as p where p.role = 'admin' and p.id::text = new.owner_id) then
    return new;
  end if;
  select count(*), coalesce(sum((o.metadata ->> 'size')::numeric), 0) into files, bytes
  from private.objects_of(person) as o
  -- The row that is being written, and one that an upload replaces.
  where (o.bucket_id, o.name) is distinct from (new.bucket_id, new.name) and o.id is distinct from new.id;
  if files >= 1000 or bytes + coalesce((new.metadata ->> 'size')::numeric, 0) > 1073741824 then
    raise exception 'Your folders are full: 1000 files or 1 GB. Delete some of your pictures first.'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
comment on function private.guard_own_file() is
  'Before-write trigger on storage.objects: no file without an account, and no more than 1000 files and 1 GiB of one person.';

create trigger lookbook_guard_own_file
  before insert or update of bucket_id, name, metadata on storage.objects
  for each row when (new.bucket_id in ('avatars', 'user-outfit-images', 'profile-avatars'))
  execute function private.guard_own_file();

drop policy lookbook_objects_insert_own on storage.objects;
create policy lookbook_objects_insert_own on storage.objects
  for insert to authenticated
  with check (
    private.is_own_object(bucket_id, name)
    and exists (select from public.profiles as p where p.id = (select auth.uid())));
comment on policy lookbook_objects_insert_own on storage.objects is
  'Users with an account upload into their own folders; private.guard_own_file counts.';
drop function private.has_room_for_file(text, text);

create or replace function private.remove_person() returns trigger
  language plpgsql
  -- Security definer: the service that deletes accounts has no rights on files and outfits.
  security definer
  set search_path = ''
as $$
declare
  allowed constant text := coalesce(current_setting('storage.allow_delete_query', true), '');
begin
  -- An upload that is about to be stored waits, and then finds no account.
  perform private.lock_files(old.id);
  perform private.give_outfits_item_pictures(old.id);
  -- Without its row no object can be read. The sweep of the storage service removes the bytes.
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects as o
  where o.id in (select mine.id from private.objects_of(old.id) as mine);
  perform set_config('storage.allow_delete_query', allowed, true);
  if tg_op = 'UPDATE' then
    delete from public.profiles as p where p.id = old.id;
    return new;
  end if;
  return old;
end
$$;

create or replace function private.delete_generated_file() returns trigger
  language plpgsql
  -- Security definer: the file goes with the row, whoever deletes it.
  security definer
  set search_path = ''
as $$
declare
  allowed constant text := coalesce(current_setting('storage.allow_delete_query', true), '');
begin
  -- Without its row no object can be read. The sweep of the storage service removes the bytes.
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects as o
  where o.bucket_id = old.result_bucket
    -- All endings, because an attempt that was interrupted may have stored the file without naming it here.
    and o.name in (
      old.result_folder || '/' || old.id || '.jpg', old.result_folder || '/' || old.id || '.png',
      old.result_folder || '/' || old.id || '.webp');
  perform set_config('storage.allow_delete_query', allowed, true);
  return null;
end
$$;
