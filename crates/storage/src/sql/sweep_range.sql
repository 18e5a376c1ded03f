-- Versions greater than $1 and up to $2 that rows refer to: objects with bucket and key, parts of S3 multipart uploads
-- without them.
select o.version, o.bucket_id, o.name
from storage.objects o
where not o.is_delete_marker and o.version collate "C" > $1::text and o.version collate "C" <= $2::text
union all
select p.id::text, null, null
from storage.s3_multipart_uploads_parts p
where p.id::text collate "C" > $1::text and p.id::text collate "C" <= $2::text
