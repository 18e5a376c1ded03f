create table public.items (
  id               uuid          not null default gen_random_uuid(),
  name             text          not null,
  product_id       bigint,
  description      text,
  meta_description text,
  image            text,
  price            numeric(10,2) not null default 0,
  brand_id         uuid          not null,
  category         uuid,
  subcategory_id   uuid,
  gender           text          not null default 'unisex',
  source_url       text,
  slug             text          not null default '',
  colors           uuid[]        not null default '{}',
  created_at       timestamptz   not null default now(),
  updated_at       timestamptz   not null default now(),

  constraint items_pkey primary key (id),
  constraint items_product_id_key unique (product_id),
  constraint items_slug_key unique (slug),
  -- A brand that has items cannot be deleted, because its items would lose their maker. Not `restrict`, which
  -- reports another SQLSTATE from PostgreSQL 18 on.
  constraint items_brand_id_fkey
    foreign key (brand_id) references public.brands (id),
  constraint items_category_fkey
    foreign key (category) references public.categories (id) on delete set null,
  constraint items_subcategory_id_fkey
    foreign key (subcategory_id) references public.subcategories (id) on delete set null,
  constraint items_name_length check (char_length(btrim(name)) between 2 and 200),
  constraint items_description_length check (char_length(description) <= 10000),
  constraint items_meta_description_length check (char_length(meta_description) <= 1000),
  constraint items_image_location check (image ~ '^(https?://|/)\S+$' and char_length(image) <= 2048),
  constraint items_price_not_negative check (price >= 0),
  constraint items_gender_known check (gender in ('men', 'women', 'unisex')),
  constraint items_source_url_http
    check (source_url ~* '^https?://\S+$' and char_length(source_url) <= 2048),
  constraint items_slug_format check (slug ~ '^[a-z0-9_-]{1,240}$'),
  constraint items_colors_shape check (
    cardinality(colors) <= 50
    and coalesce(array_ndims(colors), 1) = 1
    and array_position(colors, null) is null)
);

comment on table public.items is
  'Products of the catalogue. likes.product_id refers to items.id; items.product_id is the retailer''s number.';
comment on column public.items.product_id is 'The retailer''s own number, when the item was imported.';
comment on column public.items.category is 'Id of the category; null after the category was deleted.';
comment on column public.items.image is
  'Absolute address or root-relative path such as /storage/v1/object/public/images/items/<slug>.webp.';
comment on column public.items.slug is 'Made from the name when none is given.';
comment on column public.items.colors is 'Ids of colors; unknown ids are refused.';

-- Lists are newest first.
create index items_created_at_idx on public.items (created_at desc);
-- Search in name or description.
create index items_name_trgm_idx on public.items using gin (name extensions.gin_trgm_ops);
create index items_description_trgm_idx on public.items using gin (description extensions.gin_trgm_ops);
-- Indexes on foreign keys, for embedding and for deletes of the referenced rows.
create index items_brand_id_idx on public.items (brand_id);
create index items_category_idx on public.items (category);
create index items_subcategory_id_idx on public.items (subcategory_id);
-- For the item picker's filter by gender, and for searches by one color of the list.
create index items_gender_created_at_idx on public.items (gender, created_at desc);
create index items_colors_idx on public.items using gin (colors);

create trigger items_blank_to_null
  before insert or update on public.items
  for each row execute function private.blank_to_null(
    'description', 'meta_description', 'image', 'source_url');
create trigger items_set_updated_at
  before update on public.items
  for each row execute function private.set_updated_at();

alter table public.items enable row level security;
revoke all on table public.items from anon, authenticated;
grant select on table public.items to anon;
grant select, insert, update, delete on table public.items to authenticated;
grant all on table public.items to service_role;

create policy items_select_all on public.items
  for select to anon, authenticated
  using (true);
comment on policy items_select_all on public.items is 'The catalogue is public.';

create policy items_insert_admin on public.items
  for insert to authenticated
  with check ((select public.is_admin_role()));
comment on policy items_insert_admin on public.items is 'Administrators maintain the catalogue.';

create policy items_update_admin on public.items
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy items_update_admin on public.items is 'Administrators maintain the catalogue.';

create policy items_delete_admin on public.items
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy items_delete_admin on public.items is 'Administrators maintain the catalogue.';
