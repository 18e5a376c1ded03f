-- Stores a pending token for look-up; it replaces the user's token of the same type, and takes its code away. $1 user, $2
-- type, $3 token, $4 address or number that it was sent to, in lowercase, $5 id.
-- Compat: the times are timestamps without time zone in GoTrue's schema, in UTC.
with replaced as (
  delete from _selvedge.selvedge_one_time_codes where secret_id in (
    select id from auth.one_time_tokens where user_id = $1 and token_type = $2::text::auth.one_time_token_type
  )
)
insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
values (
  $5, $1, $2::text::auth.one_time_token_type, $3::text, $4::text,
  now() at time zone 'utc', now() at time zone 'utc'
)
on conflict (user_id, token_type) do update
set id = excluded.id, token_hash = excluded.token_hash, relates_to = excluded.relates_to,
    created_at = excluded.created_at, updated_at = excluded.updated_at
