create extension if not exists vector with schema extensions;

create table public.documents (
  id bigint generated always as identity primary key,
  title text not null,
  is_public boolean not null default true,
  embedding extensions.vector(3) not null
);
create index documents_by_angle on public.documents using hnsw (embedding vector_cosine_ops);
create index documents_by_distance on public.documents using ivfflat (embedding vector_l2_ops) with (lists = 1);

alter table public.documents enable row level security;
create policy "Public documents are for everyone" on public.documents for select using (is_public);

-- The function of Supabase's guide to semantic search.
create or replace function public.match_documents(query_embedding vector(3), match_threshold float, match_count int)
returns setof public.documents
language sql stable
as $$
  select *
  from documents
  where documents.embedding <=> query_embedding < 1 - match_threshold
  order by documents.embedding <=> query_embedding asc
  limit least(match_count, 200);
$$;
