-- Records a text message to a number ($1, a hash) at $2, unless the last one was sent less than $3 seconds before. Returns no
-- row then.
insert into _selvedge.selvedge_text_message_pauses as known (phone_hash, sent_at) values ($1, $2)
on conflict (phone_hash) do update set sent_at = excluded.sent_at
where known.sent_at <= excluded.sent_at - make_interval(secs => $3::double precision)
returning phone_hash
