-- Versions of objects and markers of deleted ones (STORE-200 to STORE-229), and lifecycle rules (STORE-230 to STORE-238).
--
-- storage.objects keeps one row for each key, its current object. What a bucket with versions keeps beside it, superseded versions and
-- the markers of deleted keys, is in a table that inherits from it. So the policies on storage.objects decide about each version as about
-- the current object, `only storage.objects` is what the table was before, and a large table gets neither an index nor a changed row.
-- The triggers write the history in the transaction of each write, whoever writes.
--
-- A key is in one of three states: it has an object; it has no object but a history, whose newest row is its current marker; it has
-- nothing. Locks are taken in this order, so that writers of one key wait for each other and never in a circle:
-- 1. the object's row, or its place in the unique index over bucket and key: whoever changes the history of a key with an object, or gives
--    a key an object, has it first;
-- 2. the advisory lock of the bucket: shared by whoever gives a key an object, exclusive for whoever marks keys that have nothing, who
--    holds no other lock while waiting for it;
-- 3. rows of the history: of a key first the current marker, then others; markers of several keys in the order of their names. Whoever
--    removes a version that is not current locks that row alone.
-- A transaction about several keys, such as a move, can still meet another one about the same keys in the opposite order, as it can without
-- versions.

-- Our listings read current objects. Their texts are replaced and not run again: other functions of these names may belong to the project,
-- and reading the default of an argument can run what it owns.
update pg_catalog.pg_proc as p
set prosrc = pg_catalog.replace(p.prosrc, 'from storage.objects as o', 'from only storage.objects as o')
where p.pronamespace = 'storage'::pg_catalog.regnamespace and p.proowner = 'supabase_storage_admin'::pg_catalog.regrole
  and p.proname in ('walk_level', 'walk_level_backwards', 'walk_folder', 'walk_folder_backwards', 'search_by_timestamp');

set local role supabase_storage_admin;

alter table storage.buckets drop constraint buckets_versioning_disabled_check;
alter table storage.buckets
  add column lifecycle_configuration jsonb,
  -- Counts the changes of the rules.
  add column lifecycle_generation bigint not null default 0;
-- Rules that nobody can read would stop the removal of versions in all buckets.
alter table storage.buckets add constraint buckets_lifecycle_configuration_check check (
  lifecycle_configuration is null
  or jsonb_typeof(lifecycle_configuration) = 'object' and coalesce(jsonb_typeof(lifecycle_configuration -> 'rules'), '') = 'array'
  and not jsonb_path_exists(lifecycle_configuration, '$.rules[*].type() ? (@ != "object")')
  and not jsonb_path_exists(lifecycle_configuration, '$.rules[*] ? (
    !(@.status == "Enabled" || @.status == "Disabled")
    || !(@.noncurrentVersionExpiration.type() == "object")
    || !(@.noncurrentVersionExpiration.noncurrentDays.type() == "number"
      && @.noncurrentVersionExpiration.noncurrentDays.floor() == @.noncurrentVersionExpiration.noncurrentDays
      && @.noncurrentVersionExpiration.noncurrentDays >= 1 && @.noncurrentVersionExpiration.noncurrentDays <= 2147483647)
    || exists(@.noncurrentVersionExpiration.newerNoncurrentVersions)
      && !(@.noncurrentVersionExpiration.newerNoncurrentVersions.type() == "number"
        && @.noncurrentVersionExpiration.newerNoncurrentVersions.floor() == @.noncurrentVersionExpiration.newerNoncurrentVersions
        && @.noncurrentVersionExpiration.newerNoncurrentVersions >= 1 && @.noncurrentVersionExpiration.newerNoncurrentVersions <= 100)
  )')
);

