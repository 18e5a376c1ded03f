-- Sets the role of a new user and merges the data of the first identity (by the name of its provider) into the user's
-- metadata. $1 user, $2 role, $3 now.
-- `identity_data` is on the right of `||`, so it replaces metadata of the same name.
update auth.users u
set role = $2::text,
    raw_user_meta_data = coalesce(u.raw_user_meta_data, '{}') || coalesce((
      select i.identity_data from auth.identities i where i.user_id = $1 order by i.provider limit 1
    ), '{}'),
    updated_at = $3
where u.id = $1
