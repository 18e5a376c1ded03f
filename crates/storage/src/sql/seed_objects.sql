-- Upserts the rows of all seeded files. Parameter: $1 JSON array of {bucket_id, name, version, metadata}.
insert into storage.objects (bucket_id, name, version, metadata, user_metadata)
select bucket_id, name, version, metadata, '{}'::jsonb
from jsonb_to_recordset($1::text::jsonb) as seed (bucket_id text, name text, version text, metadata jsonb)
on conflict (bucket_id, name) do update
  set version = excluded.version, metadata = excluded.metadata