create function storage.protect_bucket_columns() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' and new.versioning_status is distinct from old.versioning_status
    and not (new.versioning_status = 'ENABLED' or old.versioning_status = 'ENABLED' and new.versioning_status = 'SUSPENDED') then
    raise invalid_parameter_value using
      message = format('The versioning status cannot change from %s to %s', old.versioning_status, new.versioning_status);
  end if;
  -- Whoever is adding an object has locked the bucket for its foreign key, and has seen no versions.
  if tg_op = 'UPDATE' and new.versioning_status = 'ENABLED' and old.versioning_status = 'DISABLED' then
    perform from storage.buckets as b where b.id = old.id for update;
  end if;
  -- Rules delete versions: a right to change buckets does not include them.
  if not pg_catalog.pg_has_role(current_user, 'service_role', 'member')
    and not pg_catalog.pg_has_role(current_user, 'supabase_storage_admin', 'member') then
    if tg_op = 'INSERT' then
      new.lifecycle_configuration := null;
      new.lifecycle_generation := 0;
    else
      new.lifecycle_configuration := old.lifecycle_configuration;
      new.lifecycle_generation := old.lifecycle_generation;
    end if;
  end if;
  return new;
end
$$;
comment on function storage.protect_bucket_columns() is 'Which changes of versioning are possible, and who sets lifecycle rules.';

create trigger protect_bucket_columns
  before insert or update on storage.buckets
  for each row execute function storage.protect_bucket_columns();

create table storage.object_history (
  constraint object_history_pkey primary key (id),
  constraint object_history_bucket_id_fkey foreign key (bucket_id) references storage.buckets (id),
  constraint object_history_is_no_current_object check (archived_at is not null or is_delete_marker)
) inherits (storage.objects);
comment on table storage.object_history is
  'Superseded versions of objects, and markers of deleted ones; a marker that is not archived is the current state of its key.';

create unique index object_history_version on storage.object_history (bucket_id, name, version);
create unique index object_history_current_marker on storage.object_history (bucket_id, name) where archived_at is null;
create unique index object_history_null_version on storage.object_history (bucket_id, name) where not is_versioned;
-- Its name has this collation: a condition without it reads all versions of the key, or of the bucket.
create index object_history_key on storage.object_history (bucket_id, name collate "C", archived_at);
create index object_history_age on storage.object_history (bucket_id, archived_at);
create index object_history_blob on storage.object_history (version collate "C");

-- Nobody reaches the history by its own name but the service; through storage.objects its policies apply.
alter table storage.object_history enable row level security;
revoke all on storage.object_history from anon, authenticated, service_role, postgres;
grant select, insert, update, delete on storage.object_history to service_role;
-- `truncate storage.buckets cascade` reaches it.
grant select, truncate on storage.object_history to postgres;

-- Triggers are not inherited: without this one, whoever may change a version could give it the bytes of another object.
create trigger protect_object_columns
  before update on storage.object_history
  for each row execute function storage.protect_object_columns();

-- SQL that names storage.objects without `only` means current objects, also where its role passes policies over: rows of the history are
-- left as they are. The triggers below write it as the owner of the tables, and the service says so.
create function storage.protect_object_history() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if current_user <> 'supabase_storage_admin'
    and coalesce(pg_catalog.current_setting('storage.object_history', true), '') <> 'kept'
    and coalesce(pg_catalog.current_setting('storage.object_versions', true), '') <> 'all' then
    return null;
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;
comment on function storage.protect_object_history() is 'Keeps old versions from statements that mean current objects.';

create trigger protect_object_history
  before update or delete on storage.object_history
  for each row execute function storage.protect_object_history();

-- Policies, functions and requests of the project mean current objects, unless the service asks for versions.
create policy objects_of_today on storage.objects
  as restrictive for all to public
  using (
    archived_at is null and not is_delete_marker or (select current_setting('storage.object_versions', true)) = 'all'
  );
comment on policy objects_of_today on storage.objects is
  'Made by the platform: old versions and markers are seen where a request names them, and the other policies allow it.';

-- Says of each new content whether it is a version, or takes the slot that a key has while versioning is off. As the owner of the tables:
-- the writer need not see the bucket.
create function storage.mark_object_version() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  status text;
begin
  if pg_catalog.current_setting('storage.object_history', true) = 'kept' then
    return new;
  end if;
  if tg_op = 'UPDATE' and new.version is not distinct from old.version
    and new.bucket_id is not distinct from old.bucket_id and new.name is not distinct from old.name then
    return new;
  end if;
  select b.versioning_status into status from storage.buckets as b where b.id = new.bucket_id;
  new.is_versioned := coalesce(status = 'ENABLED', false);
  if tg_op = 'UPDATE' and new.bucket_id = old.bucket_id and new.name = old.name and status <> 'DISABLED' then
    new.created_at := pg_catalog.now();
  end if;
  return new;
