-- pg_net: HTTP requests from SQL (docs/extensions.md). The functions only queue a request; the leading node of the server
-- sends it once the transaction has committed (crates/jobs) and stores the response.

create schema net;

create domain net.http_method as text check (lower(value) in ('get', 'post', 'delete'));

-- Unlogged, as in the original: a crash of PostgreSQL itself empties both tables, a crash of the server does not.
create unlogged table net.http_request_queue (
  id bigserial,
  method net.http_method not null,
  url text not null,
  headers jsonb,
  body bytea,
  timeout_milliseconds integer not null
);
create index http_request_queue_id_idx on net.http_request_queue (id);
comment on table net.http_request_queue is 'Requests that have no response yet.';

create unlogged table net._http_response (
  id bigint,
  status_code integer,
  content_type text,
  headers jsonb,
  content text,
  timed_out boolean,
  error_msg text,
  created timestamptz not null default now()
);
create index _http_response_created_idx on net._http_response (created);
create index _http_response_id_idx on net._http_response (id);
comment on table net._http_response is 'Responses, deleted after some hours.';

create type net.request_status as enum ('PENDING', 'SUCCESS', 'ERROR');
create type net.http_response as (status_code integer, headers jsonb, body text);
create type net.http_response_result as (status net.request_status, message text, response net.http_response);

-- Wakes the server's worker at commit; several calls in a transaction are one notification.
create function net.wake() returns void
  language sql
as $$ select pg_catalog.pg_notify('selvedge_jobs', 'net') $$;

-- A node leads, and its worker runs.
create function net._is_worker_up() returns boolean
  language sql stable
as $$ select _selvedge.are_workers_up() $$;

create function net.check_worker_is_up() returns void
  language plpgsql
as $$
begin
  if not net._is_worker_up() then
    raise exception using
      message = 'the pg_net background worker is not up',
      hint = 'Requests are sent while the server (`selvedge start` or `selvedge serve`) runs.';
  end if;
end
$$;

create function net.wait_until_running() returns void
  language plpgsql
as $$
begin
  while not net._is_worker_up() loop
    perform pg_catalog.pg_sleep(0.05);
  end loop;
end
$$;

-- The worker keeps no state that a restart would clear, so it is only woken.
create function net.worker_restart() returns boolean
  language plpgsql
as $$
begin
  perform net.wake();
  return true;
end
$$;

-- Percent-encodes everything but the unreserved characters of RFC 3986.
create function net._urlencode_string(string character varying) returns text
  language sql immutable strict
as $$
  select coalesce(
    pg_catalog.string_agg(
      case
        when letter collate "C" ~ '^[A-Za-z0-9._~-]$' then letter
        else pg_catalog.regexp_replace(
          pg_catalog.upper(pg_catalog.encode(pg_catalog.convert_to(letter, 'UTF8'), 'hex')), '(..)', '%\1', 'g'
        )
      end,
      '' order by place
    ),
    ''
  )
  from pg_catalog.string_to_table(string::text, null) with ordinality as t (letter, place)
$$;

-- Appends encoded parameters to the query of an http(s) URL, before its fragment.
create function net._encode_url_with_params_array(url text, params_array text[]) returns text
  language plpgsql immutable strict
as $$
declare
  parts text[] := pg_catalog.regexp_match(url, '^([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]+)([^?#]*)(\?[^#]*)?(#.*)?$');
  parameters text := pg_catalog.array_to_string(params_array, '&');
begin
  if url ~ '^[A-Za-z][A-Za-z0-9+.-]*:' and url !~* '^https?:' then
    raise exception 'Unsupported URL scheme in URL "%"', url;
  end if;
  if parts is null or url ~ '[[:cntrl:][:space:]]' then
    raise exception 'invalid URL "%"', url;
  end if;
  return parts[1] || '://' || parts[2]
    || coalesce(nullif(parts[3], ''), '/')
    || case
      when parameters = '' then coalesce(parts[4], '')
      when coalesce(parts[4], '?') = '?' then '?' || parameters
      else parts[4] || '&' || parameters
    end
    || coalesce(parts[5], '');
