-- Lists the ids of a page of users; the order and the page follow. $1 audience, $2 filter as an escaped `like` pattern, empty for all,
-- $3 limit, $4 offset.
-- `instance_id` may be null in rows that were inserted by hand (AUTH-089).
select u.id
from auth.users u
where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null)
  and coalesce(u.aud, '') = $1::text
  and (
    $2::text = '' or u.email like '%' || $2::text || '%'
    or u.raw_user_meta_data ->> 'full_name' ilike '%' || $2::text || '%'
  )
