-- The average color of a picture, stored beside its address: cards show it in place of a grey box until the picture is there.

alter table public.items add column image_color text;
alter table public.items add constraint items_image_color_format check (image_color ~ '^#[0-9a-f]{6}$');
comment on column public.items.image_color is 'Average color of the picture as #rrggbb; null when unknown.';

alter table public.combines add column main_image_color text;
alter table public.combines add constraint combines_main_image_color_format check (main_image_color ~ '^#[0-9a-f]{6}$');
comment on column public.combines.main_image_color is
  'Average color of the picture as #rrggbb; null when unknown. Taken from the item whose picture it is.';

create function private.forget_item_picture_color() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if new.image is distinct from old.image and new.image_color is not distinct from old.image_color then
    new.image_color := null;
  end if;
  return new;
end
$$;
comment on function private.forget_item_picture_color() is
  'Before-update trigger: a new picture does not keep the color of the old one.';

create trigger items_forget_picture_color
  before update of image on public.items
  for each row execute function private.forget_item_picture_color();

create function private.set_outfit_picture_color() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' then
    if new.main_image is not distinct from old.main_image then
      return new;
    end if;
    if new.main_image_color is not distinct from old.main_image_color then
      new.main_image_color := null;
    end if;
  end if;
  new.main_image_color := coalesce(
    new.main_image_color,
    (select i.image_color from public.items as i
     where i.id = any (new.item_ids) and i.image = new.main_image limit 1));
  return new;
end
$$;
comment on function private.set_outfit_picture_color() is
  'Before-write trigger: a submission whose picture is an item''s takes the item''s color; a new picture does not keep the old color.';

create trigger combines_set_picture_color
  before insert or update on public.combines
  for each row execute function private.set_outfit_picture_color();
