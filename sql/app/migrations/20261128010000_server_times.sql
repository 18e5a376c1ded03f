-- When a row was made or changed is said by the server. A client could send `infinity`, which no page can show, or the last time
-- stamp there is, after which no update could set a later one: such a row could be neither reviewed nor deleted.

create or replace function private.set_updated_at() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    -- The service key, migrations and seeds may bring times along.
    if row_security_active(tg_relid) then
      new.updated_at := now();
    end if;
    return new;
  end if;
  -- now() is the start of the transaction. A transaction that waited for another edit of the row may have started before it, and
  -- review_combine compares these times, so every update needs a later one. A time that this server cannot have set is not
  -- added to: beyond the last time stamp there is none.
  new.updated_at := case
    when isfinite(old.updated_at) and old.updated_at < clock_timestamp() + interval '1 day'
      then greatest(now(), old.updated_at + interval '1 microsecond')
    else now()
  end;
  return new;
end
$$;
comment on function private.set_updated_at() is
  'Before-write trigger: the server, not the client, says when a row was changed.';

create function private.set_created_at() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- Not subject to row-level security: service_role, migrations and security definer functions.
  if not row_security_active(tg_relid) then
    return new;
  end if;
  if tg_op = 'INSERT' then
    new.created_at := now();
  elsif new.created_at is distinct from old.created_at then
    raise exception 'The column "created_at" cannot be changed.' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
comment on function private.set_created_at() is
  'Before-write trigger: the server, not the client, says when a row was made.';

create trigger brands_set_created_at
  before insert or update on public.brands
  for each row execute function private.set_created_at();
create trigger categories_set_created_at
  before insert or update on public.categories
  for each row execute function private.set_created_at();
create trigger subcategories_set_created_at
  before insert or update on public.subcategories
  for each row execute function private.set_created_at();
create trigger colors_set_created_at
  before insert or update on public.colors
  for each row execute function private.set_created_at();
create trigger styles_set_created_at
  before insert or update on public.styles
  for each row execute function private.set_created_at();
create trigger outfit_styles_set_created_at
  before insert or update on public.outfit_styles
  for each row execute function private.set_created_at();
create trigger items_set_created_at
  before insert or update on public.items
  for each row execute function private.set_created_at();
create trigger likes_set_created_at
  before insert on public.likes
  for each row execute function private.set_created_at();
create trigger bookmarks_set_created_at
  before insert on public.bookmarks
  for each row execute function private.set_created_at();

create trigger brands_set_updated_at_first
  before insert on public.brands
  for each row execute function private.set_updated_at();
create trigger items_set_updated_at_first
  before insert on public.items
  for each row execute function private.set_updated_at();
create trigger combines_set_updated_at_first
  before insert on public.combines
  for each row execute function private.set_updated_at();
create trigger profiles_set_updated_at_first
  before insert on public.profiles
  for each row execute function private.set_updated_at();

-- Times that clients have set already: those that no server can have set become today's. One row per column and table.
do $$
declare
  stamp record;
begin
  for stamp in
    select c.relname as table_name, a.attname as column_name
    from pg_attribute as a join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and a.atttypid = 'timestamptz'::regtype and not a.attisdropped
    order by 1, 2
  loop
    -- The triggers would refuse the change, or set other columns.
    execute format('alter table public.%I disable trigger user', stamp.table_name);
    execute format(
      $sql$
        update public.%1$I set %2$I = now()
        where not isfinite(%2$I)
          -- A job of the generator may wait for a time to come.
          or %2$L not in ('run_after', 'lease_until') and %2$I > now() + interval '1 day'
      $sql$, stamp.table_name, stamp.column_name);
    execute format('alter table public.%I enable trigger user', stamp.table_name);
    execute format(
      'alter table public.%1$I add constraint %2$I check (isfinite(%3$I))',
      stamp.table_name, stamp.table_name || '_' || stamp.column_name || '_finite', stamp.column_name);
  end loop;
end
$$;

-- The copies in the search index are made by a trigger of combines, which was switched off.
select private.index_outfits(array(
  select o.combine_id from private.outfit_index as o join public.combines as c on c.id = o.combine_id
  where o.created_at <> c.created_at));
