-- Lists the ids of a page of users. $1 audience, $2 filter as an escaped `like` pattern, empty for all, $3 ascending,
-- $4 limit, $5 offset.
-- `instance_id` may be null in rows that were inserted by hand (AUTH-089).
select u.id
from auth.users u
where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null)
  and coalesce(u.aud, '') = $1::text
  and (
    $2::text = '' or u.email like '%' || $2::text || '%'
    or u.raw_user_meta_data ->> 'full_name' ilike '%' || $2::text || '%'
  )
-- Only one of the two sort keys is not null; the id makes pages stable for users created at the same time.
order by case when $3::boolean then u.created_at end asc, case when not $3::boolean then u.created_at end desc, u.id
limit $4 offset $5
