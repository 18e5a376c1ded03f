select not exists (
  select from auth.sessions other, auth.sessions mine
  where mine.id = $1 and other.user_id = mine.user_id and other.id <> mine.id
    and coalesce(other.tag, '') = coalesce(mine.tag, '')
    and coalesce(other.refreshed_at at time zone 'utc', other.created_at)
      > coalesce(mine.refreshed_at at time zone 'utc', mine.created_at)
)
