-- Unfinished uploads count for whoever began them (STORE-101), so that nobody fills the store with bytes that no list shows.

set local role supabase_storage_admin;

alter table storage.resumable_uploads add column if not exists holder text;
alter table storage.s3_multipart_uploads add column if not exists holder text;
comment on column storage.resumable_uploads.holder is
  'In whose share it counts: `user` and an id, or `address` and a network without a user; null for the service, which has no share.';
comment on column storage.s3_multipart_uploads.holder is
  'In whose share it counts: `user` and an id, or `address` and a network without a user; null for the service, which has no share.';

create index if not exists resumable_uploads_holder on storage.resumable_uploads (holder) where completed_at is null;
create index if not exists s3_multipart_uploads_holder on storage.s3_multipart_uploads (holder);
-- The parts of one upload: for the cascade of its deletion, for lists, and for when the last one came.
create index if not exists s3_multipart_uploads_parts_upload on storage.s3_multipart_uploads_parts (upload_id, part_number);

-- With the rights of the caller, who is the service.
create view storage.unfinished_uploads with (security_invoker = true) as
  select u.holder, u.received as bytes
  from storage.resumable_uploads as u
  where u.completed_at is null
  union all
  select m.holder, m.in_progress_size
  from storage.s3_multipart_uploads as m;
comment on view storage.unfinished_uploads is 'Uploads that are not objects yet, with the bytes that they take.';
revoke all on storage.unfinished_uploads from public, anon, authenticated, service_role, postgres;
grant select on storage.unfinished_uploads to service_role;
