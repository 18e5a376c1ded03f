-- Tables of the storage service (storage.md §8). Rows describe objects; the bytes live in the backend.

set local role supabase_storage_admin;

-- All names here are the original's, because policies, functions and dumps of projects refer to them.
create type storage.buckettype as enum ('STANDARD', 'ANALYTICS', 'VECTOR');

create table storage.buckets (
  id text not null,
  name text not null,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  public boolean default false,
  avif_autodetection boolean default false,
  file_size_limit bigint,
  allowed_mime_types text[],
  owner_id text,
  type storage.buckettype not null default 'STANDARD',
  versioning_status text not null default 'DISABLED',
  constraint buckets_pkey primary key (id),
  constraint buckets_versioning_status_check check (versioning_status in ('DISABLED', 'ENABLED', 'SUSPENDED')),
  constraint buckets_versioning_type_check check (versioning_status = 'DISABLED' or type = 'STANDARD'),
  constraint buckets_versioning_disabled_check check (versioning_status = 'DISABLED')
);
comment on column storage.buckets.owner is 'Field is deprecated, use owner_id instead';
create unique index bname on storage.buckets (name);

create table storage.objects (
  id uuid not null default gen_random_uuid(),
  bucket_id text,
  name text,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  last_accessed_at timestamptz default now(),
  metadata jsonb,
  path_tokens text[] generated always as (string_to_array(name, '/')) stored,
  version text,
  owner_id text,
  user_metadata jsonb,
  archived_at timestamptz,
  is_delete_marker boolean not null default false,
  is_versioned boolean not null default false,
  constraint objects_pkey primary key (id),
  constraint "objects_bucketId_fkey" foreign key (bucket_id) references storage.buckets (id)
);
comment on column storage.objects.owner is 'Field is deprecated, use owner_id instead';
-- One object per key: concurrent uploads rely on this index to decide which of them succeeds.
create unique index bucketid_objname on storage.objects (bucket_id, name);
-- Collation "C" compares bytes, as S3 orders keys; the index above follows the collation of the database instead.
create index idx_objects_bucket_id_name on storage.objects (bucket_id, name collate "C");
create index idx_objects_bucket_id_name_lower on storage.objects (bucket_id, lower(name) collate "C");
create index name_prefix_search on storage.objects (name text_pattern_ops);

-- Multipart uploads of the S3 protocol that are neither completed nor aborted. `in_progress_size` is the sum of their
-- parts in bytes; `upload_signature` is unused and kept for the original's schema.
create table storage.s3_multipart_uploads (
  id text not null,
  in_progress_size bigint not null default 0,
  upload_signature text not null,
  bucket_id text not null,
  key text collate "C" not null,
  version text not null,
  owner_id text,
  created_at timestamptz not null default now(),
  user_metadata jsonb,
  metadata jsonb,
  constraint s3_multipart_uploads_pkey primary key (id),
  constraint s3_multipart_uploads_bucket_id_fkey foreign key (bucket_id) references storage.buckets (id)
);
create index idx_multipart_uploads_list on storage.s3_multipart_uploads (bucket_id, key collate "C", created_at);

-- The id of a part is also the version of its blob.
create table storage.s3_multipart_uploads_parts (
  id uuid not null default gen_random_uuid(),
  upload_id text not null,
  size bigint not null default 0,
  part_number integer not null,
  bucket_id text not null,
  key text collate "C" not null,
  etag text not null,
  owner_id text,
  version text not null,
  created_at timestamptz not null default now(),
  constraint s3_multipart_uploads_parts_pkey primary key (id),
  constraint s3_multipart_uploads_parts_upload_id_fkey
    foreign key (upload_id) references storage.s3_multipart_uploads (id) on delete cascade,
  constraint s3_multipart_uploads_parts_bucket_id_fkey foreign key (bucket_id) references storage.buckets (id)
);

