-- A training photo is a file of its owner: its row holds the name in the bucket profile-avatars and no address, and counts only
-- while the file is there.

create function private.name_training_photo() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- Clients send the path of the address, or the name. All else stays as it is, and the constraint refuses it.
  if new.image_url !~ '[?#]|^[a-z]+:' then
    new.image_url := coalesce(
      substring(private.file_at(new.image_url) from '^profile-avatars/(.*)$'), new.image_url);
  end if;
  return new;
end
$$;
comment on function private.name_training_photo() is
  'Before-write trigger: stores the name of a file in place of its address.';

-- Rows that name another file than they seem to, the same file twice, or none, are no photos: their slots are free again.
alter table public.user_training_images drop constraint user_training_images_own_folder;
update public.user_training_images as t
set image_url = coalesce(substring(private.file_at(t.image_url) from '^profile-avatars/(.*)$'), t.image_url);
delete from public.user_training_images as t
where t.image_url !~ ('^training-images/' || t.user_id || '/[^/?#%\\[:cntrl:]]+$')
  or not exists (
    select from storage.objects as o where o.bucket_id = 'profile-avatars' and o.name = t.image_url)
  or exists (
    select from public.user_training_images as earlier
    where earlier.user_id = t.user_id and earlier.image_url = t.image_url and earlier.image_order < t.image_order);

alter table public.user_training_images add constraint user_training_images_own_folder check (
  char_length(image_url) <= 1024
  and image_url ~ ('^training-images/' || user_id || '/[^/?#%\\[:cntrl:]]+$'));
alter table public.user_training_images add constraint user_training_images_different unique (user_id, image_url);
comment on column public.user_training_images.image_url is
  'Name of the file in the bucket profile-avatars, training-images/<user id>/<file>. An address that is written is stored as this name.';

create trigger user_training_images_name
  before insert or update of image_url on public.user_training_images
  for each row execute function private.name_training_photo();

create function private.training_photos(person uuid) returns table (place int, name text)
  language sql
  stable
  -- Security definer: an administrator's submission, and the server, ask about the files of others.
  security definer
  set search_path = ''
as $$
  select t.image_order::int, o.name
  from public.user_training_images as t
  join storage.objects as o on o.bucket_id = 'profile-avatars' and o.name = t.image_url
  where t.user_id = person
    and starts_with(o.name, 'training-images/' || person || '/')
    -- An interrupted upload of some clients leaves an empty file.
    and coalesce((o.metadata ->> 'size')::bigint, 0) > 0
$$;
comment on function private.training_photos(uuid) is
  'The training photos of this person whose files are there: slot, and name in the bucket profile-avatars.';
revoke execute on function private.training_photos(uuid) from public;

create or replace function private.require_training_photos(creator uuid) returns void
  language plpgsql
  stable
  -- Security definer: it counts files, which callers see only of themselves.
  security definer
  set search_path = ''
as $$
declare
  photos int;
begin
  -- The primary key and the range of image_order leave no other three rows than the slots 1, 2 and 3.
  select count(*) into photos from private.training_photos(creator);
  if photos <> 3 then
    raise exception 'A submission needs exactly three training photos of its creator.'
      using errcode = 'check_violation', constraint = 'combines_training_photos_complete',
            detail = format('Constraint combines_training_photos_complete: %s of 3 photos are uploaded.', photos),
            schema = 'public', table = 'combines';
  end if;
end
$$;

create function private.check_training_file() returns trigger
  language plpgsql
  -- Security definer: the files of a folder are seen by its owner alone, who need not be the writer.
  security definer
  set search_path = ''
as $$
begin
  if not exists (
    select from storage.objects as o
    where o.bucket_id = 'profile-avatars' and o.name = new.image_url
      and coalesce((o.metadata ->> 'size')::bigint, 0) > 0) then
    raise exception 'There is no such photo. Upload it first.'
      using errcode = 'check_violation', constraint = 'user_training_images_file_exists',
            schema = 'public', table = 'user_training_images', column = 'image_url';
  end if;
  return null;
end
$$;
comment on function private.check_training_file() is
  'After-write trigger: a row without its file would fill a slot that nobody can look at.';

-- After the constraints and the policy, whose refusals do not depend on files.
create trigger user_training_images_file
  after insert or update of image_url on public.user_training_images
  for each row execute function private.check_training_file();

-- The row goes with its file, whoever deletes or renames it: the slot is free again.
create function private.free_training_slot() returns trigger
  language plpgsql
  -- Security definer: who deletes the file need not be its owner.
  security definer
  set search_path = ''
as $$
declare
  owner_folder constant text := split_part(old.name, '/', 2);
begin
  if private.is_uuid(owner_folder) then
    delete from public.user_training_images as t where t.user_id = owner_folder::uuid and t.image_url = old.name;
  end if;
  return null;
end
$$;
comment on function private.free_training_slot() is
  'After-write trigger on storage.objects: no row names a training photo that is gone.';

create trigger lookbook_free_training_slot
  after delete on storage.objects
  for each row when (old.bucket_id = 'profile-avatars' and starts_with(old.name, 'training-images/'))
  execute function private.free_training_slot();
create trigger lookbook_free_renamed_training_slot
  after update of bucket_id, name on storage.objects
  for each row when (
    old.bucket_id = 'profile-avatars' and starts_with(old.name, 'training-images/')
    and (new.bucket_id, new.name) is distinct from (old.bucket_id, old.name))
  execute function private.free_training_slot();
