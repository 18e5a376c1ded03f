-- Adds scopes to the user's consent for a client; scopes of a revoked consent are replaced. $1 user, $2 client, $3
-- scopes separated by spaces, $4 now.
insert into auth.oauth_consents as known (id, user_id, client_id, scopes, granted_at)
values (gen_random_uuid(), $1, $2, $3::text, $4)
on conflict (user_id, client_id) do update
set scopes = case
      when known.revoked_at is not null then excluded.scopes
      else (
        -- The union of both lists, in the order of their first occurrence.
        select string_agg(scope, ' ' order by first)
        from (
          select scope, min(position) as first
          from regexp_split_to_table(known.scopes || ' ' || excluded.scopes, ' +')
            with ordinality as listed (scope, position)
          where scope <> '' group by scope
        ) merged
      )
    end,
    granted_at = excluded.granted_at,
    revoked_at = null
