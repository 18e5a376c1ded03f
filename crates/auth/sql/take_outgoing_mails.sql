-- Takes a few mails that are due. Until the lease ends no other node sees them; if this one dies, another takes over then.
update _selvedge.outgoing_mails
set next_try_at = now() + $2::float8 * interval '1 second', tries = tries + 1
where id in (
  select id from _selvedge.outgoing_mails
  where next_try_at <= now()
  order by next_try_at
  limit $1
  for update skip locked
)
returning id, recipient, subject, html, body, message_type, tries, expires_at < now() as is_late
