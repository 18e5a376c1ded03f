-- Asking for a picture, trying a failed one again, cancelling. The files that a picture is made from are looked up here, as the
-- server reads them without asking policies: a caller can name an outfit, and never a file.

create function private.picture_source(role text, url text, label text) returns jsonb
  language sql
  immutable
  set search_path = ''
as $$
  -- Null for pictures that are no files of this site.
  select jsonb_build_object(
    'role', role, 'label', label,
    'bucket', split_part(file.path, '/', 1),
    'name', substr(file.path, strpos(file.path, '/') + 1))
  from (select private.file_at(url)) as file (path)
  where file.path is not null
$$;
comment on function private.picture_source(text, text, text) is
  'The description of a file for the generator.';

create function private.generated_picture_input(person uuid, outfit public.combines) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select jsonb_build_object(
    'details', jsonb_build_object('title', outfit.name, 'gender', outfit.gender),
    'sources', (
      select coalesce(jsonb_agg(source.file order by source.part, source.place), '[]')
      from (
        -- The constraint on image_url keeps training photos in the folder of their owner.
        select 1, t.image_order::bigint, private.picture_source('person', t.image_url, null)
        from public.user_training_images as t
        where t.user_id = person
        union all
        select 2, listed.place, private.picture_source('item', i.image, i.name)
        from unnest(outfit.item_ids) with ordinality as listed (id, place)
        join public.items as i on i.id = listed.id
      ) as source (part, place, file)
      where source.file is not null))
$$;
comment on function private.generated_picture_input(uuid, public.combines) is
  'The training photos of a person and the items of an outfit, as the generator gets them.';

create function private.lock_pictures(person uuid) returns void
  language sql
  set search_path = ''
as $$
  -- Not the profile's row, as whoever edits the profile would wait for it.
  select pg_advisory_xact_lock(hashtextextended('generated_pictures/' || person, 0))
$$;
comment on function private.lock_pictures(uuid) is
  'Makes requests of one person wait for each other, because they could otherwise pass the limits together.';

create function private.check_picture_limits(person uuid) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  photos int;
begin
  select count(*) into photos from public.user_training_images as t where t.user_id = person;
  if photos <> 3 then
    raise exception 'Upload your three training photos first.'
      using errcode = 'check_violation', constraint = 'generated_pictures_training_photos_complete';
  end if;
  if (select count(*) from public.generated_pictures as g
      where g.user_id = person and g.status in ('queued', 'running')) >= 3 then
    raise exception 'Three of your pictures are being made. Wait for one of them, or cancel it.'
      using errcode = 'check_violation', constraint = 'generated_pictures_waiting_limit';
  end if;
  if (select count(*) from public.generated_pictures as g where g.user_id = person) >= 60 then
    raise exception 'You have 60 pictures. Delete some of them first.'
      using errcode = 'check_violation', constraint = 'generated_pictures_kept_limit';
  end if;
end
$$;
comment on function private.check_picture_limits(uuid) is
  'Raises 23514 unless this person may ask for another picture.';

create function public.request_generated_picture(outfit_id uuid) returns uuid
  language plpgsql
  -- Security definer: nobody may write jobs.
  security definer
  set search_path = ''
as $$
declare
  me constant uuid := auth.uid();
  outfit public.combines;
  job uuid;
begin
  if me is null or not exists (select from public.profiles as p where p.id = me) then
    raise exception 'Sign in to see an outfit on you.' using errcode = 'insufficient_privilege';
  end if;
  select * into outfit from public.combines as c
  where c.id = outfit_id and (c.status = 'approved' or c.user_id = me);
  if not found then
    raise exception 'There is no such outfit.' using errcode = 'no_data_found';
  end if;
  perform private.lock_pictures(me);
  -- A second click, or a click in a second window, leads to the picture that is being made already.
  select g.id into job from public.generated_pictures as g
  where g.user_id = me and g.combine_id = outfit_id and g.status in ('queued', 'running');
  if found then
    return job;
  end if;
  perform private.check_picture_limits(me);
  insert into public.generated_pictures (user_id, combine_id, title, input, result_bucket, result_folder)
  values (
    me, outfit_id, outfit.name, private.generated_picture_input(me, outfit),
    -- The private bucket: the picture shows a person.
    'profile-avatars', me || '/generated')
  returning id into job;
  return job;
end
$$;
comment on function public.request_generated_picture(uuid) is
  'Signed-in people only: asks for a picture of an outfit on the caller, and returns its id. At most three are made at a time.';

create function public.retry_generated_picture(picture_id uuid) returns void
  language plpgsql
  -- Security definer: nobody may write jobs.
  security definer
  set search_path = ''
as $$
declare
  me constant uuid := auth.uid();
  job public.generated_pictures;
  outfit public.combines;
begin
  perform private.lock_pictures(me);
  select * into job from public.generated_pictures as g
  where g.id = picture_id and g.user_id = me and g.status in ('failed', 'cancelled');
  if not found then
    raise exception 'There is no such picture to try again.' using errcode = 'no_data_found';
  end if;
  select * into outfit from public.combines as c
  where c.id = job.combine_id and (c.status = 'approved' or c.user_id = me);
  if not found then
    raise exception 'The outfit is no longer there.' using errcode = 'no_data_found';
  end if;
  perform private.check_picture_limits(me);
  -- With the photos and items of today, as one of them may have been the reason.
  update public.generated_pictures as g
  set status = 'queued', attempts = 0, progress = 0, error = null, run_after = now(), started_at = null,
    finished_at = null, input = private.generated_picture_input(me, outfit)
  where g.id = job.id and g.status in ('failed', 'cancelled');
end
$$;
comment on function public.retry_generated_picture(uuid) is
  'Signed-in people only: queues a failed or cancelled picture of the caller again.';

create function public.cancel_generated_picture(picture_id uuid) returns void
  language plpgsql
  -- Security definer: nobody may write jobs.
  security definer
  set search_path = ''
as $$
begin
  update public.generated_pictures as g
  set status = 'cancelled', error = null, lease_until = null, callback_token_hash = null, finished_at = now()
  where g.id = picture_id and g.user_id = auth.uid() and g.status in ('queued', 'running');
  if not found then
    raise exception 'The picture is not being made.' using errcode = 'no_data_found';
  end if;
end
$$;
comment on function public.cancel_generated_picture(uuid) is
  'Signed-in people only: stops a picture of the caller that is waiting or being made.';

revoke execute on function public.request_generated_picture(uuid), public.retry_generated_picture(uuid),
  public.cancel_generated_picture(uuid) from public, anon;
grant execute on function public.request_generated_picture(uuid), public.retry_generated_picture(uuid),
  public.cancel_generated_picture(uuid) to authenticated;
