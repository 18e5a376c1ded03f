-- The schemas of Auth, Storage and webhooks belong to supabase_admin, as in Supabase's image; their services keep every
-- right on them. `supabase db reset --db-url` drops each schema that another role owns, so that it used to take Auth and
-- Storage away together with the project's own schemas.
alter schema auth owner to supabase_admin;
alter schema storage owner to supabase_admin;
alter schema supabase_functions owner to supabase_admin;
grant all on schema auth to supabase_auth_admin;
grant all on schema storage to supabase_storage_admin with grant option;
grant all on schema supabase_functions to supabase_functions_admin;
