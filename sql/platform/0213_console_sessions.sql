-- A session of the console begins with a sign-in, which is in the audit. `postgres` could write one of its own into the table, and so be an admin
-- without any. It still ends sessions: `selvedge console user` does so for an account whose level changes.
revoke insert, update on selvedge_console.sessions from postgres;