create table storage.migrations (
  id integer not null,
  name varchar(100) not null,
  hash varchar(40) not null,
  executed_at timestamp default current_timestamp,
  constraint migrations_pkey primary key (id),
  constraint migrations_name_key unique (name)
);

-- Compat: the tables of analytics and vector buckets exist for clients and dumps that name them; this service does not
-- use them.
create table storage.buckets_analytics (
  name text not null,
  type storage.buckettype not null default 'ANALYTICS',
  format text not null default 'ICEBERG',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  id uuid not null default gen_random_uuid(),
  deleted_at timestamptz,
  constraint buckets_analytics_pkey primary key (id)
);
create unique index buckets_analytics_unique_name_idx on storage.buckets_analytics (name) where deleted_at is null;

create table storage.iceberg_namespaces (
  id uuid not null default gen_random_uuid(),
  bucket_name text not null,
  name text collate "C" not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  metadata jsonb not null default '{}',
  catalog_id uuid not null,
  constraint iceberg_namespaces_pkey primary key (id),
  constraint iceberg_namespaces_catalog_id_fkey
    foreign key (catalog_id) references storage.buckets_analytics (id) on delete cascade
);
create unique index idx_iceberg_namespaces_bucket_id on storage.iceberg_namespaces (catalog_id, name);

create table storage.iceberg_tables (
  id uuid not null default gen_random_uuid(),
  namespace_id uuid not null,
  bucket_name text not null,
  name text collate "C" not null,
  location text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  remote_table_id text,
  shard_key text,
  shard_id text,
  catalog_id uuid not null,
  constraint iceberg_tables_pkey primary key (id),
  constraint iceberg_tables_namespace_id_fkey
    foreign key (namespace_id) references storage.iceberg_namespaces (id) on delete cascade,
  constraint iceberg_tables_catalog_id_fkey
    foreign key (catalog_id) references storage.buckets_analytics (id) on delete cascade
);
create unique index idx_iceberg_tables_namespace_id on storage.iceberg_tables (catalog_id, namespace_id, name);

create table storage.buckets_vectors (
  id text not null,
  type storage.buckettype not null default 'VECTOR',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint buckets_vectors_pkey primary key (id)
);

create table storage.vector_indexes (
  id text not null default gen_random_uuid(),
  name text collate "C" not null,
  bucket_id text not null,
  data_type text not null,
  dimension integer not null,
  distance_metric text not null,
  metadata_configuration jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint vector_indexes_pkey primary key (id),
  constraint vector_indexes_bucket_id_fkey foreign key (bucket_id) references storage.buckets_vectors (id)
);
create unique index vector_indexes_name_bucket_id_idx on storage.vector_indexes (name, bucket_id);

-- Without policies a table with row-level security shows no rows to the API roles; projects add their own policies.
alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;
alter table storage.s3_multipart_uploads enable row level security;
alter table storage.s3_multipart_uploads_parts enable row level security;
alter table storage.migrations enable row level security;
alter table storage.buckets_analytics enable row level security;
alter table storage.iceberg_namespaces enable row level security;
alter table storage.iceberg_tables enable row level security;
alter table storage.buckets_vectors enable row level security;
alter table storage.vector_indexes enable row level security;

-- The default privileges opened the tables above to the API roles; only buckets and objects are meant to be.
revoke all on all tables in schema storage from anon, authenticated, service_role, postgres;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role;
grant all on storage.buckets, storage.objects to postgres with grant option;
grant select on storage.s3_multipart_uploads, storage.s3_multipart_uploads_parts to anon, authenticated;
grant all on storage.s3_multipart_uploads, storage.s3_multipart_uploads_parts to service_role;
grant all on storage.buckets_analytics, storage.iceberg_namespaces, storage.iceberg_tables to service_role;
grant select on storage.buckets_analytics, storage.iceberg_namespaces, storage.iceberg_tables to anon, authenticated;
grant select on storage.buckets_vectors, storage.vector_indexes to anon, authenticated, service_role;
