-- Resumable uploads under way (storage.md §4). The original keeps this state beside the bytes. In tables every node can
-- continue every upload, whatever the backend. The bytes of a piece count as received once its row is committed.

set local role supabase_storage_admin;

create table storage.resumable_uploads (
  version uuid not null,
  bucket_id text not null,
  key text collate "C" not null,
  length bigint,
  received bigint not null default 0,
  digest text not null default '',
  writer uuid,
  upload_metadata text not null,
  content_type text,
  cache_control text not null,
  user_metadata jsonb,
  finishing jsonb,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  completed_at timestamptz,
  constraint resumable_uploads_pkey primary key (version),
  constraint resumable_uploads_received_check check (received >= 0 and (length is null or received <= length))
);
comment on table storage.resumable_uploads is 'Resumable uploads under way and just completed; kept by the storage service.';
comment on column storage.resumable_uploads.version is 'Version of the object that the upload will become.';
comment on column storage.resumable_uploads.length is 'Declared size in bytes; null while it is deferred.';
comment on column storage.resumable_uploads.received is 'Bytes that are safe: the sum of the pieces.';
comment on column storage.resumable_uploads.digest is 'State of the MD5 over them, so that nothing is read again.';
comment on column storage.resumable_uploads.writer is 'The last request that began to write; an older one can record nothing any more.';
comment on column storage.resumable_uploads.finishing is 'Owner and upsert of the request that brought the last byte; the object is made with them, also after a crash.';
create index resumable_uploads_expires_at on storage.resumable_uploads (expires_at);

create table storage.resumable_pieces (
  upload uuid not null,
  position bigint not null,
  version uuid not null,
  size bigint not null,
  constraint resumable_pieces_pkey primary key (upload, position),
  constraint resumable_pieces_upload_fkey
    foreign key (upload) references storage.resumable_uploads (version) on delete cascade,
  constraint resumable_pieces_size_check check (size > 0)
);
comment on table storage.resumable_pieces is 'Received bytes of resumable uploads, each piece a blob of its own.';
comment on column storage.resumable_pieces.position is 'Offset of its first byte in the upload.';
create index resumable_pieces_version on storage.resumable_pieces (version);

alter table storage.resumable_uploads enable row level security;
alter table storage.resumable_pieces enable row level security;
-- Only the service may read these tables: an upload id is a secret, and a writer id in the wrong hands could record
-- bytes.
revoke all on storage.resumable_uploads, storage.resumable_pieces from anon, authenticated, service_role, postgres;
grant select, insert, update, delete on storage.resumable_uploads, storage.resumable_pieces to service_role;
