-- Packages of database.dev that the server brings along (docs/extensions.md) may be created where PostgreSQL does not find
-- their files, too.

alter function _selvedge.is_allowed_extension(text) rename to is_extension_of_the_image;

create function _selvedge.is_allowed_extension(name text) returns boolean
  language sql immutable
begin atomic
  select _selvedge.is_extension_of_the_image(name) or name = any (array[
    'supabase-dbdev', 'basejump-supabase_test_helpers', 'basejump@supabase_test_helpers'
  ]);
end;
