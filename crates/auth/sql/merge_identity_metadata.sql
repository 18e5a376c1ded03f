-- What the first identity knows becomes part of the user's metadata; what the user said otherwise stays.
update auth.users u
set role = $2::text,
    raw_user_meta_data = coalesce(u.raw_user_meta_data, '{}') || coalesce((
      select i.identity_data from auth.identities i where i.user_id = $1 order by i.provider limit 1
    ), '{}'),
    updated_at = $3
where u.id = $1
