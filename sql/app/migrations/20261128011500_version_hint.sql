-- Clients that write back a whole row which they have read send its version without knowing: the refusal says what to do.

create or replace function private.check_version() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- An update that sends no version, or the present one, leaves the column as it is.
  if new.version is distinct from old.version then
    raise exception 'It was changed by somebody else after it was read.'
      using errcode = 'PT409', detail = private.readable_row(tg_relid, to_jsonb(old) ->> 'id')::text,
        hint = 'Read the row again, or leave out "version" to write without comparing.';
  end if;
  -- Whoever inserts a row may have chosen its version, and no row may become one that cannot be changed.
  new.version := case when old.version < 2147483647 then old.version + 1 else 1 end;
  return new;
end
$$;
