-- Leases at most $1 mails that are due, for $2 seconds. No other node sees them until the lease ends; if this node
-- dies, another one sends them then.
update _selvedge.selvedge_outgoing_mails
set next_try_at = now() + $2::float8 * interval '1 second', tries = tries + 1
where id in (
  select id from _selvedge.selvedge_outgoing_mails
  where next_try_at <= now()
  order by next_try_at
  limit $1
  for update skip locked
)
returning id, recipient, subject, html, body, message_type, tries, expires_at < now() as is_expired
