create extension if not exists ltree with schema extensions;
create table public.categories (path extensions.ltree primary key, title text not null);
create table public.folders (id int primary key, parent int references public.folders (id), title text not null);
create recursive view public.folder_paths (id, path) as
  select id, title from public.folders where parent is null
  union all
  select f.id, p.path || '/' || f.title from public.folders f join folder_paths p on p.id = f.parent;
