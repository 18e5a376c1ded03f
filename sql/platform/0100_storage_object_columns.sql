-- Which columns of storage.objects users may write where the schema is exposed (storage.md §8.1).
--
-- The bytes of an object are found by the `version` of its row alone. A user who could write another object's version into a
-- row of his own would read those bytes, or destroy them with his row. `metadata` says what was measured of the bytes, and
-- `bucket_id` whose limits they passed. So rows with bytes get these three from the service, or from whoever may act as it:
-- its own role, the owner of the data, and restores that run as such.

set local role supabase_storage_admin;

create function storage.protect_object_columns() returns trigger
  language plpgsql
  set search_path = ''
as $$
declare
  has_bytes boolean;
begin
  if pg_catalog.pg_has_role(current_user, 'service_role', 'member')
    or pg_catalog.pg_has_role(current_user, 'supabase_storage_admin', 'member') then
    return new;
  end if;
  has_bytes := coalesce(new.version, '1') <> '1';
  if tg_op = 'UPDATE' then
    -- Without its version a row would lose its bytes, which only the right to delete allows.
    has_bytes := (has_bytes or coalesce(old.version, '1') <> '1') and (
      new.version is distinct from old.version
      or new.metadata is distinct from old.metadata
      or new.bucket_id is distinct from old.bucket_id
    );
  end if;
  -- The service asks policies with the version '1', which names no bytes, and rolls back.
  if has_bytes and not (
    new.version is not distinct from '1' and coalesce(pg_catalog.current_setting('storage.operation', true), '') <> ''
  ) then
    raise insufficient_privilege
      using message = 'only the storage service sets bucket_id, version and metadata of an object that has bytes',
        hint = 'Upload, copy or move the object through the storage API.';
  end if;
  -- Sums over a bucket read this as a number.
  if new.metadata ->> 'size' !~ '^[0-9]{1,15}$' then
    raise invalid_parameter_value using message = 'the size of an object is a number of bytes';
  end if;
  -- A nesting that the service refuses to read would make every list with this row fail.
  if pg_catalog.jsonb_path_exists(new.metadata, '$.**{64}')
    or pg_catalog.jsonb_path_exists(new.user_metadata, '$.**{64}') then
    raise invalid_parameter_value using message = 'metadata may be nested 64 levels deep';
  end if;
  if tg_op = 'INSERT' then
    new.created_at := pg_catalog.now();
    new.updated_at := pg_catalog.now();
    new.last_accessed_at := pg_catalog.now();
    new.archived_at := null;
    new.is_delete_marker := false;
    new.is_versioned := false;
  else
    new.created_at := old.created_at;
    new.last_accessed_at := old.last_accessed_at;
    new.archived_at := old.archived_at;
    new.is_delete_marker := old.is_delete_marker;
    new.is_versioned := old.is_versioned;
  end if;
  return new;
end
$$;
comment on function storage.protect_object_columns() is 'Keeps what identifies and describes the bytes of an object from users.';

create trigger protect_object_columns
  before insert or update on storage.objects
  for each row execute function storage.protect_object_columns();
