-- PostgreSQL writes the details of an error into its log, and with each refused save they had the whole row: texts of people, which do
-- not belong into a log. The refusal names the present version alone, and the client reads the row as it may see it.

create or replace function private.check_version() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- An update that sends no version, or the present one, leaves the column as it is.
  if new.version is distinct from old.version then
    raise exception 'It was changed by somebody else after it was read.'
      using errcode = 'PT409', detail = jsonb_build_object('version', old.version)::text,
        hint = 'Read the row again, or leave out "version" to write without comparing.';
  end if;
  -- Whoever inserts a row may have chosen its version, and no row may become one that cannot be changed.
  new.version := case when old.version < 2147483647 then old.version + 1 else 1 end;
  return new;
end
$$;
comment on function private.check_version() is
  'Before-update trigger: counts the versions of a row. 409 for an update that sends another version than the present one, which the details name.';

drop function private.readable_row(oid, text);
