-- Whether no other live session of the user with the same tag was refreshed later. $1 session, $2 the project's tags,
-- $3 timebox, $4 inactivity limit, both in seconds.
-- A tag that the project does not list counts as its first tag. Sessions that a time limit has ended do not count.
select not exists (
  select from auth.sessions other, auth.sessions mine
  where mine.id = $1 and other.user_id = mine.user_id and other.id <> mine.id
    and case when other.tag = any($2::text[]) then other.tag else coalesce(($2::text[])[1], '') end
      = case when mine.tag = any($2::text[]) then mine.tag else coalesce(($2::text[])[1], '') end
    and (other.not_after is null or other.not_after > now())
    and ($3::float8 is null or other.created_at > now() - make_interval(secs => $3::float8))
    and ($4::float8 is null
      or coalesce(other.refreshed_at at time zone 'utc', other.created_at) > now() - make_interval(secs => $4::float8))
    and coalesce(other.refreshed_at at time zone 'utc', other.created_at)
      > coalesce(mine.refreshed_at at time zone 'utc', mine.created_at)
)
