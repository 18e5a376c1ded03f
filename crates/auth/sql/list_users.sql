select u.id
from auth.users u
where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null)
  and coalesce(u.aud, '') = $1::text
  and (
    $2::text = '' or u.email like '%' || $2::text || '%'
    or u.raw_user_meta_data ->> 'full_name' ilike '%' || $2::text || '%'
  )
order by case when $3::boolean then u.created_at end asc, case when not $3::boolean then u.created_at end desc, u.id
limit $4 offset $5
