create table public.combines (
  id               uuid        not null default gen_random_uuid(),
  user_id          uuid        default auth.uid(),
  name             text        not null,
  description      text,
  meta_description text,
  main_image       text,
  image_alt        text,
  gender           text        not null default 'unisex',
  item_ids         uuid[]      not null default '{}',
  outfit_styles    uuid[]      not null default '{}',
  colors           uuid[]      not null default '{}',
  slug             text        not null default '',
  status           text        not null default 'pending',
  created_by_admin boolean     not null default false,
  approved_by      uuid,
  approved_at      timestamptz,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),

  constraint combines_pkey primary key (id),
  constraint combines_slug_key unique (slug),
  -- A published outfit stays when its creator's account is deleted; see combines_leave_with_creator.
  constraint combines_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete set null,
  -- To auth.users on purpose: a second key to profiles would make the embed
  -- `profiles(...)` ambiguous for every reader.
  constraint combines_approved_by_fkey
    foreign key (approved_by) references auth.users (id) on delete set null,
  constraint combines_name_length check (char_length(btrim(name)) between 2 and 200),
  constraint combines_description_length check (char_length(description) <= 10000),
  constraint combines_meta_description_length check (char_length(meta_description) <= 1000),
  constraint combines_main_image_location
    check (main_image ~ '^(https?://|/)\S+$' and char_length(main_image) <= 2048),
  -- A submission's picture is that of its first item, which may have none.
  constraint combines_main_image_present check (main_image is not null or not created_by_admin),
  constraint combines_image_alt_length check (char_length(image_alt) <= 1000),
  constraint combines_gender_known check (gender in ('men', 'women', 'unisex')),
  constraint combines_item_ids_shape check (
    cardinality(item_ids) <= 50
    and coalesce(array_ndims(item_ids), 1) = 1
    and array_position(item_ids, null) is null),
  constraint combines_outfit_styles_shape check (
    cardinality(outfit_styles) <= 50
    and coalesce(array_ndims(outfit_styles), 1) = 1
    and array_position(outfit_styles, null) is null),
  constraint combines_colors_shape check (
    cardinality(colors) <= 50
    and coalesce(array_ndims(colors), 1) = 1
    and array_position(colors, null) is null),
  constraint combines_slug_format check (slug ~ '^[a-z0-9_-]{1,240}$'),
  constraint combines_status_known check (status in ('pending', 'approved', 'rejected')),
  constraint combines_review_recorded check ((status = 'pending') = (approved_at is null))
);

comment on table public.combines is
  'Outfits. A submission waits as pending until an administrator approves or rejects it; only approved outfits are public.';
comment on column public.combines.user_id is 'The creator; null after the account was deleted.';
comment on column public.combines.main_image is
  'Absolute address or root-relative path such as /storage/v1/object/public/combine-images/<slug>.webp.';
comment on column public.combines.item_ids is 'Ids of items in the order of display; unknown ids are refused.';
comment on column public.combines.outfit_styles is 'Ids of outfit_styles; unknown ids are refused.';
comment on column public.combines.colors is 'Ids of colors; unknown ids are refused.';
comment on column public.combines.slug is 'Made from the name when none is given.';
comment on column public.combines.approved_by is 'Who reviewed it, whichever way the review went.';
comment on column public.combines.approved_at is 'When it was reviewed, whichever way the review went.';

-- For the public lists and the ranking: approved outfits, newest first, optionally of one gender.
create index combines_approved_newest_idx
  on public.combines (created_at desc) where status = 'approved';
create index combines_approved_gender_newest_idx
  on public.combines (gender, created_at desc) where status = 'approved';
-- For the admin area's list of all outfits and by status, and for the count of pending ones.
create index combines_created_at_idx on public.combines (created_at desc);
create index combines_status_created_at_idx on public.combines (status, created_at desc);
-- A creator's outfits, newest first.
create index combines_user_id_created_at_idx on public.combines (user_id, created_at desc);
create index combines_approved_by_idx on public.combines (approved_by);
-- For search by a part of the name, and for searches by one element of the id lists.
create index combines_name_trgm_idx on public.combines using gin (name extensions.gin_trgm_ops);
create index combines_item_ids_idx on public.combines using gin (item_ids);
create index combines_outfit_styles_idx on public.combines using gin (outfit_styles);
create index combines_colors_idx on public.combines using gin (colors);

create trigger combines_blank_to_null
  before insert or update on public.combines
  for each row execute function private.blank_to_null(
    'description', 'meta_description', 'main_image', 'image_alt');
create trigger combines_set_updated_at
  before update on public.combines
  for each row execute function private.set_updated_at();

-- No policies yet: 20260901001800_combine_access.sql adds them.
alter table public.combines enable row level security;
