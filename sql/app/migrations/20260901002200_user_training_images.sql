create table public.user_training_images (
  user_id     uuid        not null default auth.uid(),
  image_url   text        not null,
  image_order smallint    not null,
  updated_at  timestamptz not null default now(),

  -- One picture per position; the site's upsert conflicts on this key.
  constraint user_training_images_pkey primary key (user_id, image_order),
  constraint user_training_images_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint user_training_images_order_range check (image_order between 1 and 3),
  -- The file must lie in the owner's folder of the private bucket: a foreign address would
  -- make an administrator's browser call wherever its author likes.
  constraint user_training_images_own_folder check (
    char_length(image_url) <= 2048
    and image_url ~ (
      '^((https?://[^/\s?#]+)?/storage/v1/object/(public|authenticated|sign)/profile-avatars/|/?(profile-avatars/)?)'
      || 'training-images/' || user_id::text || '/[^/\s?#]+(\?\S*)?$'))
);

comment on table public.user_training_images is
  'The three personal photos of a user, read by their owner and by administrators only. The files lie in the private bucket profile-avatars under training-images/<user id>/.';

create trigger user_training_images_set_updated_at
  before insert or update on public.user_training_images
  for each row execute function private.set_updated_at();

alter table public.user_training_images enable row level security;
revoke all on table public.user_training_images from anon, authenticated;
grant select, insert, update, delete on table public.user_training_images to authenticated;
grant all on table public.user_training_images to service_role;

create policy user_training_images_select_own_or_admin on public.user_training_images
  for select to authenticated
  using (user_id = (select auth.uid()) or (select public.is_admin_role()));
comment on policy user_training_images_select_own_or_admin on public.user_training_images is
  'Personal photos: their owner, and the administrators who make pictures from them.';

create policy user_training_images_insert_own on public.user_training_images
  for insert to authenticated
  with check (user_id = (select auth.uid()));
comment on policy user_training_images_insert_own on public.user_training_images is
  'Everybody fills their own slots.';

create policy user_training_images_update_own on public.user_training_images
  for update to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));
comment on policy user_training_images_update_own on public.user_training_images is
  'Everybody replaces their own photos only.';

create policy user_training_images_delete_own on public.user_training_images
  for delete to authenticated
  using (user_id = (select auth.uid()));
comment on policy user_training_images_delete_own on public.user_training_images is
  'Everybody empties their own slots only.';
