-- The console lists users newest first and finds them by the beginning of an address. The unique index on addresses leaves out
-- users of single sign-on, so a search over all users cannot use it.
--
-- The id is the second column, in the same direction, because pages are read by key: it decides between users of the same moment
-- or address.
create index users_created_at_id_idx on auth.users (created_at desc nulls last, id desc);
create index users_email_id_idx on auth.users (email, id);
