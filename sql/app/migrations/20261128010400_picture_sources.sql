-- The server reads the files of a job without asking policies. So a job names photos that are rows and files of the person who asks,
-- and pictures of items in public buckets, and nothing that anybody has written as an address.

create or replace function private.generated_picture_input(person uuid, outfit public.combines) returns jsonb
  language sql
  stable
  set search_path = ''
as $$
  select jsonb_build_object(
    'details', jsonb_build_object('title', outfit.name, 'gender', outfit.gender),
    'sources', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object(
            'role', source.role, 'label', source.label, 'bucket', source.bucket, 'name', source.name)
          order by source.part, source.place),
        '[]')
      from (
        select 1, 'person', null, 'profile-avatars', photo.name, photo.place::bigint
        from private.training_photos(person) as photo
        union all
        select 2, 'item', i.name, file.bucket, file.name, listed.place
        from unnest(outfit.item_ids) with ordinality as listed (id, place)
        join public.items as i on i.id = listed.id
        cross join lateral (
          select split_part(at.path, '/', 1), substr(at.path, strpos(at.path, '/') + 1)
          from (select private.file_at(i.image)) as at (path)) as file (bucket, name)
        join storage.buckets as b on b.id = file.bucket and b.public
      ) as source (part, role, label, bucket, name, place)))
$$;

drop function private.picture_source(text, text, text);

-- What was made from other files than those is deleted, with its file.
delete from public.generated_pictures as g
where exists (
  select from jsonb_array_elements(g.input -> 'sources') as source
  where source ->> 'role' = 'person'
    and (source ->> 'bucket' <> 'profile-avatars'
      or not starts_with(source ->> 'name', 'training-images/' || g.user_id || '/')));
