-- Which rows have a version (storage.md §8.1), and sizes of rows that users wrote before 0100.

set local role supabase_storage_admin;

-- Bytes are removed only when no row has their version, and a sweep reads rows in the order of versions. The order of bytes, because
-- the store lists blobs in it.
create index objects_version on storage.objects (version collate "C");
comment on index storage.objects_version is 'Which objects have these bytes, asked before bytes are removed.';

-- Bytes per bucket, of the objects that the caller may see. Rows that were written by SQL may say anything of their size.
create or replace function storage.get_size_by_bucket() returns table (size bigint, bucket_id text)
  language sql stable
as $$
  select sum(case when o.metadata ->> 'size' ~ '^[0-9]{1,15}$' then (o.metadata ->> 'size')::bigint else 0 end)::bigint, o.bucket_id
  from storage.objects as o
  group by o.bucket_id
$$;
