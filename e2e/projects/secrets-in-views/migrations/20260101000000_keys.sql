create extension if not exists supabase_vault with schema vault;
create schema private;
create view private.mail_keys as
  select name, decrypted_secret as key from vault.decrypted_secrets where name like 'mail_%';
create function private.mail_key() returns text
  language sql stable security definer set search_path = '' as $$
  select key from private.mail_keys where name = 'mail_key'
$$;
