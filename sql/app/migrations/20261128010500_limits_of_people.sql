-- How much one person may ask of the others and of the server. Administrators and the service key have no limits.

create table private.asked_for (
  user_id  uuid        not null,
  kind     text        not null,
  asked_at timestamptz not null default now(),

  constraint asked_for_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint asked_for_kind_known check (kind in ('submission', 'picture'))
);
comment on table private.asked_for is
  'What people have asked for within the last day. Deleting an outfit or a picture does not give its share of the day back.';
create index asked_for_user_id_idx on private.asked_for (user_id, kind, asked_at);
alter table private.asked_for enable row level security;

create function private.count_daily(person uuid, what text) returns int
  language sql
  -- Security definer: nobody but these functions reads or writes the table.
  security definer
  set search_path = ''
as $$
  -- Requests of one person wait for each other, because they could otherwise pass a limit together.
  select pg_advisory_xact_lock(hashtextextended('asked_for/' || what || '/' || person, 0));
  delete from private.asked_for as a where a.user_id = person and a.asked_at < now() - interval '1 day';
  insert into private.asked_for (user_id, kind) values (person, what);
  select count(*)::int from private.asked_for as a where a.user_id = person and a.kind = what
$$;
comment on function private.count_daily(uuid, text) is
  'Counts one more of this kind for the person, and returns how many there were within a day. Undone with the transaction.';

create function private.limit_submissions() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  if private.count_daily(new.user_id, 'submission') > 50 then
    raise exception 'You have submitted 50 outfits within a day. Submit the next one tomorrow.'
      using errcode = 'check_violation', constraint = 'combines_daily_limit',
            schema = 'public', table = 'combines';
  end if;
  if (select count(*) from public.combines as c where c.user_id = new.user_id and c.status = 'pending') > 30 then
    raise exception 'Thirty of your outfits wait for review. Wait until some of them are reviewed, or delete one.'
      using errcode = 'check_violation', constraint = 'combines_waiting_limit',
            schema = 'public', table = 'combines';
  end if;
  return null;
end
$$;
comment on function private.limit_submissions() is
  'After-insert trigger: one person fills neither the queue of the reviews nor the lists.';

-- After the policy has refused an outfit in somebody else's name. Administrators' own outfits are not counted.
create trigger combines_limit
  after insert on public.combines
  for each row when (not new.created_by_admin and new.user_id = auth.uid())
  execute function private.limit_submissions();

create or replace function private.check_picture_limits(person uuid) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  if (select count(*) from private.training_photos(person)) <> 3 then
    raise exception 'Upload your three training photos first.'
      using errcode = 'check_violation', constraint = 'generated_pictures_training_photos_complete';
  end if;
  if (select count(*) from public.generated_pictures as g
      where g.user_id = person and g.status in ('queued', 'running')) >= 3 then
    raise exception 'Three of your pictures are being made. Wait for one of them, or cancel it.'
      using errcode = 'check_violation', constraint = 'generated_pictures_waiting_limit';
  end if;
  if (select count(*) from public.generated_pictures as g where g.user_id = person) >= 60 then
    raise exception 'You have 60 pictures. Delete some of them first.'
      using errcode = 'check_violation', constraint = 'generated_pictures_kept_limit';
  end if;
  if private.count_daily(person, 'picture') > 30 then
    raise exception 'You have asked for 30 pictures within a day. Ask for the next one tomorrow.'
      using errcode = 'check_violation', constraint = 'generated_pictures_daily_limit';
  end if;
end
$$;
comment on function private.check_picture_limits(uuid) is
  'Raises 23514 unless this person may ask for another picture, and counts it.';

-- Files.

create function private.is_object_of(person uuid, bucket_id text, object_name text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select case bucket_id
    when 'avatars' then folder[1] = person::text
    when 'user-outfit-images' then folder[1] = person::text
    when 'profile-avatars' then
      folder[1] = person::text or (folder[1] = 'training-images' and folder[2] = person::text)
    else false
  end
  from (select storage.foldername(object_name)) as object (folder)
$$;
comment on function private.is_object_of(uuid, text, text) is
  'True when the object lies in a folder that belongs to this person.';

create or replace function private.is_own_object(bucket_id text, object_name text) returns boolean
  language sql
  stable
  set search_path = ''
as $$
  select coalesce(private.is_object_of(auth.uid(), bucket_id, object_name), false)
$$;

create function private.objects_of(person uuid) returns setof storage.objects
  language sql
  stable
  set search_path = ''
as $$
  -- The comparison by "C" uses the index on bucket and name; '0' is the character after '/'.
  select o.*
  from (
    values ('avatars', person::text), ('user-outfit-images', person::text), ('profile-avatars', person::text),
      ('profile-avatars', 'training-images/' || person)
  ) as folder (bucket, path)
  join storage.objects as o on o.bucket_id = folder.bucket
    and o.name collate "C" >= folder.path || '/' and o.name collate "C" < folder.path || '0'
$$;
comment on function private.objects_of(uuid) is
  'The files in all folders of this person; the same as is_object_of, found by index.';

create function private.has_room_for_file(bucket text, object_name text) returns boolean
  language plpgsql
  -- Security definer: it counts in all folders of the caller, whatever policies say.
  security definer
  set search_path = ''
as $$
declare
  me constant uuid := auth.uid();
  files bigint;
  bytes numeric;
begin
  -- Uploads of one person wait for each other here, because they could otherwise pass the limit together.
  perform pg_advisory_xact_lock(hashtextextended('files/' || me, 0));
  select count(*), coalesce(sum((o.metadata ->> 'size')::numeric), 0) into files, bytes
  from private.objects_of(me) as o
  -- The row that is being written, and one that an upload replaces.
  where (o.bucket_id, o.name) is distinct from (bucket, object_name);
  return files < 1000 and bytes < 1073741824;
end
$$;
comment on function private.has_room_for_file(text, text) is
  'False when the caller has 1000 files or 1 GiB already.';

drop policy lookbook_objects_insert_own on storage.objects;
create policy lookbook_objects_insert_own on storage.objects
  for insert to authenticated
  with check (
    private.is_own_object(bucket_id, name)
    and exists (select from public.profiles as p where p.id = (select auth.uid()))
    and private.has_room_for_file(bucket_id, name));
comment on policy lookbook_objects_insert_own on storage.objects is
  'Users with an account upload into their own folders, up to 1000 files and 1 GiB.';