end
$$;
comment on function storage.mark_object_version() is 'Sets is_versioned of an object whose content is new.';

-- Whether a key has a superseded version in its slot for content without versioning; with `p_only_paused`, only while versioning is
-- paused. As the owner of the tables, who alone reads the history by its name.
create function storage.has_null_version(p_bucket_id text, p_name text, p_only_paused boolean) returns boolean
  -- Each write of an object calls it: the plan of a function in SQL would be made anew for each transaction.
  language plpgsql volatile security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform from storage.object_history as h
  where h.bucket_id = p_bucket_id and h.name = p_name and not h.is_versioned and not h.is_delete_marker;
  if not found or not p_only_paused then
    return found;
  end if;
  perform from storage.buckets as b where b.id = p_bucket_id and b.versioning_status = 'SUSPENDED';
  return found;
end
$$;

-- Removes the version in the slot of a key that a write takes, as the writer: who may write an object, or delete it, may not for that
-- destroy what somebody else has written before. Where policies and triggers of the project run, the search path is that of the writer.
create function storage.give_up_null_version(p_bucket_id text, p_name text, p_only_paused boolean) returns void
  language plpgsql
as $$
declare
  versions text := coalesce(pg_catalog.current_setting('storage.object_versions', true), '');
  deletion text := coalesce(pg_catalog.current_setting('storage.allow_delete_query', true), '');
begin
  if not storage.has_null_version(p_bucket_id, p_name, p_only_paused) then
    return;
  end if;
  perform pg_catalog.set_config('storage.object_versions', 'all', true);
  perform pg_catalog.set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects as o
  where o.bucket_id = p_bucket_id and o.name = p_name and o.archived_at is not null and not o.is_versioned and not o.is_delete_marker;
  perform pg_catalog.set_config('storage.object_versions', versions, true);
  perform pg_catalog.set_config('storage.allow_delete_query', deletion, true);
  if storage.has_null_version(p_bucket_id, p_name, p_only_paused) then
    raise insufficient_privilege using
      message = 'versioning is paused, and the key has a version that was written without it, which the policies do not let you delete';
  end if;
end
$$;

create function storage.ask_about_null_version() returns trigger
  language plpgsql
as $$
begin
  if pg_catalog.current_setting('storage.object_history', true) = 'kept' then
    return null;
  end if;
  if tg_op = 'DELETE' or tg_op = 'UPDATE' and (
    new.bucket_id is distinct from old.bucket_id or new.name is distinct from old.name
  ) then
    perform storage.give_up_null_version(old.bucket_id, old.name, true);
  end if;
  if tg_op = 'INSERT' and not new.is_versioned or tg_op = 'UPDATE' and not new.is_versioned and (
    new.version is distinct from old.version or new.bucket_id is distinct from old.bucket_id or new.name is distinct from old.name
  ) then
    perform storage.give_up_null_version(new.bucket_id, new.name, false);
  end if;
  return null;
end
$$;
comment on function storage.ask_about_null_version() is
  'Removes what a write takes the place of while versioning is paused, by the policies for its writer.';

-- Leaves out of a deletion what its caller may not delete, as policies do: the other objects of the statement go.
create function storage.leave_out_denied_deletion() returns trigger
  language plpgsql
as $$
begin
  if pg_catalog.current_setting('storage.object_history', true) = 'kept'
    or not storage.has_null_version(old.bucket_id, old.name, true) then
    return old;
  end if;
  begin
    perform storage.give_up_null_version(old.bucket_id, old.name, true);
    -- Going back: another trigger may still keep the object.
    raise sqlstate 'ZZ052';
  exception
    when insufficient_privilege then
      return null;
    when sqlstate 'ZZ052' then
      return old;
  end;
end
$$;
comment on function storage.leave_out_denied_deletion() is
  'Keeps an object whose deletion would remove a version that is not the caller''s to delete.';

-- When a version of a key is archived: later than those before, also if a clock was set back.
create function storage.archival_time(p_bucket_id text, p_name text) returns timestamptz
  language sql volatile
  set search_path = pg_catalog, pg_temp
