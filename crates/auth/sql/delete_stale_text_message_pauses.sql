-- Deletes pauses that are over: none is longer than a day.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from _selvedge.selvedge_text_message_pauses where phone_hash in (
  select phone_hash from _selvedge.selvedge_text_message_pauses
  where sent_at < now() - interval '1 day'
  limit 1000
  for update skip locked
)
