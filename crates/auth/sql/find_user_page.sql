-- Where a page of the list of all users begins, and how many users there are, by the counts that triggers keep (platform file 0181). No row
-- where these cannot be believed. $1 audience, $2 offset, $3 whether the oldest come first.
--
-- The page begins in one day; `bound` is the beginning of that day, or its end where the newest come first, and `skipped` how many users of
-- the list come before. `bound` is null, and nothing skipped, where users have no time or one of no ordinary year.
with days as (
  select c.day, sum(c.change)::bigint as users
  from _selvedge.selvedge_user_counts as c
  where c.audience = $1::text
  group by c.day
),
places as (
  select
    d.day,
    sum(d.users) over (
      order by case when $3::boolean then d.day end, case when not $3::boolean then d.day end desc
      rows between unbounded preceding and 1 preceding
    ) as skipped
  from days as d
  where d.users > 0
    and not exists (
      select from days as o where o.users <> 0 and (o.day is null or o.day not between '0001-01-01' and '9999-12-30')
    )
)
select
  (select coalesce(sum(d.users), 0)::bigint from days as d) as total,
  (place.day + case when $3::boolean then 0 else 1 end)::timestamp at time zone 'UTC' as bound,
  coalesce(place.skipped, 0)::bigint as skipped
from _selvedge.selvedge_user_counts_state as s
left join lateral (
  select p.day, p.skipped
  from places as p
  where coalesce(p.skipped, 0) <= $2::bigint
  order by coalesce(p.skipped, 0) desc
  limit 1
) as place on true
where s.triggers = _selvedge.describe_user_triggers()
