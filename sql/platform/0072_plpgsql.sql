-- `postgres` also owns the extension plpgsql, as in Supabase's image, because dumps contain COMMENT ON EXTENSION plpgsql.

create or replace function _selvedge.is_allowed_extension(name text) returns boolean
  language sql immutable
begin atomic
  select _selvedge.is_extension_of_the_image(name) or name = any (array[
    'plpgsql', 'supabase-dbdev', 'basejump-supabase_test_helpers', 'basejump@supabase_test_helpers'
  ]);
end;

select _selvedge.give_extensions_to_postgres();
