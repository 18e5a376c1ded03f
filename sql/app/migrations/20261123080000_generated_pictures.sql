-- Pictures of outfits on a person, made from the person's training photos. The table is the queue of the server's generator
-- ([selvedge.generator] in config.toml; its columns are described in docs/generator.md) and the list that its owner sees.

create table public.generated_pictures (
  id         uuid        not null default gen_random_uuid(),
  user_id    uuid        not null,
  combine_id uuid,
  title      text        not null,

  status              text        not null default 'queued',
  attempts            int         not null default 0,
  max_attempts        int         not null default 3,
  progress            smallint    not null default 0,
  error               text,
  input               jsonb       not null,
  run_after           timestamptz not null default now(),
  lease_until         timestamptz,
  callback_token_hash bytea,
  result_bucket       text        not null,
  result_folder       text        not null,
  result_name         text,
  result_is_preview   boolean,
  created_at          timestamptz not null default now(),
  started_at          timestamptz,
  finished_at         timestamptz,
  updated_at          timestamptz not null default now(),

  constraint generated_pictures_pkey primary key (id),
  constraint generated_pictures_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  -- The picture shows its owner, so it stays when the outfit goes.
  constraint generated_pictures_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete set null,
  constraint generated_pictures_status_known
    check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  constraint generated_pictures_progress_range check (progress between 0 and 100),
  constraint generated_pictures_result_complete
    check ((status = 'succeeded') = (result_name is not null and result_is_preview is not null)),
  constraint generated_pictures_lease_of_running check (lease_until is null or status = 'running')
);

comment on table public.generated_pictures is
  'Jobs of the generator and their pictures. People ask for one by request_generated_picture; the server carries it out.';
comment on column public.generated_pictures.title is 'The name of the outfit when the picture was asked for.';
comment on column public.generated_pictures.error is
  'Why the last attempt failed, for its owner to read. A queued job with an error is tried again.';
comment on column public.generated_pictures.input is
  'The files from which the picture is made. Written by the functions of this file only, because the server reads the files without asking policies.';
comment on column public.generated_pictures.lease_until is
  'Until when the job belongs to the worker that claimed it; afterwards another one takes it over.';

-- What workers look for: jobs that are due, and leases that have expired.
create index generated_pictures_due_idx on public.generated_pictures (run_after, id) where status = 'queued';
create index generated_pictures_lease_idx on public.generated_pictures (lease_until) where status = 'running';
-- The owner's list, newest first, and the page of an outfit.
create index generated_pictures_user_id_created_at_idx on public.generated_pictures (user_id, created_at desc, id);
create index generated_pictures_combine_id_idx on public.generated_pictures (combine_id) where combine_id is not null;

create trigger generated_pictures_set_updated_at
  before update on public.generated_pictures
  for each row execute function private.set_updated_at();

alter table public.generated_pictures enable row level security;
revoke all on table public.generated_pictures from anon, authenticated;
-- Not the columns by which the server works: nobody needs them, and the hash of a token is nobody's business.
grant select (
  id, user_id, combine_id, title, status, attempts, max_attempts, progress, error, run_after,
  result_bucket, result_name, result_is_preview, created_at, started_at, finished_at, updated_at)
  on table public.generated_pictures to authenticated;
grant delete on table public.generated_pictures to authenticated;
grant all on table public.generated_pictures to service_role;

create policy generated_pictures_select_own on public.generated_pictures
  for select to authenticated
  using (user_id = (select auth.uid()));
comment on policy generated_pictures_select_own on public.generated_pictures is
  'The list of a person''s pictures is for that person alone; administrators do not read it either.';

create policy generated_pictures_delete_own on public.generated_pictures
  for delete to authenticated
  using (user_id = (select auth.uid()));
comment on policy generated_pictures_delete_own on public.generated_pictures is
  'Everybody deletes their own pictures, also one that is being made.';

create function private.delete_generated_file() returns trigger
  language plpgsql
  -- Security definer: the file goes with the row, whoever deletes it.
  security definer
  set search_path = ''
as $$
begin
  -- Without its row no object can be read. The sweep of the storage service removes the bytes.
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects as o
  where o.bucket_id = old.result_bucket
    -- All endings, because an attempt that was interrupted may have stored the file without naming it here.
    and o.name in (
      old.result_folder || '/' || old.id || '.jpg', old.result_folder || '/' || old.id || '.png',
      old.result_folder || '/' || old.id || '.webp');
  perform set_config('storage.allow_delete_query', 'false', true);
  return null;
end
$$;
comment on function private.delete_generated_file() is
  'After-delete trigger: no picture outlives its row.';

create trigger generated_pictures_delete_file
  after delete on public.generated_pictures
  for each row execute function private.delete_generated_file();

create function private.wake_generator() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- The server also looks by itself every few seconds; the notification only saves the wait.
  perform pg_notify('selvedge_generator', '');
  return null;
end
$$;
comment on function private.wake_generator() is
  'After-write trigger: tells the server that a job is waiting.';

create trigger generated_pictures_wake
  after insert or update of status on public.generated_pictures
  for each row when (new.status = 'queued')
  execute function private.wake_generator();
