-- Whoever deletes an account, its files go with it: the page of the user, an administrator with the service key, SQL. A deletion that
-- keeps the row of the account ("soft") takes the profile and the files as well.

create or replace function private.give_outfits_item_pictures(creator uuid) returns void
  language sql
  set search_path = ''
as $$
  update public.combines as c
  set (main_image, main_image_color, image_alt) = (
    select i.image, i.image_color, null
    from unnest(c.item_ids) with ordinality as listed (id, place)
    join public.items as i on i.id = listed.id and i.image is not null
    order by listed.place
    limit 1)
  where c.user_id = creator and c.status = 'approved'
    and starts_with(private.file_at(c.main_image), 'user-outfit-images/' || creator || '/')
    -- A picture that administrators require cannot be taken away without another one.
    and exists (select from public.items as i where i.id = any (c.item_ids) and i.image is not null)
$$;

create function private.remove_person() returns trigger
  language plpgsql
  -- Security definer: the service that deletes accounts has no rights on files and outfits.
  security definer
  set search_path = ''
as $$
begin
  perform private.give_outfits_item_pictures(old.id);
  -- Without its row no object can be read. The sweep of the storage service removes the bytes.
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects as o
  where o.id in (select mine.id from private.objects_of(old.id) as mine);
  perform set_config('storage.allow_delete_query', 'false', true);
  if tg_op = 'UPDATE' then
    delete from public.profiles as p where p.id = old.id;
    return new;
  end if;
  return old;
end
$$;
comment on function private.remove_person() is
  'Before-delete trigger on auth.users: no file of a person outlives the account, and published outfits keep a picture.';

create trigger remove_person_on_delete
  before delete on auth.users
  for each row execute function private.remove_person();
create trigger remove_person_on_soft_delete
  after update of deleted_at on auth.users
  for each row when (old.deleted_at is null and new.deleted_at is not null)
  execute function private.remove_person();

-- Files of accounts that were deleted before are orphans, which administrators find and remove in the settings.
