-- An item names its category and its subcategory; they must not contradict each other.
-- Not a composite foreign key: deleting a category would then have to clear two columns in
-- one order only.

create function private.check_item_subcategory() returns trigger
  language plpgsql
  set search_path = ''
as $$
declare
  parent uuid;
begin
  if new.subcategory_id is null then
    return new;
  end if;
  select s.category_id into parent from public.subcategories as s where s.id = new.subcategory_id;
  if not found then
    return new; -- the foreign key has the better message
  end if;
  if tg_op = 'INSERT' and new.category is null then
    new.category := parent;
  end if;
  -- An update that sets the category to null is the foreign key's action when the category is deleted; its
  -- subcategories are deleted with it.
  if new.category <> parent then
    raise exception 'The subcategory of an item must belong to its category.'
      using errcode = 'check_violation', constraint = 'items_subcategory_in_category',
            schema = 'public', table = 'items', column = 'subcategory_id';
  end if;
  return new;
end
$$;
comment on function private.check_item_subcategory() is
  'Before-write trigger: an item''s subcategory belongs to its category.';

create trigger items_check_subcategory
  before insert or update of category, subcategory_id on public.items
  for each row execute function private.check_item_subcategory();

create function private.move_items_with_subcategory() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  update public.items set category = new.category_id where subcategory_id = new.id;
  return null;
end
$$;
comment on function private.move_items_with_subcategory() is
  'After-update trigger: items follow their subcategory into another category.';

create trigger subcategories_move_items
  after update of category_id on public.subcategories
  for each row when (old.category_id is distinct from new.category_id)
  execute function private.move_items_with_subcategory();
