-- Publications of the tables of schemas, which PostgreSQL reserves for superusers as those of all tables; the image lets `postgres` make
-- them. They show rows that `postgres` may read anyway.

create function _selvedge.create_publication_for_schemas(name text, schemas text[], options text[] default '{}') returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  execute 'create publication ' || quote_ident(name) || ' for tables in schema '
    || (select string_agg(quote_ident(one), ', '::text) from unnest(schemas) as s (one))
    || coalesce(
      (
        select ' with (' || string_agg(quote_ident(options[n]) || ' = ' || quote_literal(options[n + 1]), ', '::text) || ')'
        from generate_series(1, cardinality(options), 2) as n having count(*) > 0
      ),
      ''::text
    );
  perform _selvedge.give_to_postgres(
    'pg_publication'::regclass, 'pubowner'::name, (select p.oid from pg_publication as p where p.pubname::text = name)
  );
end
$$;
comment on function _selvedge.create_publication_for_schemas(text, text[], text[]) is
  'Creates a publication of the tables of schemas, which belongs to postgres.';
revoke all on function _selvedge.create_publication_for_schemas(text, text[], text[]) from public;
grant execute on function _selvedge.create_publication_for_schemas(text, text[], text[]) to postgres;

-- `action` is `add` or `set`. The owner drops schemas by an ordinary statement.
create function _selvedge.alter_schemas_of_publication(name text, action text, schemas text[]) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform _selvedge.require_current_snapshot();
  if action not in ('add', 'set') then
    raise invalid_parameter_value using message = 'the action is add or set';
  end if;
  if not exists (
    select from pg_publication as p where p.pubname::text = name and p.pubowner = 'postgres'::regrole::oid
  ) then
    raise insufficient_privilege using message = format('must be owner of publication %s', name);
  end if;
  execute 'alter publication ' || quote_ident(name) || ' ' || action || ' tables in schema '
    || (select string_agg(quote_ident(one), ', '::text) from unnest(schemas) as s (one));
end
$$;
comment on function _selvedge.alter_schemas_of_publication(text, text, text[]) is
  'Adds schemas to a publication of postgres, or replaces those that it has.';
revoke all on function _selvedge.alter_schemas_of_publication(text, text, text[]) from public;
grant execute on function _selvedge.alter_schemas_of_publication(text, text, text[]) to postgres;
