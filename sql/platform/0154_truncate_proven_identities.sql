-- `truncate auth.users cascade`, as projects and a reset do, empties everything that refers to users: also this table, which is the
-- superuser's, and which nobody reads without the identities that it names.
grant truncate on _selvedge.sso_proven_identities to postgres, supabase_auth_admin;
