-- `selvedge console user` logs in as the console itself, so `postgres` needs no rights on accounts, sessions and saved queries. By writing an
-- account every migration, and every edge function with a connection to the database, could be an admin of the console, who also reads the server's log
-- and settings.
revoke insert, update, delete on selvedge_console.selvedge_accounts from postgres;
revoke delete on selvedge_console.selvedge_sessions from postgres;
revoke delete on selvedge_console.selvedge_snippets from postgres;