as $$
  select greatest(
    pg_catalog.clock_timestamp(),
    (
      select max(h.archived_at) + interval '1 microsecond' from storage.object_history as h
      where h.bucket_id = p_bucket_id and h.name collate "C" = p_name
    )
  )
$$;

-- The columns of an object that can be copied, as a list for SQL; without those of its place, for a row that stays where it is.
create function storage.copied_columns(p_with_place boolean) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select string_agg(format('%I', a.attname), ', ' order by a.attnum)
  from pg_attribute as a
  where a.attrelid = 'storage.objects'::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    and (p_with_place or a.attidentity <> 'a' and a.attname not in ('id', 'bucket_id', 'name', 'archived_at', 'is_delete_marker'))
$$;

-- Adds a row to the history, with the columns that the project has added.
create function storage.insert_history(p_row storage.objects) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('insert into storage.object_history (%1$s) overriding system value select %1$s from (select ($1).*) as r',
    storage.copied_columns(true)) using p_row;
end
$$;

-- Frees the slot that a key has for content without versioning, of a marker. What a user has stored there was given up before, unless the
-- bucket was changed meanwhile: then it becomes a version like others, so that nothing is lost and no key is stuck.
create function storage.free_null_slot(p_bucket_id text, p_name text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  delete from storage.object_history as h
  where h.bucket_id = p_bucket_id and h.name = p_name and not h.is_versioned and h.is_delete_marker;
  update storage.object_history as h set is_versioned = true
  where h.bucket_id = p_bucket_id and h.name = p_name and not h.is_versioned;
end
$$;

-- Keeps the content of a key that is replaced by what `p_follower_is_versioned` says, moved away or deleted.
create function storage.archive_object(p_row storage.objects, p_id uuid, p_follower_is_versioned boolean) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_follower_is_versioned or not p_row.is_versioned then
    perform storage.free_null_slot(p_row.bucket_id, p_row.name);
  end if;
  if p_follower_is_versioned or p_row.is_versioned then
    -- The id is free unless the project has given it to another object.
    if exists (select from storage.object_history as h where h.id = p_id) then
      p_id := gen_random_uuid();
    end if;
    p_row.id := p_id;
    p_row.archived_at := storage.archival_time(p_row.bucket_id, p_row.name);
    perform storage.insert_history(p_row);
  end if;
end
$$;

-- Makes the marker of a key whose object goes. Its owner is who deletes, and columns of the project are those of the object. Where a
-- constraint of the project refuses that, the owner is the object's too, and then all columns are: no constraint keeps a key from being
-- deleted.
create function storage.insert_delete_marker(p_row storage.objects, p_is_versioned boolean) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  marker storage.objects;
begin
  p_row.id := gen_random_uuid();
  p_row.version := gen_random_uuid()::text;
  p_row.created_at := now();
  p_row.updated_at := now();
  p_row.last_accessed_at := now();
  p_row.archived_at := null;
  p_row.is_delete_marker := true;
  p_row.is_versioned := p_is_versioned;
  marker := p_row;
  marker.owner_id := storage.subject_of_request();
  marker.owner := storage.read_uuid(marker.owner_id);
  marker.metadata := null;
  marker.user_metadata := null;
  for attempt in 1..3 loop
    begin
      perform storage.insert_history(marker);
      return;
    exception when check_violation or not_null_violation then
      if attempt = 1 then
        marker.owner_id := p_row.owner_id;
        marker.owner := p_row.owner;
      elsif attempt = 2 then
        marker := p_row;
      else
        raise;
      end if;
    end;
  end loop;
end
$$;

-- Who makes the request, and owns what it makes.
create function storage.subject_of_request() returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
    nullif(current_setting('request.jwt.claim.sub', true), '')
  )
$$;

create function storage.read_uuid(p_text text) returns uuid
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$
  select case when p_text ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then p_text::uuid end
$$;

-- Keeps the content that a write replaces, moves away or deletes. As the owner of the tables: the writer has no rights on the history.
-- A replaced object keeps its id, to which tables of the project may refer, and its archived content gets another one. A deleted object
-- takes its id along, and brings it back when its marker is removed.
create function storage.keep_object_history() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  status text;
  leaves_key boolean;
