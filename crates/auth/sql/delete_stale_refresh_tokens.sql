-- Deletes refresh tokens that were used more than a day ago.
-- The parent of an active token stays: a client that lost the response to its last refresh sends the parent again
-- (AUTH-011).
delete from auth.refresh_tokens where id in (
  select t.id from auth.refresh_tokens t
  where t.revoked and t.updated_at < now() - interval '24 hours'
    and not exists (
      select from auth.refresh_tokens child where child.parent = t.token and child.revoked is not true
    )
  order by t.updated_at
  limit 1000
  for update skip locked
)
