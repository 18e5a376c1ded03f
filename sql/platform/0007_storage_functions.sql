-- What storage policies call, and the guards of its tables (storage.md §7.4, §8.1, §8.2).

set local role supabase_storage_admin;

-- The folders of a key, without its last segment: {a,b} for a/b/c.txt.
create function storage.foldername(name text) returns text[]
  language sql immutable
  return (string_to_array(name, '/'))[1 : cardinality(string_to_array(name, '/')) - 1];

-- The last segment of a key: c.txt for a/b/c.txt.
create function storage.filename(name text) returns text
  language sql immutable
  return (string_to_array(name, '/'))[cardinality(string_to_array(name, '/'))];

-- Compat: a name without a dot is its own extension.
create function storage.extension(name text) returns text
  language sql immutable
  return reverse(split_part(reverse(storage.filename(name)), '.', 1));

-- The operation that the service is running, such as storage.object.upload; null outside the service.
create function storage.operation() returns text
  language sql stable
  return current_setting('storage.operation', true);

-- Whether the service is running this operation. The prefix "storage." may be left out on both sides.
create function storage.allow_only_operation(expected_operation text) returns boolean
  language sql stable
  return coalesce(
    regexp_replace(storage.operation(), '^storage\.', '') = regexp_replace(expected_operation, '^storage\.', ''),
    false
  );

-- As allow_only_operation, for any of several operations.
create function storage.allow_any_operation(expected_operations text[]) returns boolean
  language sql stable
  return coalesce(
    (
      select bool_or(
        regexp_replace(storage.operation(), '^storage\.', '') = regexp_replace(expected, '^storage\.', '')
      )
      from unnest(expected_operations) as expected
    ),
    false
  );

-- Bytes per bucket, of the objects that the caller may see.
create function storage.get_size_by_bucket() returns table (size bigint, bucket_id text)
  language sql stable
as $$
  select sum((o.metadata ->> 'size')::bigint)::bigint, o.bucket_id
  from storage.objects as o
  group by o.bucket_id
$$;

create function storage.can_insert_object(bucketid text, name text, owner uuid, metadata jsonb) returns void
  language plpgsql
as $$
begin
  insert into storage.objects (bucket_id, name, owner, metadata) values (bucketid, name, owner, metadata);
  -- The error undoes the insert and tells the caller that it would have been allowed. PostgREST takes the HTTP status
  -- from the last three digits of PT200.
  raise sqlstate 'PT200' using message = 'ROLLBACK', detail = 'rollback successful insert';
end
$$;

create function storage.update_updated_at_column() returns trigger
  language plpgsql
as $$
begin
  new.updated_at = now();
  return new;
end
$$;

create trigger update_objects_updated_at
  before update on storage.objects
  for each row execute function storage.update_updated_at_column();

-- The service checks the same limit; this trigger covers buckets that are created by SQL.
create function storage.enforce_bucket_name_length() returns trigger
  language plpgsql
as $$
begin
  if length(new.name) > 100 then
    raise exception 'bucket name "%" is too long (% characters). Max is 100.', new.name, length(new.name);
  end if;
  return new;
end
$$;

create trigger enforce_bucket_name_length_trigger
  before insert or update of name on storage.buckets
  for each row execute function storage.enforce_bucket_name_length();

-- Refuses DELETE by SQL: it would remove the row and leave the bytes. The service sets `storage.allow_delete_query` for
-- its own deletions and removes the bytes as well. A trigger for each statement, so that it also fires when no row
-- matches.
create function storage.protect_delete() returns trigger
  language plpgsql
as $$
begin
  if coalesce(current_setting('storage.allow_delete_query', true), 'false') <> 'true' then
    raise exception 'Direct deletion from storage tables is not allowed. Use the Storage API instead.'
      using errcode = '42501',
        hint = 'This prevents accidental data loss from orphaned objects.';
  end if;
  return null;
end
$$;

create trigger protect_buckets_delete
  before delete on storage.buckets
  for each statement execute function storage.protect_delete();

create trigger protect_objects_delete
  before delete on storage.objects
  for each statement execute function storage.protect_delete();