end
$$;

-- Puts one request into the queue and returns its id.
create function net._queue_request(
  method text, url text, params jsonb, headers jsonb, body jsonb, timeout_milliseconds integer
) returns bigint
  language plpgsql
as $$
declare
  request_id bigint;
  encoded text[] := array(
    select net._urlencode_string(pair.key) || '=' || net._urlencode_string(pair.value)
    from pg_catalog.jsonb_each_text(params) as pair
  );
begin
  insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
  values (
    method, net._encode_url_with_params_array(url, encoded), headers,
    pg_catalog.convert_to(body::text, 'UTF8'), timeout_milliseconds
  )
  returning id into request_id;
  perform net.wake();
  return request_id;
end
$$;

create function net.http_get(
  url text, params jsonb default '{}'::jsonb, headers jsonb default '{}'::jsonb, timeout_milliseconds integer default 5000
) returns bigint
  language sql
as $$ select net._queue_request('GET', url, params, headers, null, timeout_milliseconds) $$;

create function net.http_post(
  url text, body jsonb default '{}'::jsonb, params jsonb default '{}'::jsonb,
  headers jsonb default '{"Content-Type": "application/json"}'::jsonb, timeout_milliseconds integer default 5000
) returns bigint
  language plpgsql
as $$
declare
  content_type text := (
    select header.value from pg_catalog.jsonb_each_text(headers) as header
    where pg_catalog.lower(header.key) = 'content-type' limit 1
  );
begin
  if content_type is null then
    headers := headers || '{"Content-Type": "application/json"}'::jsonb;
  elsif content_type <> 'application/json' then
    raise exception 'Content-Type header must be "application/json"';
  end if;
  return net._queue_request('POST', url, params, headers, body, timeout_milliseconds);
end
$$;

create function net.http_delete(
  url text, params jsonb default '{}'::jsonb, headers jsonb default '{}'::jsonb,
  timeout_milliseconds integer default 5000, body jsonb default null
) returns bigint
  language sql
as $$ select net._queue_request('DELETE', url, params, headers, body, timeout_milliseconds) $$;

-- Waits until the request has a response.
create function net._await_response(request_id bigint) returns boolean
  language plpgsql
as $$
begin
  while not exists (select from net._http_response as r where r.id = request_id) loop
    perform pg_catalog.pg_sleep(0.05);
  end loop;
  return true;
end
$$;

create function net._http_collect_response(request_id bigint, async boolean default true)
  returns net.http_response_result
  language plpgsql
as $$
declare
  found_response net._http_response;
begin
  if not async then
    perform net._await_response(request_id);
  end if;
  select * into found_response from net._http_response as r where r.id = request_id;
  if not found or found_response.error_msg is not null then
    return (
      'ERROR', coalesce(found_response.error_msg, 'request matching request_id not found'), null
    )::net.http_response_result;
  end if;
  return (
    'SUCCESS', 'ok',
    (found_response.status_code, found_response.headers, found_response.content)::net.http_response
  )::net.http_response_result;
end
$$;

create function net.http_collect_response(request_id bigint, async boolean default true)
  returns net.http_response_result
  language plpgsql
as $$
begin
  raise notice 'net.http_collect_response is deprecated, read net._http_response instead';
  return net._http_collect_response(request_id, async);
end
$$;

grant usage on schema net to public;
-- Without TRIGGER: a trigger would run with the rights of the worker that writes the rows.
grant select, insert, update, delete, truncate on all tables in schema net to public;
grant all on all sequences in schema net to public;

-- The worker logs in as `authenticator`; its rights stay when a project takes those of PUBLIC away.
grant usage on schema net to authenticator;
grant select, delete on net.http_request_queue to authenticator;
grant select, insert, delete on net._http_response to authenticator;
grant usage on schema net to supabase_functions_admin, postgres, anon, authenticated, service_role;

-- The server's worker begins with this extension although it was created after its start.
select pg_catalog.pg_notify('selvedge_jobs', 'net');
