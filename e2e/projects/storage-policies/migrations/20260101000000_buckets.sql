insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('avatars', 'avatars', true, 1048576, array['image/png', 'image/jpeg']), ('invoices', 'invoices', false, null, null)
on conflict (id) do nothing;

create policy "avatars are public" on storage.objects for select using (bucket_id = 'avatars');
create policy "own avatar" on storage.objects for insert to authenticated
  with check (bucket_id = 'avatars' and (storage.foldername(name))[1] = (select auth.uid()::text));
create policy "own invoices" on storage.objects for select to authenticated
  using (bucket_id = 'invoices' and owner_id = (select auth.uid()::text));
