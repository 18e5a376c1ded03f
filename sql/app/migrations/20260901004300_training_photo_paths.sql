-- A training photo is named by its path alone. With a host in it, the owner could name a server of their own under our
-- path, and the browser of the administrator who looks at the photo would call it.

alter table public.user_training_images drop constraint user_training_images_own_folder;

update public.user_training_images
set image_url = regexp_replace(image_url, '^https?://[^/\s?#]+', '')
where image_url ~ '^https?://';

alter table public.user_training_images add constraint user_training_images_own_folder check (
  char_length(image_url) <= 2048
  and image_url ~ (
    '^(/storage/v1/object/(public|authenticated|sign)/profile-avatars/|/?(profile-avatars/)?)'
    || 'training-images/' || user_id::text || '/[^/\s?#]+(\?\S*)?$'));
