create table public.votes (id serial primary key, choice text not null, voter uuid unique not null);
alter table public.votes enable row level security;
create function public.vote(choice text) returns bigint
  language plpgsql security definer set search_path = '' as $$
declare
  total bigint;
begin
  if auth.uid() is null then
    raise insufficient_privilege using message = 'sign in to vote';
  end if;
  insert into public.votes (choice, voter) values (vote.choice, auth.uid())
    on conflict (voter) do update set choice = excluded.choice;
  select count(*) into total from public.votes as v where v.choice = vote.choice;
  return total;
end
$$;
revoke execute on function public.vote(text) from public, anon;
grant execute on function public.vote(text) to authenticated;
create function public.search_votes(pattern text default '%') returns setof public.votes
  language sql stable as $$ select * from public.votes where choice like pattern $$;
create procedure public.clear_votes() language sql as $$ delete from public.votes $$;