begin
  if pg_catalog.current_setting('storage.object_history', true) = 'kept' then
    return null;
  end if;
  leaves_key := tg_op = 'DELETE' or tg_op = 'UPDATE' and (
    new.bucket_id is distinct from old.bucket_id or new.name is distinct from old.name
  );
  if leaves_key then
    select b.versioning_status into status from storage.buckets as b where b.id = old.bucket_id;
    if status <> 'DISABLED' then
      perform storage.archive_object(old, case tg_op when 'DELETE' then old.id else gen_random_uuid() end, status = 'ENABLED');
      perform storage.insert_delete_marker(old, status = 'ENABLED');
    end if;
  elsif tg_op = 'UPDATE' and new.version is distinct from old.version then
    select b.versioning_status into status from storage.buckets as b where b.id = new.bucket_id;
    -- What the content before it becomes follows from what was said of the new one: the bucket may have been changed since.
    if status <> 'DISABLED' then
      perform storage.archive_object(old, gen_random_uuid(), new.is_versioned);
    end if;
  end if;
  if tg_op = 'INSERT' or tg_op = 'UPDATE' and leaves_key then
    select b.versioning_status into status from storage.buckets as b where b.id = new.bucket_id;
    if status <> 'DISABLED' then
      perform pg_catalog.pg_advisory_xact_lock_shared(storage.history_lock_class(), pg_catalog.hashtext(new.bucket_id));
      if not new.is_versioned then
        perform storage.free_null_slot(new.bucket_id, new.name);
      end if;
      update storage.object_history as h set archived_at = storage.archival_time(new.bucket_id, new.name)
      where h.bucket_id = new.bucket_id and h.name = new.name and h.archived_at is null;
    end if;
  end if;
  return null;
end
$$;
comment on function storage.keep_object_history() is 'Keeps what a write to an object of a bucket with versions replaces or deletes.';

-- The first half of the numbers of our advisory locks; the second one is of the bucket.
create function storage.history_lock_class() returns integer
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$ select 1935635300 $$;

-- Their names sort behind those of protect_object_columns and of the foreign key, and the question before the answer, which is the order
-- in which triggers run.
create trigger version_of_object
  before insert or update of bucket_id, name, version on storage.objects
  for each row execute function storage.mark_object_version();
create trigger version_of_object_left
  before delete on storage.objects
  for each row execute function storage.leave_out_denied_deletion();
create trigger version_of_object_asked
  after insert or update of bucket_id, name, version or delete on storage.objects
  for each row execute function storage.ask_about_null_version();
create trigger version_of_object_kept
  after insert or update of bucket_id, name, version or delete on storage.objects
  for each row execute function storage.keep_object_history();

-- Gives a key that has an object the content of an archived version in place of its own. The row and its id stay, to which tables of the
-- project may refer.
create function storage.restore_into_object(p_id uuid, p_version storage.object_history) returns void
  language plpgsql
as $$
begin
  execute pg_catalog.format('update only storage.objects as o set (%1$s) = (select %1$s from (select ($1).*) as r) where o.id = $2',
    storage.copied_columns(false)) using p_version, p_id;
end
$$;

-- Gives a key without an object an archived version. False when somebody else has given it one meanwhile.
create function storage.restore_as_object(p_version storage.object_history) returns boolean
  language plpgsql
as $$
declare
  rows integer;
