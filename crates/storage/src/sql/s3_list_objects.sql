-- A page of keys and common prefixes of the S3 protocol. Parameters: $1 bucket, $2 prefix, $3 delimiter, $4 limit,
-- $5 key after which to start, $6 last name of the page before.
select name, id is null as is_prefix, metadata ->> 'eTag' as etag, metadata ->> 'size' as size,
       metadata ->> 'lastModified' as last_modified, updated_at
from storage.walk_level($1::text, $2::text, $3::text, coalesce(nullif($6::text, ''), $5::text))
limit $4::text::integer
