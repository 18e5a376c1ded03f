-- Lists the ids of a page of all users of an audience; a first day, the order and the page follow. $1 audience, $2 limit, $3 offset.
-- `instance_id` may be null in rows that were inserted by hand (AUTH-089). The conditions are those of `users_audience_created_at_id_idx`.
select u.id
from auth.users u
where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null)
  and coalesce(u.aud, '') = $1::text
