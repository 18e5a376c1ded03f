-- PostgreSQL has no foreign keys from array elements. These two triggers give the uuid lists
-- of items and combines the same promise: every id in a list exists.

create function private.check_reference_array() returns trigger
  language plpgsql
  -- Security definer: locking the referenced rows needs rights on them that the writer does not have.
  security definer
  set search_path = ''
as $$
declare
  list_column constant text := tg_argv[0];
  target      constant text := tg_argv[1];
  wanted   uuid[];
  known    uuid[];
  unknown  uuid[];
begin
  execute format('select ($1).%I', list_column) into wanted using new;
  if cardinality(wanted) = 0 then
    return new;
  end if;

  -- `for key share`, as a foreign key's own check takes it: a concurrent delete waits for this transaction,
  -- then sees its row.
  execute format(
    'select array(select t.id from public.%I as t where t.id = any ($1) order by t.id for key share)',
    target) into known using wanted;
  unknown := array(
    select distinct w.id from unnest(wanted) as w (id)
    -- Nulls are left to the check constraints of the tables, whose errors name the column.
    where w.id is not null and w.id <> all (known) order by w.id);
  if cardinality(unknown) > 0 then
    raise exception 'The list "%" of table "%" holds ids that are not in table "%".',
        list_column, tg_table_name, target
      using errcode = 'foreign_key_violation',
            detail = 'Unknown ids: ' || array_to_string(unknown, ', ') || '.',
            constraint = tg_name, schema = tg_table_schema, table = tg_table_name, column = list_column;
  end if;
  return new;
end
$$;
comment on function private.check_reference_array() is
  'Before-write trigger (list column, target table): refuses ids that the target does not hold.';

create function private.remove_from_arrays() returns trigger
  language plpgsql
  -- Security definer: the caller may delete the referenced row, but not update other users' rows that list
  -- it.
  security definer
  set search_path = ''
as $$
begin
  execute format($sql$
    update public.%1$I as r
    set %2$I = array(
      select element.id
      from unnest(r.%2$I) with ordinality as element (id, place)
      where element.id not in (select deleted.id from deleted)
      order by element.place)
    where r.%2$I && array(select deleted.id from deleted)
  $sql$, tg_argv[0], tg_argv[1]);
  return null;
end
$$;
comment on function private.remove_from_arrays() is
  'After-delete trigger (table, list column): takes the deleted ids out of the lists, for all rows of the statement at once.';

create trigger items_check_colors
  before insert or update of colors on public.items
  for each row execute function private.check_reference_array('colors', 'colors');
create trigger combines_check_item_ids
  before insert or update of item_ids on public.combines
  for each row execute function private.check_reference_array('item_ids', 'items');
create trigger combines_check_outfit_styles
  before insert or update of outfit_styles on public.combines
  for each row execute function private.check_reference_array('outfit_styles', 'outfit_styles');
create trigger combines_check_colors
  before insert or update of colors on public.combines
  for each row execute function private.check_reference_array('colors', 'colors');

create trigger items_leave_combines
  after delete on public.items
  referencing old table as deleted
  for each statement execute function private.remove_from_arrays('combines', 'item_ids');
create trigger outfit_styles_leave_combines
  after delete on public.outfit_styles
  referencing old table as deleted
  for each statement execute function private.remove_from_arrays('combines', 'outfit_styles');
create trigger colors_leave_combines
  after delete on public.colors
  referencing old table as deleted
  for each statement execute function private.remove_from_arrays('combines', 'colors');
create trigger colors_leave_items
  after delete on public.colors
  referencing old table as deleted
  for each statement execute function private.remove_from_arrays('items', 'colors');
