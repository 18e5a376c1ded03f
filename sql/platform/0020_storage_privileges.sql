-- Row-level security does not apply to TRUNCATE: with that privilege one statement of a function that anon may call would
-- empty every bucket. The API deletes rows one by one, so its roles do not need it.

revoke truncate on storage.buckets, storage.objects from anon, authenticated;
alter default privileges for role supabase_storage_admin in schema storage
  revoke truncate on tables from anon, authenticated;
