-- A page of multipart uploads and their common prefixes. Parameters: $1 bucket, $2 prefix, $3 delimiter, $4 limit, $5 key
-- marker, $6 upload id marker. Like all our SQL it calls no function that the original's migrations define as well,
-- because those may be replaced by the original's.
with entries as (
  select u.key, u.id, u.created_at
  from storage.s3_multipart_uploads as u
  where u.bucket_id = $1::text
    and starts_with(u.key, $2::text)
    and storage.common_prefix_of(u.key, $2::text, $3::text) is null
  union all
  select distinct folder, null::text, null::timestamptz
  from storage.s3_multipart_uploads as u
  cross join lateral
    storage.common_prefix_of(u.key, $2::text, $3::text) as folder
  where u.bucket_id = $1::text
    and starts_with(u.key, $2::text)
    and folder is not null
)
select e.key, e.id, e.created_at
from entries as e
where $5::text = ''
  or e.key collate "C" > $5::text collate "C"
  or (
    $6::text <> ''
    and e.key = $5::text
    and e.created_at > (
      select u.created_at from storage.s3_multipart_uploads as u where u.id = $6::text
    )
  )
order by e.key collate "C", e.created_at
limit $4::text::integer
