create policy "own folder" on storage.objects for all to authenticated
  using (bucket_id = 'papers' and (storage.foldername(name))[1] = (select auth.uid()::text))
  with check (bucket_id = 'papers' and (storage.foldername(name))[1] = (select auth.uid()::text));
insert into storage.buckets (id, name, public) values ('made-by-sql', 'made-by-sql', true) on conflict do nothing;
