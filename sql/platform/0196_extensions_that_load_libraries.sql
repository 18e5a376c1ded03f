-- Two extensions that Supabase's image lets `postgres` create give their users more than `postgres` has: a command of PGroonga's (plugin_register), and
-- an option of its indexes, load a library from the path that they name, as a file that was uploaded to Storage. A superuser may create them, who
-- decides then whom the project may trust.
create or replace function _selvedge.is_allowed_extension(name text) returns boolean
  language sql immutable
begin atomic
  select _selvedge.is_extension_of_the_image(name)
      and name operator(pg_catalog.<>) all (array['pgroonga'::text, 'pgroonga_database'])
    or name operator(pg_catalog.=) any (array[
      'supabase-dbdev'::text, 'basejump-supabase_test_helpers', 'basejump@supabase_test_helpers'
    ]);
end;