begin
  p_version.archived_at := null;
  if exists (select from only storage.objects as o where o.id = p_version.id) then
    p_version.id := pg_catalog.gen_random_uuid();
  end if;
  execute pg_catalog.format('insert into storage.objects (%1$s) overriding system value select %1$s from (select ($1).*) as r
                  on conflict (bucket_id, name) do nothing', storage.copied_columns(true)) using p_version;
  get diagnostics rows = row_count;
  return rows = 1;
end
$$;

-- The newest row of a key's history other than one.
create function storage.find_newest_version(p_bucket_id text, p_name text, p_other_than uuid) returns storage.object_history
  language sql volatile
  set search_path = pg_catalog, pg_temp
as $$
  select h.* from storage.object_history as h
  where h.bucket_id = p_bucket_id and h.name collate "C" = p_name and h.archived_at is not null and h.id is distinct from p_other_than
  order by h.archived_at desc limit 1
$$;

-- Removes the object of a key, whose row the caller has locked. The version before it becomes current, or the marker.
create function storage.remove_current_object(p_object storage.objects) returns void
  language plpgsql
as $$
declare
  newest storage.object_history;
begin
  loop
    newest := storage.find_newest_version(p_object.bucket_id, p_object.name, null);
    if newest.id is null or newest.is_delete_marker then
      delete from only storage.objects as o where o.id = p_object.id;
      exit when newest.id is null;
      update storage.object_history as h set archived_at = null where h.id = newest.id;
      exit when found;
    else
      delete from storage.object_history as h where h.id = newest.id;
      if found then
        perform storage.restore_into_object(p_object.id, newest);
        exit;
      end if;
    end if;
    -- The row that was to become current was removed meanwhile.
  end loop;
end
$$;

-- Removes the current marker of a key. The version before it becomes current. False when the key has changed meanwhile; then nothing has.
create function storage.remove_current_marker(p_marker storage.object_history) returns boolean
  language plpgsql
as $$
declare
  newest storage.object_history := storage.find_newest_version(p_marker.bucket_id, p_marker.name, p_marker.id);
begin
  -- The place of the object comes before the rows of its history, see above.
  if newest.id is not null and not newest.is_delete_marker and not storage.restore_as_object(newest) then
    return false;
  end if;
  delete from storage.object_history as h where h.id = p_marker.id and h.archived_at is null;
  if not found then
    raise serialization_failure;
  end if;
  if newest.id is null then
    return true;
  end if;
  if newest.is_delete_marker then
    update storage.object_history as h set archived_at = null where h.id = newest.id;
  else
    delete from storage.object_history as h where h.id = newest.id;
  end if;
  if not found then
    raise serialization_failure;
  end if;
  return true;
exception when serialization_failure then
  return false;
end
$$;

-- Removes a version of a key for good, and returns it. If it was the current state of the key, the newest other one takes its place.
-- The caller has asked the policies.
create function storage.remove_object_version(p_bucket_id text, p_name text, p_version text) returns setof storage.objects
  language plpgsql
as $$
declare
  removed storage.objects;
  kept storage.object_history;
  is_done boolean;
begin
  perform pg_catalog.set_config('storage.object_history', 'kept', true);
  -- A row that is neither here nor there has moved from one table to the other between two statements.
  for attempt in 1..20 loop
    select * into removed from only storage.objects as o
    where o.bucket_id = p_bucket_id and o.name = p_name and o.version is not distinct from p_version for update;
    if found then
      perform storage.remove_current_object(removed);
      is_done := true;
    else
      select * into kept from storage.object_history as h
      where h.bucket_id = p_bucket_id and h.name = p_name and h.version is not distinct from p_version;
      if not found then
        exit when not exists (
          select from only storage.objects as o
          where o.bucket_id = p_bucket_id and o.name = p_name and o.version is not distinct from p_version
        );
      elsif kept.archived_at is null then
        is_done := storage.remove_current_marker(kept);
        removed := kept;
      else
        delete from storage.object_history as h where h.id = kept.id and h.archived_at is not null returning * into removed;
        is_done := found;
      end if;
    end if;
    exit when is_done;
  end loop;
  perform pg_catalog.set_config('storage.object_history', '', true);
  if is_done then
    return next removed;
  end if;
end
$$;
comment on function storage.remove_object_version(text, text, text) is 'Removes one version for good; the one before it becomes current.';

-- Removes a version of a key as above, and makes it the object of another key, with other values of some columns. Returns the object's id,
-- or null without such a version. Columns that the project has added come along.
create function storage.move_object_version(p_bucket_id text, p_name text, p_version text, p_changes jsonb) returns uuid
  language plpgsql
as $$
declare
  moved storage.objects;
begin
  select * into moved from storage.remove_object_version(p_bucket_id, p_name, p_version);
  if not found then
    return null;
  end if;
  moved := pg_catalog.jsonb_populate_record(moved, p_changes);
  moved.archived_at := null;
  -- The version before it has become the object of the old key, whose id stays there.
  if exists (select from only storage.objects as o where o.id = moved.id) then
    moved.id := pg_catalog.gen_random_uuid();
  end if;
  execute pg_catalog.format('insert into storage.objects (%1$s) overriding system value select %1$s from (select ($1).*) as r',
    storage.copied_columns(true)) using moved;
  return moved.id;
end
$$;
comment on function storage.move_object_version(text, text, text, jsonb) is 'Moves one version to another key.';

-- Marks keys as deleted that have nothing, and returns the current markers of all these keys; a key that is deleted needs no second one. In
-- a bucket that never had versions there is nothing to mark. Without `p_for_good` the caller goes back afterwards, and locks nothing.
create function storage.mark_missing_objects(p_bucket_id text, p_names text[], p_for_good boolean) returns setof storage.objects
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  status text;
  subject text := storage.subject_of_request();
begin
  if p_for_good then
    perform pg_catalog.pg_advisory_xact_lock(storage.history_lock_class(), pg_catalog.hashtext(p_bucket_id));
  end if;
  select b.versioning_status into status from storage.buckets as b where b.id = p_bucket_id;
  if status is null or status = 'DISABLED' then
    return;
  end if;
  begin
    insert into storage.object_history (bucket_id, name, owner, owner_id, version, is_delete_marker, is_versioned)
    select p_bucket_id, n.name, storage.read_uuid(subject), subject, pg_catalog.gen_random_uuid()::text, true, status = 'ENABLED'
    from unnest(p_names) as n (name)
    where not exists (select from only storage.objects as o where o.bucket_id = p_bucket_id and o.name = n.name)
      and not exists (
        select from storage.object_history as h where h.bucket_id = p_bucket_id and h.name = n.name and h.archived_at is null
      )
    -- Of two callers with the same keys none waits for the other in a circle.
    order by n.name
    on conflict do nothing;
  exception when check_violation or not_null_violation then
    -- A constraint of the project lets no row be without what a marker has not. These keys have nothing that a marker would hide.
    null;
  end;
  return query
    select o.* from storage.objects as o
    where o.bucket_id = p_bucket_id and o.name = any (p_names) and o.is_delete_marker and o.archived_at is null;
end
$$;
comment on function storage.mark_missing_objects(text, text[], boolean) is 'Marks keys without an object as deleted.';

-- Deletes what the policies let the caller delete of these rows, and returns their keys. One after the other, so that of two callers with
-- the same rows none waits for the other in a circle; one statement would lock them in the order of its plan.
create function storage.delete_in_order(p_ids uuid[]) returns setof text
  language plpgsql
as $$
declare
  deleted uuid;
  key text;
begin
  foreach deleted in array p_ids loop
    delete from storage.objects as o where o.id = deleted returning o.name into key;
    if found then
      return next key;
    end if;
  end loop;
end
$$;
comment on function storage.delete_in_order(uuid[]) is 'Asks the policies about rows, by deleting them.';

-- Only the service calls them: they ask no policy. Those that ask are called by every writer.
do $$
declare
  called regprocedure;
begin
  foreach called in array array[
    'storage.archival_time(text, text)', 'storage.copied_columns(boolean)', 'storage.insert_history(storage.objects)',
    'storage.free_null_slot(text, text)', 'storage.archive_object(storage.objects, uuid, boolean)',
    'storage.insert_delete_marker(storage.objects, boolean)', 'storage.subject_of_request()', 'storage.read_uuid(text)',
    'storage.history_lock_class()', 'storage.restore_into_object(uuid, storage.object_history)',
    'storage.restore_as_object(storage.object_history)', 'storage.find_newest_version(text, text, uuid)',
    'storage.remove_current_object(storage.objects)', 'storage.remove_current_marker(storage.object_history)',
    'storage.remove_object_version(text, text, text)', 'storage.move_object_version(text, text, text, jsonb)',
    'storage.mark_missing_objects(text, text[], boolean)'
  ]::regprocedure[] loop
    execute format('revoke execute on function %s from public, anon, authenticated', called);
    execute format('grant execute on function %s to service_role', called);
  end loop;
end
$$;
