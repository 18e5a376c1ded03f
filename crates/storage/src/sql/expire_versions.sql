-- Examines the next versions of a bucket by age, and removes those that a rule says are old enough and of which enough newer ones exist.
-- Parameters: $1 bucket, $2 when the last examined version was archived, or null, $3 its id. Returns each that was examined, with its
-- bytes where it was removed. Rules and rows are locked as they are read, so that a rule that is taken back, or a version that becomes
-- current, is seen.
with rules as materialized (
  select least((rule -> 'noncurrentVersionExpiration' ->> 'noncurrentDays')::numeric, 36500)::integer as days,
         (rule -> 'noncurrentVersionExpiration' ->> 'newerNoncurrentVersions')::numeric::integer as newer
  from (select b.lifecycle_configuration from storage.buckets b where b.id = $1 for share) as b
  cross join lateral jsonb_array_elements(b.lifecycle_configuration -> 'rules') as rule
  where rule ->> 'status' = 'Enabled'
),
examined as materialized (
  select h.id, h.name, h.archived_at
  from storage.object_history h
  where h.bucket_id = $1
    and h.archived_at <= now() - make_interval(days => (select min(r.days) from rules r))
    and ($2::timestamptz is null or (h.archived_at, h.id) > ($2::timestamptz, $3::text::uuid))
  order by h.archived_at, h.id
  limit 500
),
expired as materialized (
  select h.id
  from storage.object_history h
  join examined e on e.id = h.id
  where h.archived_at is not null and exists (
    select from rules r
    where h.archived_at <= now() - make_interval(days => r.days)
      and (r.newer is null or r.newer <= (
        select count(*) from (
          select from storage.object_history n
          where n.bucket_id = $1 and n.name collate "C" = h.name and n.archived_at > h.archived_at
          limit r.newer
        ) as newer
      ))
  )
  for update of h skip locked
),
removed as (
  delete from storage.object_history h using expired e
  where h.id = e.id and h.archived_at is not null
    and (select set_config('storage.object_history', 'kept', true)) = 'kept'
  returning h.id, h.version
)
select e.archived_at::text as archived_at, e.id::text as id, r.id is not null as is_removed, r.version
from examined e
left join removed r on r.id = e.id
order by e.archived_at, e.id
