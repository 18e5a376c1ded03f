-- Versions behind $1 and up to $2 that something refers to: objects with their address, pieces of uploads under way
-- without one.
select lower(o.version), o.bucket_id, o.name
from storage.objects o
where lower(o.version) collate "C" > $1::text and lower(o.version) collate "C" <= $2::text
union all
select p.id::text, null, null
from storage.s3_multipart_uploads_parts p
where p.id::text collate "C" > $1::text and p.id::text collate "C" <= $2::text
