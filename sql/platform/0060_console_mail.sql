-- The console shows which mails wait for the SMTP server and why, and can have one tried again at once. It does not read
-- their content, which has codes and links that sign people in.
grant select (id, recipient, subject, created_at, next_try_at, expires_at, tries, last_error), update (next_try_at)
  on _selvedge.outgoing_mails to selvedge_console_service;
